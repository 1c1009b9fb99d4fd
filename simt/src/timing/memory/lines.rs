//! Coalescing: the cache lines that a warp's access touches, and which parts of each.

use crate::isa::{Mask, WARP_SIZE};

use super::LINE_SHIFT;
use crate::memory::sectors::lanes;

/// Bytes of a granule: the finest grain at which it is known what of a line was written.
const GRANULE_SHIFT: u32 = 2;
const SECTOR_SHIFT: u32 = 5;

/// What an access wants of one 128-byte line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinePart {
    /// Address ÷ 128.
    pub line: u64,
    /// Bit `g`: bytes `4g..4g + 4` of the line take part. A narrower access counts as its granule.
    pub granules: u32,
    /// Of an atomic, once they are counted.
    pub turns: Turns,
}

/// How often an atomic has to go over the sectors of a line: lanes that share an address take turns, and in one turn a sector gives
/// each of its words to one lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// Turns of sectors all of whose words the access wants, over all sectors.
    pub whole: u8,
    /// Turns of the others.
    pub partial: u8,
    /// Most turns of one sector: most lanes that have one address.
    pub most: u8,
}

impl LinePart {
    /// Bit `s`: some of bytes `32s..32s + 32` take part.
    pub const fn sectors(&self) -> u8 {
        sectors_of(self.granules)
    }

    /// Flits of 32 bytes that carry a store of this part: its sectors, and a mask where one of them is not whole.
    pub const fn write_flits(&self) -> u32 {
        write_flits(self.granules)
    }
}

/// Sectors that hold some of the granules.
pub const fn sectors_of(granules: u32) -> u8 {
    let mut sectors = 0;
    let mut sector = 0;
    while sector < 4 {
        if granules >> (8 * sector) & 0xff != 0 {
            sectors |= 1 << sector;
        }
        sector += 1;
    }
    sectors
}

/// Sectors all of whose granules are there.
pub const fn whole_sectors_of(granules: u32) -> u8 {
    !sectors_of(!granules) & super::ALL_SECTORS
}

/// Flits of 32 bytes that carry a store: a sector each, and a mask of bytes where one of them is not whole.
pub const fn write_flits(granules: u32) -> u32 {
    let sectors = sectors_of(granules);
    sectors.count_ones() + (whole_sectors_of(granules) != sectors) as u32
}

/// The parts of one access, in the order in which lanes first touch their lines.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    parts: [LinePart; WARP_SIZE],
    len: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self { parts: [LinePart::default(); WARP_SIZE], len: 0 }
    }
}

impl Lines {
    pub fn as_slice(&self) -> &[LinePart] {
        &self.parts[..self.len]
    }

    /// Number of lines, 32 at most.
    pub const fn len(&self) -> usize {
        self.len
    }

    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One line's part.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline]
    pub fn part(&self, index: usize) -> LinePart {
        self.as_slice()[index]
    }

    /// Sectors touched, all lines together.
    pub fn sector_count(&self) -> u32 {
        self.as_slice().iter().map(|part| part.sectors().count_ones()).sum()
    }

    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Sets the parts to those of an access by the lanes of `mask`: `bytes` each, a power of two up to 32, aligned to itself.
    pub fn gather(&mut self, addresses: &[u64; WARP_SIZE], mask: Mask, bytes: u32) {
        self.clear();
        if mask == 0 {
            return;
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") {
            let parts = &mut self.parts;
            let mut len = 0;
            // No lane touches more than one line, so there is room for all.
            let each = |line, granules| {
                parts[len % WARP_SIZE] = LinePart { line, granules, turns: Turns::default() };
                len += 1;
            };
            // SAFETY: the CPU has the instructions.
            if unsafe { super::gather::avx2(addresses, mask, granules_at_start(bytes), each) } {
                self.len = len.min(WARP_SIZE);
                return;
            }
        }
        self.add(addresses, mask, bytes);
    }

    /// Adds the parts of such an access to those that are there. An access of more than 32 lines counts as one of 32.
    pub fn add(&mut self, addresses: &[u64; WARP_SIZE], mask: Mask, bytes: u32) {
        if mask == Mask::MAX {
            return self.add_in_order(addresses.iter().copied(), bytes);
        }
        self.add_in_order(lanes(mask).map(|lane| addresses[lane]), bytes);
    }

    /// Lanes that follow one another in the same line are entered together.
    fn add_in_order(&mut self, addresses: impl Iterator<Item = u64>, bytes: u32) {
        let at_start = granules_at_start(bytes);
        let (mut line, mut granules) = (0, 0);
        for address in addresses {
            if address >> LINE_SHIFT != line {
                self.push(line, granules);
                (line, granules) = (address >> LINE_SHIFT, 0);
            }
            granules |= at_start.wrapping_shl(granule(address));
        }
        self.push(line, granules);
    }

