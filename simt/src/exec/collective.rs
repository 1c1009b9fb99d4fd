//! Warp-wide operations: shuffles, votes, match, reduce, elect.

use super::executor::Executor;
use super::frame::Decoded;
use crate::isa::{AtomicKind, Lanes, Mask, Op, ShuffleKind, Src, Ty, VoteKind, WARP_SIZE};
use crate::memory::{atomic, sectors::lanes};

/// Lanes with the member masks that they give; nearly always one group.
#[derive(Debug)]
pub(super) struct Groups {
    pub first: (Mask, Mask),
    pub others: Vec<(Mask, Mask)>,
}

impl Groups {
    pub fn iter(&self) -> impl Iterator<Item = (Mask, Mask)> {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }
}

impl Executor<'_> {
    /// The lanes that execute a warp-wide operation, by the member mask that they give. Without one, as before Volta, the lanes
    /// that execute it are its members.
    ///
    /// # Safety
    /// The frame was entered for the warp that executes `d`; so below.
    pub(super) unsafe fn groups(&self, d: &Decoded, on: Mask) -> Groups {
        let operand = match d.op {
            Op::WarpSync | Op::Separate | Op::Meet | Op::Vote(_) | Op::Elect => 0,
            Op::Match { .. } | Op::Redux(..) => 1,
            _ => 3,
        };
        if !d.given.src[operand] {
            return Groups { first: (on, on), others: Vec::new() };
        }
        // SAFETY: operands were checked.
        let members = unsafe { &*self.frame.source(d.src[operand]) };
        let same =
            |given: Mask| lanes(on).filter(|lane| members.0[*lane] == given).fold(0, |mask, lane| mask | 1 << lane);
        let group = |lane: Mask| {
            let given = members.0[lane.trailing_zeros() as usize % WARP_SIZE];
            (same(given), given)
        };
        let mut groups = Groups { first: group(on), others: Vec::new() };
        let mut rest = on & !groups.first.0;
        while rest != 0 {
            groups.others.push(group(rest));
            rest &= !groups.others.iter().fold(0, |all, (lanes, _)| all | lanes);
        }
        groups
    }

    /// Executes the operation in the lanes `on`, over the values of `participants`.
    ///
    /// # Safety
    /// As [`Executor::groups`].
    pub(super) unsafe fn exchange(&mut self, d: &Decoded, on: Mask, participants: Mask) {
        // SAFETY: operands were checked for the words that each operation reads.
        unsafe {
            match d.op {
                Op::Shuffle(kind) => self.shuffle(kind, d, on),
                Op::Vote(kind) => {
                    let votes = self.frame.pred(d.psrc) & participants;
                    let result = match kind {
                        VoteKind::Ballot => return self.frame.write(d.dst[0], &Lanes::splat(votes), on),
                        VoteKind::All => votes == participants,
                        VoteKind::Any => votes != 0,
                        VoteKind::Uniform => votes == 0 || votes == participants,
                    };
                    self.frame.set_pred(d.pdst[0], if result { Mask::MAX } else { 0 }, on);
                }
                Op::Match { all, bits } => self.match_values(all, bits, d, on, participants),
                Op::Redux(kind, ty) => {
                    let values = self.value(d.src[0]);
                    let result = reduce(kind, ty, lanes(participants).map(|lane| values.0[lane]));
                    self.frame.write(d.dst[0], &Lanes::splat(result), on);
                }
                Op::Elect => {
                    let leader = participants.trailing_zeros() & 31;
                    self.frame.set_pred(d.pdst[0], 1 << leader, on);
                    self.frame.write(d.dst[0], &Lanes::splat(leader), on);
                }
                _ => {}
            }
        }
    }

    /// # Safety
    /// As [`Executor::groups`].
    unsafe fn value(&self, src: Src) -> Lanes {
        // SAFETY: the caller's.
        unsafe { *self.frame.source(src) }
    }

    /// `shfl`, by the rule of the PTX ISA: `c` holds the clamp in bits 0 to 4 and the segment mask in bits 8 to 12.
    ///
    /// # Safety
    /// As [`Executor::groups`].
    unsafe fn shuffle(&mut self, kind: ShuffleKind, d: &Decoded, on: Mask) {
        // SAFETY: the caller's.
        let [values, b, c] = unsafe { [self.value(d.src[0]), self.value(d.src[1]), self.value(d.src[2])] };
        let (result, valid) = match kind {
            ShuffleKind::Up => {
                exchanged(&values, &b, &c, |own, delta, _, last| (own.wrapping_sub(delta), own >= delta + last))
            }
            ShuffleKind::Down => exchanged(&values, &b, &c, |own, delta, _, last| (own + delta, own + delta <= last)),
            ShuffleKind::Butterfly => {
                exchanged(&values, &b, &c, |own, delta, _, last| (own ^ delta, own ^ delta <= last))
            }
            ShuffleKind::Index => exchanged(&values, &b, &c, |own, lane, segment, last| {
                let source = (own & segment) | (lane & !segment);
                (source, source <= last)
            }),
        };
        // SAFETY: the caller's.
        unsafe {
            self.frame.write(d.dst[0], &result, on);
            self.frame.set_pred(d.pdst[0], valid, on);
        }
    }

    /// # Safety
    /// As [`Executor::groups`].
    unsafe fn match_values(&mut self, all: bool, bits: u8, d: &Decoded, on: Mask, participants: Mask) {
        // SAFETY: the caller's; a 64-bit operand was checked for two words.
        let (low, high) = unsafe {
            let high = if bits == 64 { self.value(d.src[0].word(1)) } else { Lanes::ZERO };
            (self.value(d.src[0]), high)
        };
        let value = |lane: usize| (low.0[lane], high.0[lane]);
        let peers = |own: usize| {
            lanes(participants).filter(|lane| value(*lane) == value(own)).fold(0, |mask: Mask, lane| mask | 1 << lane)
        };
        let mut result = Lanes::ZERO;
        let mut same: Mask = 0;
        for lane in lanes(on) {
            let peers = peers(lane);
            if !all || peers == participants {
                result.0[lane] = peers;
                same |= 1 << lane;
            }
        }
        // SAFETY: the caller's.
        unsafe {
            self.frame.write(d.dst[0], &result, on);
            self.frame.set_pred(d.pdst[0], same, on);
            self.frame.set_pred(d.pdst[1], !same, on);
        }
    }
}

