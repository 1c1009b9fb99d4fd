//! What all SMs share: crossbar, L2 in slices and partitions, memory behind it.
//!
//! Requests come in one agreed order (cycle, SM, sequence) and each is timed completely when its turn comes: it waits for the
//! servers it passes, as they stand by then, and the latency of an idle machine comes on top. So an unloaded access takes exactly
//! what was measured, and a loaded one what bandwidth allows. L2 keeps written data until it is evicted.
//!
//! With two partitions, each side keeps copies of what its own SMs use: a line found there costs the near latency, one found only
//! in the whole L2 the far latency. Copies take no room from the whole; the measured plateaus come out, the replacement is simpler.
//! Each side has slices of its own; an atomic for the other side passes one of the nearer as well.

mod timing;

use std::collections::HashMap;

use super::LINE_SHIFT;
use super::cache::{Lookup, Tags};
use super::dram::Dram;
use super::lines::{sectors_of, whole_sectors_of, write_flits};
use crate::device::Device;
use timing::Timing;

/// L2, crossbar and DRAM of one device. Contents outlive a launch; queues do not.
#[derive(Clone, Debug)]
pub struct Uncore {
    tags: Tags,
    /// What is known of the line in each place of the tags: side by side, so that a request finds it all at once.
    lines: Vec<Line>,
    /// Lines that each side has a copy of. Empty where there is one partition.
    sides: Vec<Side>,
    slice_free_at: Vec<f64>,
    read_port_free_at: Vec<f64>,
    /// Until when lines are held by floating-point atomics.
    held_until: HashMap<u64, f64>,
    pub dram: Dram,
    launch: u32,
    timing: Timing,
    pub counters: UncoreCounters,
}

/// A line in L2.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// Cycle at which the last fill arrives, and the launch that it belongs to.
    ready_cycle: f64,
    ready_launch: u32,
    /// Granules written since the sector was last whole.
    written: u32,
    /// Sectors that hold what memory holds, or newer.
    valid: u8,
    /// Sectors newer than memory.
    dirty: u8,
}

#[derive(Clone, Debug)]
struct Side {
    tags: Tags,
    valid: Vec<u8>,
}

/// How long an atomic's part of a line takes at L2.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AtomicCycles {
    /// The line's slice is busy with it.
    pub slice: f64,
    /// No other that asks for the line in this way is done sooner than so much later; 0 where the next can follow at once.
    pub line: f64,
}

/// Traffic at L2, in sectors of 32 bytes and in requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UncoreCounters {
    pub requests: u64,
    pub read_sectors: u64,
    pub write_sectors: u64,
    pub atomic_sectors: u64,
    pub hit_sectors: u64,
    pub miss_sectors: u64,
}

/// Who asks for which line, and when the request leaves its L1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Origin {
    pub sm: u32,
    pub line: u64,
    /// Cycle of the SM; the latencies count from here.
    pub cycle: f64,
}

impl Uncore {
    pub fn new(device: &Device) -> Self {
        let p = &device.parameters;
        let lines = (device.l2_bytes as f64 * p.l2_usable_share) as u64 >> LINE_SHIFT;
        let side_lines = lines / 2;
        let tags = Tags::new(lines, p.l2_ways as u32);
        let partitions = p.l2_partitions as usize;
        let side = || {
            let tags = Tags::by_page(side_lines, p.l2_ways as u32);
            Side { valid: vec![0; tags.places()], tags }
        };
        let clock_hz = f64::from(device.boost_clock_mhz) * 1e6;
        let dram_bytes_per_cycle = device.memory_bandwidth_gbs * 1e9 * p.dram_efficiency / clock_hz;
        Self {
            lines: vec![Line::default(); tags.places()],
            sides: if partitions == 2 { vec![side(), side()] } else { Vec::new() },
            slice_free_at: vec![0.0; (p.l2_slices as usize).max(1)],
            read_port_free_at: vec![0.0; device.sm_count as usize],
            held_until: HashMap::new(),
            dram: Dram::new(p.dram_channels as u32, dram_bytes_per_cycle, p.dram_access_bytes as u32),
            launch: 0,
            timing: Timing::new(device),
            counters: UncoreCounters::default(),
            tags,
        }
    }

    /// Starts a launch: queues empty, counters at zero, contents kept.
    pub fn start_launch(&mut self) {
        self.launch = self.launch.wrapping_add(1);
        self.slice_free_at.fill(0.0);
        self.read_port_free_at.fill(0.0);
        self.held_until.clear();
        self.dram.reset();
        self.counters = UncoreCounters::default();
    }

