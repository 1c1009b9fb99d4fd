//! Block barriers: `bar.sync`, `bar.arrive`, `bar.red`.
//!
//! Barriers count threads. A warp counts 32 as soon as all its living lanes have arrived, so partly filled warps satisfy a
//! thread count like full ones. A barrier without a count waits for every living thread of the block: threads that exit are
//! not waited for.

use super::block::Block;
use super::kernel::Kernel;
use super::warp::{Divergence, Warp};
use crate::isa::{BarrierKind, BarrierReduce, Mask, Op, WARP_SIZE};

/// One of a block's numbered barriers.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockBarrier {
    /// Lanes that have arrived, warp by warp. Empty: nobody has.
    arrived: Vec<Mask>,
    /// Threads waited for; 0: all living ones.
    expected: u32,
    popc: u32,
    all: bool,
    any: bool,
}

/// What an arriving split asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub number: u8,
    /// Threads waited for; 0: all living ones of the block.
    pub expected: u32,
}

impl BlockBarrier {
    fn arrive(&mut self, warp: usize, warps: usize, lanes: Mask, expected: u32) {
        if self.arrived.is_empty() {
            self.arrived.resize(warps, 0);
            (self.expected, self.popc, self.all, self.any) = (expected, 0, true, false);
        }
        if let Some(arrived) = self.arrived.get_mut(warp) {
            *arrived |= lanes;
        }
    }

    fn reduce(&mut self, lanes: Mask, predicate: Mask) {
        self.popc += (predicate & lanes).count_ones();
        self.all &= predicate & lanes == lanes;
        self.any |= predicate & lanes != 0;
    }

    fn is_complete(&self, warps: &[Warp]) -> bool {
        if self.arrived.is_empty() {
            return false;
        }
        let pairs = || self.arrived.iter().zip(warps);
        if self.expected == 0 {
            return pairs().all(|(arrived, warp)| warp.live() & !arrived == 0);
        }
        let threads: u32 = pairs()
            .map(|(arrived, warp)| match (*arrived, warp.live() & !arrived) {
                (0, _) => 0,
                (_, 0) => WARP_SIZE as u32,
                _ => arrived.count_ones(),
            })
            .sum();
        threads >= self.expected
    }
}

impl Block {
    /// The running split of a warp arrives at a barrier with all its lanes.
    ///
    /// Returns whether the barrier is complete now, and so everybody who waited there goes on.
    pub(crate) fn arrive(&mut self, kernel: &Kernel, warp: usize, at: Arrival, divergence: Divergence) -> bool {
        let Some((pc, lanes)) = self.warps[warp].next() else { return false };
        let d = &kernel.code[pc as usize];
        let Op::Barrier(kind) = d.op else { return false };
        // Before Volta a warp arrives as a whole, whichever lanes execute the barrier.
        let arriving = if divergence == Divergence::Lockstep { self.warps[warp].live() } else { lanes };
        let warps = self.warps.len();
        let number = at.number;
        let Some(barrier) = self.barriers.get_mut(usize::from(number)) else { return false };
        barrier.arrive(warp, warps, arriving, at.expected);
        self.arrivals |= 1 << number;
        match kind {
            BarrierKind::Arrive => self.warps[warp].go_to(pc + 1),
            BarrierKind::Sync => self.warps[warp].wait_at_barrier(number, pc + 1),
            BarrierKind::Reduce(_) => {
                let predicate = self.registers.of(warp).1[usize::from(d.psrc.index)] ^ d.psrc.flip;
                barrier.reduce(lanes, predicate);
                self.warps[warp].wait_at_barrier(number, pc + 1);
            }
        }
        self.complete(kernel, number)
    }

    /// Whether anybody waits at a barrier, or has arrived there.
    pub(crate) fn has_arrivals(&self) -> bool {
        self.arrivals != 0
    }

    /// Completes barriers that now wait for nobody, after threads exited.
    pub(crate) fn complete_all(&mut self, kernel: &Kernel) -> bool {
        (0..self.barriers.len()).fold(false, |any, number| self.complete(kernel, number as u8) | any)
    }

    fn complete(&mut self, kernel: &Kernel, number: u8) -> bool {
        let barrier = &mut self.barriers[usize::from(number)];
        if !barrier.is_complete(&self.warps) {
            return false;
        }
        let done = std::mem::take(barrier);
        self.arrivals &= !(1 << number);
        for index in 0..self.warps.len() {
            let waiting: Vec<_> = self.warps[index].waiting_at(number).collect();
            for (pc, mask) in waiting {
                self.write_reduction(kernel, index, pc.wrapping_sub(1) as usize, mask, &done);
            }
            self.warps[index].wake(number);
        }
        true
    }

    /// Gives the result of `bar.red` to lanes that waited for it.
    fn write_reduction(&mut self, kernel: &Kernel, warp: usize, pc: usize, mask: Mask, done: &BlockBarrier) {
        let Some(d) = kernel.code.get(pc) else { return };
        let Op::Barrier(BarrierKind::Reduce(reduce)) = d.op else { return };
        let (slots, preds) = self.registers.of(warp);
        let on = mask & (preds[usize::from(d.guard.index)] ^ d.guard.flip);
        let result = match reduce {
            BarrierReduce::Popc => {
                let slot = &mut slots[usize::from(d.dst[0].0)];
                (0..WARP_SIZE).filter(|lane| on >> lane & 1 != 0).for_each(|lane| slot.0[lane] = done.popc);
                return;
            }
            BarrierReduce::And => done.all,
            BarrierReduce::Or => done.any,
        };
        let index = usize::from(d.pdst[0]);
        if index != 0 {
            let value = if result { Mask::MAX } else { 0 };
            preds[index] = (preds[index] & !on) | (value & on);
        }
    }
}
