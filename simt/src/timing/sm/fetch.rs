//! Where instructions come from: an L0 cache for each scheduler, and one behind them for the SM.
//!
//! Lines come one after another, and the next one is asked for when one is entered. So straight code that takes longer than its line
//! costs nothing; faster code waits for its lines on its first pass, and on every pass of a loop that L0 cannot hold.

use std::collections::VecDeque;

use crate::isa::Pc;

/// Instructions a line (128 bytes).
const LINE_INSTRUCTIONS: u32 = 8;
const ABSENT: f64 = f64::INFINITY;
/// No line.
pub(crate) const NO_LINE: u32 = u32::MAX;

/// Sizes and rates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FetchRates {
    pub l0_lines: usize,
    pub l1_lines: usize,
    /// Cycles that a line takes from the SM's cache to a scheduler's.
    pub l0_line_cycles: f64,
    /// Cycles more where it comes from L2.
    pub l1_line_cycles: f64,
    /// Lines that are fetched ahead of the one that is entered.
    pub ahead: u32,
}

#[derive(Debug)]
pub(crate) struct Fetch {
    rates: FetchRates,
    l1: Lines,
    l0: Vec<L0>,
}

#[derive(Clone, Debug)]
struct L0 {
    lines: Lines,
    /// When the next line can set out.
    port_free_at: f64,
}

/// Lines of the code that a cache holds; the oldest make room.
#[derive(Clone, Debug)]
struct Lines {
    /// When each line of the code is there.
    ready_at: Vec<f64>,
    present: VecDeque<u32>,
    most: usize,
}

impl Lines {
    /// With all of the code in it if `is_warm` and it fits.
    fn new(lines: usize, most: usize, is_warm: bool) -> Self {
        let is_full = is_warm && lines <= most;
        let present = if is_full { (0..lines as u32).collect() } else { VecDeque::new() };
        Self { ready_at: vec![if is_full { 0.0 } else { ABSENT }; lines], present, most: most.max(2) }
    }

    fn add(&mut self, line: u32, ready_at: f64) {
        self.ready_at[line as usize] = ready_at;
        self.present.push_back(line);
        if self.present.len() > self.most
            && let Some(oldest) = self.present.pop_front()
        {
            self.ready_at[oldest as usize] = ABSENT;
        }
    }
}

impl Fetch {
    /// `is_warm`: a launch of the same code came before, and schedulers have it still, if all of it fits.
    pub fn new(rates: FetchRates, schedulers: usize, instructions: usize, is_warm: bool) -> Self {
        let lines = instructions.div_ceil(LINE_INSTRUCTIONS as usize);
        let l0 = L0 { lines: Lines::new(lines, rates.l0_lines, is_warm), port_free_at: 0.0 };
        // A launch finds its code in the SMs' caches: an H200 reads code of up to 64 KiB no slower the first time.
        Self { rates, l1: Lines::new(lines, rates.l1_lines, true), l0: vec![l0; schedulers] }
    }

    /// The line that an instruction is in.
    #[inline]
    pub const fn line(pc: Pc) -> u32 {
        pc / LINE_INSTRUCTIONS
    }

    /// A warp of a scheduler needs a line at `now`. Says when it is there.
    pub fn enter(&mut self, scheduler: usize, line: u32, now: u64) -> u64 {
        let FetchRates { l0_line_cycles, l1_line_cycles, ahead, .. } = self.rates;
        let L0 { lines, port_free_at } = &mut self.l0[scheduler];
        let end = line.saturating_add(ahead.saturating_add(1)).min(lines.ready_at.len() as u32);
        let mut ready_at = now as f64;
        for wanted in line..end {
            if lines.ready_at[wanted as usize] == ABSENT {
                *port_free_at = port_free_at.max(now as f64) + l0_line_cycles;
                if self.l1.ready_at[wanted as usize] == ABSENT {
                    *port_free_at += l1_line_cycles;
                    self.l1.add(wanted, *port_free_at);
                }
                lines.add(wanted, *port_free_at);
            }
            if wanted == line {
                ready_at = lines.ready_at[wanted as usize];
            }
        }
        ready_at.ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetch(instructions: usize, is_warm: bool) -> Fetch {
        let rates = FetchRates { l0_lines: 16, l1_lines: 64, l0_line_cycles: 20.0, l1_line_cycles: 30.0, ahead: 1 };
        Fetch::new(rates, 2, instructions, is_warm)
    }

    #[test]
    fn a_line_ahead_is_on_its_way() {
        let mut fetch = fetch(64, false);
        assert_eq!((fetch.enter(0, 0, 100), fetch.enter(0, 1, 130)), (120, 140));
        assert_eq!(fetch.enter(0, 2, 500), 160, "asked for when line 1 was entered: 140 to 160");
        assert_eq!(fetch.enter(1, 2, 500), 520, "another scheduler has its own");
    }

    #[test]
    fn what_was_launched_before_is_there() {
        assert_eq!(fetch(128, true).enter(0, 3, 7), 0);
        assert_eq!(fetch(129, true).enter(0, 3, 7), 27, "17 lines do not fit");
    }

    /// Cycles of each of three passes over so many lines by a warp that takes 8 cycles a line.
    fn passes(lines: u32) -> [u64; 3] {
        let mut fetch = fetch(8 * lines as usize, false);
        let mut now = 0;
        [(); 3].map(|()| {
            let start = now;
            for line in 0..lines {
                now = now.max(fetch.enter(0, line, now)) + 8;
            }
            now - start
        })
    }

    #[test]
    fn a_loop_that_fits_is_fetched_once_and_a_larger_one_every_time() {
        let [first, second, third] = passes(16);
        assert!((16 * 20..16 * 20 + 30).contains(&first) && (second, third) == (128, 128), "{first} {second} {third}");
        let [_, second, third] = passes(40);
        assert!((40 * 20 - 5..40 * 20 + 30).contains(&second) && second.abs_diff(third) < 5, "{second} {third}");
        let [_, second, _] = passes(100);
        assert!((100 * 50 - 10..100 * 50 + 80).contains(&second), "{second}: beyond the SM's cache too");
    }

    #[test]
    fn code_beyond_its_end_is_not_fetched() {
        assert_eq!(fetch(16, false).enter(0, 7, 5), 5);
    }
}
