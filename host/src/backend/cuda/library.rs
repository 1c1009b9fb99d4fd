//! The CUDA driver's library, looked for when it is needed and not when the program starts.
//!
//! `cust` calls `cuInit` and its siblings as symbols that a linker resolves, which would tie the program to machines that
//! have `libcuda.so.1`. So the symbols are here: each is a jump through a slot of one table, and [`load`] fills the table
//! from the library, if there is one. Until then, and for functions that a driver lacks, a slot leads to an answer that
//! CUDA has for that: "not supported".

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::Library;

/// What a slot does before it is filled: `CUDA_ERROR_NOT_SUPPORTED`.
extern "C" fn missing() -> c_int {
    801
}

/// The driver functions that `cust` 0.3.2 refers to.
macro_rules! driver_functions {
    ($($name:ident)*) => {
        #[allow(non_camel_case_types, clippy::enum_variant_names, dead_code, reason = "the driver's names; only numbers are used")]
        #[repr(usize)]
        enum Function { $($name),* }

        const NAMES: &[&str] = &[$(stringify!($name)),*];

        static TABLE: [AtomicPtr<c_void>; NAMES.len()] =
            [const { AtomicPtr::new(missing as extern "C" fn() -> c_int as *mut c_void) }; NAMES.len()];

        $(jump!($name);)*
    };
}

/// One symbol: a jump to where its slot points. Arguments and the return address stay as the caller left them.
macro_rules! jump {
    ($name:ident) => {
        #[allow(non_snake_case, reason = "the driver's name")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        extern "C" fn $name() {
            #[cfg(target_arch = "x86_64")]
            std::arch::naked_asm!(
                "jmp qword ptr [rip + {table} + {offset}]",
                table = sym TABLE,
                offset = const Function::$name as usize * 8,
            );
            #[cfg(target_arch = "aarch64")]
            std::arch::naked_asm!(
                "adrp x16, {table}",
                "add x16, x16, :lo12:{table}",
                "ldr x16, [x16, #{offset}]",
                "br x16",
                table = sym TABLE,
                offset = const Function::$name as usize * 8,
            );
        }
    };
}

driver_functions! {
    cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayDestroy cuCtxCreate_v2 cuCtxDestroy_v2 cuCtxGetApiVersion
    cuCtxGetCacheConfig cuCtxGetCurrent cuCtxGetDevice cuCtxGetFlags cuCtxGetLimit cuCtxGetSharedMemConfig
    cuCtxGetStreamPriorityRange cuCtxPopCurrent_v2 cuCtxPushCurrent_v2 cuCtxSetCacheConfig cuCtxSetCurrent cuCtxSetLimit
    cuCtxSetSharedMemConfig cuCtxSynchronize cuDestroyExternalMemory cuDeviceGet cuDeviceGetAttribute cuDeviceGetCount
    cuDeviceGetName cuDeviceGetUuid cuDevicePrimaryCtxGetState cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset_v2
    cuDevicePrimaryCtxRetain cuDevicePrimaryCtxSetFlags_v2 cuDeviceTotalMem_v2 cuDriverGetVersion cuEventCreate
    cuEventDestroy_v2 cuEventElapsedTime cuEventQuery cuEventRecord cuEventSynchronize cuExternalMemoryGetMappedBuffer
    cuFuncGetAttribute cuFuncSetAttribute cuFuncSetCacheConfig cuFuncSetSharedMemConfig cuGetErrorName cuGetErrorString
    cuGraphAddKernelNode cuGraphCreate cuGraphDebugDotPrint cuGraphDestroy cuGraphGetEdges cuGraphGetNodes
    cuGraphKernelNodeGetParams cuGraphNodeGetType cuImportExternalMemory cuInit cuLaunchHostFunc cuLaunchKernel
    cuLinkAddData_v2 cuLinkComplete cuLinkCreate_v2 cuLinkDestroy cuMemAdvise cuMemAllocAsync cuMemAllocHost_v2
    cuMemAllocManaged cuMemAlloc_v2 cuMemFreeAsync cuMemFreeHost cuMemFree_v2 cuMemGetInfo_v2 cuMemPrefetchAsync
    cuMemcpy2D_v2 cuMemcpyAtoH_v2 cuMemcpyDtoDAsync_v2 cuMemcpyDtoD_v2 cuMemcpyDtoHAsync_v2 cuMemcpyDtoH_v2
    cuMemcpyHtoA_v2 cuMemcpyHtoDAsync_v2 cuMemcpyHtoD_v2 cuMemsetD16Async cuMemsetD16_v2 cuMemsetD32Async cuMemsetD32_v2
    cuMemsetD8Async cuMemsetD8_v2 cuModuleGetFunction cuModuleGetGlobal_v2 cuModuleLoad cuModuleLoadData
    cuModuleLoadDataEx cuModuleUnload cuOccupancyAvailableDynamicSMemPerBlock
    cuOccupancyMaxActiveBlocksPerMultiprocessor cuOccupancyMaxPotentialBlockSize cuStreamCreateWithPriority
    cuStreamDestroy_v2 cuStreamGetFlags cuStreamGetPriority cuStreamQuery cuStreamSynchronize cuStreamWaitEvent cuSurfObjectCreate
    cuSurfObjectDestroy cuSurfObjectGetResourceDesc cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc
    cuTexObjectGetResourceViewDesc
}

