//! CUDA's contract, kept by the machine: what returns at once, what is refused when, where a fault surfaces, what is left.

use std::sync::Arc;

use cuda_std::host::{DevicePtr, Kernel};
use warpwise::backend::sim::Sim;
use warpwise::backend::{
    ACHIEVED_OCCUPANCY_PERCENT, Gpu, GpuError, LaunchRequest, LaunchShape, MachineOptions, StreamId,
};
use warpwise::kernels::Code;
use warpwise::numbers::Time;
use warpwise_simt::device::Device;

static ADD_INDEX: Kernel<(DevicePtr<u32>, u32)> =
    Kernel::new("add_index", &["values", "n"], &["*mut u32", "u32"], "", "", 0);
static COUNT_TO: Kernel<(DevicePtr<u32>, u32)> =
    Kernel::new("count_to", &["out", "turns"], &["*mut u32", "u32"], "", "", 0);

/// A context with the kernels of `contract.ptx`.
fn context() -> Gpu {
    let code = Code::parse("contract.ptx", include_str!("contract.ptx")).expect("the PTX is valid");
    let sim = Sim::new(Device::default_device(), Arc::new(code), MachineOptions::default()).expect("a machine");
    Gpu::new(Arc::new(sim))
}

/// An address that no allocation has.
fn nowhere() -> DevicePtr<u32> {
    DevicePtr::from_address(1 << 46)
}

fn is_fault<T>(result: &Result<T, GpuError>) -> bool {
    matches!(result, Err(GpuError::Fault(_)))
}

fn is_poisoned<T>(result: &Result<T, GpuError>) -> bool {
    matches!(result, Err(GpuError::Poisoned(_)))
}

#[test]
fn memory_of_any_size_comes_back_as_it_went() -> Result<(), GpuError> {
    let gpu = context();
    for len in [0_usize, 1, 31, 1_003, 65_537] {
        let bytes: Vec<u8> = (0..len).map(|i| i as u8).collect();
        assert_eq!(gpu.upload(&bytes)?.download()?, bytes, "{len} bytes");
    }
    assert_eq!(gpu.zeros::<u64>(5)?.download()?, [0; 5]);
    let error = gpu.zeros::<u32>(2)?.write(&[1, 2, 3]).expect_err("three do not fit two");
    assert_eq!(error.to_string(), "3 values do not fit a buffer of 2; allocate a larger one");
    Ok(())
}

#[test]
fn launches_that_are_compared_each_have_their_report_and_leave_memory_as_if_each_ran_once() -> Result<(), GpuError> {
    let gpu = context();
    let (values, out) = (gpu.upload(&[10_u32; 33])?, gpu.zeros::<u32>(1)?);
    let add = LaunchRequest::new(&ADD_INDEX, LaunchShape::linear(33, 32), &(values.ptr(), 33)).timed(None);
    let count = |turns| LaunchRequest::new(&COUNT_TO, LaunchShape::linear(1, 1), &(out.ptr(), turns)).timed(None);
    let reports = gpu.run_in_turn(vec![count(1_000), add.clone(), count(10), LaunchRequest { timed: false, ..add }])?;
    let us: Vec<Option<f64>> = reports.iter().map(|report| report.time().map(Time::us)).collect();
    assert!(us[0] > us[2] && us[1].is_some() && us[3].is_none(), "{us:?}");
    let expected: Vec<u32> = (0..33).map(|i| 10 + 2 * i).collect();
    assert_eq!((values.download()?, out.download()?), (expected, vec![10]));
    Ok(())
}

#[test]
fn launches_of_one_stream_run_in_order() -> Result<(), GpuError> {
    let gpu = context();
    let values = gpu.upload(&[10_u32; 33])?;
    for _ in 0..3 {
        gpu.launch(&ADD_INDEX, 2, 32, (values.ptr(), 33))?;
    }
    let expected: Vec<u32> = (0..33).map(|i| 10 + 3 * i).collect();
    assert_eq!(values.download()?, expected);
    Ok(())
}

#[test]
fn a_launch_returns_while_its_kernel_runs() -> Result<(), GpuError> {
    let gpu = context();
    let out = gpu.zeros::<u32>(1)?;
    gpu.launch(&COUNT_TO, 1, 32, (out.ptr(), 1))?;
    gpu.synchronize()?;
    // The kernel executes six million instructions; the two calls below take microseconds.
    gpu.launch(&COUNT_TO, 1, 32, (out.ptr(), 2_000_000))?;
    assert!(!gpu.is_idle()?, "the kernel has ended before the launch returned");
    gpu.synchronize()?;
    assert!(gpu.is_idle()?);
    assert_eq!(out.download()?, [2_000_000]);
    Ok(())
}

#[test]
fn a_shape_that_the_device_cannot_run_is_refused_at_the_launch_and_harms_nothing() -> Result<(), GpuError> {
    let gpu = context();
    let values = gpu.zeros::<u32>(32)?;
    let args = (values.ptr(), 32);
    for (grid, block, shared_bytes, named) in [
        ([1, 1, 1], [0, 1, 1], 0, "0"),
        ([1, 1, 1], [1025, 1, 1], 0, "1,024"),
        ([1, 1, 1], [1, 1, 65], 0, "64"),
        ([1, 1, 1], [32, 32, 2], 0, "2,048"),
        ([1, 65_536, 1], [1, 1, 1], 0, "65,535"),
        ([1, 1, 1], [1, 1, 1], 1 << 20, "1,048,576"),
    ] {
        let shape = LaunchShape::new(grid, block).with_dynamic_shared(shared_bytes);
        match gpu.launch_shaped(&ADD_INDEX, shape, args) {
            Err(GpuError::Refused { kernel, reason }) => {
                assert!(kernel == "add_index" && reason.contains(named), "{reason} should name {named}");
            }
            other => panic!("grid {grid:?}, block {block:?}: {other:?}"),
        }
    }
    gpu.launch(&ADD_INDEX, 1, 32, args)?;
    assert_eq!(values.download()?[31], 31);
    Ok(())
}

