//! Every kernel that judges or calibrates the cycle model, against its CPU reference: to the bit where the reference can be, within
//! a stated bound where the GPU's approximate functions enter.

use tests::{bits, machine, noise};
use warpwise::backend::{DeviceBuffer, Gpu, LaunchShape};
use warpwise_kernels as kernels;
use warpwise_kernels::maths;

const BLOCK: u32 = 256;

tests::on_every_front_end!(
    sixty_four_accumulators_give_the_same_with_and_without_the_registers_for_them,
    every_addition_to_a_shared_sum_counts_natively_and_by_compare_and_swap,
    histograms_count_every_value_once,
    both_matrix_products_equal_the_host_function,
    every_transposition_turns_rows_into_columns,
    a_sum_a_block_adds_in_the_order_of_threads_warps_and_blocks,
    running_sums_within_a_block_add_what_came_before,
    a_softmax_is_that_of_the_host_but_for_the_approximate_exponential,
    copies_gathers_walks_and_searches_find_what_the_host_finds,
    heat_spreads_as_the_host_function_has_it_and_the_faces_stay,
    arithmetic_of_all_kinds_equals_the_host_functions,
    bodies_attract_each_other_but_for_the_approximate_root,
    chases_end_where_the_chain_leads,
    readers_read_every_part_that_is_theirs,
    chains_and_counters_end_where_the_host_functions_do,
    scattered_words_are_those_that_the_host_function_names,
);

fn same(kernel: &str, found: &[f32], expected: impl IntoIterator<Item = f32>) {
    let expected: Vec<f32> = expected.into_iter().collect();
    assert_eq!(found.len(), expected.len(), "{kernel}");
    if let Some(i) = (0..found.len()).find(|&i| bits(found[i]) != bits(expected[i])) {
        panic!("{kernel}: element {i} is {:e}, expected {:e}", found[i], expected[i]);
    }
}

/// Within `bound`, relative to what was expected.
fn near(kernel: &str, found: &[f32], expected: impl IntoIterator<Item = f32>, bound: f32) {
    let mut count = 0;
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let off = (found - expected).abs() / expected.abs().max(f32::MIN_POSITIVE);
        assert!(off <= bound, "{kernel}: element {i} is {found:e}, expected {expected:e}: {off:e} off");
        count += 1;
    }
    assert_eq!(count, found.len(), "{kernel}");
}

fn out(gpu: &Gpu, len: u32) -> DeviceBuffer<f32> {
    gpu.upload(&vec![f32::NAN; len as usize]).expect("fits")
}

fn words(n: u32) -> Vec<u32> {
    (0..n).map(|i| maths::mix_bits(i + 1, 1)).collect()
}

fn down<T: bytemuck::Pod>(buffer: &DeviceBuffer<T>) -> Vec<T> {
    buffer.download().unwrap_or_else(|error| panic!("{error}"))
}

/// Launches a kernel; the shape must be accepted.
macro_rules! launch {
    ($gpu:expr, $kernel:expr, $shape:expr, $args:expr) => {
        $gpu.launch_shaped(&$kernel, $shape, $args).expect("the launch is accepted")
    };
}

fn sixty_four_accumulators_give_the_same_with_and_without_the_registers_for_them() {
    use kernels::occupancy::{accumulators, accumulators_capped};
    let (gpu, n, steps) = (machine(), 1003, 37);
    let x = noise(16 * n, 1);
    let input = gpu.upload(&x).expect("fits");
    let element = |k: usize, i: u32| x[k * n as usize + i as usize];
    let expected: Vec<f32> = (0..n)
        .map(|i| {
            let column = std::array::from_fn::<f32, 8, _>(|k| element(k, i));
            maths::outer_products(column, std::array::from_fn::<f32, 8, _>(|k| element(8 + k, i)), steps)
        })
        .collect();
    for kernel in [&accumulators, &accumulators_capped] {
        let y = out(&gpu, n);
        gpu.launch_shaped(kernel, LaunchShape::linear(n, BLOCK), (input.ptr(), y.ptr(), n, steps)).expect("accepted");
        same(kernel.name, &down(&y), expected.clone());
    }
}