    /// Adds granules of a line, if there are any.
    pub fn push(&mut self, line: u64, granules: u32) {
        if granules == 0 {
            return;
        }
        let place = self.place_of(line);
        self.parts[place].granules |= granules;
    }

    /// Sets the parts to those of 32 lanes that lie one after another from `first`.
    pub fn gather_contiguous(&mut self, first: u64, bytes: u32) {
        self.len = 0;
        let end = first + u64::from(bytes) * WARP_SIZE as u64;
        let mut address = first;
        while address < end {
            let line = address >> LINE_SHIFT;
            let stop = end.min((line + 1) << LINE_SHIFT);
            let place = self.place_of(line);
            self.parts[place].granules = granule_range(address, stop);
            address = stop;
        }
    }

    /// Counts, for each part, the turns that an atomic takes.
    pub fn count_turns(&mut self, addresses: &[u64; WARP_SIZE], mask: Mask) {
        let mut turns = [[0_u8; 4]; WARP_SIZE];
        let mut rest = mask;
        while rest != 0 {
            let address = addresses[rest.trailing_zeros() as usize];
            let same = same_address(addresses, rest, address);
            rest &= !same;
            let line = address >> LINE_SHIFT;
            if let Some(place) = self.as_slice().iter().position(|part| part.line == line) {
                let most = &mut turns[place][(address >> SECTOR_SHIFT) as usize & 3];
                *most = same.count_ones().max((*most).into()) as u8;
            }
        }
        for (part, turns) in self.parts[..self.len].iter_mut().zip(&turns) {
            part.turns = Turns::of(turns, whole_sectors_of(part.granules));
        }
    }

    fn place_of(&mut self, line: u64) -> usize {
        if let Some(place) = self.as_slice().iter().position(|part| part.line == line) {
            return place;
        }
        let place = self.len.min(WARP_SIZE - 1);
        self.parts[place] = LinePart { line, granules: 0, turns: Turns::default() };
        self.len = place + 1;
        place
    }
}

impl Turns {
    /// Of the turns of each sector.
    fn of(sectors: &[u8; 4], whole: u8) -> Self {
        let sum = |of: u8| (0..4).filter(|sector| of >> sector & 1 != 0).map(|sector| sectors[sector]).sum();
        Self { whole: sum(whole), partial: sum(!whole), most: sectors.iter().copied().max().unwrap_or(0) }
    }

    pub fn sum(self) -> u32 {
        u32::from(self.whole) + u32::from(self.partial)
    }
}

fn same_address(addresses: &[u64; WARP_SIZE], mask: Mask, address: u64) -> Mask {
    let mut same = 0;
    for (lane, other) in addresses.iter().enumerate() {
        same |= u32::from(*other == address) << lane;
    }
    same & mask
}

/// The granule of its line that an address is in; as a shift, since those count modulo 32.
const fn granule(address: u64) -> u32 {
    (address >> GRANULE_SHIFT) as u32
}

/// Granules of an access at the start of a line.
const fn granules_at_start(bytes: u32) -> u32 {
    match bytes {
        0..=4 => 1,
        8 => 0b11,
        16 => 0xf,
        _ => 0xff,
    }
}

