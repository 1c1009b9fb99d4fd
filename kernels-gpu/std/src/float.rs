//! Floating-point operations that core leaves to std, for code compiled for both sides.
//!
//! Plain `*` and `+` become `mul.rn` and `add.rn`, which ptxas never fuses; a fused multiply-add is always asked for.

/// What rust-cuda's trait of this name has and the laboratories use. On the host the inherent methods of std win, with
/// the same result: these operations are correctly rounded by IEEE 754.
pub trait GpuFloat: Copy {
    /// `self * a + b`, rounded once: `fma.rn`.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The square root, correctly rounded: `sqrt.rn`.
    fn sqrt(self) -> Self;
    /// The largest whole number that is not above: `cvt.rmi`.
    fn floor(self) -> Self;
}

macro_rules! gpu_float {
    ($float:ident, $fma:ident, $sqrt:ident, $floor:ident) => {
        impl GpuFloat for $float {
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                #[cfg(target_arch = "nvptx64")]
                return core::intrinsics::$fma(self, a, b);
                #[cfg(not(target_arch = "nvptx64"))]
                return $float::mul_add(self, a, b);
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                #[cfg(target_arch = "nvptx64")]
                return core::intrinsics::$sqrt(self);
                #[cfg(not(target_arch = "nvptx64"))]
                return $float::sqrt(self);
            }

            #[inline(always)]
            fn floor(self) -> Self {
                #[cfg(target_arch = "nvptx64")]
                return core::intrinsics::$floor(self);
                #[cfg(not(target_arch = "nvptx64"))]
                return $float::floor(self);
            }
        }
    };
}

gpu_float!(f32, fmaf32, sqrtf32, floorf32);
gpu_float!(f64, fmaf64, sqrtf64, floorf64);
