//! The trait that stands between execution and global memory.
//!
//! Execution computes a warp's addresses, checks bounds and alignment against [`Port::memory`], and then asks its port to move
//! the data. So a port never sees an illegal access, and what it decides is only *when* and *where* an effect becomes visible:
//! at once for the functional machine, in an overlay until the quantum ends for the cycle model.

use super::Memory;
use crate::isa::{Access, AtomicKind, Lanes, Mask, Pc, Scope, WARP_SIZE};

/// Data of one access, lane by lane: bytes `4w..4w + 4` of lane `l` are `words[w].0[l]`; narrower data is zero-extended.
pub type Words = [Lanes; 8];

/// How the addresses of an access lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All 32 lanes take part, each right after the one before.
    Contiguous,
    /// All lanes that take part have one address.
    Uniform,
    Scattered,
}

/// A warp's access to global memory: aligned, and inside live allocations in every lane of `mask`.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub pc: Pc,
    pub access: &'a Access,
    /// Lanes that take part; never 0.
    pub mask: Mask,
    /// Device addresses; those of lanes outside `mask` mean nothing.
    pub addresses: &'a [u64; WARP_SIZE],
    /// Bytes a lane moves: 1 to 32, a power of two.
    pub bytes: u32,
    pub shape: Shape,
}

impl Request<'_> {
    /// Words of a lane's data.
    pub const fn words(&self) -> usize {
        self.bytes.div_ceil(4) as usize
    }

    /// The lowest lane that takes part.
    pub const fn first_lane(&self) -> usize {
        (self.mask.trailing_zeros() & 31) as usize
    }
}

/// A warp's read-modify-write of global memory.
#[derive(Clone, Copy, Debug)]
pub struct AtomicRequest<'a> {
    pub request: Request<'a>,
    pub kind: AtomicKind,
    /// The first operand; for `Cas` what is compared with.
    pub operand: &'a Words,
    /// What `Cas` stores.
    pub swap: &'a Words,
    /// Whether the instruction has a destination; if not it is a reduction.
    pub returns: bool,
}

/// What became of an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicReply {
    /// Done; the old values are in `old`.
    Done,
    /// Accepted; the port's owner will hand the old values to [`crate::exec::Block::complete_atomic`] later, and does not let the
    /// warp run an instruction that needs them before.
    Deferred,
}

/// Access to global memory on behalf of the warps of one SM.
pub trait Port {
    /// The memory whose allocation map accesses are checked against.
    fn memory(&self) -> &Memory;

    /// Reads into `out` (`request.words()` lanes-wide words), in the lanes of the mask only.
    fn load(&mut self, request: &Request<'_>, out: &mut [Lanes]);

    /// Writes `data` (`request.words()` words).
    fn store(&mut self, request: &Request<'_>, data: &[Lanes]);

    /// Performs or accepts an atomic. Lanes with the same address act one after another, lowest lane first.
    fn atomic(&mut self, request: &AtomicRequest<'_>, old: &mut Words) -> AtomicReply;

    /// Orders memory accesses before it with those after it, as far as the port ever reorders.
    fn fence(&mut self, scope: Scope);

    /// A number that grows whenever memory as this SM sees it may have changed. It never shrinks.
    fn changes(&self) -> u64;

    /// The SM's cycle counter, for `%clock`.
    fn clock(&self) -> u64;

    /// Nanoseconds, for `%globaltimer`.
    fn nanoseconds(&self) -> u64;
}
