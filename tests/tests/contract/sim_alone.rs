//! What the machine promises beyond CUDA's contract: a fault's place, counters with every launch, times that repeat, contexts that do
//! not know of each other's faults.

use warpwise::backend::{ACHIEVED_OCCUPANCY_PERCENT, GpuError, LaunchShape, StreamId};
use warpwise::numbers::Time;

use crate::world::{ADD_INDEX, World, is_fault, nowhere};
use crate::{Outcome, cases};

cases![
    a_fault_names_its_place,
    other_contexts_are_untouched_by_a_fault,
    a_report_has_counters,
    events_tell_exactly_the_modelled_time_of_the_launch_between,
    a_timed_launch_says_where_its_blocks_ran_and_how_full_the_sms_were,
];

fn a_fault_names_its_place(world: World) -> Outcome {
    let gpu = world.context()?;
    let values = gpu.zeros::<u32>(3)?;
    gpu.launch(&ADD_INDEX, 1, 32, (values.ptr(), 32))?;
    let Err(GpuError::Fault(fault)) = values.download() else { panic!("29 threads are past the end") };
    assert_eq!((fault.kernel.as_str(), fault.block, fault.thread), ("add_index", Some([0; 3]), Some([3, 0, 0])));
    assert_eq!(fault.address, Some(values.ptr().add(3).address()));
    assert!(fault.allocation.is_some(), "{fault:?}");
    Ok(())
}

fn other_contexts_are_untouched_by_a_fault(world: World) -> Outcome {
    let (broken, whole) = (world.context()?, world.context()?);
    let values = whole.zeros::<u32>(32)?;
    broken.launch(&ADD_INDEX, 1, 32, (nowhere(), 32))?;
    assert!(is_fault(&broken.synchronize()));
    whole.launch(&ADD_INDEX, 1, 32, (values.ptr(), 32))?;
    assert_eq!(values.download()?[5], 5);
    Ok(())
}

fn a_report_has_counters(world: World) -> Outcome {
    let gpu = world.context()?;
    let values = gpu.zeros::<u32>(32)?;
    let launch = gpu.launch(&ADD_INDEX, 1, 32, (values.ptr(), 32))?;
    assert_eq!(gpu.report(launch)?.counter("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), Some(4.0));
    Ok(())
}

fn events_tell_exactly_the_modelled_time_of_the_launch_between(world: World) -> Outcome {
    let gpu = world.context()?;
    let values = gpu.zeros::<u32>(32)?;
    let [start, end] = [gpu.create_event()?, gpu.create_event()?];
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

fn a_timed_launch_says_where_its_blocks_ran_and_how_full_the_sms_were(world: World) -> Outcome {
    let gpu = world.context()?;
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
