//! Logic on predicates: one operation on two 32-bit masks does all lanes.

use super::level::{Picked, Words};
use crate::exec::frame::{Decoded, Flow, Frame};
use crate::isa::{Alu, AluKind, Mask};

pub(super) fn choose(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    Some(match alu.kind {
        PredAnd => logic(|frame, d, on| apply(frame, d, on, |a, b| a & b)),
        PredOr => logic(|frame, d, on| apply(frame, d, on, |a, b| a | b)),
        PredXor => logic(|frame, d, on| apply(frame, d, on, |a, b| a ^ b)),
        PredNot => logic(|frame, d, on| apply(frame, d, on, |a, _| !a)),
        PredMov => logic(|frame, d, on| apply(frame, d, on, |a, _| a)),
        _ => return None,
    })
}

fn logic(run: unsafe fn(&mut Frame, &Decoded, Mask) -> Flow) -> Picked {
    Picked::same(run, Words::default(), Flow::Next)
}

#[inline(always)]
fn apply(frame: &mut Frame, d: &Decoded, on: Mask, f: impl Fn(Mask, Mask) -> Mask) -> Flow {
    // SAFETY: only called from operations, whose callers entered the frame for the instruction's program.
    unsafe {
        let result = f(frame.pred(d.pa), frame.pred(d.psrc));
        frame.set_pred(d.pdst[0], result, on);
    }
    Flow::Next
}
