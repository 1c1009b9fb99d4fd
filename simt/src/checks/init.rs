//! Reads of bytes that nobody wrote: in global memory since it was allocated, in shared and local memory since the block started.
//!
//! The machine zeroes all of them, which hides the mistake; hardware does not.

use std::collections::HashMap;

use super::finding::{Finding, Findings};
use super::written::{Bytes, Written};
use crate::exec::{AccessKind, Event};
use crate::fault::{Action, Detail, FaultKind, Violation};
use crate::isa::{Mask, Op, Space, WARP_SIZE};
use crate::memory::sectors::lanes;

#[derive(Debug)]
pub(super) struct Init {
    global: Written,
    /// By block index.
    blocks: HashMap<[u32; 3], BlockBytes>,
}

#[derive(Debug)]
struct BlockBytes {
    shared: Bytes,
    /// By warp and lane; made at a thread's first access.
    local: HashMap<usize, Bytes>,
}

impl Init {
    pub fn new(global: Written) -> Self {
        Self { global, blocks: HashMap::new() }
    }

    pub fn into_written(self) -> Written {
        self.global
    }

    pub fn access(&mut self, event: &Event<'_>, found: &mut Findings) {
        let instr = event.grid.kernel().instr(event.step.pc);
        if matches!(instr.op, Op::Load(access) if access.space == Space::Const) {
            return;
        }
        for (space, mask) in
            [(Space::Global, event.note.global), (Space::Shared, event.note.shared), (Space::Local, event.note.local)]
        {
            if mask != 0 {
                self.in_space(event, space, mask, found);
            }
        }
    }

    /// The block has ended: its memory is gone.
    pub fn ended(&mut self, block: [u32; 3]) {
        self.blocks.remove(&block);
    }

    fn in_space(&mut self, event: &Event<'_>, space: Space, mask: Mask, found: &mut Findings) {
        let (kind, bytes) = (event.note.kind, event.note.bytes);
        let long = u64::from(bytes);
        // All lanes read before any of them writes, as far as this check goes.
        if kind != AccessKind::Store {
            let unwritten = lanes(mask).find(|lane| !self.holds(event, space, *lane, event.addresses[*lane], long));
            if let Some(lane) = unwritten {
                found.add(finding(event, space, lane));
            }
        }
        if kind != AccessKind::Load {
            for lane in lanes(mask) {
                let address = event.addresses[lane];
                match space {
                    Space::Global => self.global.set(address, long),
                    Space::Shared => self.block(event).shared.set(address, long),
                    _ => self.local(event, lane).set(address, long),
                }
            }
        }
    }

    fn holds(&mut self, event: &Event<'_>, space: Space, lane: usize, address: u64, bytes: u64) -> bool {
        match space {
            Space::Global => self.global.holds(address, bytes),
            Space::Shared => self.block(event).shared.holds(address, bytes),
            _ => self.local(event, lane).holds(address, bytes),
        }
    }

    fn block(&mut self, event: &Event<'_>) -> &mut BlockBytes {
        let size = event.block.shared().len() as u64;
        self.blocks
            .entry(event.block.index())
            .or_insert_with(|| BlockBytes { shared: Bytes::new(size), local: HashMap::new() })
    }

    fn local(&mut self, event: &Event<'_>, lane: usize) -> &mut Bytes {
        let size = event.grid.kernel().program().local_bytes.into();
        let thread = event.warp * WARP_SIZE + lane;
        self.block(event).local.entry(thread).or_insert_with(|| Bytes::new(size))
    }
}

fn finding(event: &Event<'_>, space: Space, lane: usize) -> Finding {
    let limit = match space {
        Space::Shared => Some(event.block.shared().len() as u64),
        Space::Local => Some(event.grid.kernel().program().local_bytes.into()),
        _ => None,
    };
    let action = if event.note.kind == AccessKind::Load { Action::Read } else { Action::Atomic };
    let detail = Detail::Access { space, address: event.addresses[lane], bytes: event.note.bytes, action, limit };
    let violation = Violation {
        kind: FaultKind::Uninitialised,
        pc: event.step.pc,
        warp: event.warp as u32,
        lane: lane as u32,
        detail,
    };
    Finding { block: event.block.index(), violation, other: None }
}
