//! Special registers that rust-cuda's `cuda_std` has no function for.
//!
//! `asm!` is right here: reading them synchronises no lanes.

/// `%smid`: the SM on which the thread runs, counted from zero. It says where a block was placed, once the block runs;
/// nothing promises which SM that is.
#[inline(always)]
pub fn sm_id() -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let sm;
        // SAFETY: reads a special register, which every thread has.
        unsafe { core::arch::asm!("mov.u32 {}, %smid;", out(reg32) sm, options(nomem, nostack, preserves_flags)) };
        sm
    }
    #[cfg(not(target_arch = "nvptx64"))]
    panic!("only a thread of a GPU is on an SM: launch the kernel that calls this")
}
