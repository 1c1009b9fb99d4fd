//! Every kernel against its CPU reference, bit for bit, at sizes that are no multiple of anything.
//!
//! The reference of a kernel is the same Rust function compiled for this computer. Sizes are one thread, one lane short of a
//! warp, a warp, a lane more, the 1,003 of the chapters, and a million and three for those whose cost allows it.

use cuda_std::host::Kernel;
use tests::{bits, machine, noise};
use warpwise::backend::{Gpu, LaunchShape};
use warpwise_kernels as kernels;
use warpwise_kernels::maths;

const SIZES: [u32; 5] = [1, 31, 32, 33, 1_003];
const LARGE: u32 = 1_000_003;
/// Threads a block.
const BLOCK: u32 = 256;
/// Kernels with an inner loop run it this often: odd, so that an unrolled loop has a rest.
const STEPS: u32 = 37;

tests::on_every_front_end!(
    vecadd_adds_at_every_size,
    vecadd_without_its_guard_is_right_where_no_thread_is_idle,
    vecadd4_adds_at_every_size_and_touches_nothing_behind_the_end,
    vecadd4_without_its_guard_is_right_where_no_thread_is_idle,
    a_stream_copies_and_writes_its_elements_and_nothing_behind_them,
    a_reading_stream_reads_every_word_it_finds_what_one_thread_has_and_nothing_else,
    chains_of_multiply_adds_equal_the_host_function,
    both_paths_and_every_choice_between_them_equal_the_host_function,
    split_sends_the_first_k_lanes_of_each_warp_down_path_a,
    conditionals_short_and_long_equal_the_host_function,
    tiles_of_few_and_of_many_registers_equal_the_host_function,
    four_chains_a_thread_give_what_one_chain_an_element_gives,
    mix_treats_even_and_odd_elements_as_the_host_function_does,
    blur_equals_the_host_function_for_images_and_blocks_of_odd_shapes,
    slow_walks_the_sequence_as_the_host_function_does,
    items_of_any_length_add_up_to_the_same_in_order_sorted_and_split,
    chains_end_where_the_table_leads,
    words_are_read_from_every_bank_as_they_were_written,
    both_placements_of_a_condition_give_what_the_host_function_gives,
    relu_and_its_long_arms_equal_the_host_function,
);

type Pointer = cuda_std::host::DevicePtr<f32>;

/// Checks `y[i] = reference(i, x)` for one kernel of one input and one output array. `per_thread` elements of each belong to a
/// thread.
fn check_map<A: cuda_std::host::KernelArgs>(
    kernel: &Kernel<A>,
    sizes: &[u32],
    (inputs, outputs): (u32, u32),
    args: impl Fn(Pointer, Pointer, u32) -> A,
    reference: impl Fn(u32, u32, &[f32]) -> f32,
) {
    let gpu = machine();
    for &n in sizes {
        let x = noise(inputs * n, u64::from(n));
        let input = gpu.upload(&x).expect("the input fits");
        let output = gpu.upload(&vec![f32::NAN; (outputs * n) as usize]).expect("the output fits");
        let shape = LaunchShape::linear(n, BLOCK);
        gpu.launch_shaped(kernel, shape, args(input.ptr(), output.ptr(), n)).expect("the launch is accepted");
        let found = output.download().unwrap_or_else(|error| panic!("{} at n = {n}: {error}", kernel.name));
        let expected: Vec<f32> = (0..outputs * n).map(|i| reference(i, n, &x)).collect();
        assert_same(kernel.name, n, &found, &expected);
    }
}

fn assert_same(kernel: &str, n: u32, found: &[f32], expected: &[f32]) {
    let differs = (0..expected.len()).find(|&i| bits(found[i]) != bits(expected[i]));
    if let Some(i) = differs {
        panic!("{kernel} at n = {n}: element {i} is {:e}, expected {:e}", found[i], expected[i]);
    }
    assert_eq!(found.len(), expected.len(), "{kernel} at n = {n}");
}

fn sizes_with_large() -> Vec<u32> {
    SIZES.into_iter().chain([LARGE]).collect()
}

fn vecadd_adds_at_every_size() {
    let gpu = machine();
    for n in sizes_with_large() {
        let (a, b) = (noise(n, 1), noise(n, 2));
        let found = added(&gpu, &a, &b, n);
        let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        assert_same("vecadd", n, &found, &expected);
    }
}

