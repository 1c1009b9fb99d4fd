//! Which bytes of global memory a launch reads and writes, each counted once: the least that has to move.

use std::collections::HashMap;

use warpwise_simt::exec::{AccessKind, Effect, Event, Probe};
use warpwise_simt::isa::WARP_SIZE;

const LINE_BYTES: u64 = 128;

/// Bytes read and written, a bit a byte of each line of 128.
#[derive(Debug, Default)]
pub struct Footprint {
    lines: HashMap<u64, [u128; 2]>,
    /// Bytes that lanes asked for or wrote, repetitions included.
    pub referenced_bytes: u64,
}

impl Footprint {
    /// Bytes that are read, and bytes that are written.
    pub fn least_bytes(&self) -> (u64, u64) {
        self.lines.values().fold((0, 0), |(read, written), [reads, writes]| {
            (read + u64::from(reads.count_ones()), written + u64::from(writes.count_ones()))
        })
    }

    fn note(&mut self, address: u64, bytes: u64, reads: bool, writes: bool) {
        let mut at = address;
        while at < address + bytes {
            let (line, first) = (at / LINE_BYTES, at % LINE_BYTES);
            let count = (address + bytes - at).min(LINE_BYTES - first);
            let mask = (u128::MAX >> (LINE_BYTES - count)) << first;
            let entry = self.lines.entry(line).or_default();
            entry[0] |= if reads { mask } else { 0 };
            entry[1] |= if writes { mask } else { 0 };
            at += count;
        }
    }
}

impl Probe for Footprint {
    fn instruction(&mut self, event: &Event<'_>) {
        if event.step.effect != Effect::Memory {
            return;
        }
        let (kind, bytes) = (event.note.kind, u64::from(event.note.bytes));
        for lane in (0..WARP_SIZE).filter(|lane| event.note.global >> lane & 1 != 0) {
            self.note(event.addresses[lane], bytes, kind != AccessKind::Store, kind != AccessKind::Load);
            self.referenced_bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_once_across_lines_and_each_way() {
        let mut footprint = Footprint::default();
        footprint.note(120, 16, true, false);
        footprint.note(124, 4, true, false);
        footprint.note(120, 8, false, true);
        assert_eq!(footprint.least_bytes(), (16, 8));
        footprint.note(0, 128, true, true);
        assert_eq!(footprint.least_bytes(), (136, 128));
    }
}
