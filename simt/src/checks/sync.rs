//! Misuse of barriers and of warp-wide operations.
//!
//! - A `bar.sync` (an aligned barrier) that lanes of one warp meet at two different instructions: `__syncthreads` in both arms of
//!   a divergent branch. The machine counts arrivals, as hardware since Volta does, so such code may run; PTX forbids it.
//! - A warp-wide operation whose executing lane is not in its own member mask, whose lanes name different masks, or which takes a
//!   value from a lane that does not take part.
//! - For a deadlock that the machine found: who is missing, and where it is.

use std::collections::HashMap;

use super::finding::{Doing, Finding, Findings, Place};
use crate::exec::{Effect, Event};
use crate::fault::{Detail, FaultKind, Violation};
use crate::isa::{Mask, Op, Pc, ShuffleKind, Src, WARP_SIZE};
use crate::memory::sectors::lanes;

/// A split that arrived at a barrier.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    warp: usize,
    lanes: Mask,
    pc: Pc,
}

#[derive(Debug, Default)]
struct BlockState {
    /// By barrier number, those that have arrived and not gone on.
    arrivals: HashMap<u8, Vec<Arrival>>,
    /// The last exit.
    exited: Option<Arrival>,
}

#[derive(Debug, Default)]
pub(super) struct Sync {
    blocks: HashMap<[u32; 3], BlockState>,
}

impl Sync {
    pub fn ended(&mut self, block: [u32; 3]) {
        self.blocks.remove(&block);
    }

    pub fn see(&mut self, event: &Event<'_>, found: &mut Findings) {
        let step = event.step;
        let instr = event.grid.kernel().instr(step.pc);
        let arrival = Arrival { warp: event.warp, lanes: step.on, pc: step.pc };
        match (step.effect, instr.op) {
            (Effect::Barrier { number, .. }, _) => {
                let state = self.blocks.entry(event.block.index()).or_default();
                state.arrivals.entry(number).or_default().push(arrival);
                self.complete(event, found);
            }
            (Effect::Exit { .. }, _) => {
                let state = self.blocks.entry(event.block.index()).or_default();
                state.exited = Some(arrival);
                self.complete(event, found);
            }
            (
                Effect::None,
                Op::WarpSync | Op::Shuffle(_) | Op::Vote(_) | Op::Match { .. } | Op::Redux(..) | Op::Elect,
            ) => masks(event, found),
            _ => {}
        }
    }

    /// Looks at barriers that have just been completed.
    fn complete(&mut self, event: &Event<'_>, found: &mut Findings) {
        let Some(state) = self.blocks.get_mut(&event.block.index()) else { return };
        let waiting = event.block.arrivals;
        let done: Vec<u8> = state.arrivals.keys().copied().filter(|number| waiting >> number & 1 == 0).collect();
        for number in done {
            let Some(arrivals) = state.arrivals.remove(&number) else { continue };
            for (index, late) in arrivals.iter().enumerate() {
                let elsewhere = |early: &&Arrival| early.warp == late.warp && early.pc != late.pc;
                let Some(early) = arrivals[..index].iter().find(elsewhere) else { continue };
                if is_aligned(event, late.pc) && is_aligned(event, early.pc) {
                    let violation = at(FaultKind::DivergentBarrier, late, Detail::None);
                    let block = event.block.index();
                    found.add(Finding { block, violation, other: Some(place(block, early, Doing::Waits)) });
                }
            }
        }
    }

    /// Who keeps those waiting that a deadlock left at a barrier: the thread that exited last, or one that waits elsewhere.
    pub fn absent(&self, block: [u32; 3]) -> Option<Place> {
        let state = self.blocks.get(&block)?;
        let exited = state.exited.map(|exited| place(block, &exited, Doing::Exited));
        let mut waiting: Vec<&Arrival> = state.arrivals.values().flatten().collect();
        waiting.sort_by_key(|arrival| (arrival.warp, arrival.pc));
        let (first, rest) = waiting.split_first()?;
        let elsewhere = rest.iter().find(|arrival| arrival.pc != first.pc);
        exited.or_else(|| elsewhere.map(|arrival| place(block, arrival, Doing::Waits)))
    }
}

