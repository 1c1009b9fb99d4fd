//! Atomic operations whose names say the type and the scope: `block`, `device` or `system`, the threads among which
//! the operation is atomic and its ordering holds.
//!
//! They are `asm!`, since Rust's own atomics have no scope. That is safe where a barrier would not be: an atomic
//! operation synchronises no lanes, so it may stand in both arms of a branch.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;
use core::sync::atomic::Ordering;

/// The operation's instruction with the ordering as PTX spells it; `SeqCst` is a fence before an acquire.
#[cfg(target_arch = "nvptx64")]
macro_rules! ordered {
    ($order:ident, $scope:literal, $emit:ident) => {
        match $order {
            Ordering::Relaxed => $emit!("relaxed"),
            Ordering::Acquire => $emit!("acquire"),
            Ordering::Release => $emit!("release"),
            Ordering::AcqRel => $emit!("acq_rel"),
            _ => {
                asm!(concat!("fence.sc.", $scope, ";"), options(nostack, preserves_flags));
                $emit!("acquire")
            }
        }
    };
}

macro_rules! fetch {
    ($($name:ident: $what:literal, $op:literal, $type:ident, $ptx:literal, $class:ident, $scope:literal;)*) => {$(
        #[doc = concat!("`atom.", $scope, ".", $op, ".", $ptx, "`: ", $what, " and returns what was there before.")]
        ///
        /// # Safety
        /// `ptr` is aligned and points to global or shared memory of the launch; other threads that touch it during
        /// the launch do so atomically.
        #[inline(always)]
        pub unsafe fn $name(ptr: *mut $type, ordering: Ordering, val: $type) -> $type {
            let _ = (ptr, ordering, val);
            gpu!("an atomic operation", {
                macro_rules! emit {
                    ($order:literal) => {{
                        let before: $type;
                        asm!(
                            concat!("atom.", $order, ".", $scope, ".", $op, ".", $ptx, " {}, [{}], {};"),
                            out($class) before, in(reg64) ptr, in($class) val, options(nostack, preserves_flags)
                        );
                        before
                    }};
                }
                // SAFETY: the caller's promise is the instruction's.
                unsafe { ordered!(ordering, $scope, emit) }
            })
        }
    )*};
}

fetch! {
    atomic_fetch_add_u32_block: "adds `val` (wrapping)", "add", u32, "u32", reg32, "cta";
    atomic_fetch_add_u32_device: "adds `val` (wrapping)", "add", u32, "u32", reg32, "gpu";
    atomic_fetch_add_u32_system: "adds `val` (wrapping)", "add", u32, "u32", reg32, "sys";
    atomic_fetch_add_u64_block: "adds `val` (wrapping)", "add", u64, "u64", reg64, "cta";
    atomic_fetch_add_u64_device: "adds `val` (wrapping)", "add", u64, "u64", reg64, "gpu";
    atomic_fetch_add_u64_system: "adds `val` (wrapping)", "add", u64, "u64", reg64, "sys";
    atomic_fetch_add_f32_block: "adds `val`", "add", f32, "f32", reg32, "cta";
    atomic_fetch_add_f32_device: "adds `val`", "add", f32, "f32", reg32, "gpu";
    atomic_fetch_add_f32_system: "adds `val`", "add", f32, "f32", reg32, "sys";
}
