//! Additions and multiply-adds that read or write the carry flag. The flag is a predicate of the warp, one bit a lane.
//!
//! For subtractions it is a borrow, as `subc` reads it: `a - (b + flag)`.

use super::level::{Level, Picked, Words};
use super::shape::{Shape, picked};
use crate::exec::frame::{Decoded, Frame};
use crate::isa::{Alu, AluKind, Half, Lanes, Mask, Ty, WARP_SIZE};

pub(super) fn choose(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    let words = alu.ty.slots();
    let integer = matches!(alu.ty, Ty::U32 | Ty::S32 | Ty::B32 | Ty::U64 | Ty::S64 | Ty::B64);
    let flagged = alu.mods.carry_in || alu.mods.carry_out;
    let sources: &[u16] = match alu.kind {
        Add | Sub => &[words, words],
        Mad if alu.mods.half != Half::Wide => &[words, words, words],
        _ => return None,
    };
    (integer && flagged).then(|| Picked { words: Words::new(sources, &[words]), ..picked::<WithCarry>() })
}

struct WithCarry;

impl Shape for WithCarry {
    /// Replaced by `choose`.
    const WORDS: Words = Words::new(&[], &[]);

    unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
        let words = usize::from(d.alu.ty.slots());
        // SAFETY: the frame and the instruction belong together; operands were checked for the words of their type.
        unsafe {
            let flags = if d.alu.mods.carry_in { frame.pred(d.psrc) } else { 0 };
            let to = frame.target(d.dst[0]);
            let sources = d.src.map(|src| frame.source(src));
            let mut carries: Mask = 0;
            for lane in (0..WARP_SIZE).filter(|lane| on >> lane & 1 != 0) {
                let read = |from: *const Lanes| {
                    let high = if words == 2 { (*from.add(1)).0[lane] } else { 0 };
                    u64::from((*from).0[lane]) | u64::from(high) << 32
                };
                let third = if d.alu.kind == AluKind::Mad { read(sources[2]) } else { 0 };
                let flag = flags >> lane & 1 != 0;
                let (result, carry) = compute(&d.alu, read(sources[0]), read(sources[1]), third, flag);
                (*to).0[lane] = result as u32;
                if words == 2 {
                    (*to.add(1)).0[lane] = (result >> 32) as u32;
                }
                carries |= u32::from(carry) << lane;
            }
            if d.alu.mods.carry_out {
                frame.set_pred(d.pdst[0], carries, on);
            }
        }
    }
}

/// The result in the low bits, and the carry or borrow out.
fn compute(alu: &Alu, a: u64, b: u64, c: u64, flag: bool) -> (u64, bool) {
    let bits = alu.ty.bits();
    let mask = u64::MAX >> (64 - bits);
    match alu.kind {
        AluKind::Sub => {
            let result = i128::from(a) - i128::from(b) - i128::from(flag);
            (result as u64 & mask, result < 0)
        }
        AluKind::Add => carried(u128::from(a) + u128::from(b) + u128::from(flag), bits),
        _ => {
            let up = 64 - bits;
            let product = match alu.ty.is_signed() {
                true => (i128::from((a << up) as i64 >> up) * i128::from((b << up) as i64 >> up)) as u128,
                false => u128::from(a) * u128::from(b),
            };
            let part = match alu.mods.half {
                Half::Hi => (product >> bits) as u64 & mask,
                _ => product as u64 & mask,
            };
            carried(u128::from(part) + u128::from(c) + u128::from(flag), bits)
        }
    }
}

fn carried(sum: u128, bits: u32) -> (u64, bool) {
    (sum as u64 & (u64::MAX >> (64 - bits)), sum >> bits != 0)
}