#[test]
fn an_unknown_kernel_is_refused_with_those_there_are() {
    static MISSPELT: Kernel<()> = Kernel::new("add_indx", &[], &[], "", "", 0);
    let error = context().launch(&MISSPELT, 1, 32, ()).expect_err("there is none");
    assert_eq!(
        error.to_string(),
        "there is no kernel `add_indx`; did you mean `add_index`?\nthere are: add_index, count_to"
    );
}

#[test]
fn arguments_of_the_wrong_size_are_refused() {
    static LIED_ABOUT: Kernel<(u32,)> = Kernel::new("add_index", &["n"], &["u32"], "", "", 0);
    let result = context().launch(&LIED_ABOUT, 1, 32, (1,));
    assert!(matches!(&result, Err(GpuError::Refused { .. })), "{result:?}");
}

#[test]
fn a_fault_surfaces_at_the_synchronise_and_the_context_stays_poisoned() -> Result<(), GpuError> {
    let gpu = context();
    let values = gpu.zeros::<u32>(32)?;
    gpu.launch(&ADD_INDEX, 1, 32, (nowhere(), 32))?;
    let first = gpu.synchronize();
    assert!(is_fault(&first), "{first:?}");
    let again = gpu.synchronize();
    assert!(is_poisoned(&again), "{again:?}");
    assert!(is_poisoned(&gpu.launch(&ADD_INDEX, 1, 32, (values.ptr(), 32))));
    assert!(is_poisoned(&gpu.upload(&[1_u32])));
    assert!(is_poisoned(&values.download()));
    assert!(is_poisoned(&gpu.create_stream()));
    Ok(())
}

#[test]
fn a_fault_surfaces_at_a_blocking_copy_and_names_its_place() -> Result<(), GpuError> {
    let gpu = context();
    let values = gpu.zeros::<u32>(3)?;
    gpu.launch(&ADD_INDEX, 1, 32, (values.ptr(), 32))?;
    let Err(GpuError::Fault(fault)) = values.download() else { panic!("29 threads are past the end") };
    assert_eq!((fault.kernel.as_str(), fault.block, fault.thread), ("add_index", Some([0; 3]), Some([3, 0, 0])));
    assert_eq!(fault.address, Some(values.ptr().add(3).address()));
    assert!(fault.allocation.is_some(), "{fault:?}");
    Ok(())
}

#[test]
fn work_behind_a_fault_is_not_done_and_other_contexts_are_untouched() -> Result<(), GpuError> {
    let (broken, whole) = (context(), context());
    let values = whole.zeros::<u32>(32)?;
    broken.launch(&ADD_INDEX, 1, 32, (nowhere(), 32))?;
    assert!(is_fault(&broken.synchronize()));
    whole.launch(&ADD_INDEX, 1, 32, (values.ptr(), 32))?;
    assert_eq!(values.download()?[5], 5);
    Ok(())
}

#[test]
fn a_report_has_counters_and_is_given_once() -> Result<(), GpuError> {
    let gpu = context();
    let values = gpu.zeros::<u32>(32)?;
    let launch = gpu.launch(&ADD_INDEX, 1, 32, (values.ptr(), 32))?;
    let report = gpu.report(launch)?;
    assert_eq!(report.counter("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), Some(4.0));
    assert_eq!(report.time(), None);
    assert!(matches!(gpu.report(launch), Err(GpuError::NoReport)));
    Ok(())
}

#[test]
fn events_tell_the_modelled_time_of_what_lies_between() -> Result<(), GpuError> {
    let gpu = context();
    let values = gpu.zeros::<u32>(32)?;
    let [start, end] = [gpu.create_event()?, gpu.create_event()?];
    assert!(matches!(gpu.elapsed(start, end), Err(GpuError::NoTime(_))), "neither was recorded");
    gpu.record(start, StreamId::DEFAULT)?;
    let time = gpu.profile(&ADD_INDEX, LaunchShape::linear(32, 32), None, (values.ptr(), 32))?.times.pop();
    gpu.record(end, StreamId::DEFAULT)?;
    let between = gpu.elapsed(start, end)?;
    assert!(matches!(between, Time::Modelled { .. }), "{between:?}");
    assert_eq!(time.as_ref().map(Time::us), Some(between.us()));
    gpu.launch(&ADD_INDEX, 1, 32, (values.ptr(), 32))?;
    gpu.record(end, StreamId::DEFAULT)?;
    assert!(matches!(gpu.elapsed(start, end), Err(GpuError::NoTime(_))), "a functional launch has no time");
    Ok(())
}

#[test]
fn a_timed_launch_says_where_its_blocks_ran_and_how_full_the_sms_were() -> Result<(), GpuError> {
    let gpu = context();
    let values = gpu.zeros::<u32>(64)?;
    let report = gpu.profile(&ADD_INDEX, LaunchShape::linear(64, 32), None, (values.ptr(), 64))?;
    let timing = report.timing.as_ref().expect("a timed launch has an account");
    let mut blocks: Vec<u64> = timing.placements.iter().map(|placement| placement.block).collect();
    blocks.sort_unstable();
    assert_eq!(blocks, [0, 1]);
    let achieved = report.counter(ACHIEVED_OCCUPANCY_PERCENT).expect("a timed launch has it");
    assert!(0.0 < achieved && achieved <= 100.0, "{achieved}");
    Ok(())
}