/// `barrier` without `.aligned` may be met at several instructions; `bar` may not.
fn is_aligned(event: &Event<'_>, pc: Pc) -> bool {
    let text = event.grid.kernel().program().info.get(pc as usize).map_or("", |info| &info.text);
    let word = text.split_whitespace().find(|word| word.starts_with("bar")).unwrap_or("");
    !word.starts_with("barrier") || word.contains(".aligned")
}

fn at(kind: FaultKind, arrival: &Arrival, detail: Detail) -> Violation {
    let lane = arrival.lanes.trailing_zeros() & 31;
    Violation { kind, pc: arrival.pc, warp: arrival.warp as u32, lane, detail }
}

fn place(block: [u32; 3], arrival: &Arrival, doing: Doing) -> Place {
    let lane = arrival.lanes.trailing_zeros() & 31;
    Place { block, pc: arrival.pc, warp: arrival.warp as u32, lane, doing }
}

/// The member masks of a warp-wide operation, and the lanes that a shuffle takes values from.
fn masks(event: &Event<'_>, found: &mut Findings) {
    let step = event.step;
    let instr = event.grid.kernel().instr(step.pc);
    let operand = match instr.op {
        Op::WarpSync | Op::Vote(_) | Op::Elect => 0,
        Op::Match { .. } | Op::Redux(..) => 1,
        _ => 3,
    };
    let (slots, _) = event.block.registers(event.warp);
    // A result may have taken the place of an operand; then its value is gone.
    let gone = |src: Src| !src.is_constant() && instr.dst.iter().flatten().any(|dst| usize::from(dst.0) == src.index());
    let read = |src: Src| {
        let file = if src.is_constant() { &event.grid.constants[..] } else { slots };
        (!src.is_none() && !gone(src)).then(|| file.get(src.index()).copied()).flatten()
    };
    let Some(members) = read(instr.src[operand]) else { return };
    let block = event.block.index();
    let mut tell = |lane: usize, given: Mask, other: Option<usize>| {
        let one = |lane: usize| Arrival { warp: event.warp, lanes: 1 << lane, pc: step.pc };
        let violation = at(FaultKind::WarpMask, &one(lane), Detail::Members { given });
        found.add(Finding { block, violation, other: other.map(|other| place(block, &one(other), Doing::Runs)) });
    };
    for lane in lanes(step.on) {
        let given = members.0[lane];
        if given >> lane & 1 == 0 {
            return tell(lane, given, None);
        }
        if let Some(other) = lanes(given & step.on).find(|other| members.0[*other] != given) {
            return tell(lane, given, Some(other));
        }
    }
    let (Op::Shuffle(kind), Some(delta), Some(clamp)) = (instr.op, read(instr.src[1]), read(instr.src[2])) else {
        return;
    };
    let live = event.block.warps()[event.warp].live();
    for lane in lanes(step.on) {
        let given = members.0[lane];
        let source = source_lane(kind, lane as u32, delta.0[lane] & 31, clamp.0[lane]);
        if let Some(source) = source.filter(|source| given & live & (1 << source) == 0) {
            // A lane that is no thread of the block has no place to be named.
            let exists = event.grid.launched_lanes(event.warp as u32) >> source & 1 != 0;
            return tell(lane, given, exists.then_some(source as usize % WARP_SIZE));
        }
    }
}

/// Where a lane takes its value from, by the rule of the PTX ISA; `None` where it keeps its own.
fn source_lane(kind: ShuffleKind, own: u32, delta: u32, c: u32) -> Option<u32> {
    let (clamp, segment) = (c & 31, c >> 8 & 31);
    let (most, least) = ((own & segment) | (clamp & !segment & 31), own & segment);
    let source = match kind {
        ShuffleKind::Up => return own.checked_sub(delta).filter(|source| *source >= most),
        ShuffleKind::Down => own + delta,
        ShuffleKind::Butterfly => own ^ delta,
        ShuffleKind::Index => least | (delta & !segment & 31),
    };
    (source <= most).then_some(source)
}