fn every_addition_to_a_shared_sum_counts_natively_and_by_compare_and_swap() {
    use kernels::atomics::{atomic_add, atomic_add_cas};
    let gpu = machine();
    for (threads, mask, repeats) in [(1, 0, 1), (256, 0, 3), (512, 31, 2), (1024, 1023, 5)] {
        let sums = mask + 1;
        for kernel in [&atomic_add, &atomic_add_cas] {
            let buffer = gpu.upload(&vec![0.5_f32; sums as usize]).expect("fits");
            let shape = LaunchShape::linear(threads, BLOCK.min(threads));
            gpu.launch_shaped(kernel, shape, (buffer.ptr(), mask, repeats)).expect("accepted");
            let each = (threads.div_ceil(sums) * repeats) as f32 + 0.5;
            let touched = threads.min(sums) as usize;
            same(kernel.name, &down(&buffer)[..touched], vec![each; touched]);
        }
    }
}

fn histograms_count_every_value_once() {
    use kernels::atomics::{BINS, histogram, histogram_global};
    let gpu = machine();
    for n in [1, 255, 100_003] {
        let values = words(n);
        let mut expected = vec![0_u32; BINS];
        values.iter().for_each(|value| expected[(value >> 24) as usize] += 1);
        let input = gpu.upload(&values).expect("fits");
        let bins = [(); 2].map(|()| gpu.zeros::<u32>(BINS).expect("fits"));
        launch!(gpu, histogram, LaunchShape::new([3, 1, 1], [BLOCK, 1, 1]), (input.ptr(), bins[0].ptr(), n));
        launch!(gpu, histogram_global, LaunchShape::linear(n, BLOCK), (input.ptr(), bins[1].ptr(), n));
        for found in &bins {
            assert_eq!(down(found), expected, "n = {n}");
        }
    }
}

fn both_matrix_products_equal_the_host_function() {
    use kernels::matmul::{matmul_naive, matmul_tiled};
    let gpu = machine();
    for n in [1, 33, 64, 96] {
        let (a, b) = (noise(n * n, 1), noise(n * n, 2));
        let (pa, pb) = (gpu.upload(&a).expect("fits"), gpu.upload(&b).expect("fits"));
        let expected: Vec<f32> = (0..n * n)
            .map(|i| {
                let at = |row: u32, column: u32| (row * n + column) as usize;
                maths::dot(|k| a[at(i / n, k)], |k| b[at(k, i % n)], n, 0.0)
            })
            .collect();
        let c = out(&gpu, n * n);
        let shape = LaunchShape::new([n.div_ceil(32), n.div_ceil(8), 1], [32, 8, 1]);
        launch!(gpu, matmul_naive, shape, (pa.ptr(), pb.ptr(), c.ptr(), n));
        same("matmul_naive", &down(&c), expected.clone());
        if n % kernels::matmul::TILE == 0 {
            let c = out(&gpu, n * n);
            let blocks = n / kernels::matmul::TILE;
            let shape = LaunchShape::new([blocks, blocks, 1], [32, 32, 1]);
            launch!(gpu, matmul_tiled, shape, (pa.ptr(), pb.ptr(), c.ptr(), n));
            same("matmul_tiled", &down(&c), expected);
        }
    }
}

fn every_transposition_turns_rows_into_columns() {
    use kernels::transpose::{ROWS, TILE, transpose_naive, transpose_padded, transpose_tiled};
    let gpu = machine();
    for n in [32, 96] {
        let x = noise(n * n, 3);
        let input = gpu.upload(&x).expect("fits");
        let shape = LaunchShape::new([n / TILE, n / TILE, 1], [TILE, ROWS, 1]);
        for kernel in [&transpose_naive, &transpose_tiled, &transpose_padded] {
            let y = out(&gpu, n * n);
            gpu.launch_shaped(kernel, shape, (input.ptr(), y.ptr(), n)).expect("accepted");
            same(kernel.name, &down(&y), (0..n * n).map(|i| x[(i % n * n + i / n) as usize]));
        }
    }
}

/// What the lanes of a warp make of their values, two by two.
fn over_warp(lanes: &[f32], combine: fn(f32, f32) -> f32) -> f32 {
    let mut values = lanes.to_vec();
    for distance in [16, 8, 4, 2, 1] {
        values = (0..32).map(|lane| combine(values[lane], values[lane ^ distance])).collect();
    }
    values[0]
}

fn a_sum_a_block_adds_in_the_order_of_threads_warps_and_blocks() {
    use kernels::reduce::{BLOCK_THREADS, block_sums};
    let (gpu, blocks) = (machine(), 3);
    for n in [1, 257, 10_007] {
        let x = noise(n, 4);
        let (input, sums) = (gpu.upload(&x).expect("fits"), out(&gpu, blocks));
        let shape = LaunchShape::new([blocks, 1, 1], [BLOCK_THREADS, 1, 1]);
        launch!(gpu, block_sums, shape, (input.ptr(), sums.ptr(), n));
        let thread = |i: u32| {
            let own = x.iter().skip(i as usize).step_by((blocks * BLOCK_THREADS) as usize);
            own.fold(0.0_f32, |sum, value| sum + value)
        };
        let expected = (0..blocks).map(|block| {
            let threads: Vec<f32> = (0..BLOCK_THREADS).map(|i| thread(block * BLOCK_THREADS + i)).collect();
            threads.chunks(32).fold(0.0_f32, |sum, lanes| sum + over_warp(lanes, |a, b| a + b))
        });
        same("block_sums", &down(&sums), expected);
    }
}