fn added(gpu: &Gpu, a: &[f32], b: &[f32], n: u32) -> Vec<f32> {
    let (a, b) = (gpu.upload(a).expect("a fits"), gpu.upload(b).expect("b fits"));
    let c = gpu.upload(&vec![f32::NAN; n as usize]).expect("c fits");
    let shape = LaunchShape::linear(n, BLOCK);
    gpu.launch_shaped(&kernels::vecadd::vecadd, shape, (a.ptr(), b.ptr(), c.ptr(), n)).expect("accepted");
    c.download().expect("vecadd runs")
}

fn vecadd_without_its_guard_is_right_where_no_thread_is_idle() {
    let (gpu, n) = (machine(), 1 << 10);
    let (x, y) = (noise(n, 3), noise(n, 4));
    let (a, b) = (gpu.upload(&x).expect("fits"), gpu.upload(&y).expect("fits"));
    let c = gpu.zeros::<f32>(n as usize).expect("fits");
    let shape = LaunchShape::linear(n, BLOCK);
    gpu.launch_shaped(&kernels::vecadd::vecadd_unguarded, shape, (a.ptr(), b.ptr(), c.ptr())).expect("accepted");
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    assert_same("vecadd_unguarded", n, &c.download().expect("runs"), &expected);
}

fn vecadd4_adds_at_every_size_and_touches_nothing_behind_the_end() {
    let gpu = machine();
    for n in sizes_with_large().into_iter().chain([2, 3, 4, 5, 127, 128, 129]) {
        let (x, y) = (noise(n, 1), noise(n, 2));
        let (a, b) = (gpu.upload(&x).expect("fits"), gpu.upload(&y).expect("fits"));
        let c = gpu.upload(&vec![f32::NAN; n as usize + 4]).expect("fits");
        let threads = n.div_ceil(kernels::vecadd::VECADD4_ELEMENTS);
        let shape = LaunchShape::linear(threads, BLOCK);
        gpu.launch_shaped(&kernels::vecadd::vecadd4, shape, (a.ptr(), b.ptr(), c.ptr(), n)).expect("accepted");
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).chain([f32::NAN; 4]).collect();
        assert_same("vecadd4", n, &c.download().expect("runs"), &expected);
    }
}

fn vecadd4_without_its_guard_is_right_where_no_thread_is_idle() {
    let (gpu, n) = (machine(), 1 << 12);
    let (x, y) = (noise(n, 3), noise(n, 4));
    let (a, b) = (gpu.upload(&x).expect("fits"), gpu.upload(&y).expect("fits"));
    let c = gpu.zeros::<f32>(n as usize).expect("fits");
    let shape = LaunchShape::linear(n / kernels::vecadd::VECADD4_ELEMENTS, BLOCK);
    gpu.launch_shaped(&kernels::vecadd::vecadd4_unguarded, shape, (a.ptr(), b.ptr(), c.ptr())).expect("accepted");
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    assert_same("vecadd4_unguarded", n, &c.download().expect("runs"), &expected);
}

/// Words of an element of the streams.
const QUAD: u32 = 4;

fn a_stream_copies_and_writes_its_elements_and_nothing_behind_them() {
    use kernels::ceilings::{copy_stream, write_stream};
    let gpu = machine();
    for n in SIZES {
        let words = (QUAD * n) as usize;
        let x: Vec<u32> = (0..QUAD * n).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let (from, to) = (gpu.upload(&x).expect("fits"), gpu.upload(&vec![7; words + 4]).expect("fits"));
        let shape = LaunchShape::linear(n, BLOCK);
        gpu.launch_shaped(&copy_stream, shape, (from.ptr(), to.ptr(), n)).expect("accepted");
        let behind = |mut words: Vec<u32>| {
            words.extend([7; 4]);
            words
        };
        assert_eq!(to.download().expect("runs"), behind(x), "n = {n}");
        gpu.launch_shaped(&write_stream, shape, (to.ptr(), n, 9)).expect("accepted");
        assert_eq!(to.download().expect("runs"), behind(vec![9; words]), "n = {n}");
    }
}

