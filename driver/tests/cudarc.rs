//! A program written with `cudarc`, which knows nothing of Warpwise: it finds the driver's library and runs on it.
//!
//! Cargo puts the folder of the library that it built on the search path of tests, before any NVIDIA driver's.

#[path = "conformance/kernels.rs"]
#[allow(dead_code, reason = "the kernels of the other tests, of which this one needs two")]
mod kernels;

use cudarc::driver::{CudaContext, DriverError, LaunchConfig, PushKernelArg, sys};
use cudarc::nvrtc::Ptx;

#[test]
fn vecadd_runs_on_two_streams_and_comes_back_exact() -> Result<(), DriverError> {
    let context = CudaContext::new(0)?;
    assert!(context.name()?.ends_with("(modelled)"), "{}", context.name()?);
    assert!(context.has_async_alloc() && context.compute_capability()?.0 >= 7);
    let vecadd = context.load_module(Ptx::from_src(kernels::vecadd()))?.load_function("vecadd")?;
    assert!(vecadd.num_regs()? > 0);
    let count = 100_003usize;
    let a: Vec<f32> = (0..count).map(|i| i as f32).collect();
    let b: Vec<f32> = (0..count).map(|i| 0.25 * i as f32).collect();
    let streams = [context.default_stream(), context.new_stream()?];
    for stream in &streams {
        let (a_device, b_device) = (stream.clone_htod(&a)?, stream.clone_htod(&b)?);
        let mut c_device = stream.alloc_zeros::<f32>(count)?;
        let length = count as u32;
        let mut launch = stream.launch_builder(&vecadd);
        launch.arg(&a_device).arg(&b_device).arg(&mut c_device).arg(&length);
        // SAFETY: the arguments are the kernel's, and the arrays have `count` elements.
        unsafe { launch.launch(LaunchConfig::for_num_elems(length)) }?;
        let c = stream.clone_dtoh(&c_device)?;
        assert!(c.iter().zip(a.iter().zip(&b)).all(|(c, (a, b))| *c == a + b));
    }
    context.synchronize()
}

#[test]
fn events_have_times_and_a_wrong_launch_is_an_error_that_leaves_the_context_well() -> Result<(), DriverError> {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let nothing = context.load_module(Ptx::from_src(kernels::small()))?.load_function("nothing")?;
    let start = stream.record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT))?;
    let shape = |threads| LaunchConfig { grid_dim: (1, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the kernel takes nothing.
    unsafe { stream.launch_builder(&nothing).launch(shape(32)) }?;
    let end = stream.record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT))?;
    assert!(start.elapsed_ms(&end)? > 0.0);
    // SAFETY: as above.
    let refused = unsafe { stream.launch_builder(&nothing).launch(shape(1025)) };
    assert_eq!(refused.err().map(|error| error.0), Some(sys::CUresult::CUDA_ERROR_INVALID_VALUE));
    stream.synchronize()
}

#[test]
fn a_fault_surfaces_at_the_synchronisation_of_its_own_context() -> Result<(), DriverError> {
    let context = CudaContext::new_non_primary(0, 0)?;
    let stream = context.default_stream();
    let store = context.load_module(Ptx::from_src(kernels::small()))?.load_function("store")?;
    let (address, value) = (0x40u64, 1u32);
    let mut launch = stream.launch_builder(&store);
    launch.arg(&address).arg(&value);
    let one = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the kernel faults, which is what is tested.
    unsafe { launch.launch(one) }?;
    let error = stream.synchronize().expect_err("the kernel wrote to nowhere");
    assert_eq!(error.0, sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    Ok(())
}
