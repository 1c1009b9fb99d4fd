//! From a function on one lane to an operation on 32: how operands are fetched and results written.
//!
//! The lane function is a closure without captures, so it has no state and the operation made from it is a plain function
//! pointer. The lanes are worked on eight at a time through arrays, which LLVM turns into vector instructions: once with the
//! baseline of the target, once with AVX2 and FMA. Both come from the same source, so they agree to the bit.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use super::level::{Avx2, CHUNKS, Chunk, LANES, Level, Picked, Portable, Words};
use crate::exec::frame::{Decoded, Flow, Frame};
use crate::isa::{Alu, BoolOp, Lanes, Mask};

/// A value that lives in one or two slots.
pub(crate) trait Value: Copy {
    const SLOTS: u16;
    /// # Safety
    /// `from` points at the value's first slot.
    unsafe fn load<L: Level>(from: *const Lanes, chunk: usize) -> [Self; LANES];
    /// # Safety
    /// As [`Value::load`]; `on` has one bit a lane of the chunk.
    unsafe fn store<L: Level>(to: *mut Lanes, chunk: usize, values: [Self; LANES], on: u8);
}

/// Reinterprets 32-bit lanes.
macro_rules! value32 {
    ($type:ty, $from:expr, $to:expr) => {
        impl Value for $type {
            const SLOTS: u16 = 1;

            #[inline(always)]
            unsafe fn load<L: Level>(from: *const Lanes, chunk: usize) -> [Self; LANES] {
                // SAFETY: chunk is below CHUNKS, so it lies inside the slot.
                unsafe { *from.cast::<Chunk>().add(chunk) }.0.map($from)
            }

            #[inline(always)]
            unsafe fn store<L: Level>(to: *mut Lanes, chunk: usize, values: [Self; LANES], on: u8) {
                // SAFETY: as in `load`.
                unsafe { store_chunk(to.cast::<Chunk>().add(chunk), Chunk(values.map($to)), on) }
            }
        }
    };
}

value32!(u32, |bits| bits, |value| value);
value32!(i32, |bits| bits as i32, |value| value as u32);
value32!(f32, f32::from_bits, f32::to_bits);

/// Joins low and high slots.
macro_rules! value64 {
    ($type:ty, $from:expr, $to:expr) => {
        impl Value for $type {
            const SLOTS: u16 = 2;

            #[inline(always)]
            unsafe fn load<L: Level>(from: *const Lanes, chunk: usize) -> [Self; LANES] {
                let from = from.cast::<Chunk>();
                // SAFETY: the value has two slots, each of CHUNKS chunks.
                unsafe { L::join(*from.add(chunk), *from.add(CHUNKS + chunk)) }.map($from)
            }

            #[inline(always)]
            unsafe fn store<L: Level>(to: *mut Lanes, chunk: usize, values: [Self; LANES], on: u8) {
                let to = to.cast::<Chunk>();
                // SAFETY: as in `load`.
                unsafe {
                    let (low, high) = L::split(values.map($to));
                    store_chunk(to.add(chunk), low, on);
                    store_chunk(to.add(CHUNKS + chunk), high, on);
                }
            }
        }
    };
}

value64!(u64, |bits| bits, |value| value);
value64!(i64, |bits| bits as i64, |value| value as u64);
value64!(f64, f64::from_bits, f64::to_bits);

/// Writes the lanes of `on`, leaving the others.
///
/// # Safety
/// `to` is valid.
#[inline(always)]
unsafe fn store_chunk(to: *mut Chunk, values: Chunk, on: u8) {
    // SAFETY: the caller's.
    unsafe {
        if on == u8::MAX {
            *to = values;
        } else {
            let old = *to;
            let mut merged = values;
            for lane in 0..LANES {
                let keep = ((u32::from(on) << (31 - lane)) as i32 >> 31) as u32;
                merged.0[lane] = (values.0[lane] & keep) | (old.0[lane] & !keep);
            }
            *to = merged;
        }
    }
}

/// An operation in terms of lanes, for any level.
pub(crate) trait Shape {
    /// Words of each operand that the body touches: what an instruction is checked for.
    const WORDS: Words;
    const FLOW: Flow = Flow::Next;

