//! A program written with `cust`, which knows nothing of Warpwise: it is linked to the driver's library and runs on it.

#![cfg(target_os = "linux")]

#[path = "conformance/kernels.rs"]
#[allow(dead_code, reason = "the kernels of the other tests, of which this one needs two")]
mod kernels;

use cust::context::legacy::{Context as OwnContext, ContextFlags};
use cust::error::{CudaError, CudaResult};
use cust::event::{Event, EventFlags, EventStatus};
use cust::module::{Module, ModuleJitOption, OptLevel};
use cust::prelude::*;

#[test]
fn vecadd_runs_on_two_streams_and_comes_back_exact() -> CudaResult<()> {
    let _context = cust::quick_init()?;
    let device = Device::get_device(0)?;
    assert!(device.name()?.ends_with("(modelled)"), "{}", device.name()?);
    let module = Module::from_ptx(kernels::vecadd(), &[ModuleJitOption::OptLevel(OptLevel::O2)])?;
    let vecadd = module.get_function("vecadd")?;
    let count = 100_003usize;
    let a: Vec<f32> = (0..count).map(|i| i as f32).collect();
    let b: Vec<f32> = (0..count).map(|i| 0.25 * i as f32).collect();
    for _ in 0..2 {
        let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
        let (a_device, b_device) = (a.as_slice().as_dbuf()?, b.as_slice().as_dbuf()?);
        let c_device = DeviceBuffer::<f32>::zeroed(count)?;
        let blocks = (count as u32).div_ceil(256);
        // SAFETY: the arguments are the kernel's, and the arrays have `count` elements.
        unsafe {
            launch!(vecadd<<<blocks, 256, 0, stream>>>(
                a_device.as_device_ptr(), b_device.as_device_ptr(), c_device.as_device_ptr(), count as u32
            ))?;
        }
        stream.synchronize()?;
        let c = c_device.as_host_vec()?;
        assert!(c.iter().zip(a.iter().zip(&b)).all(|(c, (a, b))| *c == a + b));
    }
    Ok(())
}

#[test]
fn events_have_times_and_a_wrong_launch_is_an_error_that_leaves_the_context_well() -> CudaResult<()> {
    let _context = cust::quick_init()?;
    let module = Module::from_ptx(kernels::small(), &[])?;
    let nothing = module.get_function("nothing")?;
    let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    let (start, end) = (Event::new(EventFlags::DEFAULT)?, Event::new(EventFlags::DEFAULT)?);
    start.record(&stream)?;
    // SAFETY: the kernel takes nothing.
    unsafe { launch!(nothing<<<1, 32, 0, stream>>>()) }?;
    end.record(&stream)?;
    end.synchronize()?;
    assert_eq!(end.query()?, EventStatus::Ready);
    assert!(end.elapsed_time_f32(&start)? > 0.0);
    // SAFETY: as above.
    let refused = unsafe { launch!(nothing<<<1, 1025, 0, stream>>>()) };
    assert_eq!(refused, Err(CudaError::InvalidValue));
    // SAFETY: as above.
    unsafe { launch!(nothing<<<1, 1024, 0, stream>>>()) }?;
    stream.synchronize()
}

#[test]
fn a_fault_surfaces_at_the_synchronisation_and_stays_in_its_own_context() -> CudaResult<()> {
    cust::init(CudaFlags::empty())?;
    let _context = OwnContext::create_and_push(ContextFlags::SCHED_AUTO, Device::get_device(0)?)?;
    let module = Module::from_ptx(kernels::small(), &[])?;
    let store = module.get_function("store")?;
    let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    // SAFETY: the kernel faults, which is what is tested.
    unsafe { launch!(store<<<1, 1, 0, stream>>>(0x40u64, 1u32)) }?;
    assert_eq!(stream.synchronize(), Err(CudaError::IllegalAddress));
    assert_eq!(DeviceBuffer::<u32>::zeroed(1).err(), Some(CudaError::IllegalAddress));
    Ok(())
}

#[test]
fn ptx_that_is_wrong_and_a_kernel_that_is_not_there_are_errors() -> CudaResult<()> {
    let _context = cust::quick_init()?;
    let wrong = kernels::small().replace("atom.add.u32", "atom.sdd.u32");
    assert_eq!(Module::from_ptx(wrong, &[]).err(), Some(CudaError::InvalidPtx));
    let module = Module::from_ptx(kernels::small(), &[])?;
    assert_eq!(module.get_function("nobody").err(), Some(CudaError::NotFound));
    Ok(())
}
