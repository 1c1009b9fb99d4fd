//! Pairs in one register: two 16-bit integers, two `f32`.

use super::float32;
use super::level::Picked;
use super::shape::{binary_with, ternary_with, unary_with};
use crate::isa::{Alu, AluKind, Ty};

pub(super) fn choose(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    Some(match (alu.ty, alu.kind) {
        (Ty::U16x2 | Ty::S16x2, Add | Sub | Min | Max) => {
            binary_with(|alu, a: u32, b: u32| pair(integer(alu, a, b), integer(alu, a >> 16, b >> 16)))
        }
        (Ty::U16x2 | Ty::S16x2, Neg) => unary_with(|_, a: u32| pair(0u32.wrapping_sub(a), 0u32.wrapping_sub(a >> 16))),
        (Ty::F32x2, Add | Sub | Mul) => binary_with(|alu, a: u64, b: u64| {
            let one = |shift: u32| float32::evaluate(alu, [(a >> shift) as u32, (b >> shift) as u32, 0]);
            u64::from(one(0)) | u64::from(one(32)) << 32
        }),
        (Ty::F32x2, Fma) => ternary_with(|alu, a: u64, b: u64, c: u64| {
            let one =
                |shift: u32| float32::evaluate(alu, [(a >> shift) as u32, (b >> shift) as u32, (c >> shift) as u32]);
            u64::from(one(0)) | u64::from(one(32)) << 32
        }),
        _ => return None,
    })
}

/// The lesser or greater of each of two 16-bit integers.
pub(super) fn lesser_or_greater(alu: &Alu, a: u32, b: u32, least: bool) -> u32 {
    let alu = Alu { kind: if least { AluKind::Min } else { AluKind::Max }, ..*alu };
    pair(integer(&alu, a, b), integer(&alu, a >> 16, b >> 16))
}

fn pair(low: u32, high: u32) -> u32 {
    low & 0xffff | high << 16
}

/// One half of a packed integer operation; the low 16 bits of the result count.
fn integer(alu: &Alu, a: u32, b: u32) -> u32 {
    let value = |bits: u32| if alu.ty == Ty::S16x2 { i32::from(bits as i16) } else { i32::from(bits as u16) };
    let (a, b) = (value(a), value(b));
    let result = match alu.kind {
        AluKind::Add => a + b,
        AluKind::Sub => a - b,
        AluKind::Min => a.min(b),
        _ => a.max(b),
    };
    let clamped = if alu.mods.relu && alu.ty == Ty::S16x2 { result.max(0) } else { result };
    clamped as u32
}
