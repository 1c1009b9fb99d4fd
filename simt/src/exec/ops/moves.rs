//! Moves, joins and splits of words, selections, and address-space conversions.

use std::marker::PhantomData;

use super::changed;
use super::level::{CHUNKS, Chunk, LANES, Level, Picked, Words};
use super::shape::{Shape, Value, picked, ternary, test, unary, unary_with};
use crate::exec::frame::{Decoded, Frame};
use crate::isa::{
    Alu, AluKind, GLOBAL_BASE, LOCAL_WINDOW, Lanes, Mask, PARAM_WINDOW, SHARED_WINDOW, Space, Ty, WARP_SIZE,
    WINDOW_BYTES,
};

pub(super) fn choose(alu: &Alu) -> Option<Picked> {
    use AluKind::*;
    Some(match (alu.kind, alu.ty.bits()) {
        (Mov, 8..=32) => unary(|a: u32| a),
        (Mov, 64) => picked::<Copy<2>>(),
        (Mov, 128) => picked::<Copy<4>>(),
        (Pack, whole) => Picked { words: parts_in(whole, alu.from.bits())?, ..picked::<Pieces<true>>() },
        (Unpack, whole) => Picked { words: parts_out(whole, alu.from.bits())?, ..picked::<Pieces<false>>() },
        (Selp, 8..=32) => picked::<Select<1, false>>(),
        (Selp, 64) => picked::<Select<2, false>>(),
        (Selp, 128) => picked::<Select<4, false>>(),
        (Slct, bits) => slct(bits, alu.from, alu.mods.ftz)?,
        (CvtaFrom | CvtaTo, 32 | 64) if alu.mods.space == Space::Generic => return None,
        (CvtaFrom, 64) => unary_with(|alu, a: u64| a.wrapping_add(window(alu.mods.space))),
        (CvtaTo, 64) => unary_with(|alu, a: u64| a.wrapping_sub(window(alu.mods.space))),
        (CvtaFrom | CvtaTo, 32) if window(alu.mods.space) == 0 => unary(|a: u32| a),
        (IsSpace, _) => test(|alu, address: u64| is_in(alu.mods.space, address)),
        _ => return None,
    })
}

/// Where a space begins among generic addresses. Global and constant addresses are generic addresses.
fn window(space: Space) -> u64 {
    match space {
        Space::Shared => SHARED_WINDOW,
        Space::Local => LOCAL_WINDOW,
        Space::Param => PARAM_WINDOW,
        Space::Generic | Space::Global | Space::Const => 0,
    }
}

/// Whether a generic address lies in a space. Constant variables live among the global ones and count as global.
fn is_in(space: Space, address: u64) -> bool {
    match space {
        Space::Shared | Space::Local | Space::Param => address.wrapping_sub(window(space)) < WINDOW_BYTES,
        Space::Global => address >= GLOBAL_BASE,
        Space::Generic | Space::Const => false,
    }
}

/// `src[2] >= 0 ? src[0] : src[1]`; a NaN is not, and -0.0 is.
fn slct(bits: u32, from: Ty, ftz: bool) -> Option<Picked> {
    Some(match (bits, from, ftz) {
        (16 | 32, Ty::S32, _) => ternary(|a: u32, b: u32, c: i32| if c >= 0 { a } else { b }),
        (64, Ty::S32, _) => ternary(|a: u64, b: u64, c: i32| if c >= 0 { a } else { b }),
        (16 | 32, Ty::F32, false) => ternary(|a: u32, b: u32, c: f32| if c >= 0.0 { a } else { b }),
        (64, Ty::F32, false) => ternary(|a: u64, b: u64, c: f32| if c >= 0.0 { a } else { b }),
        (16 | 32, Ty::F32, true) => ternary(|a: u32, b: u32, c: f32| if c > -f32::MIN_POSITIVE { a } else { b }),
        (64, Ty::F32, true) => ternary(|a: u64, b: u64, c: f32| if c > -f32::MIN_POSITIVE { a } else { b }),
        _ => return None,
    })
}

/// Copies words, all chunks read before any is written, since wide operands may overlap by a word.
struct Copy<const WORDS: usize>;

impl<const N: usize> Shape for Copy<N> {
    const WORDS: Words = Words::new(&[N as u16], &[N as u16]);

    #[inline(always)]
    unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
        // SAFETY: the frame and the instruction belong together; both operands have N words.
        unsafe {
            let (from, to) = (frame.source(d.src[0]), frame.target(d.dst[0]));
            let words: [Lanes; N] = *from.cast();
            write_words::<L, N>(to, &words, on);
        }
    }
}

/// # Safety
/// `to` has N slots.
#[inline(always)]
unsafe fn write_words<L: Level, const N: usize>(to: *mut Lanes, words: &[Lanes; N], on: Mask) {
    for (index, word) in words.iter().enumerate() {
        for chunk in 0..CHUNKS {
            // SAFETY: the caller's; chunks stay inside a slot.
            unsafe {
                let values = u32::load::<L>(word, chunk);
                u32::store::<L>(to.add(index), chunk, values, (on >> (LANES * chunk)) as u8);
            }
        }
    }
}