fn running_sums_within_a_block_add_what_came_before() {
    let (gpu, n) = (machine(), 3 * 256);
    // Whole numbers: their sums are exact in any order.
    let x: Vec<f32> = (0..n).map(|i| (i * 7 % 11) as f32 - 5.0).collect();
    let (input, y) = (gpu.upload(&x).expect("fits"), out(&gpu, n));
    launch!(gpu, kernels::reduce::block_scan, LaunchShape::linear(n, BLOCK), (input.ptr(), y.ptr()));
    let expected = x.chunks(256).flat_map(|block| {
        block.iter().scan(0.0, |sum, value| {
            *sum += value;
            Some(*sum)
        })
    });
    same("block_scan", &down(&y), expected);
}

fn a_softmax_is_that_of_the_host_but_for_the_approximate_exponential() {
    let (gpu, rows, columns) = (machine(), 9, 96);
    let x = noise(rows * columns, 5);
    let (input, y) = (gpu.upload(&x).expect("fits"), out(&gpu, rows * columns));
    let shape = LaunchShape::linear(32 * rows, BLOCK);
    launch!(gpu, kernels::reduce::softmax, shape, (input.ptr(), y.ptr(), rows, columns));
    let expected: Vec<f32> = x
        .chunks(columns as usize)
        .flat_map(|row| {
            let greatest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let exponentials: Vec<f32> = row.iter().map(|x| maths::exponential(x - greatest)).collect();
            let sum: f32 = exponentials.iter().sum();
            exponentials.into_iter().map(move |value| value / sum)
        })
        .collect();
    // Two units in the last place for each of exponential and reciprocal, and the order of the sum.
    near("softmax", &down(&y), expected, 2e-6);
}

fn copies_gathers_walks_and_searches_find_what_the_host_finds() {
    use kernels::access::{binary_search, gather, strided_copy, walk};
    let (gpu, n) = (machine(), 1003_u32);
    let shape = LaunchShape::linear(n, BLOCK);
    for stride in [1, 2, 7, 32] {
        let x = noise(n * stride, 6);
        let (input, y) = (gpu.upload(&x).expect("fits"), out(&gpu, n * stride));
        launch!(gpu, strided_copy, shape, (input.ptr(), y.ptr(), n, stride));
        let expected = x.iter().enumerate().map(|(i, &x)| if (i as u32).is_multiple_of(stride) { x } else { f32::NAN });
        same("strided_copy", &down(&y), expected);
    }
    let (x, index) = (noise(1 << 12, 7), words(n));
    let (px, pi, y) = (gpu.upload(&x).expect("fits"), gpu.upload(&index).expect("fits"), out(&gpu, n));
    launch!(gpu, gather, shape, (px.ptr(), pi.ptr(), y.ptr(), n, 4095));
    same("gather", &down(&y), index.iter().map(|i| x[(i & 4095) as usize]));

    let next: Vec<u32> = (0..4096).map(|i| (i * 33 + 1) % 4096).collect();
    let (pn, found) = (gpu.upload(&next).expect("fits"), gpu.zeros::<u32>(n as usize).expect("fits"));
    launch!(gpu, walk, shape, (pn.ptr(), found.ptr(), n, 4, 9));
    let hop = |at: u32, _| next[at as usize];
    assert_eq!(down(&found), (0..n).map(|i| (0..9).fold(4 * i, hop)).collect::<Vec<_>>());

    let sorted: Vec<u32> = (0..1024).map(|i| i << 22).collect();
    let (ps, found) = (gpu.upload(&sorted).expect("fits"), gpu.zeros::<u32>(n as usize).expect("fits"));
    launch!(gpu, binary_search, shape, (ps.ptr(), pi.ptr(), found.ptr(), n, 1024));
    let expected = |key: &u32| sorted[..1023].partition_point(|value| value < key) as u32;
    assert_eq!(down(&found), index.iter().map(expected).collect::<Vec<_>>());
}

