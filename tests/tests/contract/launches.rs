//! Launches: they return at once, run in order, and a bad one is refused there and then.

use cuda_std::host::Kernel;
use warpwise::backend::{GpuError, LaunchRequest, LaunchShape};

use crate::world::{ADD_INDEX, COUNT_TO, MANY_TURNS, World};
use crate::{Outcome, cases};

cases![
    launches_of_one_stream_run_in_order,
    a_launch_returns_while_its_kernel_runs,
    a_shape_that_the_device_cannot_run_is_refused_at_the_launch_and_harms_nothing,
    an_unknown_kernel_is_refused_with_those_there_are,
    arguments_of_the_wrong_size_are_refused,
    launches_that_are_compared_leave_memory_as_if_each_ran_once,
    a_report_is_given_once,
];

fn launches_of_one_stream_run_in_order(world: World) -> Outcome {
    let gpu = world.context()?;
    let values = gpu.upload(&[10_u32; 33])?;
    for _ in 0..3 {
        gpu.launch(&ADD_INDEX, 2, 32, (values.ptr(), 33))?;
    }
    let expected: Vec<u32> = (0..33).map(|i| 10 + 3 * i).collect();
    assert_eq!(values.download()?, expected);
    Ok(())
}

fn a_launch_returns_while_its_kernel_runs(world: World) -> Outcome {
    let gpu = world.context()?;
    let out = gpu.zeros::<u32>(1)?;
    gpu.launch(&COUNT_TO, 1, 32, (out.ptr(), 1))?;
    gpu.synchronize()?;
    // The kernel executes six million instructions; the two calls below take microseconds.
    gpu.launch(&COUNT_TO, 1, 32, (out.ptr(), MANY_TURNS))?;
    assert!(!gpu.is_idle()?, "the kernel has ended before the launch returned");
    gpu.synchronize()?;
    assert!(gpu.is_idle()?);
    assert_eq!(out.download()?, [MANY_TURNS]);
    Ok(())
}

fn a_shape_that_the_device_cannot_run_is_refused_at_the_launch_and_harms_nothing(world: World) -> Outcome {
    let gpu = world.context()?;
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

fn an_unknown_kernel_is_refused_with_those_there_are(world: World) -> Outcome {
    static MISSPELT: Kernel<()> = Kernel::new("add_indx", &[], &[], "", "", 0);
    let error = world.context()?.launch(&MISSPELT, 1, 32, ()).expect_err("there is none");
    assert_eq!(
        error.to_string(),
        "there is no kernel `add_indx`; did you mean `add_index`?\nthere are: add_index, count_to"
    );
    Ok(())
}

fn arguments_of_the_wrong_size_are_refused(world: World) -> Outcome {
    static LIED_ABOUT: Kernel<(u32,)> = Kernel::new("add_index", &["n"], &["u32"], "", "", 0);
    let result = world.context()?.launch(&LIED_ABOUT, 1, 32, (1,));
    assert!(matches!(&result, Err(GpuError::Refused { .. })), "{result:?}");
    Ok(())
}

fn launches_that_are_compared_leave_memory_as_if_each_ran_once(world: World) -> Outcome {
    let gpu = world.context()?;
    let (values, out) = (gpu.upload(&[10_u32; 33])?, gpu.zeros::<u32>(1)?);
    let add = LaunchRequest::new(&ADD_INDEX, LaunchShape::linear(33, 32), &(values.ptr(), 33)).timed(None);
    let count = |turns| LaunchRequest::new(&COUNT_TO, LaunchShape::linear(1, 1), &(out.ptr(), turns)).timed(None);
    let reports = gpu.run_in_turn(vec![count(1_000), add.clone(), count(10), LaunchRequest { timed: false, ..add }])?;
    let is_timed: Vec<bool> = reports.iter().map(|report| report.time().is_some()).collect();
    assert_eq!(is_timed, [true, true, true, false]);
    let expected: Vec<u32> = (0..33).map(|i| 10 + 2 * i).collect();
    assert_eq!((values.download()?, out.download()?), (expected, vec![10]));
    Ok(())
}

fn a_report_is_given_once(world: World) -> Outcome {
    let gpu = world.context()?;
    let values = gpu.zeros::<u32>(32)?;
    let launch = gpu.launch(&ADD_INDEX, 1, 32, (values.ptr(), 32))?;
    assert_eq!(gpu.report(launch)?.time(), None, "no time was asked for");
    assert!(matches!(gpu.report(launch), Err(GpuError::NoReport)));
    Ok(())
}