    /// Empties L2 without writing anything back, as before a measurement from cold.
    pub fn flush(&mut self) {
        self.tags.clear();
        self.sides.iter_mut().for_each(|side| side.tags.clear());
    }

    /// Cycle at which the sectors of a read are back at the SM's L1.
    pub fn read(&mut self, origin: Origin, sectors: u8) -> f64 {
        self.counters.requests += 1;
        self.counters.read_sectors += u64::from(sectors.count_ones());
        let count = f64::from(sectors.count_ones());
        let wait = self.wait_for_slice(origin, count * self.timing.slice_sector_cycles);
        let back = self.fetch(origin, sectors, origin.cycle + wait);
        // The way back is taken by answers in the order of their requests; what they wait for before counts against it.
        let port_wait = self.wait_for_read_port(origin, count);
        back.max(origin.cycle + port_wait + self.timing.near_cycles)
    }

    /// Cycle at which L2 has accepted a write of these granules.
    pub fn write(&mut self, origin: Origin, granules: u32) -> f64 {
        let sectors = sectors_of(granules);
        self.counters.requests += 1;
        self.counters.write_sectors += u64::from(sectors.count_ones());
        let cycles = f64::from(write_flits(granules)) * self.timing.slice_flit_cycles;
        let start = origin.cycle + self.wait_for_slice(origin, cycles);
        let place = self.place(origin, start);
        let line = &mut self.lines[place];
        line.written |= granules;
        line.dirty |= sectors;
        line.valid |= whole_sectors_of(line.written);
        let kept = line.valid & sectors;
        self.copy_to_side(origin, kept);
        start + self.timing.near_cycles
    }

    /// Cycle at which the result of an atomic is back.
    pub fn atomic(&mut self, origin: Origin, sectors: u8, cycles: AtomicCycles) -> f64 {
        self.counters.requests += 1;
        self.counters.atomic_sectors += u64::from(sectors.count_ones());
        self.pass_near_side(origin, sectors);
        let mut start = origin.cycle + self.wait_for_slice(origin, cycles.slice);
        if cycles.line > 0.0 {
            let held_until = self.held_until.entry(origin.line).or_default();
            start += wait(held_until, start, cycles.line);
        }
        let back = self.fetch(origin, sectors, start) + cycles.slice.max(cycles.line);
        if let Some(place) = self.tags.find(origin.line) {
            self.lines[place].dirty |= sectors;
        }
        back
    }

    /// Marks a range as written by the host's copy engine, which goes through L2.
    pub fn host_wrote(&mut self, address: u64, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let last = address.saturating_add(bytes - 1) >> LINE_SHIFT;
        let first = (address >> LINE_SHIFT).max(last.saturating_sub(self.tags.places() as u64));
        for line in first..=last {
            let (Lookup::Hit(place) | Lookup::Filled { place, .. }) = self.tags.find_or_fill(line);
            let line = &mut self.lines[place];
            (line.valid, line.dirty, line.written) = (super::ALL_SECTORS, super::ALL_SECTORS, 0);
        }
    }

    /// Data of a read or atomic that L2 starts to serve at `start` (as the SM's clock counts, without the latency).
    fn fetch(&mut self, origin: Origin, sectors: u8, start: f64) -> f64 {
        let place = self.place(origin, start);
        let missing = sectors & !self.lines[place].valid;
        self.counters.miss_sectors += u64::from(missing.count_ones());
        self.counters.hit_sectors += u64::from((sectors & !missing).count_ones());
        let latency = if self.copy_to_side(origin, sectors) { self.timing.near_cycles } else { self.timing.far_cycles };
        let mut back = start + latency;
        if missing != 0 {
            let wait = self.dram.read(origin.line, missing, start);
            let loaded = self.timing.dram_loaded_cycles * self.dram.load();
            let spread = self.timing.dram_spread_cycles * exponential(origin.line);
            let arrival = start + wait + self.timing.dram_cycles + spread + loaded;
            let line = &mut self.lines[place];
            line.valid |= self.dram.fetched(missing);
            (line.ready_cycle, line.ready_launch) = (arrival, self.launch);
        }
        let line = &self.lines[place];
        if line.ready_launch == self.launch {
            back = back.max(line.ready_cycle);
        }
        back
    }