fn heat_spreads_as_the_host_function_has_it_and_the_faces_stay() {
    let gpu = machine();
    for n in [1, 2, 19, 33] {
        let x = noise(n * n * n, 8);
        let (input, y) = (gpu.upload(&x).expect("fits"), out(&gpu, n * n * n));
        let shape = LaunchShape::new([n.div_ceil(32), n.div_ceil(4), n], [32, 4, 1]);
        launch!(gpu, kernels::access::heat, shape, (input.ptr(), y.ptr(), n));
        let cell = |i: u32| maths::heat(|at| x[at as usize], [i % n, i / n % n, i / n / n], n);
        same("heat", &down(&y), (0..n * n * n).map(cell));
    }
}

fn arithmetic_of_all_kinds_equals_the_host_functions() {
    use kernels::compute::{collatz, mandelbrot, mix_bits, polynomial};
    let (gpu, n) = (machine(), 1003_u32);
    let shape = LaunchShape::linear(n, BLOCK);
    let x = noise(n, 9);
    let (input, y) = (gpu.upload(&x).expect("fits"), out(&gpu, n));
    launch!(gpu, polynomial, shape, (input.ptr(), y.ptr(), n, 3));
    same("polynomial", &down(&y), x.iter().map(|&x| maths::polynomial(x, 3)));

    let values = words(n);
    let buffer = gpu.upload(&values).expect("fits");
    launch!(gpu, mix_bits, shape, (buffer.ptr(), n, 5));
    assert_eq!(down(&buffer), values.iter().map(|&value| maths::mix_bits(value, 5)).collect::<Vec<_>>());

    let lengths = gpu.zeros::<u32>(n as usize).expect("fits");
    launch!(gpu, collatz, shape, (lengths.ptr(), n, 120));
    let found = down(&lengths);
    assert_eq!(found, (0..n).map(|i| maths::collatz(i + 1, 120)).collect::<Vec<_>>());
    assert_eq!((found[0], found[26]), (0, 111), "27 takes 111 steps, as everyone who tried it knows");

    let width = 64;
    let escapes = gpu.zeros::<u32>((width * width) as usize).expect("fits");
    let shape = LaunchShape::new([2, 8, 1], [32, 8, 1]);
    launch!(gpu, mandelbrot, shape, (escapes.ptr(), width, 50));
    let pixel = |i: u32| maths::escapes_after(i % width, i / width, width, 50);
    let expected: Vec<u32> = (0..width * width).map(pixel).collect();
    assert_eq!(down(&escapes), expected);
    assert!(expected.contains(&50) && expected.iter().any(|&turns| turns < 3), "some escape and some do not");
}

fn bodies_attract_each_other_but_for_the_approximate_root() {
    let (gpu, n) = (machine(), 512);
    let bodies: Vec<f32> = noise(4 * n, 10).chunks(4).flat_map(|b| [b[0], b[1], b[2], b[3].abs()]).collect();
    let (input, found) = (gpu.upload(&bodies).expect("fits"), out(&gpu, 4 * n));
    launch!(gpu, kernels::compute::nbody, LaunchShape::linear(n, BLOCK), (input.ptr(), found.ptr(), n));
    let fours: Vec<[f32; 4]> = bodies.chunks(4).map(|b| [b[0], b[1], b[2], b[3]]).collect();
    let found = down(&found);
    for (i, own) in fours.iter().enumerate() {
        let expected = fours.iter().fold([0.0; 3], |sum, body| maths::attracted(sum, *own, *body));
        let length = expected.iter().map(|v| v * v).sum::<f32>().sqrt();
        for (axis, expected) in expected.into_iter().enumerate() {
            let off = (found[4 * i + axis] - expected).abs();
            // Sums of opposite forces: the error is one of the pulls, not of what is left of them.
            assert!(off <= 1e-4 * length.max(1.0), "body {i}, axis {axis}: {off} off {expected}");
        }
        assert_eq!(found[4 * i + 3], 0.0);
    }
}

fn chases_end_where_the_chain_leads() {
    use kernels::calibration::{chase, chase_shared};
    let gpu = machine();
    let next: Vec<u32> = (0..1024).map(|i| (i * 5 + 3) % 1024).collect();
    let (chain, found) = (gpu.upload(&next).expect("fits"), gpu.zeros::<u32>(2).expect("fits"));
    let one = LaunchShape::linear(1, 1);
    launch!(gpu, chase, one, (chain.ptr(), found.ptr(), 7, 30));
    assert_eq!(down(&found)[0], (0..37).fold(0, |at: u32, _| next[at as usize]));
    launch!(gpu, chase_shared, LaunchShape::linear(32, 32), (found.ptr(), 100));
    assert_eq!(down(&found)[0], (0..100).fold(0, |at, _| maths::shared_successor(at)));
}

