//! Device memory: any size, blocking copies, what does not fit.

use warpwise::backend::GpuError;

use crate::world::{ADD_INDEX, World};
use crate::{Outcome, cases};

cases![
    memory_of_any_size_comes_back_as_it_went,
    a_copy_on_the_device_is_of_the_shorter_length_and_in_its_turn,
    more_values_than_a_buffer_holds_are_refused,
    more_memory_than_the_device_has_is_refused_and_harms_nothing,
];

fn memory_of_any_size_comes_back_as_it_went(world: World) -> Outcome {
    let gpu = world.context()?;
    for len in [0_usize, 1, 31, 1_003, 65_537, 1_000_003] {
        let bytes: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        assert_eq!(gpu.upload(&bytes)?.download()?, bytes, "{len} bytes");
    }
    assert_eq!(gpu.zeros::<u64>(5)?.download()?, [0; 5]);
    assert_eq!(gpu.zeros::<u8>(0)?.download()?, [0; 0]);
    Ok(())
}

fn a_copy_on_the_device_is_of_the_shorter_length_and_in_its_turn(world: World) -> Outcome {
    let gpu = world.context()?;
    let (from, to) = (gpu.upload(&[10_u32; 33])?, gpu.upload(&[7_u32; 35])?);
    gpu.launch(&ADD_INDEX, 2, 32, (from.ptr(), 33))?;
    gpu.copy(&from, &to)?;
    gpu.launch(&ADD_INDEX, 2, 32, (from.ptr(), 33))?;
    let expected: Vec<u32> = (0..33).map(|i| 10 + i).chain([7, 7]).collect();
    assert_eq!(to.download()?, expected);
    Ok(())
}

fn more_values_than_a_buffer_holds_are_refused(world: World) -> Outcome {
    let gpu = world.context()?;
    let values = gpu.zeros::<u32>(2)?;
    let error = values.write(&[1, 2, 3]).expect_err("three do not fit two");
    assert_eq!(error.to_string(), "3 values do not fit a buffer of 2; allocate a larger one");
    assert_eq!(values.download()?, [0; 2]);
    Ok(())
}

fn more_memory_than_the_device_has_is_refused_and_harms_nothing(world: World) -> Outcome {
    let gpu = world.context()?;
    let values = gpu.upload(&[1_u32; 3])?;
    let refused = gpu.uninitialised::<u8>(1 << 45);
    let Err(error) = refused else { panic!("32 TiB were given") };
    assert!(matches!(error, GpuError::OutOfMemory(_)) && error.is_of_the_device(), "{error:?}");
    assert_eq!(values.download()?, [1; 3]);
    Ok(())
}
