//! An SM's view of global memory inside a quantum: memory as it was at the start, with the SM's own stores over it.
//!
//! Stores and atomics are written down; the boundary applies those of all SMs in one order. A load that may touch bytes stored in
//! this quantum (a filter by line says so) reads memory and then the records, oldest first.

use crate::isa::{Access, AtomicKind, Lanes, Mask, Scope, WARP_SIZE};
use crate::memory::{AtomicReply, AtomicRequest, Memory, Port, Request, Shape, Words, read_global};
use crate::timing::memory::LINE_SHIFT;
use crate::timing::memory::lines::Lines;

/// A store or atomic that waits for the boundary.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub cycle: u64,
    pub access: Access,
    pub mask: Mask,
    pub shape: Shape,
    pub addresses: [u64; WARP_SIZE],
    pub atomic: Option<AtomicWrite>,
    /// First word of its data in [`Writes::data`].
    data: u32,
    words: u16,
    lowest: u64,
    highest: u64,
}

/// What an atomic needs beyond a store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtomicWrite {
    pub kind: AtomicKind,
    pub returns: bool,
    pub pc: crate::isa::Pc,
}

/// What an SM wrote in a quantum, in its order.
#[derive(Debug)]
pub(crate) struct Writes {
    records: Vec<Write>,
    data: Vec<Lanes>,
    /// One bit a hashed line that a record touches.
    filter: [u64; FILTER_WORDS],
}

const FILTER_WORDS: usize = 64;

impl Default for Writes {
    fn default() -> Self {
        Self { records: Vec::new(), data: Vec::new(), filter: [0; FILTER_WORDS] }
    }
}

impl Writes {
    pub fn records(&self) -> &[Write] {
        &self.records
    }

    /// Data words of a record: of a store what it writes, of an atomic its operand and then what `Cas` stores.
    pub fn data(&self, record: &Write) -> &[Lanes] {
        &self.data[record.data as usize..][..record.words.into()]
    }

    pub fn clear(&mut self) {
        if !self.records.is_empty() {
            self.records.clear();
            self.data.clear();
            self.filter = [0; FILTER_WORDS];
        }
    }

    fn push(
        &mut self,
        cycle: u64,
        request: &Request<'_>,
        data: [&[Lanes]; 2],
        atomic: Option<AtomicWrite>,
        lines: &Lines,
    ) {
        let first = self.data.len() as u32;
        data.iter().for_each(|words| self.data.extend_from_slice(words));
        for part in lines.as_slice() {
            let bit = filter_bit(part.line);
            self.filter[bit / 64] |= 1 << (bit % 64);
        }
        let numbers = || lines.as_slice().iter().map(|part| part.line);
        self.records.push(Write {
            cycle,
            access: *request.access,
            mask: request.mask,
            shape: request.shape,
            addresses: *request.addresses,
            atomic,
            data: first,
            words: (data[0].len() + data[1].len()) as u16,
            lowest: numbers().min().unwrap_or(0) << LINE_SHIFT,
            highest: (numbers().max().unwrap_or(0) + 1) << LINE_SHIFT,
        });
    }

    fn may_touch(&self, lines: &Lines) -> bool {
        !self.records.is_empty()
            && lines.as_slice().iter().any(|part| {
                let bit = filter_bit(part.line);
                self.filter[bit / 64] >> (bit % 64) & 1 != 0
            })
    }

    /// Puts bytes stored in this quantum over what a load read from memory.
    fn patch(&self, request: &Request<'_>, out: &mut [Lanes], lines: &Lines) {
        for record in self.records.iter().filter(|record| record.atomic.is_none()) {
            let touches = |line: u64| (record.lowest..record.highest).contains(&(line << LINE_SHIFT));
            if lines.as_slice().iter().any(|part| touches(part.line)) {
                self.patch_from(record, request, out);
            }
        }
    }

    fn patch_from(&self, record: &Write, request: &Request<'_>, out: &mut [Lanes]) {
        let data = self.data(record);
        let width = u64::from(record.access.bytes());
        for lane in lanes(request.mask) {
            let first = request.addresses[lane];
            let end = first + u64::from(request.bytes);
            for other in lanes(record.mask) {
                let (from, until) = (record.addresses[other], record.addresses[other] + width);
                for address in first.max(from)..end.min(until) {
                    let byte = byte_of(data, other, (address - from) as usize);
                    set_byte(out, lane, (address - first) as usize, byte);
                }
            }
        }
    }
}