    /// # Safety
    /// As for [`crate::exec::frame::OpFn`]: the frame holds the files of the instruction's program.
    unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask);
}

/// The operation for each level.
pub(crate) const fn picked<S: Shape>() -> Picked {
    Picked { portable: portable::<S>, avx2: avx2::<S>, words: S::WORDS, flow: S::FLOW }
}

unsafe fn portable<S: Shape>(frame: &mut Frame, d: &Decoded, on: Mask) -> Flow {
    // SAFETY: the caller's.
    unsafe { S::body::<Portable>(frame, d, on) };
    S::FLOW
}

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt"))]
unsafe fn avx2<S: Shape>(frame: &mut Frame, d: &Decoded, on: Mask) -> Flow {
    // SAFETY: the caller's, who also checked that the CPU has these features.
    unsafe { S::body::<Avx2>(frame, d, on) };
    S::FLOW
}

/// The one value of a function type without captures.
#[inline(always)]
pub(super) fn conjure<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "a lane function must not capture anything") };
    // SAFETY: F has no bytes, and a value of it was given to the function that named its type (`unary` … below).
    unsafe { NonNull::<F>::dangling().read() }
}

struct Unary<A, R, F>(PhantomData<(A, R, F)>);
struct Binary<A, B, R, F>(PhantomData<(A, B, R, F)>);
struct Ternary<A, B, C, R, F>(PhantomData<(A, B, C, R, F)>);
struct Quaternary<A, B, C, D, R, F>(PhantomData<(A, B, C, D, R, F)>);
struct Compare<A, B, F>(PhantomData<(A, B, F)>);

/// Applies a lane function to eight lanes of each operand at a time. Full warps have code of their own, without masks in it.
macro_rules! lanewise {
    ($shape:ident < $($operand:ident @ $index:literal),+ >) => {
        #[allow(non_snake_case, reason = "an operand is named as its type")]
        impl<$($operand: Value,)+ R: Value, F: Fn(&Alu, $($operand),+) -> R + Copy> $shape<$($operand,)+ R, F> {
            /// # Safety
            /// The operands point at their first slots. A chunk of every operand is read before the chunk of the result is
            /// written, so results may overlap sources.
            #[inline(always)]
            unsafe fn chunk<L: Level>(d: &Decoded, to: *mut Lanes, operands: [*const Lanes; 4], chunk: usize, on: u8) {
                let f = conjure::<F>();
                // SAFETY: the caller's; chunks stay inside slots.
                unsafe {
                    $(let $operand = $operand::load::<L>(operands[$index], chunk);)+
                    let mut result = [MaybeUninit::<R>::uninit(); LANES];
                    for lane in 0..LANES {
                        result[lane].write(f(&d.alu, $($operand[lane]),+));
                    }
                    R::store::<L>(to, chunk, result.map(|lane| lane.assume_init()), on);
                }
            }
        }

        impl<$($operand: Value,)+ R: Value, F: Fn(&Alu, $($operand),+) -> R + Copy> Shape for $shape<$($operand,)+ R, F> {
            const WORDS: Words = Words::new(&[$($operand::SLOTS),+], &[R::SLOTS]);

            #[inline(always)]
            unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
                // SAFETY: the frame and the instruction belong together (caller).
                unsafe {
                    let to = frame.target(d.dst[0]);
                    let mut operands = [std::ptr::null(); 4];
                    $(operands[$index] = frame.source(d.src[$index]);)+
                    if on == Mask::MAX {
                        for chunk in 0..CHUNKS {
                            Self::chunk::<L>(d, to, operands, chunk, u8::MAX);
                        }
                    } else {
                        for chunk in 0..CHUNKS {
                            Self::chunk::<L>(d, to, operands, chunk, (on >> (LANES * chunk)) as u8);
                        }
                    }
                }
            }
        }
    };
}

lanewise!(Unary<A @ 0>);
lanewise!(Binary<A @ 0, B @ 1>);
lanewise!(Ternary<A @ 0, B @ 1, C @ 2>);
lanewise!(Quaternary<A @ 0, B @ 1, C @ 2, D @ 3>);

impl<A: Value, B: Value, F: Fn(&Alu, A, B) -> bool + Copy> Shape for Compare<A, B, F> {
    const WORDS: Words = Words::new(&[A::SLOTS, B::SLOTS], &[]);

