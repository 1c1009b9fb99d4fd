//! CPU levels: which instructions an operation may be compiled with, and the few steps that differ by level.

use super::summary::{self, Summary};
use crate::exec::frame::{Flow, OpFn};
use crate::isa::WARP_SIZE;

/// Lanes worked on at a time: one AVX2 register of 32-bit lanes.
pub(crate) const LANES: usize = 8;
pub(crate) const CHUNKS: usize = WARP_SIZE / LANES;

/// Eight 32-bit lanes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Chunk(pub [u32; LANES]);

/// Which operations a kernel runs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuLevel {
    /// What every CPU of the target has.
    Portable,
    /// x86-64 with AVX2, FMA and BMI2.
    Avx2,
}

impl CpuLevel {
    /// The best level of this CPU.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if ["avx2", "fma", "bmi1", "bmi2", "lzcnt", "popcnt"].into_iter().all(has_feature) {
            return Self::Avx2;
        }
        Self::Portable
    }
}

#[cfg(target_arch = "x86_64")]
fn has_feature(name: &str) -> bool {
    match name {
        "avx2" => is_x86_feature_detected!("avx2"),
        "fma" => is_x86_feature_detected!("fma"),
        "bmi1" => is_x86_feature_detected!("bmi1"),
        "bmi2" => is_x86_feature_detected!("bmi2"),
        "lzcnt" => is_x86_feature_detected!("lzcnt"),
        "popcnt" => is_x86_feature_detected!("popcnt"),
        _ => false,
    }
}

/// How many words each operand of an operation has; 0 where there may be none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    pub src: [u16; 4],
    pub dst: [u16; 4],
}

impl Words {
    pub const fn new(src: &[u16], dst: &[u16]) -> Self {
        let mut words = Self { src: [0; 4], dst: [0; 4] };
        let mut index = 0;
        while index < 4 {
            if index < src.len() {
                words.src[index] = src[index];
            }
            if index < dst.len() {
                words.dst[index] = dst[index];
            }
            index += 1;
        }
        words
    }
}

/// One operation, compiled for each level, and what an instruction must have for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Picked {
    pub portable: OpFn,
    pub avx2: OpFn,
    pub words: Words,
    pub flow: Flow,
}

impl Picked {
    /// An operation that is the same function at every level.
    pub const fn same(run: OpFn, words: Words, flow: Flow) -> Self {
        Self { portable: run, avx2: run, words, flow }
    }

    pub const fn at(self, level: CpuLevel) -> OpFn {
        match level {
            CpuLevel::Portable => self.portable,
            CpuLevel::Avx2 => self.avx2,
        }
    }
}

/// Steps that need instructions by name to be fast. The default bodies are what they mean.
pub(crate) trait Level {
    /// The top bit of each lane.
    ///
    /// # Safety
    /// The CPU has the level's instructions; so for the others.
    #[inline(always)]
    unsafe fn movemask(lanes: Chunk) -> u32 {
        lanes.0.iter().enumerate().fold(0, |mask, (lane, value)| mask | (value >> 31) << lane)
    }

    /// # Safety
    /// As [`Level::movemask`].
    #[inline(always)]
    unsafe fn join(low: Chunk, high: Chunk) -> [u64; LANES] {
        std::array::from_fn(|lane| u64::from(low.0[lane]) | u64::from(high.0[lane]) << 32)
    }

    /// # Safety
    /// As [`Level::movemask`].
    #[inline(always)]
    unsafe fn split(values: [u64; LANES]) -> (Chunk, Chunk) {
        (Chunk(values.map(|value| value as u32)), Chunk(values.map(|value| (value >> 32) as u32)))
    }

    /// Each value plus `number`, wrapping.
    ///
    /// # Safety
    /// As [`Level::movemask`].
    #[inline(always)]
    unsafe fn add(values: [u64; LANES], number: u64) -> [u64; LANES] {
        values.map(|value| value.wrapping_add(number))
    }

    /// What is to be known of a warp's addresses.
    ///
    /// # Safety
    /// As [`Level::movemask`].
    #[inline(always)]
    unsafe fn summary(lane: &[u64; WARP_SIZE], bytes: u64) -> Summary {
        summary::portable(lane, bytes)
    }
}

pub(crate) struct Portable;

impl Level for Portable {}

pub(crate) struct Avx2;

#[cfg(not(target_arch = "x86_64"))]
impl Level for Avx2 {}

#[cfg(target_arch = "x86_64")]
impl Level for Avx2 {
    #[inline(always)]
    unsafe fn movemask(lanes: Chunk) -> u32 {
        use std::arch::x86_64::*;
        // SAFETY: the CPU has AVX2 (caller); a chunk is 32 bytes like a vector.
        unsafe { _mm256_movemask_ps(std::mem::transmute::<Chunk, __m256>(lanes)) as u32 }
    }

    #[inline(always)]
    unsafe fn join(low: Chunk, high: Chunk) -> [u64; LANES] {
        use std::arch::x86_64::*;
        // SAFETY: as in `movemask`.
        unsafe {
            let vector = |chunk| std::mem::transmute::<Chunk, __m256i>(chunk);
            let (low, high) = (vector(low), vector(high));
            let (even, odd) = (_mm256_unpacklo_epi32(low, high), _mm256_unpackhi_epi32(low, high));
            let first = _mm256_permute2x128_si256::<0x20>(even, odd);
            let second = _mm256_permute2x128_si256::<0x31>(even, odd);
            std::mem::transmute::<[__m256i; 2], [u64; LANES]>([first, second])
        }
    }

    #[inline(always)]
    unsafe fn split(values: [u64; LANES]) -> (Chunk, Chunk) {
        use std::arch::x86_64::*;
        // SAFETY: as in `movemask`.
        unsafe {
            let [first, second] = std::mem::transmute::<[u64; LANES], [__m256; 2]>(values);
            let even = _mm256_permute2f128_ps::<0x20>(first, second);
            let odd = _mm256_permute2f128_ps::<0x31>(first, second);
            let low = _mm256_shuffle_ps::<0x88>(even, odd);
            let high = _mm256_shuffle_ps::<0xdd>(even, odd);
            (std::mem::transmute::<__m256, Chunk>(low), std::mem::transmute::<__m256, Chunk>(high))
        }
    }

    #[inline(always)]
    unsafe fn add(values: [u64; LANES], number: u64) -> [u64; LANES] {
        use std::arch::x86_64::*;
        // SAFETY: as in `movemask`.
        unsafe {
            let [first, second] = std::mem::transmute::<[u64; LANES], [__m256i; 2]>(values);
            let number = _mm256_set1_epi64x(number as i64);
            let sums = [_mm256_add_epi64(first, number), _mm256_add_epi64(second, number)];
            std::mem::transmute::<[__m256i; 2], [u64; LANES]>(sums)
        }
    }

    #[inline(always)]
    unsafe fn summary(lane: &[u64; WARP_SIZE], bytes: u64) -> Summary {
        // SAFETY: the CPU has AVX2 (caller).
        unsafe { summary::avx2(lane, bytes) }
    }
}
