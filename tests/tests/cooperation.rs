//! Kernels whose threads work together, by every front end: locks, sums of a warp, and the stencils, against the CPU.

use tests::{bits, machine, noise};
use warpwise::backend::LaunchShape;
use warpwise_kernels::its::{self, summand_of};
use warpwise_kernels::maths::{self, STENCIL_RADIUS};
use warpwise_kernels::stencil;

tests::on_every_front_end!(
    locks_count_every_thread,
    sums_of_a_warp_are_those_of_the_host,
    both_stencils_equal_the_host_function_at_every_size,
);

/// Of the locks the one by turns. In SASS the compiler may let lanes meet at the end of the other's loop, and then it never ends.
fn locks_count_every_thread() {
    let gpu = machine();
    let counter = gpu.zeros::<u32>(2).expect("fits");
    gpu.launch(&its::spin_lock_by_turns, 3, 64, (counter.ptr(),)).expect("accepted");
    assert_eq!(counter.download().unwrap_or_else(|error| panic!("{error}")), [0, 192]);
}

fn sums_of_a_warp_are_those_of_the_host() {
    let x: Vec<u32> = (0..96).map(|i| maths::mix_bits(i + 1, 3)).collect();
    let expected: Vec<u32> = x
        .chunks(32)
        .map(|warp| (0..).zip(warp).fold(0, |sum: u32, (i, x)| sum.wrapping_add(summand_of(i, *x))))
        .collect();
    for kernel in [&its::warp_sum_synced, &its::warp_sum_sync] {
        let gpu = machine();
        let (input, sums) = (gpu.upload(&x).expect("fits"), gpu.zeros::<u32>(3).expect("fits"));
        gpu.launch(kernel, 3, 32, (input.ptr(), sums.ptr())).expect("accepted");
        assert_eq!(sums.download().unwrap_or_else(|error| panic!("{}: {error}", kernel.name)), expected);
    }
}

fn both_stencils_equal_the_host_function_at_every_size() {
    for n in [1_u32, 2, 3, 4, 5, 7, 31, 127, 128, 129, 253, 256, 257, 1_003] {
        let x = noise(n, u64::from(n));
        let cell = |own: usize, at: u32| {
            let cell = (own + at as usize).checked_sub(STENCIL_RADIUS as usize);
            cell.and_then(|cell| x.get(cell)).copied().unwrap_or(0.0)
        };
        let expected: Vec<u32> =
            (0..x.len()).map(|own| bits(maths::stencil(|at| cell(own, at)))).chain([bits(f32::NAN)]).collect();
        for (kernel, cells) in [(&stencil::stencil_1d, 1), (&stencil::stencil4, stencil::STENCIL4_CELLS)] {
            let gpu = machine();
            let (input, output) =
                (gpu.upload(&x).expect("fits"), gpu.upload(&vec![f32::NAN; x.len() + 1]).expect("fits"));
            let shape = LaunchShape::linear(n.div_ceil(cells), stencil::BLOCK_THREADS);
            gpu.launch_shaped(kernel, shape, (input.ptr(), output.ptr(), n)).expect("accepted");
            let found = output.download().unwrap_or_else(|error| panic!("{} at {n}: {error}", kernel.name));
            let found: Vec<u32> = found.into_iter().map(bits).collect();
            assert_eq!(found, expected, "{} at {n}", kernel.name);
        }
    }
}
