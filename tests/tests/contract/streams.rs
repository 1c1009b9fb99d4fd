//! Streams and events: who waits for whom.

use warpwise::backend::{LaunchShape, StreamId};

use crate::world::{ADD_INDEX, COUNT_TO, MANY_TURNS, World};
use crate::{Outcome, cases};

cases![
    two_streams_each_keep_their_own_order,
    a_stream_waits_for_an_event_of_another,
    the_default_stream_waits_for_the_others_and_they_for_it,
    waiting_for_a_stream_is_waiting_for_its_work,
    an_event_that_was_never_recorded_holds_nobody,
];

const ONE: LaunchShape = LaunchShape { grid: [1, 1, 1], block: [1, 1, 1], dynamic_shared_bytes: 0 };

fn two_streams_each_keep_their_own_order(world: World) -> Outcome {
    let gpu = world.context()?;
    let streams = [gpu.create_stream()?, gpu.create_stream()?];
    assert_ne!(streams[0], streams[1]);
    let arrays = [gpu.upload(&[1_000_u32; 1_003])?, gpu.upload(&[5_u32; 77])?];
    for round in 0..5 {
        for (stream, values) in streams.into_iter().zip(&arrays) {
            let n = values.len() as u32;
            // The last launch of each stream leaves the last element as it is.
            let args = (values.ptr(), if round == 4 { n - 1 } else { n });
            gpu.launch_on(stream, &ADD_INDEX, LaunchShape::linear(n, 64), args)?;
        }
    }
    streams.into_iter().try_for_each(|stream| gpu.synchronize_stream(stream))?;
    for (values, first) in arrays.iter().zip([1_000, 5]) {
        let n = values.len() as u32;
        let expected: Vec<u32> = (0..n).map(|i| first + i * if i == n - 1 { 4 } else { 5 }).collect();
        assert_eq!(values.download()?, expected);
    }
    Ok(())
}

/// A long count writes element 1; work that has to come behind it adds 1 there, and would be overwritten if it did not.
fn a_stream_waits_for_an_event_of_another(world: World) -> Outcome {
    let gpu = world.context()?;
    let values = gpu.zeros::<u32>(2)?;
    let (first, second, event) = (gpu.create_stream()?, gpu.create_stream()?, gpu.create_event()?);
    gpu.launch_on(first, &COUNT_TO, ONE, (values.ptr().add(1), MANY_TURNS))?;
    gpu.record(event, first)?;
    gpu.wait_event(second, event)?;
    gpu.launch_on(second, &ADD_INDEX, LaunchShape::linear(2, 32), (values.ptr(), 2))?;
    gpu.synchronize()?;
    assert_eq!(values.download()?, [0, MANY_TURNS + 1]);
    Ok(())
}

fn the_default_stream_waits_for_the_others_and_they_for_it(world: World) -> Outcome {
    let gpu = world.context()?;
    let values = gpu.zeros::<u32>(2)?;
    let (first, second) = (gpu.create_stream()?, gpu.create_stream()?);
    let add = |stream| gpu.launch_on(stream, &ADD_INDEX, LaunchShape::linear(2, 32), (values.ptr(), 2));
    gpu.launch_on(first, &COUNT_TO, ONE, (values.ptr().add(1), MANY_TURNS))?;
    add(StreamId::DEFAULT)?;
    assert_eq!(values.download()?, [0, MANY_TURNS + 1]);
    gpu.launch_on(StreamId::DEFAULT, &COUNT_TO, ONE, (values.ptr().add(1), MANY_TURNS))?;
    add(second)?;
    gpu.synchronize_stream(second)?;
    assert_eq!(values.download()?, [0, MANY_TURNS + 1]);
    Ok(())
}

fn waiting_for_a_stream_is_waiting_for_its_work(world: World) -> Outcome {
    let gpu = world.context()?;
    let out = gpu.zeros::<u32>(1)?;
    let stream = gpu.create_stream()?;
    gpu.launch_on(stream, &COUNT_TO, ONE, (out.ptr(), MANY_TURNS))?;
    gpu.synchronize_stream(stream)?;
    assert!(gpu.is_idle()?, "its only work is done");
    assert_eq!(out.download()?, [MANY_TURNS]);
    Ok(())
}

fn an_event_that_was_never_recorded_holds_nobody(world: World) -> Outcome {
    let gpu = world.context()?;
    let values = gpu.zeros::<u32>(32)?;
    let (stream, event) = (gpu.create_stream()?, gpu.create_event()?);
    gpu.wait_event(stream, event)?;
    gpu.launch_on(stream, &ADD_INDEX, LaunchShape::linear(32, 32), (values.ptr(), 32))?;
    gpu.synchronize_stream(stream)?;
    assert_eq!(values.download()?[31], 31);
    Ok(())
}
