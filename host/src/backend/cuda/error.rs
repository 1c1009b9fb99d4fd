//! What the driver answered, in words that say what to do.

use std::ffi::CStr;
use std::fmt;

use cust::error::CudaError;
use cust::sys;

use super::trouble::trouble;
use super::{DeviceFacts, GpuError, KernelFault};
use crate::backend::gpus::Image;

/// An error of the driver, by its number in `cuda.h`. `cust` names fewer of them than drivers return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverError(pub u32);

pub type DriverResult<T> = Result<T, DriverError>;

impl DriverError {
    pub const OUT_OF_MEMORY: Self = Self(2);
    pub const INVALID_IMAGE: Self = Self(200);
    pub const NO_BINARY_FOR_GPU: Self = Self(209);
    pub const INVALID_HANDLE: Self = Self(400);
    pub const NOT_FOUND: Self = Self(500);
    pub const NOT_READY: Self = Self(600);
    pub const NOT_SUPPORTED: Self = Self(801);
}

impl From<CudaError> for DriverError {
    fn from(error: CudaError) -> Self {
        Self(error as u32)
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = std::ptr::null();
        // SAFETY: any number may be asked about: the enum is the driver's `int`, and an unknown one leaves the pointer null.
        let known = unsafe {
            let code = std::mem::transmute::<u32, sys::CUresult>(self.0);
            result(sys::cuGetErrorString(code, &raw mut text)).is_ok() && !text.is_null()
        };
        if known {
            // SAFETY: the driver's text is a constant that ends in zero.
            write!(f, "{} ", unsafe { CStr::from_ptr(text) }.to_string_lossy())?;
        }
        write!(f, "(CUDA error {})", self.0)
    }
}

/// The driver's answer as a `Result`.
pub fn result(code: sys::CUresult) -> DriverResult<()> {
    match code as u32 {
        0 => Ok(()),
        code => Err(DriverError(code)),
    }
}

/// As [`result`], for calls whose failure is never a kernel's.
pub fn check(doing: &str, code: sys::CUresult) -> Result<(), GpuError> {
    result(code).map_err(|error| failed(doing, error))
}

/// A call that failed for no fault of a kernel.
pub fn failed(doing: &str, error: impl Into<DriverError>) -> GpuError {
    let error = error.into();
    trouble(doing, error).unwrap_or_else(|| GpuError::Load(format!("{doing} failed: {error}")))
}

pub fn no_memory(bytes: u64) -> GpuError {
    let message =
        format!("{bytes} bytes of device memory are not to be had\nuse a smaller size, or end what else uses it");
    GpuError::OutOfMemory(message)
}

pub fn no_kernel(kernel: &str, error: impl Into<DriverError>) -> GpuError {
    GpuError::Load(format!("the loaded code has no kernel `{kernel}`: {}", error.into()))
}

/// The driver refused the code.
pub fn load_failed(image: &Image<'_>, facts: &DeviceFacts, error: impl Into<DriverError>) -> GpuError {
    let error = error.into();
    if let Some(trouble) = trouble("loading the kernels", error) {
        return trouble;
    }
    let (what, hint) = match (image, error) {
        (Image::Cubin(_), DriverError::NO_BINARY_FOR_GPU | DriverError::INVALID_IMAGE) => {
            ("the cubin", "it was made for another architecture; build one for this GPU")
        }
        (Image::Cubin(_), DriverError::NOT_SUPPORTED) => ("the cubin", "this driver takes PTX only"),
        (Image::Cubin(_), _) => ("the cubin", "a newer driver may take it"),
        (Image::Ptx(_), _) => ("the PTX", "a newer driver may compile it; or give it a cubin"),
    };
    GpuError::Load(format!("{} refused {what}: {error}; {hint}", facts.name))
}

/// The fault of a kernel, if the error is one. The driver says its kind and no more.
pub fn fault(error: DriverError, kernel: &str) -> Option<KernelFault> {
    let kind = match error.0 {
        700 => "illegal address",
        702 => "time limit",
        710 => "assertion",
        714 => "stack error",
        715 => "illegal instruction",
        716 => "misaligned address",
        717 => "invalid address space",
        718 => "invalid program counter",
        719 => "trap or launch failure",
        _ => return None,
    };
    let message = format!(
        "a kernel faulted, `{kernel}` was launched last: {kind} (CUDA error {}). A GPU says no more; run it on the machine \
         (--backend sim) for line, thread and address",
        error.0
    );
    Some(KernelFault { kind: kind.to_owned(), message, kernel: kernel.to_owned(), ..KernelFault::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_its_kind_and_number_and_other_errors_are_no_faults() {
        let fault = fault(DriverError(700), "vecadd").expect("700 is an illegal address");
        assert_eq!(fault.kind, "illegal address");
        assert!(fault.message.contains("`vecadd`") && fault.message.contains("CUDA error 700"), "{}", fault.message);
        assert_eq!(super::fault(DriverError::OUT_OF_MEMORY, "vecadd"), None);
    }
}