    #[inline(always)]
    unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
        let f = conjure::<F>();
        let mut result: Mask = 0;
        // SAFETY: as for the lane-wise shapes.
        unsafe {
            let (a, b) = (frame.source(d.src[0]), frame.source(d.src[1]));
            for chunk in 0..CHUNKS {
                let (a, b) = (A::load::<L>(a, chunk), B::load::<L>(b, chunk));
                let lanes = std::array::from_fn(|lane| 0u32.wrapping_sub(f(&d.alu, a[lane], b[lane]).into()));
                result |= L::movemask(Chunk(lanes)) << (LANES * chunk);
            }
            set_compared(frame, d, result, on);
        }
    }
}

/// Writes a comparison's result and its complement, each joined with the predicate operand.
///
/// # Safety
/// As for [`Shape::body`].
#[inline(always)]
pub(crate) unsafe fn set_compared(frame: &mut Frame, d: &Decoded, result: Mask, on: Mask) {
    // SAFETY: the caller's.
    unsafe {
        let with = frame.pred(d.psrc);
        frame.set_pred(d.pdst[0], join(d.alu.mods.bool_op, result, with), on);
        frame.set_pred(d.pdst[1], join(d.alu.mods.bool_op, !result, with), on);
    }
}

/// A comparison joined with another predicate.
#[inline(always)]
pub(crate) fn join(op: BoolOp, result: Mask, with: Mask) -> Mask {
    match op {
        BoolOp::None => result,
        BoolOp::And => result & with,
        BoolOp::Or => result | with,
        BoolOp::Xor => result ^ with,
    }
}

/// Constructors: `unary(|a: u32| …)`; those named `_with` get the modifiers too.
macro_rules! constructors {
    ($($name:ident, $with:ident, $shape:ident, ($($operand:ident $value:ident),+);)+) => {$(
        pub(crate) fn $with<$($operand: Value,)+ R: Value, F: Fn(&Alu, $($operand),+) -> R + Copy>(_: F) -> Picked {
            picked::<$shape<$($operand,)+ R, F>>()
        }

        pub(crate) fn $name<$($operand: Value,)+ R: Value, F: Fn($($operand),+) -> R + Copy>(f: F) -> Picked {
            $with(move |_: &Alu, $($value: $operand),+| f($($value),+))
        }
    )+};
}

constructors! {
    unary, unary_with, Unary, (A a);
    binary, binary_with, Binary, (A a, B b);
    ternary, ternary_with, Ternary, (A a, B b, C c);
    quaternary, quaternary_with, Quaternary, (A a, B b, C c, D d);
}

pub(crate) fn compare_with<A: Value, B: Value, F: Fn(&Alu, A, B) -> bool + Copy>(_: F) -> Picked {
    picked::<Compare<A, B, F>>()
}

pub(crate) fn compare<A: Value, B: Value, F: Fn(A, B) -> bool + Copy>(f: F) -> Picked {
    compare_with(move |_: &Alu, a: A, b: B| f(a, b))
}

/// A test of one operand; its result is not joined with another predicate.
pub(crate) fn test<A: Value, F: Fn(&Alu, A) -> bool + Copy>(_: F) -> Picked {
    picked::<Test<A, F>>()
}

struct Test<A, F>(PhantomData<(A, F)>);

impl<A: Value, F: Fn(&Alu, A) -> bool + Copy> Shape for Test<A, F> {
    const WORDS: Words = Words::new(&[A::SLOTS], &[]);

    #[inline(always)]
    unsafe fn body<L: Level>(frame: &mut Frame, d: &Decoded, on: Mask) {
        let f = conjure::<F>();
        let mut result: Mask = 0;
        // SAFETY: as for the lane-wise shapes.
        unsafe {
            let a = frame.source(d.src[0]);
            for chunk in 0..CHUNKS {
                let a = A::load::<L>(a, chunk);
                let lanes = std::array::from_fn(|lane| 0u32.wrapping_sub(f(&d.alu, a[lane]).into()));
                result |= L::movemask(Chunk(lanes)) << (LANES * chunk);
            }
            frame.set_pred(d.pdst[0], result, on);
        }
    }
}