fn filter_bit(line: u64) -> usize {
    (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize % (64 * FILTER_WORDS)
}

fn byte_of(data: &[Lanes], lane: usize, byte: usize) -> u8 {
    (data[byte / 4].0[lane] >> (8 * (byte % 4))) as u8
}

fn set_byte(data: &mut [Lanes], lane: usize, byte: usize, value: u8) {
    let (word, shift) = (&mut data[byte / 4].0[lane], 8 * (byte % 4));
    *word = *word & !(0xff << shift) | u32::from(value) << shift;
}

fn lanes(mask: Mask) -> impl Iterator<Item = usize> {
    crate::memory::sectors::lanes(mask)
}

/// The port for one instruction of one SM.
pub(crate) struct SmPort<'a> {
    pub memory: &'a Memory,
    pub writes: &'a mut Writes,
    /// Lines of the access that goes through, for the caches.
    pub lines: &'a mut Lines,
    pub cycle: u64,
    pub clock_mhz: u64,
    /// Changes of memory before this quantum.
    pub changes: u64,
}

impl SmPort<'_> {
    fn find_lines(&mut self, request: &Request<'_>) {
        match request.shape {
            Shape::Contiguous => self.lines.gather_contiguous(request.addresses[0], request.bytes),
            Shape::Uniform => self.lines.gather(request.addresses, 1 << request.first_lane(), request.bytes),
            _ => self.lines.gather(request.addresses, request.mask, request.bytes),
        }
    }
}

impl Port for SmPort<'_> {
    fn memory(&self) -> &Memory {
        self.memory
    }

    #[inline]
    fn load(&mut self, request: &Request<'_>, out: &mut [Lanes]) {
        self.find_lines(request);
        read_global(self.memory, request, out);
        if self.writes.may_touch(self.lines) {
            self.writes.patch(request, out, self.lines);
        }
    }

    fn store(&mut self, request: &Request<'_>, data: &[Lanes]) {
        self.find_lines(request);
        self.writes.push(self.cycle, request, [data, &[]], None, self.lines);
    }

    fn atomic(&mut self, atomic: &AtomicRequest<'_>, _old: &mut Words) -> AtomicReply {
        let request = &atomic.request;
        self.find_lines(request);
        self.lines.count_turns(request.addresses, request.mask);
        let words = request.words();
        let swap = if atomic.kind == AtomicKind::Cas { &atomic.swap[..words] } else { &[] };
        let note = AtomicWrite { kind: atomic.kind, returns: atomic.returns, pc: request.pc };
        self.writes.push(self.cycle, request, [&atomic.operand[..words], swap], Some(note), self.lines);
        AtomicReply::Deferred
    }

    /// Nothing is reordered: an SM's own effects stand in its order, others' come at the boundary.
    fn fence(&mut self, _scope: Scope) {}

    fn changes(&self) -> u64 {
        self.changes + self.writes.records.len() as u64
    }

    fn clock(&self) -> u64 {
        self.cycle
    }

    fn nanoseconds(&self) -> u64 {
        self.cycle * 1000 / self.clock_mhz.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_shape_are_those_that_its_lanes_touch() {
        let memory = Memory::new(1 << 20);
        let (mut writes, mut lines, mut slow) = (Writes::default(), Lines::default(), Lines::default());
        for bytes in [1, 2, 4, 8, 16, 32] {
            let width = u64::from(bytes);
            for start in [0, width, 96, 128 - width, (1 << 40) - 16 * width] {
                let first = (1 << 20) + start / width * width;
                let row = std::array::from_fn(|lane| first + width * lane as u64);
                let cases = [(Shape::Contiguous, row, Mask::MAX), (Shape::Uniform, [first; WARP_SIZE], Mask::MAX)];
                // A lane that takes no part has whatever address.
                let mut stray = [first; WARP_SIZE];
                stray[0] = 0;
                for (shape, addresses, mask) in cases.into_iter().chain([(Shape::Uniform, stray, 0xffff_fff8)]) {
                    let request = Request { pc: 0, access: &Access::WORD, mask, addresses: &addresses, bytes, shape };
                    let (memory, writes, lines) = (&memory, &mut writes, &mut lines);
                    let mut port = SmPort { memory, writes, lines, cycle: 0, clock_mhz: 1, changes: 0 };
                    port.find_lines(&request);
                    slow.gather(&addresses, mask, bytes);
                    assert_eq!(port.lines.as_slice(), slow.as_slice(), "{shape:?}, {bytes} bytes at {first:x}");
                }
            }
        }
    }
}
