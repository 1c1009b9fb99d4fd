//! Kernels of the labs against their CPU references, bit for bit, at odd sizes and on two streams.

use cuda_std::host::{DevicePtr, Kernel, KernelArgs};
use tests::{bits, noise};
use warpwise::backend::{Gpu, GpuError, LaunchShape};
use warpwise_kernels::divergence::by_lane;
use warpwise_kernels::maths;
use warpwise_kernels::mix::mix;
use warpwise_kernels::vecadd::{VECADD4_ELEMENTS, vecadd, vecadd4};

use crate::world::World;
use crate::{Outcome, cases};

cases![
    vecadd_equals_the_cpu,
    vecadd4_equals_the_cpu_and_touches_nothing_behind_the_end,
    divergent_lanes_equal_the_shared_host_function,
    mix_equals_the_shared_host_function,
    kernels_on_two_streams_equal_the_cpu,
];

const SIZES: [u32; 6] = [1, 31, 33, 127, 1_003, 65_537];
const BLOCK: u32 = 256;
const STEPS: u32 = 37;

type Pointer = DevicePtr<f32>;

fn assert_same(what: &str, found: &[f32], expected: &[f32]) {
    let differs = (0..expected.len()).find(|&i| bits(found[i]) != bits(expected[i]));
    if let Some(i) = differs {
        panic!("{what}: element {i} is {:e}, expected {:e}", found[i], expected[i]);
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

/// Runs a kernel of two inputs and one output, `per_thread` elements a thread; four elements of the output lie behind the end.
fn run<A: KernelArgs>(
    gpu: &Gpu,
    kernel: &Kernel<A>,
    (a, b): (&[f32], &[f32]),
    per_thread: u32,
    args: impl Fn(Pointer, Pointer, Pointer, u32) -> A,
) -> Result<Vec<f32>, GpuError> {
    let n = a.len() as u32;
    let (device_a, device_b) = (gpu.upload(a)?, gpu.upload(b)?);
    let c = gpu.upload(&vec![f32::NAN; a.len() + 4])?;
    let shape = LaunchShape::linear(n.div_ceil(per_thread), BLOCK);
    gpu.launch_shaped(kernel, shape, args(device_a.ptr(), device_b.ptr(), c.ptr(), n))?;
    c.download()
}

/// What has to be there: a value an element, and nothing behind the end.
fn expected(n: u32, value: impl Fn(u32) -> f32) -> Vec<f32> {
    (0..n).map(value).chain([f32::NAN; 4]).collect()
}

fn vecadd_equals_the_cpu(world: World) -> Outcome {
    let gpu = world.context_of_labs()?;
    for n in SIZES {
        let (a, b) = (noise(n, 1), noise(n, 2));
        let found = run(&gpu, &vecadd, (&a, &b), 1, |a, b, c, n| (a, b, c, n))?;
        assert_same(&format!("n = {n}"), &found, &expected(n, |i| a[i as usize] + b[i as usize]));
    }
    Ok(())
}

fn vecadd4_equals_the_cpu_and_touches_nothing_behind_the_end(world: World) -> Outcome {
    let gpu = world.context_of_labs()?;
    for n in SIZES {
        let (a, b) = (noise(n, 3), noise(n, 4));
        let found = run(&gpu, &vecadd4, (&a, &b), VECADD4_ELEMENTS, |a, b, c, n| (a, b, c, n))?;
        assert_same(&format!("n = {n}"), &found, &expected(n, |i| a[i as usize] + b[i as usize]));
    }
    Ok(())
}

fn divergent_lanes_equal_the_shared_host_function(world: World) -> Outcome {
    let gpu = world.context_of_labs()?;
    for n in SIZES {
        let x = noise(n, 5);
        let found = run(&gpu, &by_lane, (&x, &x), 1, |x, _, y, n| (x, y, n, STEPS))?;
        let reference = |i: u32| maths::either_path(i.is_multiple_of(2), x[i as usize], STEPS);
        assert_same(&format!("n = {n}"), &found, &expected(n, reference));
    }
    Ok(())
}

fn mix_equals_the_shared_host_function(world: World) -> Outcome {
    let gpu = world.context_of_labs()?;
    for n in SIZES {
        let (a, b) = (noise(n, 6), noise(n, 7));
        let found = run(&gpu, &mix, (&a, &b), 1, |a, b, c, n| (a, b, c, n))?;
        let reference = |i: u32| maths::mix(i, a[i as usize], b[i as usize]);
        assert_same(&format!("n = {n}"), &found, &expected(n, reference));
    }
    Ok(())
}

/// c = a + b on one stream, then on the other, behind an event, d = c + a.
fn kernels_on_two_streams_equal_the_cpu(world: World) -> Outcome {
    let gpu = world.context_of_labs()?;
    let n = 65_537;
    let (a, b) = (noise(n, 8), noise(n, 9));
    let (device_a, device_b) = (gpu.upload(&a)?, gpu.upload(&b)?);
    let (c, d) = (gpu.zeros::<f32>(a.len())?, gpu.zeros::<f32>(a.len())?);
    let (first, second, event) = (gpu.create_stream()?, gpu.create_stream()?, gpu.create_event()?);
    let shape = LaunchShape::linear(n, BLOCK);
    gpu.launch_on(first, &vecadd, shape, (device_a.ptr(), device_b.ptr(), c.ptr(), n))?;
    gpu.record(event, first)?;
    gpu.wait_event(second, event)?;
    gpu.launch_on(second, &vecadd, shape, (c.ptr(), device_a.ptr(), d.ptr(), n))?;
    gpu.synchronize_stream(second)?;
    let sums: Vec<f32> = a.iter().zip(&b).map(|(a, b)| (a + b) + a).collect();
    assert_same("d", &d.download()?, &sums);
    Ok(())
}
