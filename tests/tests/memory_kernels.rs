//! The kernels of the labs on memory, against their CPU references: copies in every order, sums that many threads share, and deformable
//! attention. To the bit where the order is fixed; within the bound that the reference states where atomic additions come in any order.

use cuda_std::host::{Argument, DevicePtr, Kernel};
use tests::{machine, noise};
use warpwise::backend::{DeviceBuffer, Gpu, LaunchShape};
use warpwise_kernels::maths;
use warpwise_kernels::msda::reference::{Inputs, Sum};
use warpwise_kernels::msda::{CHANNELS, HEADS, LEVELS, Level, SAMPLES};

const BLOCK: u32 = 256;

tests::on_every_front_end!(
    copies_by_stride_at_random_and_in_fours_copy_every_element_and_nothing_else,
    every_addition_to_a_shared_sum_counts_in_every_order_and_scope,
    an_addition_by_reading_and_writing_loses_what_others_wrote_in_between,
    every_type_adds_exactly_where_its_numbers_are_exact,
    attention_of_a_thread_a_point_is_right_within_the_bound_and_that_of_tiles_to_the_bit,
    both_backward_passes_give_all_gradients_within_the_bound,
);

fn down<T: bytemuck::Pod>(buffer: &DeviceBuffer<T>) -> Vec<T> {
    buffer.download().unwrap_or_else(|error| panic!("{error}"))
}

fn copies_by_stride_at_random_and_in_fours_copy_every_element_and_nothing_else() {
    use warpwise_kernels::access::{COPY_VEC4_ELEMENTS, copy_random, copy_stride, copy_vec4};
    let gpu = machine();
    let check = |what: &str, y: &DeviceBuffer<f32>, expected: Vec<f32>| {
        let found: Vec<u32> = down(y).into_iter().map(f32::to_bits).collect();
        let expected: Vec<u32> = expected.into_iter().chain([f32::NAN; 4]).map(f32::to_bits).collect();
        assert_eq!(found, expected, "{what}");
    };
    let out = |n: u32| gpu.upload(&vec![f32::NAN; n as usize + 4]).expect("fits");
    for (n, stride) in [(1, 1), (33, 1), (1_003, 3), (1_003, 8), (257, 32)] {
        let x = noise(n * stride, 1);
        let (input, y) = (gpu.upload(&x).expect("fits"), out(n));
        gpu.launch_shaped(&copy_stride, LaunchShape::linear(n, BLOCK), (input.ptr(), y.ptr(), n, stride))
            .expect("accepted");
        check("copy_stride", &y, x.iter().copied().step_by(stride as usize).collect());
    }
    for bits in [0, 1, 5, 10] {
        let n = 1 << bits;
        let x = noise(n, 2);
        let (input, y) = (gpu.upload(&x).expect("fits"), out(n));
        gpu.launch_shaped(&copy_random, LaunchShape::linear(n, BLOCK), (input.ptr(), y.ptr(), bits)).expect("accepted");
        check("copy_random", &y, (0..n).map(|i| x[maths::permuted(i, bits) as usize]).collect());
    }
    for n in [1, 2, 3, 4, 5, 127, 128, 1_003, 100_002] {
        let x = noise(n, 3);
        let (input, y) = (gpu.upload(&x).expect("fits"), out(n));
        let threads = n / COPY_VEC4_ELEMENTS + n % COPY_VEC4_ELEMENTS;
        gpu.launch_shaped(&copy_vec4, LaunchShape::linear(threads, BLOCK), (input.ptr(), y.ptr(), n))
            .expect("accepted");
        check("copy_vec4", &y, x);
    }
}

fn every_addition_to_a_shared_sum_counts_in_every_order_and_scope() {
    use warpwise_kernels::atomics::{add_ordered, add_scoped, count_one};
    let gpu = machine();
    for (threads, mask, repeats) in [(1, 0, 1), (256, 0, 3), (1024, 63, 2)] {
        let sums = gpu.upload(&vec![0.5_f32; mask as usize + 1]).expect("fits");
        let shape = LaunchShape::linear(threads, BLOCK.min(threads));
        gpu.launch_shaped(&add_ordered, shape, (sums.ptr(), mask, repeats)).expect("accepted");
        let each = (threads.div_ceil(mask + 1) * repeats) as f32 + 0.5;
        assert_eq!(down(&sums), vec![each; mask as usize + 1], "add_ordered");
        let counter = gpu.upload(&[u32::MAX]).expect("fits");
        // A last warp that is not full.
        let shape = LaunchShape::linear(threads + 7, threads + 7);
        if threads + 7 <= 1024 {
            gpu.launch_shaped(&count_one, shape, (counter.ptr(), repeats)).expect("accepted");
            assert_eq!(down(&counter), [((threads + 7) * repeats).wrapping_sub(1)], "count_one");
        }
    }
    for scope in 0..3 {
        let sums = gpu.zeros::<f32>(3).expect("fits");
        gpu.launch_shaped(&add_scoped, LaunchShape::new([3, 1, 1], [96, 1, 1]), (sums.ptr(), 5, scope))
            .expect("accepted");
        assert_eq!(down(&sums), [480.0; 3], "scope {scope}");
    }
}

fn an_addition_by_reading_and_writing_loses_what_others_wrote_in_between() {
    use warpwise_kernels::atomics::add_racy;
    let gpu = machine();
    let sum = |threads: u32| {
        let sums = gpu.zeros::<f32>(1).expect("fits");
        gpu.launch_shaped(&add_racy, LaunchShape::linear(threads, BLOCK.min(threads)), (sums.ptr(), 0, 3))
            .expect("accepted");
        down(&sums)[0]
    };
    assert_eq!(sum(1), 3.0, "nobody is there to lose it to");
    let found = sum(32);
    assert_eq!(found, 3.0, "32 lanes read the same, and write the same");
    assert!((3.0..3.0 * 512.0).contains(&sum(512)));
}

