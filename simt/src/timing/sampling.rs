//! When a launch has settled, so that the middle of it need not be timed.
//!
//! Every time that as many blocks have ended as live at once (a wave), time and blocks are noted. Once the later half of the waves
//! so far, in four groups, all took the same time a block, and executed the same instructions a block, what comes is taken to go on
//! like that: the blocks in between are executed for their results only, and the last waves are timed again, so that the tail of
//! the launch is simulated and not guessed. If those blocks turn out to execute more or less than the ones before, timing starts
//! again where they do. How far the four groups lie apart is the error that is stated.

use super::extent::Extent;

/// What sampling is allowed to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    /// Instructions that a launch may have and still be timed as a whole.
    pub unsampled_instructions: u64,
    /// Blocks that live at once.
    pub wave_blocks: u64,
    pub blocks: u64,
    /// What L2 holds.
    pub l2_sectors: u64,
}

/// How much of a launch was timed, where not all of it was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampled {
    /// Blocks whose time was simulated. The others were executed, and are taken to have gone as fast as the waves before them.
    pub timed_blocks: u64,
    pub blocks: u64,
    /// Waves of resident blocks whose pace was compared.
    pub waves: u64,
    /// Estimated relative error of the cycles: half of what lies between the fastest and the slowest quarter of those waves, as a
    /// share of their mean, times the share of the time that was not simulated.
    pub error: f64,
}

/// Groups of waves that are compared.
const GROUPS: usize = 4;
/// Waves before anything can be said.
const WAVES_MIN: usize = 2 * GROUPS;
/// Share of the unsampled instructions that are simulated at least.
const SIMULATED_MIN: f64 = 0.1;
/// How far the groups' times a block may lie apart, as a share of their mean: at first, and when as much as a whole unsampled launch
/// has been simulated.
const SPREAD_MAX: [f64; 2] = [0.02, 0.05];
/// How far their instructions a block may.
const INSTRUCTIONS_SPREAD_MAX: f64 = 0.01;
/// L2 counts as settled when so many times its size has come in.
const L2_TURNS: f64 = 1.5;
/// Waves timed at the end.
const TAIL_WAVES: u64 = 2;

/// A note at the end of a wave.
#[derive(Clone, Copy, Debug, Default)]
struct Note {
    /// When the wave's last block was taken off its SM.
    cycle: u64,
    /// Blocks that have ended, and what they executed.
    retired: u64,
    instructions: u64,
    /// All that was simulated, a little later.
    extent: Extent,
}

/// What is to be left out, and what stands for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    /// The next so many blocks.
    pub blocks: u64,
    pub cycles_per_block: f64,
    pub instructions_per_block: f64,
    /// Of the waves that were compared.
    pub window: Extent,
    /// Half of the spread of their times a block, as a share of the mean.
    pub spread: f64,
    pub waves: u64,
}

#[derive(Debug)]
pub(crate) struct Sampler {
    rules: Rules,
    notes: Vec<Note>,
    /// Blocks that have ended, and what they executed.
    retired: u64,
    instructions: u64,
    /// Notes at the end that have no extent yet.
    fresh: usize,
    /// The plan was made, or none is to be.
    done: bool,
}

impl Sampler {
    pub fn new(rules: Rules) -> Self {
        let too_few = rules.blocks / rules.wave_blocks.max(1) < WAVES_MIN as u64 + TAIL_WAVES + 1;
        let done = too_few || rules.unsampled_instructions == u64::MAX;
        Self { rules, notes: vec![Note::default()], retired: 0, instructions: 0, fresh: 0, done }
    }

    /// A block was taken off its SM, having executed so many instructions.
    pub fn retire(&mut self, cycle: u64, instructions: u64) {
        self.retired += 1;
        self.instructions += instructions;
        if !self.done && self.retired.is_multiple_of(self.rules.wave_blocks.max(1)) {
            let (retired, instructions) = (self.retired, self.instructions);
            self.notes.push(Note { cycle, retired, instructions, extent: Extent::default() });
            self.fresh += 1;
        }
    }