fn a_reading_stream_reads_every_word_it_finds_what_one_thread_has_and_nothing_else() {
    use kernels::ceilings::{READ_STREAM_QUADS, read_stream};
    let (gpu, blocks) = (machine(), 3);
    let words = blocks * BLOCK * READ_STREAM_QUADS * QUAD;
    let shape = LaunchShape::linear(blocks * BLOCK, BLOCK);
    for place in [0, 5, words / 2 + 3, words - 1] {
        let mut x = vec![0_u32; words as usize];
        x[place as usize] = 0xabcd;
        let (from, found) = (gpu.upload(&x).expect("fits"), gpu.zeros::<u32>(1).expect("fits"));
        gpu.launch_shaped(&read_stream, shape, (from.ptr(), found.ptr(), 0x1234)).expect("accepted");
        assert_eq!(found.download().expect("runs"), [0], "nobody has it");
        gpu.launch_shaped(&read_stream, shape, (from.ptr(), found.ptr(), 0xabcd)).expect("accepted");
        assert_eq!(found.download().expect("runs"), [0xabcd], "word {place}");
    }
}

fn chains_of_multiply_adds_equal_the_host_function() {
    use kernels::ceilings::{FMA_CHAIN_STEPS, FMA_CHAINS, fma_chains};
    let reference = |i: u32, _, x: &[f32]| maths::fma_chains::<FMA_CHAINS>(x[i as usize], STEPS, FMA_CHAIN_STEPS);
    check_map(&fma_chains, &SIZES, (1, 1), |x, y, n| (x, y, n, STEPS), reference);
}

fn both_paths_and_every_choice_between_them_equal_the_host_function() {
    use kernels::divergence::{branch_paths, by_lane, by_warp, path_a, path_b};
    let args = |x, y, n| (x, y, n, STEPS);
    check_map(&path_a, &SIZES, (1, 1), args, |i, _, x| maths::path_a(x[i as usize], STEPS));
    check_map(&path_b, &SIZES, (1, 1), args, |i, _, x| maths::path_b(x[i as usize], STEPS));
    let either = |takes_a: bool, i: u32, x: &[f32]| maths::either_path(takes_a, x[i as usize], STEPS);
    check_map(&by_lane, &SIZES, (1, 1), args, |i, _, x| either(i.is_multiple_of(2), i, x));
    check_map(&by_warp, &SIZES, (1, 1), args, |i, _, x| either((i / 32).is_multiple_of(2), i, x));
    let joined = |i: u32, x: &[f32]| maths::after_the_join(either(i.is_multiple_of(2), i, x));
    check_map(&branch_paths, &SIZES, (1, 1), args, |i, _, x| joined(i, x));
}

fn split_sends_the_first_k_lanes_of_each_warp_down_path_a() {
    for k in [0, 1, 16, 31, 32] {
        let reference = |i: u32, _, x: &[f32]| maths::either_path(i % 32 < k, x[i as usize], STEPS);
        check_map(&kernels::divergence::split, &SIZES, (1, 1), |x, y, n| (x, y, n, STEPS, k), reference);
    }
}

fn conditionals_short_and_long_equal_the_host_function() {
    use kernels::predication::{leaky_relu, leaky_relu_long, scale};
    let args = |x, y, n| (x, y, n);
    check_map(&leaky_relu, &sizes_with_large(), (1, 1), args, |i, _, x| maths::leaky_relu(x[i as usize]));
    check_map(&scale, &SIZES, (1, 1), args, |i, _, x| maths::scale(x[i as usize]));
    check_map(&leaky_relu_long, &SIZES, (1, 1), args, |i, _, x| maths::leaky_relu_long(x[i as usize]));
}

/// Row `k` of a thread's inputs.
fn row(x: &[f32], k: usize, n: u32, i: u32) -> f32 {
    x[k * n as usize + i as usize]
}

