//! LLVM's NVPTX intrinsics that `core::arch::nvptx` does not have.
//!
//! LLVM marks the synchronising ones `convergent`: it neither duplicates them nor moves them across a branch.

#[allow(improper_ctypes)]
unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    pub safe fn lane_id() -> u32;
    #[link_name = "llvm.nvvm.activemask"]
    pub safe fn activemask() -> u32;

    #[link_name = "llvm.nvvm.bar.warp.sync"]
    pub fn sync_warp(mask: u32);

    #[link_name = "llvm.nvvm.vote.all.sync"]
    pub fn vote_all(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    pub fn vote_any(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    pub fn vote_ballot(mask: u32, predicate: bool) -> u32;

    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    pub fn shuffle_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    pub fn shuffle_up(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    pub fn shuffle_down(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    pub fn shuffle_xor(mask: u32, value: u32, lane_mask: u32, clamp: u32) -> u32;

    #[link_name = "llvm.nvvm.barrier0.popc"]
    pub safe fn barrier_count(predicate: u32) -> u32;
    #[link_name = "llvm.nvvm.barrier0.and"]
    pub safe fn barrier_and(predicate: u32) -> u32;
    #[link_name = "llvm.nvvm.barrier0.or"]
    pub safe fn barrier_or(predicate: u32) -> u32;

    #[link_name = "llvm.nvvm.membar.cta"]
    pub safe fn membar_block();
    #[link_name = "llvm.nvvm.membar.gl"]
    pub safe fn membar_device();
    #[link_name = "llvm.nvvm.membar.sys"]
    pub safe fn membar_system();

    #[link_name = "llvm.nvvm.nanosleep"]
    pub safe fn nanosleep(nanoseconds: u32);
}
