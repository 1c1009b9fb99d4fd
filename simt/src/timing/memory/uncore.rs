//! What all SMs share: crossbar, L2 in slices and partitions, memory behind it.
//!
//! Requests come in one agreed order (cycle, SM, sequence) and each is timed completely when its turn comes: it waits for the
//! servers it passes, as they stand by then, and the latency of an idle machine comes on top. So an unloaded access takes exactly
//! what was measured, and a loaded one what bandwidth allows. L2 keeps written data until it is evicted.
//!
//! With two partitions, each side keeps copies of what its own SMs use: a line found there costs the near latency, one found only
//! in the whole L2 the far latency. Copies take no room from the whole; the measured plateaus come out, the replacement is simpler.
//! Each side has slices of its own; an atomic for the other side passes one of the nearer as well.

use std::collections::HashMap;

use super::cache::{Lookup, Tags};
use super::dram::Dram;
use super::lines::{sectors_of, whole_sectors_of, write_flits};
use super::{LINE_SHIFT, SECTOR_BYTES};
use crate::device::Device;

/// L2, crossbar and DRAM of one device. Contents outlive a launch; queues do not.
#[derive(Clone, Debug)]
pub struct Uncore {
    tags: Tags,
    /// Sectors that hold what memory holds, or newer.
    valid: Vec<u8>,
    /// Sectors newer than memory.
    dirty: Vec<u8>,
    /// Granules written since the sector was last whole.
    written: Vec<u32>,
    /// Cycle at which the last fill arrives, and the launch that it belongs to.
    ready: Vec<(f64, u32)>,
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

#[derive(Clone, Debug)]
struct Side {
    tags: Tags,
    valid: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Timing {
    sm_count: usize,
    near_cycles: f64,
    far_cycles: f64,
    /// The part that all lines wait, and the mean of the one that differs.
    dram_cycles: f64,
    dram_spread_cycles: f64,
    dram_loaded_cycles: f64,
    slice_sector_cycles: f64,
    read_port_sector_cycles: f64,
    dram_queue_cycles: f64,
    slice_flit_cycles: f64,
    pass_sector_cycles: f64,
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
        let places = tags.places();
        let partitions = p.l2_partitions as usize;
        let side = || {
            let tags = Tags::by_page(side_lines, p.l2_ways as u32);
            Side { valid: vec![0; tags.places()], tags }
        };
        let clock_hz = f64::from(device.boost_clock_mhz) * 1e6;
        let dram_bytes_per_cycle = device.memory_bandwidth_gbs * 1e9 * p.dram_efficiency / clock_hz;
        Self {
            valid: vec![0; places],
            dirty: vec![0; places],
            written: vec![0; places],
            ready: vec![(0.0, 0); places],
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
        self.written[place] |= granules;
        self.dirty[place] |= sectors;
        self.valid[place] |= whole_sectors_of(self.written[place]);
        self.copy_to_side(origin, self.valid[place] & sectors);
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
            self.dirty[place] |= sectors;
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
            self.valid[place] = super::ALL_SECTORS;
            self.dirty[place] = super::ALL_SECTORS;
            self.written[place] = 0;
        }
    }

    /// Data of a read or atomic that L2 starts to serve at `start` (as the SM's clock counts, without the latency).
    fn fetch(&mut self, origin: Origin, sectors: u8, start: f64) -> f64 {
        let place = self.place(origin, start);
        let missing = sectors & !self.valid[place];
        self.counters.miss_sectors += u64::from(missing.count_ones());
        self.counters.hit_sectors += u64::from((sectors & !missing).count_ones());
        let latency = if self.copy_to_side(origin, sectors) { self.timing.near_cycles } else { self.timing.far_cycles };
        let mut back = start + latency;
        if missing != 0 {
            let wait = self.dram.read(origin.line, missing, start);
            let loaded = self.timing.dram_loaded_cycles * self.dram.load();
            let spread = self.timing.dram_spread_cycles * exponential(origin.line);
            let arrival = start + wait + self.timing.dram_cycles + spread + loaded;
            self.valid[place] |= self.dram.fetched(missing);
            self.ready[place] = (arrival, self.launch);
        }
        let (ready, launch) = self.ready[place];
        if launch == self.launch {
            back = back.max(ready);
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
                self.valid[place] = 0;
                self.dirty[place] = 0;
                self.written[place] = 0;
                self.ready[place] = (0.0, 0);
                place
            }
        }
    }

