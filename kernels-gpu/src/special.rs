//! Special registers and instructions that rust-cuda's `cuda_std` has no function for.
//!
//! `asm!` is right here: none of them synchronises lanes.

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

/// `%clock`: cycles of the SM's clock, the lower 32 bits. Only differences mean something.
#[inline(always)]
pub fn clock() -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let cycles;
        // SAFETY: reads a special register. Not `nomem`: it stays between the accesses around it.
        unsafe { core::arch::asm!("mov.u32 {}, %clock;", out(reg32) cycles, options(nostack, preserves_flags)) };
        cycles
    }
    #[cfg(not(target_arch = "nvptx64"))]
    panic!("only a GPU has this clock: launch the kernel that calls this")
}

macro_rules! approximate {
    ($($(#[$doc:meta])* $name:ident: $instruction:literal, $exact:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// One MUFU on the GPU, subnormals as zero; correctly rounded on the host. PTX ISA 9.7.3 gives the error: at most
        /// 2 units in the last place.
        #[inline(always)]
        pub fn $name(x: f32) -> f32 {
            #[cfg(target_arch = "nvptx64")]
            {
                let y;
                // SAFETY: the instruction touches nothing but its registers.
                unsafe {
                    core::arch::asm!(concat!($instruction, " {}, {};"), out(reg32) y, in(reg32) x,
                        options(pure, nomem, nostack, preserves_flags))
                };
                y
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                let exact: fn(f32) -> f32 = $exact;
                exact(x)
            }
        }
    )*};
}

approximate! {
    /// 2 to the power of `x`, nearly.
    exp2: "ex2.approx.ftz.f32", f32::exp2;
    /// 1 / `x`, nearly.
    reciprocal: "rcp.approx.ftz.f32", |x| 1.0 / x;
    /// 1 / √`x`, nearly.
    reciprocal_sqrt: "rsqrt.approx.ftz.f32", |x| 1.0 / x.sqrt();
}

macro_rules! reduce {
    ($($(#[$doc:meta])* $name:ident: $type:ident, $class:ident, $instruction:literal;)*) => {$(
        $(#[$doc])*
        /// Nobody waits for what was there before, so it is a RED and not an ATOM.
        ///
        /// # Safety
        /// `ptr` is aligned and points to global memory of the launch; other threads that touch it do so atomically.
        #[inline(always)]
        pub unsafe fn $name(ptr: *mut $type, value: $type) {
            #[cfg(target_arch = "nvptx64")]
            // SAFETY: the caller's promise is the instruction's.
            unsafe {
                core::arch::asm!(concat!($instruction, " [{}], {};"), in(reg64) ptr, in($class) value,
                    options(nostack, preserves_flags))
            };
            #[cfg(not(target_arch = "nvptx64"))]
            {
                let _ = (ptr, value);
                panic!("only threads of a GPU race: launch the kernel that calls this")
            }
        }
    )*};
}

reduce! {
    /// Adds to a float in global memory, atomically within the device.
    add_f32: f32, reg32, "red.relaxed.gpu.global.add.f32";
    /// [`add_f32`] that is atomic among the threads of the block only.
    add_f32_block: f32, reg32, "red.relaxed.cta.global.add.f32";
    /// [`add_f32`] that is atomic within the device and the host.
    add_f32_system: f32, reg32, "red.relaxed.sys.global.add.f32";
    /// Adds to an integer in global memory, atomically within the device; wraps.
    add_u32: u32, reg32, "red.relaxed.gpu.global.add.u32";
    /// Adds to a number of 64 bits in global memory, atomically within the device.
    add_f64: f64, reg64, "red.relaxed.gpu.global.add.f64";
    /// Adds to a number of 16 bits (its bits) in global memory, atomically within the device.
    add_f16: u16, reg16, "red.relaxed.gpu.global.add.noftz.f16";
    /// Adds to two numbers of 16 bits in one word in global memory, each atomically within the device.
    add_f16x2: u32, reg32, "red.relaxed.gpu.global.add.noftz.f16x2";
}

/// [`add_f32`] that orders: what this thread wrote before is seen by whoever sees the sum, and what it reads after is as new as the sum.
///
/// # Safety
/// As for [`add_f32`].
#[inline(always)]
pub unsafe fn add_f32_ordered(ptr: *mut f32, value: f32) {
    #[cfg(target_arch = "nvptx64")]
    {
        let _before: f32;
        // SAFETY: the caller's promise is the instruction's.
        unsafe {
            core::arch::asm!("atom.acq_rel.gpu.global.add.f32 {}, [{}], {};", out(reg32) _before, in(reg64) ptr, in(reg32) value,
                options(nostack, preserves_flags))
        };
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let _ = (ptr, value);
        panic!("only threads of a GPU race: launch the kernel that calls this")
    }
}

/// `atom.cas`: writes `new` if `expected` is there, and returns what was there before.
///
/// # Safety
/// `ptr` is aligned and points to global memory of the launch; other threads that touch it do so atomically.
#[inline(always)]
pub unsafe fn compare_and_swap(ptr: *mut u32, expected: u32, new: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let before;
        // SAFETY: the caller's promise is the instruction's.
        unsafe {
            core::arch::asm!("atom.relaxed.gpu.global.cas.b32 {}, [{}], {}, {};", out(reg32) before, in(reg64) ptr,
                in(reg32) expected, in(reg32) new, options(nostack, preserves_flags))
        };
        before
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let _ = (ptr, expected, new);
        panic!("only threads of a GPU race: launch the kernel that calls this")
    }
}
