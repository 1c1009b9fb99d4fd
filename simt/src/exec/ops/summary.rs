//! What the checks and counters want to know of a warp's 32 addresses: how they lie to each other, their bounds, their sectors.
//!
//! [`portable`] says what that is. [`avx2`] says the same in a fifth of the time, and every memory instruction waits for it: LLVM
//! makes scalar code of the loops. It works on the low halves of addresses that agree in the high ones, as nearly all do, since
//! AVX2 compares 32 bits without sign and not 64.

use crate::isa::WARP_SIZE;
use crate::memory::Shape;
use crate::memory::sectors::SECTOR_SHIFT;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    pub shape: Shape,
    /// All address bits or-ed together.
    pub bits: u64,
    pub lowest: u64,
    pub highest: u64,
    /// Distinct 32-byte sectors of aligned addresses, where they come cheap: where they lie within 64 sectors of each other, or
    /// only ever rise or fall from lane to lane. Else 0: not counted.
    pub sectors: u32,
}

/// Addresses that lie further apart than this are counted by their order.
const SPREAD_MAX: u64 = 63;

impl Summary {
    pub const fn uniform(address: u64) -> Self {
        Self { shape: Shape::Uniform, bits: address, lowest: address, highest: address, sectors: 1 }
    }
}

/// The summary of addresses at each of which `bytes` bytes are accessed, a power of two up to 32.
pub(crate) fn portable(lane: &[u64; WARP_SIZE], bytes: u64) -> Summary {
    let first = lane[0];
    let (mut step_errors, mut bits, mut lowest, mut highest) = (0, 0, first, first);
    for (index, address) in lane.iter().enumerate() {
        step_errors |= address ^ first.wrapping_add(index as u64 * bytes);
        bits |= address;
        lowest = lowest.min(*address);
        highest = highest.max(*address);
    }
    if lowest == highest {
        return Summary::uniform(first);
    }
    let sector = |address: u64| address >> SECTOR_SHIFT;
    let spread = sector(highest) - sector(lowest);
    let is_row = step_errors == 0 && first == lowest;
    let (shape, sectors) = if is_row {
        (Shape::Contiguous, spread as u32 + 1)
    } else if spread <= SPREAD_MAX {
        let seen = lane.iter().fold(0u64, |seen, address| seen | 1 << (sector(*address) - sector(lowest)));
        (Shape::Scattered, seen.count_ones())
    } else {
        let mut turns = (0, 0);
        for pair in lane.windows(2) {
            turns.0 += u32::from(sector(pair[0]) < sector(pair[1]));
            turns.1 += u32::from(sector(pair[0]) > sector(pair[1]));
        }
        (Shape::Scattered, one_way(turns.0, turns.1))
    };
    Summary { shape, bits, lowest, highest, sectors }
}

/// Sectors of lanes that go on to a higher sector `rises` times and to a lower one `falls` times.
fn one_way(rises: u32, falls: u32) -> u32 {
    if rises == 0 || falls == 0 { rises + falls + 1 } else { 0 }
}