fn tiles_of_few_and_of_many_registers_equal_the_host_function() {
    use kernels::occupancy::{heavy, heavy_capped, light};
    let args = |x, y, n| (x, y, n, STEPS);
    let few = |i: u32, n: u32, x: &[f32]| {
        let column: [f32; 3] = std::array::from_fn(|k| row(x, k, n, i));
        maths::outer_products(column, std::array::from_fn::<f32, 2, _>(|k| row(x, 3 + k, n, i)), STEPS)
    };
    check_map(&light, &SIZES, (5, 1), args, few);
    let many = |i: u32, n: u32, x: &[f32]| {
        let column: [f32; 7] = std::array::from_fn(|k| row(x, k, n, i));
        maths::outer_products(column, std::array::from_fn::<f32, 8, _>(|k| row(x, 7 + k, n, i)), STEPS)
    };
    check_map(&heavy, &SIZES, (15, 1), args, many);
    check_map(&heavy_capped, &SIZES, (15, 1), args, many);
}

fn four_chains_a_thread_give_what_one_chain_an_element_gives() {
    let args = |x, y, n| (x, y, n, STEPS);
    check_map(&kernels::occupancy::ilp4, &SIZES, (4, 4), args, |i, _, x| maths::path_a(x[i as usize], STEPS));
}

fn mix_treats_even_and_odd_elements_as_the_host_function_does() {
    let gpu = machine();
    for n in sizes_with_large() {
        let (a, b) = (noise(n, 5), noise(n, 6));
        let (pa, pb) = (gpu.upload(&a).expect("fits"), gpu.upload(&b).expect("fits"));
        let c = gpu.zeros::<f32>(n as usize).expect("fits");
        let shape = LaunchShape::linear(n, BLOCK);
        gpu.launch_shaped(&kernels::mix::mix, shape, (pa.ptr(), pb.ptr(), c.ptr(), n)).expect("accepted");
        let expected: Vec<f32> = (0..n).map(|i| maths::mix(i, a[i as usize], b[i as usize])).collect();
        assert_same("mix", n, &c.download().expect("mix runs"), &expected);
    }
}

fn blur_equals_the_host_function_for_images_and_blocks_of_odd_shapes() {
    let gpu = machine();
    for (width, height) in [(1, 1), (1, 31), (33, 1), (37, 29), (100, 70)] {
        let image = noise(width * height, 9);
        let input = gpu.upload(&image).expect("fits");
        for block in [[32, 8, 1], [16, 16, 1], [8, 32, 1], [4, 64, 1], [5, 7, 1]] {
            let output = gpu.upload(&vec![f32::NAN; image.len()]).expect("fits");
            let shape = LaunchShape::new([width.div_ceil(block[0]), height.div_ceil(block[1]), 1], block);
            let args = (input.ptr(), output.ptr(), width, height);
            gpu.launch_shaped(&kernels::blur::blur, shape, args).expect("accepted");
            let read = |column: u32, row: u32| image[(row * width + column) as usize];
            let expected: Vec<f32> = (0..width * height)
                .map(|pixel| maths::blur(read, pixel % width, pixel / width, width, height))
                .collect();
            assert_same("blur", width * height, &output.download().expect("blur runs"), &expected);
        }
    }
}

fn slow_walks_the_sequence_as_the_host_function_does() {
    let gpu = machine();
    for n in SIZES {
        let values: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761)).collect();
        let buffer = gpu.upload(&values).expect("fits");
        gpu.launch_shaped(&kernels::slow::slow, LaunchShape::linear(n, BLOCK), (buffer.ptr(), n, 1_000))
            .expect("accepted");
        let expected: Vec<u32> = values.iter().map(|&value| maths::successor(value, 1_000)).collect();
        assert_eq!(buffer.download().expect("slow runs"), expected, "n = {n}");
    }
}

fn items_of_any_length_add_up_to_the_same_in_order_sorted_and_split() {
    use kernels::ragged::{ragged, ragged_sorted, ragged_split};
    let gpu = machine();
    for n in SIZES {
        // None, one, a warp's lanes, one more, many.
        let terms: Vec<u32> = (0..n).map(|i| [0, 1, 32, 33, 100, 5][i as usize % 6]).collect();
        let order: Vec<u32> = (0..n).rev().collect();
        let (device, order) = (gpu.upload(&terms).expect("fits"), gpu.upload(&order).expect("fits"));
        let expected: Vec<u32> = (0..n)
            .zip(&terms)
            .map(|(i, &terms)| (0..terms).fold(0, |sum: u32, k| sum.wrapping_add(maths::ragged_term(i, k))))
            .collect();
        let shape = LaunchShape::linear(n, BLOCK);
        for form in 0..3 {
            let sums = gpu.upload(&vec![7_u32; n as usize]).expect("fits");
            match form {
                0 => gpu.launch_shaped(&ragged, shape, (device.ptr(), sums.ptr(), n)),
                1 => gpu.launch_shaped(&ragged_sorted, shape, (device.ptr(), order.ptr(), sums.ptr(), n)),
                _ => gpu.launch_shaped(&ragged_split, shape, (device.ptr(), sums.ptr(), n)),
            }
            .expect("accepted");
            assert_eq!(sums.download().expect("runs"), expected, "form {form} at n = {n}");
        }
    }
}

