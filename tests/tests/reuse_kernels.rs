//! The kernels of reduction, reuse and bounds checks against their CPU references, bit for bit.

use tests::{bits, machine, noise};
use warpwise::backend::{DeviceBuffer, Gpu, LaunchShape};
use warpwise_kernels as kernels;
use warpwise_kernels::maths;

const BLOCK: u32 = 256;

tests::on_every_front_end!(
    three_reductions_of_whole_numbers_give_the_exact_sum,
    matrix_products_by_small_tiles_and_in_registers_equal_the_host_function,
    a_matrix_times_one_four_and_sixteen_vectors_adds_up_lane_by_lane,
    four_forms_of_a_filter_equal_the_host_function,
    a_filter_whose_slice_is_too_short_traps_where_it_checks_and_only_there,
    a_table_in_local_memory_is_read_in_the_order_of_the_host_function,
);

fn same(kernel: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{kernel}");
    if let Some(i) = (0..found.len()).find(|&i| bits(found[i]) != bits(expected[i])) {
        panic!("{kernel}: element {i} is {:e}, expected {:e}", found[i], expected[i]);
    }
}

fn out(gpu: &Gpu, len: u32) -> DeviceBuffer<f32> {
    gpu.upload(&vec![f32::NAN; len as usize]).expect("fits")
}

fn down(buffer: &DeviceBuffer<f32>) -> Vec<f32> {
    buffer.download().unwrap_or_else(|error| panic!("{error}"))
}

/// From zero on: the sum of nothing has a sign otherwise.
fn total(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |sum, value| sum + value)
}

fn three_reductions_of_whole_numbers_give_the_exact_sum() {
    use kernels::total::{STEP_ELEMENTS, reduce_atomic, reduce_shared, reduce_shuffle};
    let (gpu, blocks) = (machine(), 3);
    let shape = LaunchShape::new([blocks, 1, 1], [kernels::total::BLOCK_THREADS, 1, 1]);
    for n in [0, 1, 1_003, STEP_ELEMENTS - 1, STEP_ELEMENTS, 7 * STEP_ELEMENTS + 5] {
        // Whole numbers: their sums are exact in any order.
        let x: Vec<f32> = (0..n).map(|i| (i * 7 % 11) as f32 - 5.0).collect();
        let expected = total(&x);
        let input = gpu.upload(&[x, vec![f32::NAN]].concat()).expect("fits");
        for kernel in [&reduce_shared, &reduce_shuffle] {
            let sums = out(&gpu, blocks);
            gpu.launch_shaped(kernel, shape, (input.ptr(), sums.ptr(), n)).expect("accepted");
            same(kernel.name, &[total(&down(&sums))], &[expected]);
        }
        let total = gpu.zeros::<f32>(1).expect("fits");
        gpu.launch_shaped(&reduce_atomic, shape, (input.ptr(), total.ptr(), n)).expect("accepted");
        same("reduce_atomic", &down(&total), &[expected]);
    }
}

fn matrix_products_by_small_tiles_and_in_registers_equal_the_host_function() {
    use kernels::matmul::{TILE_16, matmul_tiled_16};
    use kernels::matmul_register::{BLOCK_THREADS, TILE, matmul_register};
    let gpu = machine();
    for n in [16, 48, 128, 256] {
        let (a, b) = (noise(n * n, 1), noise(n * n, 2));
        let (pa, pb) = (gpu.upload(&a).expect("fits"), gpu.upload(&b).expect("fits"));
        let element = |i: u32| {
            let at = |row: u32, column: u32| (row * n + column) as usize;
            maths::dot(|k| a[at(i / n, k)], |k| b[at(k, i % n)], n, 0.0)
        };
        let expected: Vec<f32> = (0..n * n).map(element).collect();
        let (c, tiles) = (out(&gpu, n * n), n / TILE_16);
        let shape = LaunchShape::new([tiles, tiles, 1], [TILE_16, TILE_16, 1]);
        gpu.launch_shaped(&matmul_tiled_16, shape, (pa.ptr(), pb.ptr(), c.ptr(), n)).expect("accepted");
        same("matmul_tiled_16", &down(&c), &expected);
        if n.is_multiple_of(TILE) {
            let (c, tiles) = (out(&gpu, n * n), n / TILE);
            let shape = LaunchShape::new([tiles, tiles, 1], [BLOCK_THREADS, 1, 1]);
            gpu.launch_shaped(&matmul_register, shape, (pa.ptr(), pb.ptr(), c.ptr(), n)).expect("accepted");
            same("matmul_register", &down(&c), &expected);
        }
    }
}