    /// Whether a wave has ended since it was last considered what could be left out.
    pub fn is_due(&self) -> bool {
        self.fresh > 0
    }

    /// Says what can be left out, if it is time for that; `started` blocks have started.
    pub fn consider(&mut self, started: u64, extent: Extent) -> Option<Plan> {
        let notes = self.notes.len();
        self.notes[notes - self.fresh..].iter_mut().for_each(|note| note.extent = extent);
        self.fresh = 0;
        let waves = notes - 1;
        let left = self.rules.blocks - started;
        let skipped = left.saturating_sub(TAIL_WAVES * self.rules.wave_blocks);
        // Whole waves, so that the last one is as full as it would be.
        let skipped = skipped - skipped % self.rules.wave_blocks.max(1);
        if skipped == 0 {
            self.done = true;
            return None;
        }
        let per_block = self.instructions as f64 / self.retired as f64;
        let is_long = per_block * self.rules.blocks as f64 > self.rules.unsampled_instructions as f64;
        let simulated = extent.all_instructions() as f64;
        let enough = simulated >= SIMULATED_MIN * self.rules.unsampled_instructions as f64;
        if waves < WAVES_MIN || !is_long || !enough {
            return None;
        }
        let plan = self.settled(skipped)?;
        self.done = true;
        Some(plan)
    }

    /// A plan, if the later half of the waves went at one pace.
    fn settled(&self, skipped: u64) -> Option<Plan> {
        let last = self.notes.len() - 1;
        let group = last / 2 / GROUPS;
        let edges: Vec<&Note> = (0..=GROUPS).map(|edge| &self.notes[last - (GROUPS - edge) * group]).collect();
        let per_block = |value: fn(&Note) -> u64| -> Vec<f64> {
            let blocks = |pair: &[&Note]| (pair[1].retired - pair[0].retired) as f64;
            edges.windows(2).map(|pair| (value(pair[1]) - value(pair[0])) as f64 / blocks(pair)).collect()
        };
        let (first, last) = (edges[0], edges[GROUPS]);
        let (cycles_per_block, spread) = mean_and_spread(&per_block(|note| note.cycle));
        let (instructions, instructions_spread) = mean_and_spread(&per_block(|note| note.instructions));
        let patience = last.instructions > self.rules.unsampled_instructions;
        let spread_max = SPREAD_MAX[usize::from(patience)];
        let window = last.extent.since(&first.extent);
        let one_pace = spread <= spread_max && instructions_spread <= INSTRUCTIONS_SPREAD_MAX;
        if !one_pace || !self.l2_settled(last, &window, last.retired - first.retired) {
            return None;
        }
        Some(Plan {
            blocks: skipped,
            cycles_per_block,
            instructions_per_block: instructions,
            window,
            spread: spread / 2.0,
            waves: (GROUPS * group) as u64,
        })
    }

    /// Starts to take notes again: the blocks that were left out came to an end before their time, since they became others.
    pub fn resume(&mut self, cycle: u64, extent: Extent) {
        let (retired, instructions) = (self.retired, self.instructions);
        self.notes = vec![Note { cycle, retired, instructions, extent }];
        (self.fresh, self.done) = (0, false);
    }

    /// Whether L2 will go on as it has. A stream writes nothing to memory before L2 is full, so a launch that will fill it has to
    /// have filled it.
    fn l2_settled(&self, last: &Note, window: &Extent, window_blocks: u64) -> bool {
        let l2 = self.rules.l2_sectors as f64;
        let so_far = last.extent.sectors_into_l2() as f64;
        let per_block = window.sectors_into_l2() as f64 / window_blocks as f64;
        let in_all = so_far + per_block * (self.rules.blocks - last.retired) as f64;
        so_far >= L2_TURNS * l2 || in_all < l2
    }
}