/// Values by the source lane that `f` gives for each lane, from its number, the delta, the segment mask and the segment's last lane
/// (for `up` its first); and the lanes whose source is inside. The others keep their own value.
#[inline(always)]
fn exchanged(values: &Lanes, b: &Lanes, c: &Lanes, f: impl Fn(u32, u32, u32, u32) -> (u32, bool)) -> (Lanes, Mask) {
    let (mut result, mut valid) = (Lanes::ZERO, 0);
    for lane in 0..WARP_SIZE {
        let own = lane as u32;
        let (delta, clamp, segment) = (b.0[lane] & 31, c.0[lane] & 31, c.0[lane] >> 8 & 31);
        let (source, inside) = f(own, delta, segment, (own & segment) | (clamp & !segment));
        valid |= u32::from(inside) << lane;
        result.0[lane] = values.0[(if inside { source } else { own }) as usize % WARP_SIZE];
    }
    (result, valid)
}

/// Reduces values in lane order. Integers and bits; minimum and maximum of `f32` prefer numbers to NaNs.
fn reduce(kind: AtomicKind, ty: Ty, mut values: impl Iterator<Item = u32>) -> u32 {
    let first = values.next().unwrap_or(0);
    values.fold(first, |total, value| match (ty, kind) {
        (Ty::F32, AtomicKind::Min) => f32::from_bits(total).min(f32::from_bits(value)).to_bits(),
        (Ty::F32, AtomicKind::Max) => f32::from_bits(total).max(f32::from_bits(value)).to_bits(),
        _ => atomic::apply(kind, ty, total.into(), value.into(), 0, false) as u32,
    })
}