fn every_type_adds_exactly_where_its_numbers_are_exact() {
    use warpwise_kernels::halves::{add_bf16x2, add_f16, add_f16x2, add_f64};
    /// 64 threads add three times to each of four sums, which begin with `start`; a fifth is nobody's.
    fn check<T: bytemuck::Pod + PartialEq + std::fmt::Debug>(
        gpu: &Gpu,
        kernel: &Kernel<(DevicePtr<T>, u32, u32)>,
        [start, end]: [T; 2],
    ) where
        DevicePtr<T>: Argument,
    {
        let sums = gpu.upload(&[start; 5]).expect("fits");
        gpu.launch_shaped(kernel, LaunchShape::linear(256, 64), (sums.ptr(), 3, 3)).expect("accepted");
        assert_eq!(down(&sums), [end, end, end, end, start], "{}", kernel.name);
    }
    let gpu = machine();
    check(&gpu, &add_f64, [0.25, 192.25]);
    // The others add 1, -1 and 1. 0.5 and 64.5 as 16-bit floats; -2 and 62.
    check(&gpu, &add_f16, [0x3800, 0x5408]);
    check(&gpu, &add_f16x2, [0x3800_c000, 0x5408_53c0]);
    check(&gpu, &add_bf16x2, [0x3f00_c000, 0x4281_4278]);
}

/// A small pyramid, points within and beyond it.
fn inputs(queries: u32) -> Inputs {
    let mut levels = Vec::new();
    let mut pixels = 0;
    for (height, width) in [(9, 7), (4, 5), (2, 3), (1, 1)] {
        levels.push(Level { height, width, first_pixel: pixels });
        pixels += height * width;
    }
    assert_eq!(levels.len() as u32, LEVELS);
    let points = queries * HEADS * SAMPLES;
    Inputs {
        levels,
        value: noise(pixels * HEADS * CHANNELS, 1),
        locations: noise(2 * points, 2).into_iter().map(|x| 0.5 + 0.7 * x).collect(),
        weights: noise(points, 3),
        gradient: noise(queries * HEADS * CHANNELS, 4),
    }
}

fn within(kernel: &str, what: &str, found: &[f32], expected: &[Sum]) {
    assert_eq!(found.len(), expected.len(), "{kernel}: {what}");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let off = expected.off(*found);
        assert!(off <= 1.0, "{kernel}: {what} {i} is {found:e}, expected {expected:?}: {off} times the bound off");
    }
}

fn attention_of_a_thread_a_point_is_right_within_the_bound_and_that_of_tiles_to_the_bit() {
    use warpwise_kernels::msda::forward::{TILE_THREADS, msda_point, msda_tile};
    let gpu = machine();
    for queries in [1, 13] {
        let inputs = inputs(queries);
        let (value, levels) =
            (gpu.upload(&inputs.value).expect("fits"), gpu.upload(&inputs.level_words()).expect("fits"));
        let (locations, weights) =
            (gpu.upload(&inputs.locations).expect("fits"), gpu.upload(&inputs.weights).expect("fits"));
        for (kernel, threads) in [(&msda_point, SAMPLES), (&msda_tile, TILE_THREADS)] {
            let output = gpu.zeros::<f32>(inputs.gradient.len()).expect("fits");
            let args = (value.ptr(), levels.ptr(), locations.ptr(), weights.ptr(), output.ptr(), queries);
            let shape = LaunchShape::linear(queries * HEADS * threads, BLOCK);
            gpu.launch_shaped(kernel, shape, args).expect("accepted");
            within(kernel.name, "output", &down(&output), &inputs.output_bounds());
            if kernel.name == msda_tile.name {
                assert_eq!(down(&output), inputs.output(), "to the bit");
            }
        }
    }
}

fn both_backward_passes_give_all_gradients_within_the_bound() {
    use warpwise_kernels::msda::backward::{msda_point_backward, msda_tile_backward};
    let gpu = machine();
    for queries in [1, 13] {
        let inputs = inputs(queries);
        let expected = inputs.gradients();
        let up = |values: &[f32]| gpu.upload(values).expect("fits");
        let levels = gpu.upload(&inputs.level_words()).expect("fits");
        let read = [&inputs.value, &inputs.locations, &inputs.weights, &inputs.gradient].map(|values| up(values));
        for (kernel, threads) in [(&msda_point_backward, SAMPLES), (&msda_tile_backward, CHANNELS)] {
            let value = gpu.zeros::<f32>(inputs.value.len()).expect("fits");
            let [location, weight] = [&inputs.locations, &inputs.weights].map(|like| up(&vec![f32::NAN; like.len()]));
            let [value_in, locations, weights, gradient] = read.each_ref().map(DeviceBuffer::ptr);
            let out = (value.ptr(), location.ptr(), weight.ptr());
            let args = (value_in, levels.ptr(), locations, weights, gradient, out.0, out.1, out.2, queries);
            let shape = LaunchShape::linear(queries * HEADS * threads, BLOCK);
            gpu.launch_shaped(kernel, shape, args).expect("accepted");
            within(kernel.name, "gradient of value", &down(&value), &expected.value);
            within(kernel.name, "gradient of location", &down(&location), &expected.location);
            within(kernel.name, "gradient of weight", &down(&weight), &expected.weight);
        }
    }
}