fn readers_read_every_part_that_is_theirs() {
    use kernels::calibration::{SHARED_READ, read_global, read_shared};
    let (gpu, threads, fours, parts, passes) = (machine(), 64, 512, 4, 5);
    let x = words(4 * fours * parts);
    let input = gpu.upload(&x).expect("fits");
    for (blocks, turn) in [(4, 0), (3, 1), (5, 3)] {
        let found = gpu.zeros::<u32>((blocks * threads) as usize).expect("fits");
        let shape = LaunchShape::new([blocks, 1, 1], [threads, 1, 1]);
        launch!(gpu, read_global, shape, (input.ptr(), found.ptr(), fours, parts, turn, passes));
        let of_part = |part: u32| &x[(4 * fours * part) as usize..(4 * fours * (part + 1)) as usize];
        let all: u32 = down(&found).into_iter().fold(0, u32::wrapping_add);
        let expected = (0..blocks)
            .flat_map(|block| (0..passes).map(move |pass| (block + pass * turn) & (parts - 1)))
            .fold(0, |sum: u32, part| of_part(part).iter().fold(sum, |sum, word| sum.wrapping_add(*word)));
        assert_eq!(all, expected, "turn {turn}");
    }
    let y = out(&gpu, 256);
    launch!(gpu, read_shared, LaunchShape::linear(256, 256), (y.ptr(), 3));
    let four = |thread: u32, k: u32, pass: u32| (thread + 256 * k + 32 * pass) % (SHARED_READ as u32 / 4);
    let expected = (0..256).map(|thread| {
        let all = (0..3).flat_map(|pass| (0..4).map(move |k| four(thread, k, pass)));
        all.flat_map(|four| (0..4).map(move |i| ((4 * four + i) % 8) as f32)).sum()
    });
    same("read_shared", &down(&y), expected);
}

fn chains_and_counters_end_where_the_host_functions_do() {
    use kernels::calibration::{chain_ffma, chain_imad, chain_mufu, count, empty};
    let (gpu, steps) = (machine(), 101);
    let shape = LaunchShape::linear(64, 32);
    let y = out(&gpu, 64);
    launch!(gpu, chain_ffma, shape, (y.ptr(), steps));
    same("chain_ffma", &down(&y), (0..64).map(|i| maths::path_a(i as f32, steps)));
    launch!(gpu, chain_mufu, shape, (y.ptr(), steps));
    // Each root halves the error before it and adds two units in the last place at most.
    near("chain_mufu", &down(&y), (0..64).map(|i| maths::reciprocal_roots((i + 1) as f32, steps)), 1e-6);
    let words = gpu.zeros::<u32>(64).expect("fits");
    launch!(gpu, chain_imad, shape, (words.ptr(), steps));
    assert_eq!(down(&words), (0..64).map(|i| maths::squares(i, steps)).collect::<Vec<_>>());
    let counters = gpu.zeros::<u32>(8).expect("fits");
    launch!(gpu, count, shape, (counters.ptr(), 7, 3));
    assert_eq!(down(&counters), [24; 8]);
    launch!(gpu, empty, LaunchShape::linear(1 << 12, 64), ());
    gpu.synchronize().expect("nothing goes wrong where nothing is done");
}

fn scattered_words_are_those_that_the_host_function_names() {
    use kernels::calibration::{scatter_add, scatter_store};
    let (gpu, warps, mask, apart, turn, repeats) = (machine(), 6, 1023, 37, 11, 5);
    let shape = LaunchShape::linear(2 * 96, 96);
    let mut counts = vec![0; mask as usize + 1];
    for number in 0..warps * repeats {
        (0..32).for_each(|lane| counts[maths::scattered(lane, number, apart, turn, mask) as usize] += 1);
    }
    let words = gpu.zeros::<u32>(counts.len()).expect("fits");
    launch!(gpu, scatter_add, shape, (words.ptr(), mask, apart, turn, repeats));
    assert_eq!(down(&words), counts);
    let words = gpu.upload(&vec![u32::MAX; counts.len()]).expect("fits");
    launch!(gpu, scatter_store, shape, (words.ptr(), mask, apart, turn, repeats));
    let stored = (0..=mask).map(|at| if counts[at as usize] > 0 { at } else { u32::MAX });
    assert_eq!(down(&words), stored.collect::<Vec<_>>());
    assert!(counts.contains(&0), "some words are left alone");
}