/// Granules of the bytes from `address` to `stop`, in one line.
const fn granule_range(address: u64, stop: u64) -> u32 {
    let first = (address as u32 & 127) >> GRANULE_SHIFT;
    let last = ((stop - 1) as u32 & 127) >> GRANULE_SHIFT;
    (u32::MAX >> (31 - (last - first))) << first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(f: impl Fn(u64) -> u64) -> [u64; WARP_SIZE] {
        std::array::from_fn(|lane| f(lane as u64))
    }

    fn gathered(addresses: &[u64; WARP_SIZE], mask: Mask, bytes: u32) -> Lines {
        let mut lines = Lines::default();
        lines.gather(addresses, mask, bytes);
        lines
    }

    #[test]
    fn lines_and_sectors_of_common_patterns() {
        type Case = (&'static str, [u64; WARP_SIZE], Mask, u32, usize, u32);
        #[rustfmt::skip]
        let cases: &[Case] = &[
            ("contiguous words", at(|l| 1024 + 4 * l), !0, 4, 1, 4),
            ("contiguous words, 4 bytes off", at(|l| 1028 + 4 * l), !0, 4, 2, 5),
            ("16 bytes a lane", at(|l| 16 * l), !0, 16, 4, 16),
            ("32 bytes a lane", at(|l| 32 * l), !0, 32, 8, 32),
            ("stride of a sector", at(|l| 32 * l), !0, 4, 8, 32),
            ("stride of a line, backwards", at(|l| 8192 - 128 * l), !0, 4, 32, 32),
            ("one address", at(|_| 260), !0, 4, 1, 1),
            ("two lines by turns", at(|l| l % 2 * 512 + l), !0, 1, 2, 2),
            ("lanes 3 and 31 only", at(|l| 4 * l), 1 << 3 | 1 << 31, 4, 1, 2),
            ("nobody", at(|l| 4 * l), 0, 4, 0, 0),
        ];
        for (name, addresses, mask, bytes, lines, sectors) in cases {
            let found = gathered(addresses, *mask, *bytes);
            assert_eq!((found.as_slice().len(), found.sector_count()), (*lines, *sectors), "{name}");
        }
    }

    #[test]
    fn contiguous_lanes_give_what_the_lane_by_lane_way_gives() {
        for bytes in [1, 2, 4, 8, 16, 32] {
            for offset in [0, 4, 8, 32, 96, 124] {
                let first = 4096 + offset / bytes * bytes;
                let slow = gathered(&at(|l| first + bytes * l), !0, bytes as u32);
                let mut fast = Lines::default();
                fast.gather_contiguous(first, bytes as u32);
                assert_eq!(fast.as_slice(), slow.as_slice(), "{bytes} bytes at offset {offset}");
            }
        }
    }

    #[test]
    fn all_lanes_of_a_line_together_are_what_they_are_one_by_one() {
        let mut seed = 1_u64;
        let mut random = move || {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            seed >> 20
        };
        for round in 0..2000 {
            let bytes = 1 << (round % 6);
            // Spread over some bytes, some lines, some gigabytes; in the last, lines do not fit 32 bits.
            let spread = [64, 200, 1 << 12, 1 << 20, 1 << 38, 1 << 43][round as usize / 6 % 6];
            let base = [1 << 20, (1 << 39) - 64, 0x7f00_0000_0000][round as usize / 36 % 3];
            let addresses = std::array::from_fn(|_| (base + random() % spread) / bytes * bytes);
            let mask = if round % 5 == 0 { Mask::MAX } else { random() as Mask };
            let mut slow = Lines::default();
            slow.add(&addresses, mask, bytes as u32);
            assert_eq!(gathered(&addresses, mask, bytes as u32).as_slice(), slow.as_slice(), "{addresses:x?} {mask:x}");
        }
    }

    #[test]
    fn a_sector_is_whole_only_when_every_granule_of_it_is_there() {
        let every_other = gathered(&at(|l| 8 * l), !0, 4);
        assert_eq!(every_other.as_slice()[0].granules, 0x5555_5555);
        assert_eq!(whole_sectors_of(0x5555_5555), 0);
        assert_eq!(whole_sectors_of(0xff00_00ff), 0b1001);
        assert_eq!(sectors_of(0x0100_0000), 0b1000);
    }

    #[test]
    fn turns_of_an_atomic_are_the_lanes_on_one_word_sector_by_sector() {
        type Case = (&'static str, [u64; WARP_SIZE], u32, &'static [(u8, u8, u8)]);
        #[rustfmt::skip]
        let cases: &[Case] = &[
            ("one address", at(|_| 64), 4, &[(0, 32, 32)]),
            ("two addresses of a sector", at(|l| 64 + 4 * (l % 2)), 4, &[(0, 16, 16)]),
            ("the words of a sector", at(|l| 64 + 4 * (l % 8)), 4, &[(4, 0, 4)]),
            ("the words of a line", at(|l| 4 * l), 4, &[(4, 0, 1)]),
            ("a word of each sector", at(|l| 32 * (l % 4)), 4, &[(0, 32, 8)]),
            ("pairs of a line and a half", at(|l| 8 * (l % 24)), 8, &[(6, 0, 2), (2, 0, 1)]),
            ("two lines", at(|l| if l < 20 { 64 } else { 128 + 4 * (l % 4) }), 4, &[(0, 20, 20), (0, 3, 3)]),
        ];
        for (name, addresses, bytes, expected) in cases {
            let mut lines = gathered(addresses, !0, *bytes);
            lines.count_turns(addresses, !0);
            let turns: Vec<_> =
                lines.as_slice().iter().map(|part| (part.turns.whole, part.turns.partial, part.turns.most)).collect();
            assert_eq!(turns, *expected, "{name}");
        }
    }

    #[test]
    fn a_store_carries_its_sectors_and_a_mask_where_one_is_not_whole() {
        let flits = [0xff, 0xffff_ffff, 0x0f, 0xffff_fff0, 0x0101_0101, 0].map(write_flits);
        assert_eq!(flits, [1, 4, 2, 5, 5, 0]);
    }
}