/// The mean, and how far the values lie apart as a share of it.
fn mean_and_spread(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let (least, most) =
        values.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(*value), most.max(*value)));
    (mean, if mean > 0.0 { (most - least) / mean } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules =
        Rules { unsampled_instructions: 1_000_000, wave_blocks: 100, blocks: 1_000_000, l2_sectors: 1000 };

    /// Feeds waves of 100 blocks until there is a plan: cycles a wave, instructions and sectors into L2 a block.
    fn plan(rules: Rules, waves: u64, wave: impl Fn(u64) -> (u64, u64, u64)) -> (u64, Option<Plan>) {
        let mut sampler = Sampler::new(rules);
        let (mut cycle, mut extent) = (0, Extent::default());
        for number in 1..=waves {
            let (cycles, instructions, sectors) = wave(number);
            cycle += cycles;
            (0..100).for_each(|_| sampler.retire(cycle, instructions));
            extent.instructions += 100 * instructions;
            extent.traffic.l2.miss_sectors += 100 * sectors;
            let plan = sampler.is_due().then(|| sampler.consider(100 * (number + 1), extent)).flatten();
            if plan.is_some() {
                return (number, plan);
            }
        }
        (waves, None)
    }

    #[test]
    fn waves_of_one_pace_are_left_out_after_eight() {
        let (wave, plan) = plan(RULES, 100, |number| (if number == 1 { 900 } else { 500 }, 200, 0));
        let plan = plan.unwrap();
        assert_eq!((wave, plan.waves, plan.spread), (8, 4, 0.0));
        assert_eq!(
            (plan.cycles_per_block, plan.instructions_per_block, plan.window.instructions),
            (5.0, 200.0, 80_000)
        );
        // 900 blocks have started, and 200 or more are left for the end.
        assert_eq!(plan.blocks, 1_000_000 - 900 - 200);
    }

    #[test]
    fn a_launch_that_is_not_long_is_timed_as_a_whole() {
        assert_eq!(plan(RULES, 1000, |_| (500, 1, 0)).1, None, "a million instructions in all");
        let short = Rules { blocks: 1000, ..RULES };
        assert_eq!(plan(short, 9, |_| (500, 100_000, 0)).1, None, "ten waves");
        assert!(plan(RULES, 10, |_| (500, 2, 0)).1.is_none(), "too little simulated so far");
        assert!(plan(RULES, 900, |_| (500, 2, 0)).1.is_some());
    }

    #[test]
    fn waves_that_change_their_pace_or_their_work_are_timed() {
        assert_eq!(plan(RULES, 200, |number| (500 + 20 * number, 200, 0)).1, None, "slower and slower");
        assert_eq!(plan(RULES, 200, |number| (500, 200 + 5 * number, 0)).1, None, "more and more to do");
        // A change at the start is forgotten once it lies in the earlier half.
        let (wave, plan) = plan(RULES, 200, |number| (if number < 20 { 300 + 10 * number } else { 500 }, 2000, 0));
        assert!((24..=40).contains(&wave), "{wave}");
        let pace = plan.unwrap().cycles_per_block;
        assert!((4.9..=5.0).contains(&pace), "{pace}");
    }

    #[test]
    fn the_spread_of_the_waves_is_the_error() {
        let plan = plan(RULES, 200, |number| (500 + 4 * (number % 2), 200, 0)).1.unwrap();
        assert!((plan.spread - 2.0 / 502.0).abs() < 1e-9, "{}", plan.spread);
    }

    #[test]
    fn l2_has_to_be_full_where_it_will_be() {
        // One sector a block: 1,000 fill L2, and 1,500 are asked for.
        assert_eq!(plan(RULES, 200, |_| (500, 200, 1)).0, 15);
        let large = Rules { l2_sectors: 2_000_000, ..RULES };
        assert_eq!(plan(large, 200, |_| (500, 200, 1)).0, 8, "a million sectors never fill it");
    }

    #[test]
    fn more_spread_is_borne_after_as_much_as_a_whole_launch() {
        let waves = |number: u64| (500 + 18 * (number / 2 % 2), 200, 0);
        let (wave, plan) = plan(RULES, 400, waves);
        assert!(plan.is_some() && wave > 8, "{wave}");
    }
}
