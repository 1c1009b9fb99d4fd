//! Which bytes of which allocations were written since they were allocated.

use std::collections::BTreeMap;

const PAGE_BYTES: u64 = 4096;

/// One bit a byte.
type Bits = [u64; PAGE_BYTES as usize / 64];

#[derive(Clone, Debug)]
enum Page {
    None,
    All,
    Some(Box<Bits>),
}

/// A range of bytes, offsets from its start.
#[derive(Clone, Debug)]
pub(crate) struct Bytes {
    len: u64,
    pages: Vec<Page>,
}

impl Bytes {
    pub fn new(len: u64) -> Self {
        Self { len, pages: vec![Page::None; len.div_ceil(PAGE_BYTES) as usize] }
    }

    pub fn set(&mut self, start: u64, bytes: u64) {
        let end = start.saturating_add(bytes).min(self.len);
        let mut at = start;
        while at < end {
            let stop = end.min((at / PAGE_BYTES + 1) * PAGE_BYTES);
            let page = &mut self.pages[(at / PAGE_BYTES) as usize];
            let whole = at.is_multiple_of(PAGE_BYTES) && (stop.is_multiple_of(PAGE_BYTES) || stop == self.len);
            match page {
                Page::All => {}
                _ if whole => *page = Page::All,
                Page::None => {
                    let mut bits = Box::new([0; PAGE_BYTES as usize / 64]);
                    mark(&mut bits, at % PAGE_BYTES, stop - at);
                    *page = Page::Some(bits);
                }
                Page::Some(bits) => mark(bits, at % PAGE_BYTES, stop - at),
            }
            at = stop;
        }
    }

    /// Whether each of a few bytes was written; bytes outside count as written.
    pub fn holds(&self, start: u64, bytes: u64) -> bool {
        (start..start.saturating_add(bytes)).all(|at| match self.pages.get((at / PAGE_BYTES) as usize) {
            None | Some(Page::All) => true,
            Some(Page::None) => at >= self.len,
            Some(Page::Some(bits)) => at >= self.len || bits[(at % PAGE_BYTES / 64) as usize] >> (at % 64) & 1 != 0,
        })
    }
}

fn mark(bits: &mut Bits, start: u64, bytes: u64) {
    let mut at = start;
    while at < start + bytes {
        let stop = (start + bytes).min((at / 64 + 1) * 64);
        bits[(at / 64) as usize] |= (u64::MAX >> (64 - (stop - at))) << (at % 64);
        at = stop;
    }
}

/// Global memory: allocations by address. What is in none of them counts as written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    by_start: BTreeMap<u64, Bytes>,
}

impl Written {
    pub fn allocated(&mut self, address: u64, bytes: u64) {
        self.by_start.insert(address, Bytes::new(bytes));
    }

    /// Forgets an allocation, which then counts as written.
    pub fn forget(&mut self, address: u64) {
        self.by_start.remove(&address);
    }

    pub fn set(&mut self, address: u64, bytes: u64) {
        if let Some((start, range)) = self.by_start.range_mut(..=address).next_back() {
            range.set(address - start, bytes);
        }
    }

    pub fn holds(&self, address: u64, bytes: u64) -> bool {
        let range = self.by_start.range(..=address).next_back();
        range.is_none_or(|(start, range)| range.holds(address - start, bytes))
    }

    /// What a copy between two places on the device carries over.
    pub fn copy(&mut self, to: u64, from: u64, bytes: u64) {
        if self.by_start.range(..=from).next_back().is_none_or(|(start, range)| range.is_full(from - start, bytes)) {
            return self.set(to, bytes);
        }
        let known: Vec<bool> = (0..bytes).map(|byte| self.holds(from + byte, 1)).collect();
        for (byte, _) in known.iter().enumerate().filter(|(_, known)| **known) {
            self.set(to + byte as u64, 1);
        }
    }
}

impl Bytes {
    /// As [`Bytes::holds`] for long ranges: whole pages at once.
    fn is_full(&self, start: u64, bytes: u64) -> bool {
        let mut at = start;
        let end = start.saturating_add(bytes).min(self.len);
        while at < end {
            let stop = end.min((at / PAGE_BYTES + 1) * PAGE_BYTES);
            let full = match &self.pages[(at / PAGE_BYTES) as usize] {
                Page::All => true,
                Page::None => false,
                Page::Some(_) => self.holds(at, stop - at),
            };
            if !full {
                return false;
            }
            at = stop;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_one_by_one_and_by_pages() {
        let mut bytes = Bytes::new(10_000);
        assert!(!bytes.holds(0, 1) && !bytes.holds(9_999, 1) && bytes.holds(10_000, 4));
        bytes.set(60, 8);
        assert!(bytes.holds(60, 8) && !bytes.holds(59, 2) && !bytes.holds(67, 2));
        bytes.set(4_000, 5_000);
        assert!(bytes.holds(4_000, 5_000) && !bytes.holds(3_999, 1) && !bytes.holds(9_000, 1));
        bytes.set(0, 10_000);
        assert!(bytes.is_full(0, 10_000));
    }

    #[test]
    fn a_copy_carries_over_what_was_written_and_nothing_else() {
        let mut map = Written::default();
        map.allocated(0x1000, 100);
        map.allocated(0x2000, 100);
        map.set(0x1000, 10);
        map.copy(0x2000, 0x1000, 20);
        assert!(map.holds(0x2000, 10) && !map.holds(0x200a, 1));
        assert!(map.holds(0x10, 4), "what is no allocation counts as written");
        map.forget(0x2000);
        assert!(!map.holds(0x2000, 1) || map.by_start.len() == 1);
    }
}
