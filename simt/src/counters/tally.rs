//! Counting while instructions execute.

use super::{AccessCount, Counters, InstructionCount};
use crate::exec::{AccessNote, Kernel};
use crate::isa::{Mask, Pc};

/// Running counts of one executor.
#[derive(Clone, Debug)]
pub struct Tally {
    rows: Vec<Row>,
    /// Executed instructions by number of active lanes.
    lanes: [u64; 33],
    pub blocks_launched: u64,
    pub warps_launched: u64,
    pub threads_launched: u64,
}

/// Counts of one instruction. `executed` and `active_lanes` are differences to the row before (wrapping).
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    executed: u64,
    active_lanes: u64,
    off_lanes: u64,
    divergent: u64,
    access: AccessCount,
}

impl Tally {
    /// A tally for code of so many instructions.
    pub(crate) fn new(instructions: usize) -> Self {
        Self {
            rows: vec![Row::default(); instructions + 1],
            lanes: [0; 33],
            blocks_launched: 0,
            warps_launched: 0,
            threads_launched: 0,
        }
    }

    /// Instructions `first..end` were executed by a split of these lanes.
    #[inline]
    pub(crate) fn executed(&mut self, first: Pc, end: Pc, active: Mask) {
        let lanes = active.count_ones();
        self.lanes[lanes as usize] += u64::from(end - first);
        let lanes = u64::from(lanes);
        let row = &mut self.rows[first as usize];
        row.executed = row.executed.wrapping_add(1);
        row.active_lanes = row.active_lanes.wrapping_add(lanes);
        let row = &mut self.rows[end as usize];
        row.executed = row.executed.wrapping_sub(1);
        row.active_lanes = row.active_lanes.wrapping_sub(lanes);
    }

    /// An instruction's guard was false in these active lanes.
    #[inline]
    pub(crate) fn predicated_off(&mut self, pc: Pc, lanes: Mask) {
        self.rows[pc as usize].off_lanes += u64::from(lanes.count_ones());
    }

    /// A branch went two ways.
    pub(crate) fn diverged(&mut self, pc: Pc) {
        self.rows[pc as usize].divergent += 1;
    }

    #[inline]
    pub(crate) fn accessed(&mut self, pc: Pc, note: &AccessNote) {
        let access = &mut self.rows[pc as usize].access;
        let bytes = |lanes: Mask| u64::from(lanes.count_ones() * note.bytes);
        access.bytes += bytes(note.global | note.shared | note.local | note.param);
        if note.global != 0 {
            access.global_requests += 1;
            access.global_sectors += u64::from(note.sectors);
            access.global_sectors_ideal += bytes(note.global).div_ceil(32);
        }
        if note.shared != 0 {
            access.shared_requests += 1;
            access.shared_wavefronts += u64::from(note.wavefronts.actual);
            access.shared_wavefronts_ideal += u64::from(note.wavefronts.ideal);
        }
        if note.local != 0 {
            access.local_requests += 1;
            access.local_sectors += u64::from(note.sectors);
        }
    }

    /// A block was put on an SM.
    pub fn launched(&mut self, warps: u32, threads: u32) {
        self.blocks_launched += 1;
        self.warps_launched += u64::from(warps);
        self.threads_launched += u64::from(threads);
    }

    /// Adds what another executor of the same code counted.
    pub fn merge(&mut self, other: &Self) {
        for (row, other) in self.rows.iter_mut().zip(&other.rows) {
            row.executed = row.executed.wrapping_add(other.executed);
            row.active_lanes = row.active_lanes.wrapping_add(other.active_lanes);
            row.off_lanes += other.off_lanes;
            row.divergent += other.divergent;
            row.access.add(&other.access);
        }
        self.lanes.iter_mut().zip(other.lanes).for_each(|(mine, other)| *mine += other);
        self.blocks_launched += other.blocks_launched;
        self.warps_launched += other.warps_launched;
        self.threads_launched += other.threads_launched;
    }

    /// Warp instructions executed so far.
    pub fn instructions(&self) -> u64 {
        self.lanes.iter().sum()
    }

    /// Counts by instruction, in the order of the code.
    pub fn by_instruction(&self) -> Vec<InstructionCount> {
        let (mut executed, mut active) = (0u64, 0u64);
        let counts = self.rows.iter().map(|row| {
            executed = executed.wrapping_add(row.executed);
            active = active.wrapping_add(row.active_lanes);
            InstructionCount {
                executed,
                active_lanes: active,
                on_lanes: active - row.off_lanes.min(active),
                divergent: row.divergent,
                access: row.access,
            }
        });
        counts.take(self.rows.len() - 1).collect()
    }

    /// The launch's counters.
    pub fn counters(&self, kernel: &Kernel) -> Counters {
        let mut counters = Counters {
            lanes: self.lanes,
            blocks_launched: self.blocks_launched,
            warps_launched: self.warps_launched,
            threads_launched: self.threads_launched,
            ..Counters::default()
        };
        for (count, d) in self.by_instruction().iter().zip(&kernel.code) {
            counters.add(&d.op, d.given.dst[0], count);
        }
        counters
    }
}
