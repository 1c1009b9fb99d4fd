//! What a warp's access touches: 32-byte sectors of global memory, banks of shared memory.
//!
//! The rules are those under which Nsight Compute's numbers come out: a sector counts once an instruction however many lanes
//! touch it; shared memory has 32 banks of 4 bytes, and serves a word of each bank in one pass (wavefront).

use crate::isa::{Mask, WARP_SIZE};

/// Bytes of a sector, as a shift.
pub const SECTOR_SHIFT: u32 = 5;
/// Banks of shared memory, each 4 bytes wide.
pub const BANKS: usize = 32;

/// Numbers (address ÷ 32) of the sectors that an access touches, ascending. `bytes` is a power of two, addresses are aligned to it.
pub fn sectors(addresses: &[u64; WARP_SIZE], mask: Mask, bytes: u32) -> Distinct<u64> {
    let mut set = Distinct::default();
    for lane in lanes(mask) {
        let first = addresses[lane] >> SECTOR_SHIFT;
        let last = addresses[lane].saturating_add(u64::from(bytes) - 1) >> SECTOR_SHIFT;
        set.push(first);
        if last != first {
            set.push(last);
        }
    }
    set.finish();
    set
}

/// Passes that shared memory needs for an access, and the fewest that any addresses would need for these lanes and this width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wavefronts {
    pub actual: u32,
    pub ideal: u32,
}

/// Wavefronts of a shared-memory access at byte offsets `addresses`.
///
/// Lanes go in groups of 128 bytes: 32 lanes of 4 bytes, halves of 8, quarters of 16. A group needs as many passes as the bank
/// with the most distinct words; lanes that want the same word share it.
pub fn wavefronts(addresses: &[u64; WARP_SIZE], mask: Mask, bytes: u32) -> Wavefronts {
    let words_a_lane = bytes.div_ceil(4).max(1);
    let group_lanes = (WARP_SIZE as u32 / words_a_lane).max(1);
    let mut total = Wavefronts::default();
    for group in (0..WARP_SIZE as u32).step_by(group_lanes as usize) {
        let members = mask & (u32::MAX >> (32 - group_lanes)) << group;
        if members != 0 {
            total.ideal += 1;
            total.actual += passes(addresses, members, words_a_lane);
        }
    }
    total
}

/// Most distinct words in one bank.
fn passes(addresses: &[u64; WARP_SIZE], members: Mask, words_a_lane: u32) -> u32 {
    let mut words = Distinct::default();
    for lane in lanes(members) {
        let first = addresses[lane] >> 2;
        (0..u64::from(words_a_lane)).for_each(|word| words.push(first + word));
    }
    words.finish();
    let mut counts = [0u32; BANKS];
    for word in words.as_slice() {
        counts[*word as usize % BANKS] += 1;
    }
    counts.into_iter().max().unwrap_or(0)
}

/// The lanes of a mask, lowest first.
#[inline]
pub fn lanes(mask: Mask) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (lane < WARP_SIZE).then_some(lane)
    })
}

/// At most 64 distinct numbers, sorted.
#[derive(Clone, Copy, Debug)]
pub struct Distinct<T> {
    items: [T; 2 * WARP_SIZE],
    len: usize,
    ascending: bool,
}

impl<T: Copy + Default> Default for Distinct<T> {
    fn default() -> Self {
        Self { items: [T::default(); 2 * WARP_SIZE], len: 0, ascending: true }
    }
}

impl<T: Copy + Default + Ord> Distinct<T> {
    pub fn as_slice(&self) -> &[T] {
        &self.items[..self.len]
    }

    /// How many there are: at least 1 unless empty.
    pub fn count(&self) -> u32 {
        self.len as u32
    }

    /// Adds a number unless it repeats the one before. Past 64 numbers, which no access reaches, it drops them.
    fn push(&mut self, item: T) {
        if let Some(last) = self.as_slice().last() {
            if *last == item {
                return;
            }
            self.ascending &= *last < item;
        }
        if let Some(place) = self.items.get_mut(self.len) {
            *place = item;
            self.len += 1;
        }
    }

    fn finish(&mut self) {
        if !self.ascending {
            let filled = &mut self.items[..self.len];
            filled.sort_unstable();
            let mut kept = 0;
            for index in 0..filled.len() {
                if index == 0 || filled[index] != filled[kept - 1] {
                    filled[kept] = filled[index];
                    kept += 1;
                }
            }
            self.len = kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(f: impl Fn(u64) -> u64) -> [u64; WARP_SIZE] {
        std::array::from_fn(|lane| f(lane as u64))
    }

    #[test]
    fn sectors_of_common_patterns() {
        #[rustfmt::skip]
        let cases = [
            ("contiguous words, aligned", at(|l| 4096 + 4 * l), !0, 4, 4),
            ("contiguous words, 4 bytes off", at(|l| 4100 + 4 * l), !0, 4, 5),
            ("contiguous 8-byte", at(|l| 8 * l), !0, 8, 8),
            ("contiguous 16-byte", at(|l| 16 * l), !0, 16, 16),
            ("all the same", at(|_| 64), !0, 4, 1),
            ("stride of a sector", at(|l| 32 * l), !0, 4, 32),
            ("reversed", at(|l| 4096 - 4 * l), !0, 4, 5),
            ("shuffled within a line", at(|l| 4 * ((l * 7) % 32)), !0, 4, 4),
            ("one lane", at(|l| 4 * l), 1 << 17, 4, 1),
            ("no lane", at(|l| 4 * l), 0, 4, 0),
            ("two rows of 16", at(|l| l / 16 * 4096 + l % 16 * 4), !0, 4, 4),
            ("every other lane", at(|l| 4 * l), 0x5555_5555, 4, 4),
        ];
        for (name, addresses, mask, bytes, count) in cases {
            assert_eq!(sectors(&addresses, mask, bytes).count(), count, "{name}");
        }
    }

    #[test]
    fn sector_numbers_come_sorted_and_once() {
        let addresses = at(|l| if l % 2 == 0 { 320 } else { 32 * (31 - l) });
        let found = sectors(&addresses, !0, 4);
        let mut expected: Vec<u64> = addresses.iter().map(|a| a >> 5).collect();
        expected.sort();
        expected.dedup();
        assert_eq!(found.as_slice(), expected);
    }

    #[test]
    fn wavefronts_by_stride_width_and_mask() {
        #[rustfmt::skip]
        let cases = [
            ("stride 1", at(|l| 4 * l), !0, 4, 1, 1),
            ("stride 2", at(|l| 8 * l), !0, 4, 2, 1),
            ("stride 32", at(|l| 128 * l), !0, 4, 32, 1),
            ("stride 33", at(|l| 132 * l), !0, 4, 1, 1),
            ("broadcast", at(|_| 8), !0, 4, 1, 1),
            ("bytes", at(|l| l), !0, 1, 1, 1),
            ("8 bytes contiguous", at(|l| 8 * l), !0, 8, 2, 2),
            ("16 bytes contiguous", at(|l| 16 * l), !0, 16, 4, 4),
            ("16 bytes, all lanes in one bank group", at(|l| 128 * l), !0, 16, 32, 4),
            ("8 bytes, low half only", at(|l| 8 * l), 0xffff, 8, 1, 1),
            ("two words of one bank", at(|l| l % 2 * 128), !0, 4, 2, 1),
            ("none", at(|l| l), 0, 4, 0, 0),
        ];
        for (name, addresses, mask, bytes, actual, ideal) in cases {
            let expected = Wavefronts { actual, ideal };
            assert_eq!(wavefronts(&addresses, mask, bytes), expected, "{name}");
        }
    }
}