/// As [`portable`].
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn avx2(lane: &[u64; WARP_SIZE], bytes: u64) -> Summary {
    use std::arch::x86_64::*;

    let at = |index: usize| {
        debug_assert!(index + 4 <= WARP_SIZE);
        // SAFETY: four lanes from `index`, which is at most 28.
        unsafe { _mm256_loadu_si256(lane.as_ptr().add(index).cast()) }
    };
    let first = _mm256_set1_epi64x(lane[0] as i64);
    let mut differences = _mm256_setzero_si256();
    for quad in 0..8 {
        differences = _mm256_or_si256(differences, _mm256_xor_si256(at(4 * quad), first));
    }
    if _mm256_testz_si256(differences, differences) != 0 {
        return Summary::uniform(lane[0]);
    }
    let differences = or_lanes(differences);
    if differences >> 32 != 0 {
        return portable(lane, bytes);
    }

    // Low halves of eight lanes, in the order 0 1 4 5 2 3 6 7.
    let low = |chunk: usize| {
        let (a, b) = (_mm256_castsi256_ps(at(8 * chunk)), _mm256_castsi256_ps(at(8 * chunk + 4)));
        _mm256_castps_si256(_mm256_shuffle_ps::<0x88>(a, b))
    };
    let low: [__m256i; 4] = [low(0), low(1), low(2), low(3)];
    let first = _mm256_set1_epi32(lane[0] as i32);
    let bytes = _mm256_set1_epi32(bytes as i32);
    let mut step = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 4, 5, 2, 3, 6, 7), bytes);
    let (mut step_errors, mut lowest, mut highest) = (_mm256_setzero_si256(), first, first);
    for address in low {
        let error = _mm256_xor_si256(_mm256_sub_epi32(address, first), step);
        step_errors = _mm256_or_si256(step_errors, error);
        step = _mm256_add_epi32(step, _mm256_slli_epi32::<3>(bytes));
        lowest = _mm256_min_epu32(lowest, address);
        highest = _mm256_max_epu32(highest, address);
    }
    let window = lane[0] >> 32 << 32;
    // The complement of the greatest is the least of the complements.
    let (lowest, highest) = (least(lowest), !least(_mm256_xor_si256(highest, _mm256_set1_epi32(-1))));
    let first_sector = lowest >> SECTOR_SHIFT;
    let spread = (highest >> SECTOR_SHIFT) - first_sector;
    let is_row = _mm256_testz_si256(step_errors, step_errors) != 0 && lane[0] as u32 == lowest;
    let (shape, sectors) = if is_row {
        (Shape::Contiguous, spread + 1)
    } else if u64::from(spread) <= SPREAD_MAX {
        // A shift by 32 or more gives 0, so each sector is seen in one of the two halves.
        let (one, half) = (_mm256_set1_epi32(1), _mm256_set1_epi32(32));
        let (mut seen, mut seen_beyond) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        for address in low {
            let sector = _mm256_srli_epi32::<{ SECTOR_SHIFT as i32 }>(address);
            let number = _mm256_sub_epi32(sector, _mm256_set1_epi32(first_sector as i32));
            seen = _mm256_or_si256(seen, _mm256_sllv_epi32(one, number));
            seen_beyond = _mm256_or_si256(seen_beyond, _mm256_sllv_epi32(one, _mm256_sub_epi32(number, half)));
        }
        let (even, odd) = (_mm256_unpacklo_epi32(seen, seen_beyond), _mm256_unpackhi_epi32(seen, seen_beyond));
        (Shape::Scattered, or_lanes(_mm256_or_si256(even, odd)).count_ones())
    } else {
        let (mut rises, mut falls) = (0, 0);
        for index in (0..WARP_SIZE - 4).step_by(4).chain([WARP_SIZE - 5]) {
            let before = _mm256_srli_epi64::<{ SECTOR_SHIFT as i32 }>(at(index));
            let after = _mm256_srli_epi64::<{ SECTOR_SHIFT as i32 }>(at(index + 1));
            let pairs = |greater| _mm256_movemask_pd(_mm256_castsi256_pd(greater)) as u32;
            // The last four pairs of lanes are 27 to 31; the first of them was counted with those before.
            let new = if index % 4 == 0 { 0xf } else { 0xe };
            rises += (pairs(_mm256_cmpgt_epi64(after, before)) & new).count_ones();
            falls += (pairs(_mm256_cmpgt_epi64(before, after)) & new).count_ones();
        }
        (Shape::Scattered, one_way(rises, falls))
    };
    let bits = lane[0] | differences;
    Summary { shape, bits, lowest: window | u64::from(lowest), highest: window | u64::from(highest), sectors }
}

/// The least of eight numbers without sign.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn least(numbers: std::arch::x86_64::__m256i) -> u32 {
    use std::arch::x86_64::*;
    let four = _mm_min_epu32(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256::<1>(numbers));
    let two = _mm_min_epu32(four, _mm_shuffle_epi32::<0x4e>(four));
    _mm_cvtsi128_si32(_mm_min_epu32(two, _mm_shuffle_epi32::<0xb1>(two))) as u32
}