/// The symbol by which Warpwise's own driver is told from NVIDIA's.
const OWN_DRIVER: &[u8] = b"warpwise_driver_version\0";

/// Why there is no driver.
#[derive(Clone, Debug, thiserror::Error)]
#[error("no CUDA driver here: {reason}\ninstall NVIDIA's driver, or run on the machine with --backend sim")]
pub struct NoDriver {
    reason: String,
}

/// Whose driver was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    Nvidia,
    /// Warpwise's own: times are modelled.
    Warpwise,
}

/// Loads the driver's library once and points every symbol at it.
pub fn load() -> Result<Driver, NoDriver> {
    static LOADED: OnceLock<Result<(Library, Driver), NoDriver>> = OnceLock::new();
    let loaded = LOADED.get_or_init(|| {
        let library = open().map_err(|error| NoDriver { reason: error.to_string() })?;
        for (slot, name) in TABLE.iter().zip(NAMES) {
            // SAFETY: only the address is taken here; callers go through `cust`, whose declarations are the driver's.
            if let Ok(function) = unsafe { library.get::<*mut c_void>(name.as_bytes()) } {
                slot.store(*function, Ordering::Release);
            }
        }
        // SAFETY: as above; the symbol's presence is all that is asked.
        let own = unsafe { library.get::<*mut c_void>(OWN_DRIVER) }.is_ok();
        Ok((library, if own { Driver::Warpwise } else { Driver::Nvidia }))
    });
    loaded.as_ref().map(|(_, driver)| *driver).map_err(Clone::clone)
}

fn open() -> Result<Library, libloading::Error> {
    let name = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
    // SAFETY: loading the driver runs its initialisers, which is what a program that links to it does at start.
    unsafe { Library::new(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_leads_to_its_own_slot_and_an_empty_slot_says_not_supported() {
        extern "C" fn answer() -> c_int {
            42
        }
        // SAFETY: both functions take no argument, and these two slots are no other test's.
        let call = |function: extern "C" fn()| unsafe {
            std::mem::transmute::<extern "C" fn(), extern "C" fn() -> c_int>(function)()
        };
        assert_eq!(call(cuTexObjectGetResourceViewDesc), 801);
        let slot = &TABLE[Function::cuTexObjectGetResourceDesc as usize];
        let before = slot.swap(answer as extern "C" fn() -> c_int as *mut c_void, Ordering::AcqRel);
        assert_eq!(call(cuTexObjectGetResourceDesc), 42);
        assert_eq!(call(cuTexObjectGetResourceViewDesc), 801, "the neighbour is as before");
        slot.store(before, Ordering::Release);
    }

    #[test]
    fn every_name_is_listed_once() {
        let mut sorted = NAMES.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), NAMES.len());
    }
}