    fn write_back(&mut self, line: u64, place: usize, start: f64) {
        let dirty = self.dirty[place];
        if dirty == 0 {
            return;
        }
        let incomplete = dirty & !self.valid[place];
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

impl Timing {
    fn new(device: &Device) -> Self {
        let p = &device.parameters;
        let sector = f64::from(SECTOR_BYTES);
        let l2_bytes_per_cycle = p.l2_bytes_per_cycle_per_sm * f64::from(device.sm_count);
        // The latencies include the way through L1, up to the cycle from which `Origin::cycle` counts.
        Self {
            sm_count: device.sm_count as usize,
            near_cycles: p.l2_near_latency_cycles,
            far_cycles: p.l2_far_latency_cycles,
            dram_cycles: p.dram_latency_cycles * (1.0 - p.dram_spread_share),
            dram_spread_cycles: p.dram_latency_cycles * p.dram_spread_share,
            dram_loaded_cycles: p.dram_latency_cycles * p.dram_loaded_share,
            slice_sector_cycles: sector * p.l2_slices.max(1.0) / l2_bytes_per_cycle,
            read_port_sector_cycles: sector / p.sm_read_bytes_per_cycle,
            dram_queue_cycles: p.dram_queue_cycles,
            slice_flit_cycles: sector * p.l2_slices.max(1.0) / (l2_bytes_per_cycle * p.l2_write_share),
            pass_sector_cycles: p.atomic_sector_cycles,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ALL_SECTORS;
    use super::*;
    use crate::device::find;

    fn uncore(device: &str) -> Uncore {
        let mut uncore = Uncore::new(find(device).unwrap());
        uncore.start_launch();
        uncore
    }

    fn at(sm: u32, line: u64, cycle: f64) -> Origin {
        Origin { sm, line, cycle }
    }

    #[test]
    fn an_idle_machine_answers_after_the_measured_latencies() {
        let mut h200 = uncore("H200");
        h200.read(at(0, 5, 1000.0), 1);
        assert_eq!(h200.read(at(1, 5, 5000.0), 1), 5280.0, "another SM of the same side");
        assert_eq!(h200.read(at(131, 5, 9000.0), 1), 9500.0, "an SM of the other side");
        assert_eq!(h200.read(at(131, 5, 20_000.0), 1), 20_280.0, "its side has a copy now");
        let mut rtx = uncore("RTX 5070");
        rtx.read(at(0, 5, 0.0), 1);
        assert_eq!(rtx.read(at(47, 5, 5000.0), 1), 5358.0);
        for (name, latency) in [("H200", 689.0), ("RTX 5070", 877.0)] {
            let mut idle = uncore(name);
            // Each from a launch of its own, so that no one waits for another.
            let waits = (0..10_000).map(|line| {
                idle.start_launch();
                idle.read(at(0, 8 * line, 1000.0), 1) - 1000.0
            });
            let mean = waits.sum::<f64>() / 1e4;
            assert!((mean / latency - 1.0).abs() < 0.01, "{name}: memory answers after {mean} cycles");
        }
    }

    #[test]
    fn who_waits_for_several_lines_of_memory_waits_for_the_slowest() {
        let mut h200 = uncore("H200");
        let mut mean_of_slowest = |lines: u64| {
            let warps = 2000;
            h200.flush();
            let waits = (0..warps).map(|warp| {
                h200.start_launch();
                let answers = (0..lines).map(|line| h200.read(at(0, 8 * (100 * warp + line), 0.0), 1));
                answers.fold(0.0, f64::max)
            });
            waits.sum::<f64>() / warps as f64
        };
        // "H200 L2", T3.
        for (lines, measured) in [(1, 690.0), (2, 750.0), (4, 830.0), (8, 920.0), (16, 1070.0), (32, 1150.0)] {
            let found = mean_of_slowest(lines);
            assert!((found / measured - 1.0).abs() < 0.08, "{lines} lines: {found} cycles, measured {measured}");
        }
    }

    #[test]
    fn a_second_reader_waits_for_the_same_fill() {
        let mut h200 = uncore("H200");
        let first = h200.read(at(0, 9, 0.0), ALL_SECTORS);
        let second = h200.read(at(1, 9, 100.0), ALL_SECTORS);
        assert!(first > 500.0, "{first}");
        assert_eq!(second, first, "not sooner than the data is there, and no second fetch");
        assert_eq!(h200.dram.sectors_read, 4);
    }

    #[test]
    fn neither_l2_nor_memory_gives_more_than_its_bandwidth() {
        for name in ["H200", "RTX 5070", "A100"] {
            let device = find(name).unwrap();
            let mut uncore = uncore(name);
            let lines = 200_000;
            let mut pass = |start: f64| {
                let reads = (0..lines).map(|line| uncore.read(at((line % 40) as u32, line, start), ALL_SECTORS));
                reads.fold(0.0, f64::max) - start
            };
            let (cold, warm) = (pass(0.0), pass(1e6));
            let bytes = 128.0 * lines as f64;
            let clock_ghz = f64::from(device.boost_clock_mhz) / 1e3;
            let cold_gbs = bytes / cold * clock_ghz;
            assert!(cold_gbs < device.memory_bandwidth_gbs, "{name}: {cold_gbs} GB/s from memory");
            assert!(cold_gbs > 0.75 * device.memory_bandwidth_gbs, "{name}: {cold_gbs} GB/s from memory");
            let l2_bytes_per_cycle = device.parameters.l2_bytes_per_cycle_per_sm * f64::from(device.sm_count);
            assert!(bytes / warm < l2_bytes_per_cycle, "{name}: {} bytes a cycle from L2", bytes / warm);
            assert!(warm < cold, "{name}");
        }
    }

    #[test]
    fn an_sm_gets_no_more_than_its_port_carries() {
        let mut h200 = uncore("H200");
        let mut pass =
            |start: f64| (0..1000).map(|line| h200.read(at(0, line, start), ALL_SECTORS)).fold(0.0, f64::max) - start;
        let (_, warm) = (pass(0.0), pass(1e6));
        let rate = 128_000.0 / warm;
        assert!((85.0..114.0).contains(&rate), "{rate} bytes a cycle");
    }

    #[test]
    fn a_store_of_parts_of_sectors_costs_l2_a_flit_more() {
        let mut h200 = uncore("H200");
        let lines = 96_000;
        let mut cycles_a_line = |granules: u32| {
            h200.start_launch();
            let answers = (0..lines).map(|line| h200.write(at((line % 132) as u32, line, 0.0), granules));
            answers.fold(0.0, f64::max) / lines as f64
        };
        // "H200 L2", all SMs: 0.050 to 0.055 cycles a whole line, a fourth of 0.216 to 0.229; 0.53 cycles for 8 lines of which a warp
        // stores a word a sector.
        let (whole, words) = (cycles_a_line(u32::MAX), cycles_a_line(0x0101_0101));
        assert!((0.050..0.060).contains(&whole), "{whole}");
        assert!((words / whole - 1.25).abs() < 0.02, "{words} against {whole}");
    }

    #[test]
    fn written_lines_go_to_memory_only_when_they_are_evicted() {
        let mut rtx = uncore("RTX 5070");
        let lines = find("RTX 5070").unwrap().l2_bytes / 128;
        (0..lines).for_each(|line| _ = rtx.write(at(0, line, line as f64), u32::MAX));
        assert_eq!((rtx.dram.sectors_written, rtx.dram.sectors_read), (0, 0));
        (lines..2 * lines).for_each(|line| _ = rtx.write(at(0, line, line as f64), 0xff));
        assert_eq!((rtx.dram.sectors_written, rtx.dram.sectors_read), (4 * lines, 0));
    }

    #[test]
    fn a_partly_written_sector_is_completed_from_memory() {
        let mut rtx = uncore("RTX 5070");
        rtx.write(at(0, 3, 0.0), 0x0f);
        assert!(rtx.read(at(0, 3, 10_000.0), 1) > 10_600.0);
        rtx.write(at(0, 4, 0.0), 0x0f);
        rtx.write(at(0, 4, 0.0), 0xf0);
        assert_eq!(rtx.read(at(0, 4, 20_000.0), 1), 20_358.0, "two halves make a whole");
    }

    #[test]
    fn atomics_on_one_address_follow_one_another() {
        let mut h200 = uncore("H200");
        h200.read(at(0, 1, 0.0), 1);
        let float = AtomicCycles { slice: 32.0 * 1.5, line: 32.0 * 3.5 };
        let last = (0..1000).map(|sm| h200.atomic(at(sm % 132, 1, 2000.0), 1, float)).fold(0.0, f64::max);
        assert!((last - 2000.0 - 112_000.0).abs() < 700.0, "{last}");
        let integer = AtomicCycles { slice: 32.0 * 1.5, line: 0.0 };
        let last = (0..1000).map(|sm| h200.atomic(at(sm % 132, 1, 2e6), 1, integer)).fold(0.0, f64::max);
        assert!((last - 2e6 - 48_000.0).abs() < 700.0, "{last}");
        let one = AtomicCycles { slice: 1.5, line: 3.5 };
        let spread = (0..1000).map(|n| h200.atomic(at(n % 132, n.into(), 4e6), 1, one)).fold(0.0, f64::max);
        assert!(spread - 4e6 < 2600.0, "{spread}");
    }

    #[test]
    fn floats_hold_a_line_and_leave_its_slice_to_others() {
        let mut h200 = uncore("H200");
        let other = (2..1 << 20).find(|line| h200.slice(*line) == h200.slice(0)).unwrap();
        let float = AtomicCycles { slice: 1.5, line: 100.0 };
        let mut done = |line, cycle| h200.atomic(at(0, line, cycle), 1, float);
        done(0, 0.0);
        done(other, 0.0);
        let alone = done(0, 10_000.0) - 10_000.0;
        assert_eq!(done(0, 10_000.0) - 10_000.0, alone + 100.0);
        assert_eq!(done(other, 10_000.0) - 10_000.0, alone + 3.0);
    }

    #[test]
    fn eight_lines_lie_in_two_slices_and_many_spread_evenly_at_any_stride() {
        let h200 = uncore("H200");
        let slices: Vec<usize> = (0..8).map(|line| h200.slice(8 * 777 + line)).collect();
        let (one, other) = (slices[0], slices[2]);
        assert_ne!(one, other);
        assert_eq!(slices, [one, one, other, other, one, one, other, other]);
        for stride in [1, 2, 8, 16, 64, 96, 128, 65, 1 << 14] {
            let mut counts = vec![0; 96];
            (0..96_000).for_each(|n| counts[h200.slice(n * stride)] += 1);
            let most = counts.iter().max().unwrap();
            assert!(*most < 1300, "a stride of {stride} lines: {most} of 96,000 in one slice");
        }
    }

    #[test]
    fn contents_outlive_a_launch_queues_do_not_and_a_flush_empties() {
        let mut h200 = uncore("H200");
        (0..50_000).for_each(|line| _ = h200.read(at(0, line, 0.0), ALL_SECTORS));
        h200.start_launch();
        assert_eq!(h200.read(at(0, 1, 0.0), 1), 280.0);
        h200.host_wrote(128 * 1_000_000, 256);
        assert_eq!(h200.read(at(0, 1_000_001, 1000.0), 1), 1500.0, "in L2, but not yet on this SM's side");
        h200.flush();
        assert!(h200.read(at(0, 1, 5000.0), 1) > 5540.0);
        h200.host_wrote(0, 0);
        h200.host_wrote(u64::MAX - 5, 6);
    }
}