/// Four 64-bit lanes or-ed together.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn or_lanes(lanes: std::arch::x86_64::__m256i) -> u64 {
    use std::arch::x86_64::*;
    let two = _mm_or_si128(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    (_mm_cvtsi128_si64(two) | _mm_extract_epi64::<1>(two)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::CpuLevel;
    use crate::memory::sectors::sectors;

    const GIB_4: u64 = 1 << 32;

    /// From lane and bytes to the address.
    type Pattern = fn(u64, u64) -> u64;

    /// What the module says, word for word and slowly. Sectors of a misaligned access mean nothing.
    fn check(name: &str, lane: &[u64; WARP_SIZE], bytes: u64) {
        let found = portable(lane, bytes);
        let is_row = (0..32).all(|index| lane[0].checked_add(index * bytes) == Some(lane[index as usize]));
        let shape = match lane.iter().all(|address| *address == lane[0]) {
            true => Shape::Uniform,
            false if is_row => Shape::Contiguous,
            false => Shape::Scattered,
        };
        let (lowest, highest) = (*lane.iter().min().unwrap(), *lane.iter().max().unwrap());
        assert_eq!((found.shape, found.lowest, found.highest), (shape, lowest, highest), "{name}, {bytes} bytes");
        assert_eq!(found.bits, lane.iter().fold(0, |bits, address| bits | address), "{name}, {bytes} bytes");
        let by_sector = lane.map(|address| address >> SECTOR_SHIFT);
        let is_cheap =
            (highest >> 5) - (lowest >> 5) <= 63 || by_sector.is_sorted() || by_sector.iter().rev().is_sorted();
        if is_cheap && lane.iter().all(|address| address % bytes == 0) {
            assert_eq!(found.sectors, sectors(lane, u32::MAX, bytes as u32).count(), "{name}, {bytes} bytes");
        }
        #[cfg(target_arch = "x86_64")]
        if CpuLevel::detect() == CpuLevel::Avx2 {
            // SAFETY: the CPU has AVX2.
            assert_eq!(unsafe { avx2(lane, bytes) }, found, "{name}, {bytes} bytes, AVX2");
        }
    }

    #[test]
    fn patterns_and_their_edges() {
        let at = |f: Pattern, bytes| std::array::from_fn(|lane| f(lane as u64, bytes));
        #[rustfmt::skip]
        let patterns: &[(&str, Pattern)] = &[
            ("one address", |_, _| 4096),
            ("the last address", |_, _| u64::MAX),
            ("a row", |l, b| 4096 + b * l),
            ("a row, one element off a sector", |l, b| 4096 + b * (l + 1)),
            ("a row across a multiple of 4 GiB", |l, b| GIB_4 - b * 7 + b * l),
            ("a row up to a multiple of 4 GiB", |l, b| 3 * GIB_4 - b * 32 + b * l),
            ("a row up to the last address", |l, b| 0u64.wrapping_sub(b * 32) + b * l),
            ("a row that wraps past the last address", |l, b| 0u64.wrapping_sub(b * 20).wrapping_add(b * l)),
            ("a row whose low half wraps in one window", |l, b| GIB_4 + u64::from((0u32.wrapping_sub(64)).wrapping_add((b * l) as u32))),
            ("a row backwards", |l, b| 8192 - b * l),
            ("a row with its last lane elsewhere", |l, b| if l == 31 { 64 } else { 4096 + b * l }),
            ("a row with its first lane elsewhere", |l, b| if l == 0 { 1 << 20 } else { 4096 + b * l }),
            ("two rows of 16", |l, b| 4096 + l / 16 * 4096 + l % 16 * b),
            ("two addresses", |l, _| 4096 + l / 16 * 1024),
            ("a step of a sector", |l, _| 32 * l),
            ("a step of a sector, backwards", |l, _| 4096 - 32 * l),
            ("64 sectors", |l, _| 4096 + 32 * 63 * (l % 2)),
            ("64 sectors, each end once", |l, _| 4096 + 32 * (l * 37 % 64)),
            ("65 sectors", |l, _| 4096 + 32 * 64 * (l % 2)),
            ("a step of a page, by turns in one sector", |l, _| l / 2 * 4096),
            ("down and up", |l, _| (1 << 20) + if l < 5 { 4096 * (8 - l) } else { 4096 * l }),
            ("a turn at the last lane", |l, _| if l == 31 { 4096 * 29 } else { 4096 * l }),
            ("a turn at lane 28", |l, _| if l == 28 { 4096 } else { 4096 * l }),
            ("two allocations far apart", |l, _| (1 << 45) + l % 2 * (5 << 32)),
            ("one lane far away", |l, _| if l == 17 { 1 << 46 } else { 1 << 45 }),
            ("misaligned", |l, b| 4097 + b * l),
        ];
        for (name, pattern) in patterns {
            for bytes in [1, 2, 4, 8, 16, 32] {
                check(name, &at(*pattern, bytes), bytes);
            }
        }
    }

    #[test]
    fn addresses_without_a_pattern() {
        let mut state = 0x5eed_u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state >> 20
        };
        for round in 0..20_000 {
            let (bits, base) = (1 + round % 40, next() << (next() % 24));
            let lane = std::array::from_fn(|_| base.wrapping_add(next() & ((1 << bits) - 1)) & !3);
            check("at random", &lane, 4);
        }
    }
}
