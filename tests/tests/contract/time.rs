//! Time: between events and of launches, and how it was got.

use warpwise::backend::{GpuError, LaunchRequest, LaunchShape, StreamId};
use warpwise::numbers::Time;

use crate::world::{ADD_INDEX, COUNT_TO, World};
use crate::{Outcome, cases};

cases![
    events_tell_the_time_of_what_lies_between,
    a_time_is_called_measured_on_hardware_and_nowhere_else,
    more_work_takes_more_time,
];

fn events_tell_the_time_of_what_lies_between(world: World) -> Outcome {
    let gpu = world.context()?;
    let values = gpu.zeros::<u32>(32)?;
    let [start, end] = [gpu.create_event()?, gpu.create_event()?];
    assert!(matches!(gpu.elapsed(start, end), Err(GpuError::NoTime(_))), "neither was recorded");
    gpu.record(start, StreamId::DEFAULT)?;
    let report = gpu.profile(&ADD_INDEX, LaunchShape::linear(32, 32), None, (values.ptr(), 32))?;
    gpu.record(end, StreamId::DEFAULT)?;
    let (of_launch, between) = (report.time().map(Time::us), gpu.elapsed(start, end)?);
    // On hardware the samples lie between the events too. Events count in steps of half a microsecond there.
    assert!(of_launch.is_some_and(|us| 0.0 < us && us <= between.us() + 0.5), "{of_launch:?}, {between:?}");
    Ok(())
}

fn a_time_is_called_measured_on_hardware_and_nowhere_else(world: World) -> Outcome {
    let gpu = world.context()?;
    let values = gpu.zeros::<u32>(32)?;
    let [start, end] = [gpu.create_event()?, gpu.create_event()?];
    gpu.record(start, StreamId::DEFAULT)?;
    let report = gpu.profile(&ADD_INDEX, LaunchShape::linear(32, 32), None, (values.ptr(), 32))?;
    gpu.record(end, StreamId::DEFAULT)?;
    for time in [report.time().cloned().expect("one was asked for"), gpu.elapsed(start, end)?] {
        assert_eq!(time.is_measured(), world.measures(), "{time:?}");
    }
    assert_eq!(gpu.measures(), world.measures());
    assert_eq!(gpu.time_source(), if world.measures() { "measured" } else { "modelled" });
    Ok(())
}

fn more_work_takes_more_time(world: World) -> Outcome {
    let gpu = world.context()?;
    let out = gpu.zeros::<u32>(1)?;
    let count = |turns| LaunchRequest::new(&COUNT_TO, LaunchShape::linear(1, 1), &(out.ptr(), turns)).timed(None);
    let us = gpu.run_in_turn(vec![count(10_000), count(10)])?;
    let us: Vec<Option<f64>> = us.iter().map(|report| report.time().map(Time::us)).collect();
    assert!(us[0] > us[1] && us[1] > Some(0.0), "{us:?}");
    Ok(())
}
