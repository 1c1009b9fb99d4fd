//! What the code does with control and registers: blocks, reconvergence, liveness, slots.
//!
//! Each function is looked at alone. A call is an ordinary step in it; the callee's registers live above the caller's.

mod allocate;
mod blocks;
mod crossing;
mod liveness;
mod postdominators;
mod scan;
mod sets;

use super::error::Outcome;
use super::lower::Code;
use allocate::{Files, Slots};
use blocks::Blocks;
use liveness::Live;

/// Everything that emission needs to know.
pub(super) struct Flow {
    /// First slot of each register.
    pub slots: Vec<u16>,
    /// Number of each predicate; 0 is constantly true.
    pub predicates: Vec<u16>,
    pub slot_count: u16,
    pub pred_count: u16,
    /// Where the sides of a branch meet again: the step of the branch and the step where they meet.
    pub reconverge: Vec<(u32, u32)>,
    /// Most 32-bit registers alive at one place.
    pub peak_registers: u32,
}

pub(super) fn analyse(code: &Code) -> Outcome<Flow> {
    let count = code.functions.len();
    let mut slots = Slots::new(code);
    let mut reconverge = Vec::new();
    // What the callers of each function hold while it runs, and its own peak.
    let mut peaks = vec![0u32; count];
    let mut calls = vec![Vec::new(); count];
    for (index, function) in code.functions.iter().enumerate() {
        let blocks = Blocks::new(code, function);
        reconverge.extend(postdominators::reconvergence(code, &blocks));
        let live = Live::new(code, index as u32, &blocks)?;
        peaks[index] = live.peak();
        calls[index] = function.calls.iter().map(|&(step, callee)| (live.across(step), callee)).collect();
        slots.assign(code, index, &live)?;
    }
    // Callees come after their callers, so the last function's peak is complete first.
    for index in (0..count).rev() {
        for &(held, callee) in &calls[index] {
            peaks[index] = peaks[index].max(held.saturating_add(peaks[callee as usize]));
        }
    }
    let Files { slots, predicates, slot_count, pred_count } = slots.finish();
    Ok(Flow {
        slots,
        predicates,
        slot_count,
        pred_count,
        reconverge,
        peak_registers: peaks.first().copied().unwrap_or(0),
    })
}
