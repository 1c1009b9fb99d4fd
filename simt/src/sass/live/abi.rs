//! What a call does with registers.
//!
//! nvdisasm knows the ABI's convention and shows its registers as written by each call. The numbers were read off its listings
//! of kernels with calls, for six architectures from sm_80 to sm_120, from PTX 7.8 and 9.2.

use super::roles::Roles;
use super::{File, Register, Set};
use crate::sass::Entry;

/// The convention of a kernel's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abi {
    /// 80, 90, 120, …
    pub arch: u32,
    /// Registers of a thread: no call touches more.
    pub registers: u32,
    /// From the cubin's flags: whether calls use more than six uniform registers, from 9.0 on.
    pub many_uniform: bool,
}

/// The ABI version, in the flags' upper byte, of which calls take many uniform registers.
const MANY_UNIFORM: u8 = 10;

impl Abi {
    pub fn of(entry: &Entry) -> Self {
        Self { arch: entry.arch, registers: entry.registers, many_uniform: entry.abi_version >= MANY_UNIFORM }
    }

    /// The address to return to is in R0, the stack's top in R1; what a callee may use without saving it is written.
    pub(super) fn call(&self, roles: &mut Roles) {
        let general = |index| Register { file: File::General, index };
        roles.reads.insert(general(0));
        roles.reads.insert(general(1));
        self.general().filter(|index| is_free(*index)).for_each(|index| roles.writes.insert(general(index)));
        let many = self.many_uniform && self.arch >= 90;
        let uniform_predicates = match (many, self.arch) {
            (true, 100..) => 4,
            (false, 100..120) => 2,
            _ => 1,
        };
        let files = [
            (File::Predicate, 0..7),
            (File::UniformPredicate, 0..uniform_predicates),
            (File::Uniform, 4..if many { 24 } else { 10 }),
        ];
        for (file, indices) in files {
            indices.for_each(|index| roles.writes.insert(Register { file, index }));
        }
    }

    /// What a callee leaves as it was.
    pub(super) fn kept(&self) -> Set {
        let kept = self.general().filter(|index| !is_free(*index));
        kept.map(|index| Register { file: File::General, index }).collect()
    }

    fn general(&self) -> std::ops::Range<u16> {
        0..self.registers.min(255) as u16
    }
}

/// Whether a callee may write this general register.
fn is_free(index: u16) -> bool {
    match index {
        1 | 2 => false,
        0..16 => true,
        16..32 => false,
        _ => index % 8 < 4,
    }
}