/// [`Select`] of floats of 32 bits that are negated or made absolute first.
pub(super) fn changed_select() -> Picked {
    picked::<Select<1, true>>()
}

/// `psrc` ? `src[0]` : `src[1]`; `CHANGED`: with the changes of floats that the instruction names.
struct Select<const WORDS: usize, const CHANGED: bool>;

impl<const N: usize, const CHANGED: bool> Shape for Select<N, CHANGED> {
    const WORDS: Words = Words::new(&[N as u16, N as u16], &[N as u16]);

    #[inline(always)]
    unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
        // SAFETY: the frame and the instruction belong together; the operands have N words.
        unsafe {
            let choice = frame.pred(d.psrc);
            let (first, second): (*const [Lanes; N], *const [Lanes; N]) =
                (frame.source(d.src[0]).cast(), frame.source(d.src[1]).cast());
            let mut words = [Lanes::ZERO; N];
            for (index, word) in words.iter_mut().enumerate() {
                for chunk in 0..CHUNKS {
                    let a = u32::load::<L>(&raw const (*first)[index], chunk);
                    let b = u32::load::<L>(&raw const (*second)[index], chunk);
                    let picks = lane_masks((choice >> (LANES * chunk)) as u8);
                    let change = |source: u32, bits: u32| match CHANGED {
                        true => changed::float(&d.alu, source, f32::from_bits(bits)).to_bits(),
                        false => bits,
                    };
                    let values = std::array::from_fn(|lane| {
                        (change(0, a[lane]) & picks.0[lane]) | (change(1, b[lane]) & !picks.0[lane])
                    });
                    u32::store::<L>(word, chunk, values, u8::MAX);
                }
            }
            write_words::<L, N>(frame.target(d.dst[0]), &words, on);
        }
    }
}

/// All ones in the lanes of a mask.
#[inline(always)]
fn lane_masks(mask: u8) -> Chunk {
    Chunk(std::array::from_fn(|lane| ((u32::from(mask) << (31 - lane)) as i32 >> 31) as u32))
}

/// Joins (`true`) or splits values: pieces of 8 to 64 bits against a whole of up to 128.
struct Pieces<const JOIN: bool>(PhantomData<()>);

impl<const JOIN: bool> Shape for Pieces<JOIN> {
    /// Replaced by `parts_in` or `parts_out`.
    const WORDS: Words = Words::new(&[], &[]);

    unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
        let (piece_bits, count) = (d.alu.from.bits(), (d.alu.ty.bits() / d.alu.from.bits()) as usize);
        let mask = u128::MAX >> (128 - piece_bits);
        let (whole_words, piece_words) = (words_of(d.alu.ty.bits()), words_of(piece_bits));
        for lane in (0..WARP_SIZE).filter(|lane| on >> lane & 1 != 0) {
            // SAFETY: the frame and the instruction belong together; operands were checked for these words.
            unsafe {
                if JOIN {
                    let whole = (0..count).fold(0, |whole, index| {
                        let piece = read(frame.source(d.src[index]), piece_words, lane) & mask;
                        whole | piece << (piece_bits * index as u32)
                    });
                    write(frame.target(d.dst[0]), whole_words, lane, whole);
                } else {
                    let whole = read(frame.source(d.src[0]), whole_words, lane);
                    for index in 0..count {
                        let piece = whole >> (piece_bits * index as u32) & mask;
                        write(frame.target(d.dst[index]), piece_words, lane, piece);
                    }
                }
            }
        }
    }
}

/// # Safety
/// `from` has `words` slots.
unsafe fn read(from: *const Lanes, words: usize, lane: usize) -> u128 {
    // SAFETY: the caller's.
    (0..words).fold(0, |value, word| value | u128::from(unsafe { (*from.add(word)).0[lane] }) << (32 * word))
}

/// # Safety
/// `to` has `words` slots.
unsafe fn write(to: *mut Lanes, words: usize, lane: usize, value: u128) {
    for word in 0..words {
        // SAFETY: the caller's.
        unsafe { (*to.add(word)).0[lane] = (value >> (32 * word)) as u32 };
    }
}

const fn words_of(bits: u32) -> usize {
    bits.div_ceil(32) as usize
}

/// Operands of a join, where it is one of 2 or 4 pieces.
fn parts_in(whole: u32, piece: u32) -> Option<Words> {
    let sizes = [words_of(piece) as u16; 4];
    let whole_words = [words_of(whole) as u16];
    piece_count(whole, piece).map(|count| Words::new(&sizes[..count], &whole_words))
}

fn parts_out(whole: u32, piece: u32) -> Option<Words> {
    let sizes = [words_of(piece) as u16; 4];
    let whole_words = [words_of(whole) as u16];
    piece_count(whole, piece).map(|count| Words::new(&whole_words, &sizes[..count]))
}

fn piece_count(whole: u32, piece: u32) -> Option<usize> {
    let count = whole.checked_div(piece).filter(|count| count * piece == whole && piece >= 8)?;
    matches!(count, 2 | 4).then_some(count as usize)
}
