//! Data of a memory instruction, between the operands' slots and words packed as they lie in memory.

use super::access::{AccessKind, Job};
use super::block::Spaces;
use super::executor::Executor;
use super::frame::Frame;
use crate::isa::{AtomicKind, Lanes, Mask, Op, Slot, Space, WARP_SIZE};
use crate::memory::{Words, sectors::lanes};

impl Executor<'_> {
    /// Data of the access to its destinations, narrow elements extended by their sign.
    pub(super) fn deliver(&mut self, job: &Job<'_>, on: Mask) {
        let (ty, bits) = (job.access.ty, job.access.ty.bits());
        let words = usize::from(ty.slots());
        for element in 0..usize::from(job.access.count) {
            let slot = job.d.dst[element];
            if bits >= 32 {
                for word in 0..words {
                    let to = Slot(slot.0 + word as u16);
                    let value = &self.data[element * words + word];
                    // SAFETY: as in `collect_data`; the sink has four slots.
                    unsafe { self.frame.write(to, value, on) };
                }
                continue;
            }
            let per_word = 32 / bits as usize;
            let (word, shift) = (element / per_word, (element % per_word) as u32 * bits);
            let up = 32 - bits;
            let value = Lanes(self.data[word].0.map(|word| match ty.is_signed() {
                true => ((word >> shift << up) as i32 >> up) as u32,
                false => word >> shift << up >> up,
            }));
            // SAFETY: as in `collect_data`.
            unsafe { self.frame.write(slot, &value, on) };
        }
    }

    /// Moves whole words between `self.data` and shared or local memory. Offsets were checked.
    pub(super) fn move_block_words(&mut self, job: &Job<'_>, on: Mask, space: Space, spaces: &mut Spaces) {
        let words = job.access.bytes() as usize / 4;
        let addresses = &self.frame.access.lane;
        for lane in lanes(on) {
            let thread = job.warp * WARP_SIZE + lane;
            let (memory, first) = match space {
                Space::Shared => (&mut spaces.shared, 0),
                _ => (&mut spaces.local, thread * spaces.local_bytes),
            };
            let start = first + addresses[lane] as usize;
            let Some(place) = memory.get_mut(start..start + 4 * words) else { continue };
            let (places, _) = place.as_chunks_mut::<4>();
            let mut changed = 0;
            for (place, data) in places.iter_mut().zip(&mut self.data) {
                let old = u32::from_le_bytes(*place);
                if job.kind == AccessKind::Load {
                    data.0[lane] = old;
                } else {
                    *place = data.0[lane].to_le_bytes();
                    changed |= old ^ data.0[lane];
                }
            }
            spaces.changes += u64::from(changed != 0);
        }
    }
}

/// Source operands as data of the access: elements packed by their width.
pub(super) fn collect_data(frame: &Frame, data: &mut Words, job: &Job<'_>) {
    let (bits, count) = (job.access.ty.bits(), usize::from(job.access.count));
    let words = usize::from(job.access.ty.slots());
    if matches!(job.d.op, Op::Atomic(..)) || bits >= 32 {
        for (index, to) in data[..count * words].iter_mut().enumerate() {
            let (element, word) = (index / words, (index % words) as u16);
            // SAFETY: the frame was entered for this warp; each element was checked for its words.
            *to = unsafe { *frame.source(job.d.src[element].word(word)) };
        }
        return;
    }
    let per_word = 32 / bits as usize;
    for element in 0..count {
        // SAFETY: as above.
        let value = unsafe { &*frame.source(job.d.src[element]) };
        let (word, shift) = (element / per_word, (element % per_word) as u32 * bits);
        for (to, value) in data[word].0.iter_mut().zip(value.0) {
            let below = if shift == 0 { 0 } else { *to };
            *to = below | (value & ((1 << bits) - 1)) << shift;
        }
    }
}

/// What a compare-and-swap stores.
pub(super) fn collect_swap(frame: &Frame, swap: &mut Words, job: &Job<'_>) {
    if let Op::Atomic(AtomicKind::Cas, access) = job.d.op {
        for (word, to) in swap[..access.ty.slots().into()].iter_mut().enumerate() {
            // SAFETY: as in `collect_data`.
            *to = unsafe { *frame.source(job.d.src[1].word(word as u16)) };
        }
    }
}