/// A row times a vector as a warp computes it: a sum a lane, four neighbouring columns at a time, then all lanes two by two.
fn row_times(row: &[f32], vector: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 32];
    for (k, (a, x)) in row.iter().zip(vector).enumerate() {
        let lane = k / 4 % 32;
        lanes[lane] = maths::multiply_add(*a, *x, lanes[lane]);
    }
    for distance in [16, 8, 4, 2, 1] {
        lanes = std::array::from_fn(|lane| lanes[lane] + lanes[lane ^ distance]);
    }
    lanes[0]
}

fn a_matrix_times_one_four_and_sixteen_vectors_adds_up_lane_by_lane() {
    use kernels::gemv::{gemm_4, gemm_16, gemv};
    let (gpu, rows, columns) = (machine(), 36, 384);
    let a = noise(rows * columns, 1);
    let matrix = gpu.upload(&a).expect("fits");
    for (kernel, batch) in [(&gemv, 1), (&gemm_4, 4), (&gemm_16, 16)] {
        let x = noise(batch * columns, 2);
        let (vectors, y) = (gpu.upload(&x).expect("fits"), out(&gpu, rows * batch));
        let args = (matrix.ptr(), vectors.ptr(), y.ptr(), rows, columns);
        gpu.launch_shaped(kernel, LaunchShape::linear(8 * rows, BLOCK), args).expect("accepted");
        let rows = a.chunks(columns as usize);
        let expected: Vec<f32> =
            rows.flat_map(|row| x.chunks(columns as usize).map(|vector| row_times(row, vector))).collect();
        same(kernel.name, &down(&y), &expected);
    }
}

fn four_forms_of_a_filter_equal_the_host_function() {
    use kernels::slices::{filter_indexed, filter_iterator, filter_raw, filter_unchecked};
    let gpu = machine();
    for (n, taps) in [(1, 1), (33, 5), (1_003, 33), (100, 0)] {
        let len = (n + taps - 1).max(1);
        let (x, weights) = (noise(len, 3), noise(taps.max(1), 4));
        let (px, pw) = (gpu.upload(&x).expect("fits"), gpu.upload(&weights).expect("fits"));
        let element = |i: u32| maths::dot(|k| x[(i + k) as usize], |k| weights[k as usize], taps, 0.0);
        let expected: Vec<f32> = (0..n).map(element).collect();
        for kernel in [&filter_indexed, &filter_iterator, &filter_unchecked, &filter_raw] {
            let y = out(&gpu, n);
            let args = (px.ptr(), pw.ptr(), y.ptr(), len, taps, n);
            gpu.launch_shaped(kernel, LaunchShape::linear(n, BLOCK), args).expect("accepted");
            same(kernel.name, &down(&y), &expected);
        }
    }
}

fn a_filter_whose_slice_is_too_short_traps_where_it_checks_and_only_there() {
    use kernels::slices::{filter_indexed, filter_iterator, filter_raw, filter_unchecked};
    let (n, taps) = (64, 3);
    let kernels = [(&filter_indexed, true), (&filter_iterator, true), (&filter_unchecked, false), (&filter_raw, false)];
    for (kernel, checks) in kernels {
        let gpu = machine();
        // The memory is there; it is the length that says too little.
        let (x, weights) = (gpu.zeros::<f32>(128).expect("fits"), gpu.zeros::<f32>(3).expect("fits"));
        let y = out(&gpu, n);
        let args = (x.ptr(), weights.ptr(), y.ptr(), n + taps - 2, taps, n);
        gpu.launch_shaped(kernel, LaunchShape::linear(n, BLOCK), args).expect("accepted");
        let said = gpu.synchronize().err().map(|error| error.to_string());
        assert_eq!(said.as_deref().is_some_and(|said| said.contains("trap")), checks, "{}: {said:?}", kernel.name);
        assert_eq!(said.is_some(), checks, "{}: {said:?}", kernel.name);
    }
}

fn a_table_in_local_memory_is_read_in_the_order_of_the_host_function() {
    use kernels::local::{TABLE, runtime_index};
    let (gpu, steps) = (machine(), 37);
    for n in [1, 33, 1_003] {
        let x = noise(TABLE as u32 * n, 5);
        let (input, y) = (gpu.upload(&x).expect("fits"), out(&gpu, n));
        gpu.launch_shaped(&runtime_index, LaunchShape::linear(n, BLOCK), (input.ptr(), y.ptr(), n, steps))
            .expect("accepted");
        let element = |i: u32| {
            let table: [f32; TABLE] = std::array::from_fn(|k| x[k * n as usize + i as usize]);
            maths::jumps(&table, i, steps)
        };
        same("runtime_index", &down(&y), &(0..n).map(element).collect::<Vec<_>>());
    }
}