fn chains_end_where_the_table_leads() {
    use kernels::latency::{chase_ilp1, chase_ilp2, chase_ilp4, chase_ilp8};
    let (gpu, words, apart) = (machine(), 4_099_u32, 300);
    let table: Vec<u32> = (0..words).map(|word| (word * 7 + 3) % words).collect();
    let next = gpu.upload(&table).expect("fits");
    for (kernel, chains) in [(&chase_ilp1, 1), (&chase_ilp2, 2), (&chase_ilp4, 4), (&chase_ilp8, 8)] {
        let out = gpu.zeros::<u32>(64).expect("fits");
        let args = (next.ptr(), out.ptr(), apart, STEPS);
        gpu.launch_shaped(kernel, LaunchShape::linear(64, 32), args).expect("accepted");
        let end = |from: u32| (0..STEPS).fold(from, |at, _| table[at as usize]);
        let expected: Vec<u32> = (0..64).map(|i| (0..chains).map(|k| end(i + k * apart)).sum()).collect();
        assert_eq!(out.download().expect("runs"), expected, "{chains} chains");
    }
}

fn words_are_read_from_every_bank_as_they_were_written() {
    use kernels::banks::{shared_pairs, shared_quads, shared_stride};
    let (gpu, threads) = (machine(), 96);
    let shape = LaunchShape::linear(threads, threads);
    let check = |what: &str, out: Vec<f32>, word: &dyn Fn(u32, u32) -> u32| {
        let expected: Vec<f32> =
            (0..threads).map(|i| (0..STEPS).map(|c| word(i % 32, c)).sum::<u32>() as f32).collect();
        assert_eq!(out, expected, "{what}");
    };
    for (stride, swizzle) in [(0, 0), (1, 0), (2, 0), (32, 0), (33, 0), (32, 31)] {
        let out = gpu.zeros::<f32>(threads as usize).expect("fits");
        gpu.launch_shaped(&shared_stride, shape, (out.ptr(), STEPS, stride, swizzle)).expect("accepted");
        let word = |lane: u32, c: u32| stride * lane + ((c % 32) ^ (lane & swizzle));
        check(&format!("stride {stride}, {swizzle}"), out.download().expect("runs"), &word);
    }
    let out = gpu.zeros::<f32>(threads as usize).expect("fits");
    gpu.launch_shaped(&shared_pairs, shape, (out.ptr(), STEPS)).expect("accepted");
    check("pairs", out.download().expect("runs"), &|lane, c| lane + c % 32);
    gpu.launch_shaped(&shared_quads, shape, (out.ptr(), STEPS)).expect("accepted");
    check("quads", out.download().expect("runs"), &|lane, c| 4 * (lane + c % 32));
}

fn both_placements_of_a_condition_give_what_the_host_function_gives() {
    use kernels::parity::{parity_lane, parity_warp};
    let args = |x, y, n| (x, y, n, STEPS);
    for kernel in [&parity_lane, &parity_warp] {
        check_map(kernel, &SIZES, (1, 1), args, |i, _, x| maths::parity(i, x[i as usize], STEPS));
    }
}

fn relu_and_its_long_arms_equal_the_host_function() {
    use kernels::relu::{relu, relu_long_arms};
    let reference = |i: u32, _, x: &[f32]| if x[i as usize] > 0.0 { x[i as usize] } else { 0.0 };
    check_map(&relu, &sizes_with_large(), (1, 1), |x, y, n| (x, y, n), reference);
    let reference = |i: u32, _, x: &[f32]| maths::relu_long_arms(x[i as usize], STEPS);
    check_map(&relu_long_arms, &SIZES, (1, 1), |x, y, n| (x, y, n, STEPS), reference);
}
