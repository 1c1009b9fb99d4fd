//! Coalescing in a few dozen instructions: which lines 32 lanes touch, all lanes of a line at a time.

use crate::isa::{Mask, WARP_SIZE};

use super::LINE_SHIFT;

/// Tells `each` of every line that an access by the lanes of `mask` touches, in the order in which lanes first do, with its granules
/// of 4 bytes. `at_start` are those of a lane's access at the start of a line. False, and nobody told, where the lanes lie further
/// apart than 32 bits tell lines apart.
#[target_feature(enable = "avx2,bmi1")]
pub(super) fn avx2(addresses: &[u64; WARP_SIZE], mask: Mask, at_start: u32, mut each: impl FnMut(u64, u32)) -> bool {
    use std::arch::x86_64::*;

    const CHUNKS: usize = WARP_SIZE / 8;
    let first = addresses[mask.trailing_zeros() as usize % WARP_SIZE];
    let at = |index: usize| {
        debug_assert!(index + 4 <= WARP_SIZE);
        // SAFETY: four lanes from `index`, which is at most 28.
        unsafe { _mm256_loadu_si256(addresses.as_ptr().add(index).cast()) }
    };
    let window = _mm256_set1_epi64x(first as i64);
    let mut differences = _mm256_setzero_si256();
    for quad in 0..WARP_SIZE / 4 {
        differences = _mm256_or_si256(differences, _mm256_xor_si256(at(4 * quad), window));
    }
    // Lines of the window differ in bits 7 to 38 of their addresses.
    let beyond = _mm256_set1_epi64x(-1 << (LINE_SHIFT + 32));
    if _mm256_testz_si256(differences, beyond) == 0 {
        return false;
    }
    // Low halves of eight lanes, in their order.
    let low = |a: __m256i, b: __m256i| {
        let mixed = _mm256_shuffle_ps::<0x88>(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
        _mm256_permute4x64_epi64::<0xd8>(_mm256_castps_si256(mixed))
    };
    let bit_of_lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    let mut lines = [_mm256_setzero_si256(); CHUNKS];
    let mut granules = [_mm256_setzero_si256(); CHUNKS];
    for chunk in 0..CHUNKS {
        let (a, b) = (at(8 * chunk), at(8 * chunk + 4));
        let shifted = (_mm256_srli_epi64::<{ LINE_SHIFT as i32 }>(a), _mm256_srli_epi64::<{ LINE_SHIFT as i32 }>(b));
        lines[chunk] = low(shifted.0, shifted.1);
        let granule = _mm256_and_si256(_mm256_srli_epi32::<2>(low(a, b)), _mm256_set1_epi32(31));
        let touched = _mm256_sllv_epi32(_mm256_set1_epi32(at_start as i32), granule);
        let lanes = _mm256_and_si256(_mm256_set1_epi32((mask >> (8 * chunk)) as i32), bit_of_lane);
        granules[chunk] = _mm256_and_si256(touched, _mm256_cmpeq_epi32(lanes, bit_of_lane));
    }
    let mut rest = mask;
    while rest != 0 {
        let line = addresses[rest.trailing_zeros() as usize % WARP_SIZE] >> LINE_SHIFT;
        let wanted = _mm256_set1_epi32(line as i32);
        let mut touched = _mm256_setzero_si256();
        let mut lanes = 0;
        for chunk in 0..CHUNKS {
            let same = _mm256_cmpeq_epi32(lines[chunk], wanted);
            touched = _mm256_or_si256(touched, _mm256_and_si256(same, granules[chunk]));
            lanes |= (_mm256_movemask_ps(_mm256_castsi256_ps(same)) as u32) << (8 * chunk);
        }
        rest &= !lanes;
        each(line, or_lanes(touched));
    }
    true
}

/// Eight numbers or-ed together.
#[inline]
#[target_feature(enable = "avx2")]
fn or_lanes(numbers: std::arch::x86_64::__m256i) -> u32 {
    use std::arch::x86_64::*;
    let four = _mm_or_si128(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256::<1>(numbers));
    let two = _mm_or_si128(four, _mm_shuffle_epi32::<0x4e>(four));
    let one = _mm_or_si128(two, _mm_shuffle_epi32::<0xb1>(two));
    _mm_cvtsi128_si32(one) as u32
}
