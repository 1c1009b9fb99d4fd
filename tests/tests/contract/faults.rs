//! A kernel's fault: where it surfaces, and what is left of the context.

use std::time::Duration;

use warpwise::backend::{GpuError, LaunchShape};

use crate::world::{ADD_INDEX, World, is_fault, is_poisoned, nowhere};
use crate::{Outcome, cases};

cases![
    a_fault_surfaces_at_the_synchronise_and_the_context_stays_poisoned,
    a_fault_surfaces_at_a_blocking_copy,
    a_fault_surfaces_at_the_synchronise_of_its_stream,
    a_fault_surfaces_at_the_report_of_its_launch,
    work_behind_a_fault_is_not_done,
    work_given_long_after_a_fault_is_not_done_either,
    a_fault_names_its_kernel_and_is_not_the_computers,
];

fn a_fault_surfaces_at_the_synchronise_and_the_context_stays_poisoned(world: World) -> Outcome {
    let gpu = world.context()?;
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
    assert!(is_poisoned(&gpu.create_event()));
    assert!(is_poisoned(&gpu.is_idle()));
    Ok(())
}

fn a_fault_surfaces_at_a_blocking_copy(world: World) -> Outcome {
    let gpu = world.context()?;
    let values = gpu.zeros::<u32>(3)?;
    gpu.launch(&ADD_INDEX, 1, 32, (nowhere(), 32))?;
    let copied = values.download();
    assert!(is_fault(&copied), "{copied:?}");
    Ok(())
}

fn a_fault_surfaces_at_the_synchronise_of_its_stream(world: World) -> Outcome {
    let gpu = world.context()?;
    let stream = gpu.create_stream()?;
    gpu.launch_on(stream, &ADD_INDEX, LaunchShape::linear(32, 32), (nowhere(), 32))?;
    let waited = gpu.synchronize_stream(stream);
    assert!(is_fault(&waited), "{waited:?}");
    assert!(is_poisoned(&gpu.synchronize()));
    Ok(())
}

fn a_fault_surfaces_at_the_report_of_its_launch(world: World) -> Outcome {
    let gpu = world.context()?;
    let launch = gpu.launch(&ADD_INDEX, 1, 32, (nowhere(), 32))?;
    let report = gpu.report(launch);
    assert!(is_fault(&report), "{report:?}");
    Ok(())
}

fn work_behind_a_fault_is_not_done(world: World) -> Outcome {
    work_behind_a_fault(world, Duration::ZERO)
}

/// By then the driver knows of the fault and nobody has asked: whatever a launch asks it first is answered with that.
fn work_given_long_after_a_fault_is_not_done_either(world: World) -> Outcome {
    work_behind_a_fault(world, Duration::from_millis(300))
}

fn work_behind_a_fault(world: World, pause: Duration) -> Outcome {
    let gpu = world.context()?;
    let values = gpu.zeros::<u32>(32)?;
    gpu.launch(&ADD_INDEX, 1, 32, (nowhere(), 32))?;
    std::thread::sleep(pause);
    // Accepted or refused, as the fault is already known or not.
    let behind = gpu.launch(&ADD_INDEX, 1, 32, (values.ptr(), 32));
    let first = behind.and_then(|_| gpu.synchronize());
    assert!(is_fault(&first), "{first:?}");
    assert!(is_poisoned(&values.download()), "nothing can be read any more");
    Ok(())
}

fn a_fault_names_its_kernel_and_is_not_the_computers(world: World) -> Outcome {
    let gpu = world.context()?;
    gpu.launch(&ADD_INDEX, 1, 32, (nowhere(), 32))?;
    let Err(error) = gpu.synchronize() else { panic!("the address is no allocation's") };
    assert!(!error.is_of_the_device(), "{error}");
    let GpuError::Fault(fault) = &error else { panic!("{error:?}") };
    assert!(fault.kernel == "add_index" && fault.message.contains("add_index") && !fault.kind.is_empty(), "{fault:?}");
    Ok(())
}
