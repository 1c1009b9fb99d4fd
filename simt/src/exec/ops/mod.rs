//! One function an operation: from what an instruction says to the function that does it.
//!
//! [`choose`] is the whole list of what the machine can run. Each file has one group of operations and a function that maps
//! kind, types and modifiers to the operation; what is not there does not exist, and a program that asks for it is refused by
//! name. Common forms have functions of their own, in which every modifier is settled; rare ones share a function that reads
//! the modifiers as it runs.

mod address;
mod level;
mod shape;
mod summary;

mod bits;
mod carry;
mod changed;
mod compare;
mod convert;
mod float32;
mod float64;
mod half;
mod integer;
mod moves;
mod packed;
mod predicate;
mod sass;
mod special;

use super::frame::{Decoded, Flow, Frame};
use crate::isa::{Access, Alu, AtomicKind, Mask, Op, Ty};

pub use level::CpuLevel;
use level::{Picked, Words};
pub(crate) use summary::Summary;

/// The operation of an instruction, if the machine has it.
pub(crate) fn choose(op: &Op) -> Option<Picked> {
    Some(match op {
        Op::Nop => Picked::same(leave, Words::default(), Flow::Next),
        Op::Alu(alu) => lanewise(alu)?,
        Op::Special(register) => special::special(*register),
        Op::ActiveMask => special::active_mask(),
        Op::Load(access) => address::address(access, loaded(access)?),
        Op::Store(access) => address::address(access, stored(access)?),
        Op::Atomic(kind, access) => address::address(access, modified(*kind, access)?),
        Op::Branch { .. } => control(Flow::Branch, &[]),
        Op::BranchIndexed { .. } => control(Flow::BranchIndexed, &[1]),
        Op::BranchIf { .. } => control(Flow::BranchByValue, &[]),
        Op::BranchRegister { .. } | Op::BranchMembers { .. } => control(Flow::BranchByValue, &[1]),
        Op::Break => control(Flow::Collective, &[1]),
        Op::Call { .. } => control(Flow::Call, &[]),
        Op::Return => control(Flow::Return, &[]),
        Op::Exit => control(Flow::Exit, &[]),
        Op::Trap => control(Flow::Trap, &[]),
        Op::Barrier(_) => control(Flow::Barrier, &[1]),
        Op::Fence(_) => control(Flow::Fence, &[]),
        Op::Sleep => control(Flow::Sleep, &[1]),
        Op::WarpSync | Op::Separate | Op::Meet => control(Flow::Collective, &[1]),
        Op::Vote(_) | Op::Elect => control(Flow::Collective, &[]),
        Op::Shuffle(_) => control(Flow::Collective, &[1, 1, 1]),
        Op::Match { bits: 32, .. } => control(Flow::Collective, &[1]),
        Op::Match { bits: 64, .. } => control(Flow::Collective, &[2]),
        Op::Match { .. } => return None,
        Op::Redux(kind, ty) => reduced(*kind, *ty)?,
    })
}

/// Words that each operand of an instruction has: sources, results, address. `None` where the machine has no such instruction.
pub fn operand_words(op: &Op) -> Option<OperandWords> {
    let Words { src, dst } = choose(op)?.words;
    let address = match op {
        Op::Load(access) | Op::Store(access) | Op::Atomic(_, access) => {
            if access.wide_address {
                2
            } else {
                1
            }
        }
        _ => 0,
    };
    Some(OperandWords { src, dst, address })
}

/// See [`operand_words`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperandWords {
    pub src: [u16; 4],
    pub dst: [u16; 4],
    pub address: u16,
}

/// What an instruction asks for, in the words of the one who must be told that it is not there.
pub(crate) fn describe(op: &Op) -> String {
    match op {
        Op::Alu(alu) if alu.from == alu.ty => format!("{:?} of {:?} with these modifiers", alu.kind, alu.ty),
        Op::Alu(alu) => format!("{:?} of {:?} and {:?} with these modifiers", alu.kind, alu.ty, alu.from),
        Op::Load(access) => format!("a load of {} × {:?}", access.count, access.ty),
        Op::Store(access) => format!("a store of {} × {:?}", access.count, access.ty),
        Op::Atomic(kind, access) => format!("an atomic {kind:?} of {} × {:?}", access.count, access.ty),
        other => format!("{other:?}"),
    }
}

/// The lane-wise operations, group by group.
fn lanewise(alu: &Alu) -> Option<Picked> {
    if alu.mods.changes_sources() {
        return changed::choose(alu).or_else(|| sass::choose(alu));
    }
    const GROUPS: [fn(&Alu) -> Option<Picked>; 12] = [
        moves::choose,
        integer::choose,
        carry::choose,
        bits::choose,
        predicate::choose,
        compare::choose,
        float32::choose,
        float64::choose,
        half::choose,
        packed::choose,
        convert::choose,
        sass::choose,
    ];
    GROUPS.into_iter().find_map(|group| group(alu))
}

fn control(flow: Flow, sources: &[u16]) -> Picked {
    Picked::same(leave, Words::new(sources, &[1]), flow)
}

/// Hands an instruction that is no lane-wise operation to the loop.
unsafe fn leave(_: &mut Frame, d: &Decoded, _: Mask) -> Flow {
    d.flow
}

/// Operands of a load: one destination an element.
fn loaded(access: &Access) -> Option<Words> {
    elements(access).map(|sizes| Words { dst: sizes, ..Words::default() })
}

fn stored(access: &Access) -> Option<Words> {
    elements(access).map(|sizes| Words { src: sizes, ..Words::default() })
}

/// Words of each element, where an access of such elements exists.
fn elements(access: &Access) -> Option<[u16; 4]> {
    let sound = access.ty.bits() >= 8 && matches!(access.count, 1 | 2 | 4) && access.bytes() <= 32;
    sound.then(|| std::array::from_fn(|index| if index < access.count.into() { access.ty.slots() } else { 0 }))
}

/// Operands of an atomic that exists: integers and bits of 32 and 64, `exch` and `cas` up to 128, float additions.
fn modified(kind: AtomicKind, access: &Access) -> Option<Words> {
    use AtomicKind::*;
    let ty = access.ty;
    let integer = matches!(ty, Ty::B32 | Ty::U32 | Ty::S32 | Ty::B64 | Ty::U64 | Ty::S64);
    let half = matches!(ty, Ty::F16 | Ty::BF16 | Ty::F16x2 | Ty::BF16x2);
    let exists = match kind {
        Exch | Cas => integer || matches!(ty, Ty::B16 | Ty::B128 | Ty::F32 | Ty::F64),
        Add => integer || half || matches!(ty, Ty::F32 | Ty::F64),
        Min | Max => integer || half,
        And | Or | Xor => integer,
        Inc | Dec => ty == Ty::U32,
    };
    let words = ty.slots();
    let swap = if kind == Cas { words } else { 0 };
    (exists && access.count == 1).then(|| Words::new(&[words, swap], &[words]))
}

/// Operands of a warp-wide reduction that exists.
fn reduced(kind: AtomicKind, ty: Ty) -> Option<Picked> {
    use AtomicKind::*;
    let exists = match kind {
        Add | Min | Max => matches!(ty, Ty::U32 | Ty::S32 | Ty::B32) || (ty == Ty::F32 && kind != Add),
        And | Or | Xor => matches!(ty, Ty::B32 | Ty::U32 | Ty::S32),
        _ => false,
    };
    exists.then(|| control(Flow::Collective, &[1]))
}

#[cfg(test)]
mod tests;