    /// The line's place in L2; what has to make room is written back.
    fn place(&mut self, origin: Origin, start: f64) -> usize {
        match self.tags.find_or_fill(origin.line) {
            Lookup::Hit(place) => place,
            Lookup::Filled { place, evicted } => {
                if let Some(line) = evicted {
                    self.write_back(line, place, start);
                }
                self.lines[place] = Line::default();
                place
            }
        }
    }

    fn write_back(&mut self, line: u64, place: usize, start: f64) {
        let Line { dirty, valid, .. } = self.lines[place];
        if dirty == 0 {
            return;
        }
        let incomplete = dirty & !valid;
        if incomplete != 0 {
            self.dram.read(line, incomplete, start);
        }
        self.dram.write(line, dirty, start);
        // A slice does not run ahead of its memory for ever.
        let slice = self.slice(line);
        let earliest = self.dram.free_at(line) - self.timing.dram_queue_cycles;
        self.slice_free_at[slice] = self.slice_free_at[slice].max(earliest);
    }

    /// Whether the SM's own side had all these sectors; from now on it has. True where there is one partition.
    fn copy_to_side(&mut self, origin: Origin, sectors: u8) -> bool {
        if self.sides.is_empty() {
            return true;
        }
        let side = self.side(origin.sm);
        let side = &mut self.sides[side];
        let (place, had) = match side.tags.find_or_fill(origin.line) {
            Lookup::Hit(place) => (place, side.valid[place]),
            Lookup::Filled { place, .. } => (place, 0),
        };
        side.valid[place] = had | sectors;
        sectors & !had == 0
    }

    fn wait_for_slice(&mut self, origin: Origin, busy_cycles: f64) -> f64 {
        let slice = self.slice(origin.line);
        wait(&mut self.slice_free_at[slice], origin.cycle, busy_cycles)
    }

    /// A request for the other side takes time of a slice of the SM's own side as well. It does not wait there, since it would keep
    /// its place at home from others that come sooner but are reckoned later.
    fn pass_near_side(&mut self, origin: Origin, sectors: u8) {
        let (slices, home) = (self.slice_free_at.len(), self.slice(origin.line));
        if self.sides.is_empty() || slices < 4 || side_of_slice(home) == self.side(origin.sm) {
            return;
        }
        let near = (home + 2) % slices;
        let busy = f64::from(sectors.count_ones()) * self.timing.pass_sector_cycles;
        wait(&mut self.slice_free_at[near], origin.cycle, busy);
    }

    /// The side that an SM is on.
    fn side(&self, sm: u32) -> usize {
        sm as usize * self.sides.len() / self.timing.sm_count
    }

    fn wait_for_read_port(&mut self, origin: Origin, sectors: f64) -> f64 {
        let cycles = sectors * self.timing.read_port_sector_cycles;
        wait(&mut self.read_port_free_at[origin.sm as usize], origin.cycle, cycles)
    }

    /// Each KiB lies in two slices, pairs of lines by turns ("H200 L2": lines 0, 1, 4, 5 and lines 2, 3, 6, 7 share one). Which two is
    /// by chance; multiples of the golden ratio spread KiBs in a row, and those of any stride, evenly.
    fn slice(&self, line: u64) -> usize {
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        let slices = self.slice_free_at.len() as u64;
        let spread = (line >> 3).wrapping_mul(GOLDEN);
        let pair = ((spread >> 32) * (slices / 2).max(1)) >> 32;
        ((2 * pair + ((line >> 1 ^ spread >> 20) & 1)) % slices) as usize
    }
}

/// Pairs of slices lie on the two sides by turns.
fn side_of_slice(slice: usize) -> usize {
    slice >> 1 & 1
}

/// A number by chance, always the same for a line, with a mean of 1 and exponentially distributed; 12 at most, which five lines in a million reach.
fn exponential(line: u64) -> f64 {
    // The finaliser of SplitMix64; 53 bits make a number between 0 and 1, neither included.
    let mixed = line.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    let uniform = ((mixed ^ mixed >> 31) >> 11) as f64 + 0.5;
    (-(uniform / (1_u64 << 53) as f64).ln()).min(12.0)
}

/// Puts work of `busy_cycles` in the queue of a server and says how long it waits for its turn.
fn wait(free_at: &mut f64, arrival: f64, busy_cycles: f64) -> f64 {
    let start = free_at.max(arrival);
    *free_at = start + busy_cycles;
    start - arrival
}

#[cfg(test)]
mod tests;
