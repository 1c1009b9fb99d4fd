//! Constant bank 0: where the launch's values stand below the parameters.
//!
//! Read off listings of kernels that use each value, compiled by ptxas 13.2 for sm_80, sm_90, sm_100 and sm_120.

use crate::isa::{Constant, LOCAL_WINDOW, SHARED_WINDOW};

/// What a kernel's bank 0 is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bank {
    /// 80, 90, 120, …
    pub arch: u32,
    /// Byte at which the parameters start, and their size.
    pub params: (u32, u32),
    /// Initial stack pointer: the local memory of a thread, since the stack grows down to 0.
    pub stack_bytes: u32,
}

/// Where each architecture has the launch's values.
struct Layout {
    block_dim: u32,
    grid_dim: u32,
    local_window: u32,
    /// From 9.0 on a special register says it.
    shared_window: Option<u32>,
    stack: u32,
    /// The descriptor of global memory, which says nothing to the machine.
    descriptor: u32,
    dynamic_shared: u32,
    grid_id: u32,
}

impl Bank {
    fn layout(&self) -> Layout {
        match self.arch {
            100.. => Layout {
                block_dim: 0x360,
                grid_dim: 0x370,
                local_window: 0x2f8,
                shared_window: None,
                stack: 0x37c,
                descriptor: 0x358,
                dynamic_shared: 0x2d0,
                grid_id: 0x140,
            },
            90.. => Layout {
                block_dim: 0,
                grid_dim: 0xc,
                local_window: 0x20,
                shared_window: None,
                stack: 0x28,
                descriptor: 0x208,
                dynamic_shared: 0x2c,
                grid_id: 0x30,
            },
            _ => Layout {
                block_dim: 0,
                grid_dim: 0xc,
                local_window: 0x20,
                shared_window: Some(0x18),
                stack: 0x28,
                descriptor: 0x118,
                dynamic_shared: 0x2c,
                grid_id: 0x30,
            },
        }
    }

    /// The 32-bit word at a byte of the bank; `None` where nobody knows what it is.
    pub fn word(&self, byte: u32) -> Option<Constant> {
        let (first, bytes) = self.params;
        if byte >= first && byte < first + bytes.next_multiple_of(4) {
            let offset = byte - first;
            return Some(Constant::Param { offset, bytes: 4, signed: false });
        }
        let layout = self.layout();
        let axis = |start: u32| byte.checked_sub(start).filter(|at| *at < 12 && at % 4 == 0).map(|at| (at / 4) as u8);
        let half = |start: u32| byte.checked_sub(start).filter(|at| *at == 0 || *at == 4).map(|at| 8 * at);
        if let Some(axis) = axis(layout.block_dim) {
            return Some(Constant::BlockDim(axis));
        }
        if let Some(axis) = axis(layout.grid_dim) {
            return Some(Constant::GridDim(axis));
        }
        if let Some(shift) = half(layout.local_window) {
            return Some(Constant::Literal((LOCAL_WINDOW >> shift) as u32));
        }
        if let Some(shift) = layout.shared_window.and_then(half) {
            return Some(Constant::Literal((SHARED_WINDOW >> shift) as u32));
        }
        match byte {
            byte if byte == layout.stack => Some(Constant::Literal(self.stack_bytes)),
            byte if byte == layout.dynamic_shared => Some(Constant::SharedDynamicBytes),
            byte if byte == layout.grid_id => Some(Constant::GridId),
            _ if half(layout.descriptor).is_some() => Some(Constant::Literal(0)),
            _ => None,
        }
    }
}
