//! The shared maths against what it is meant to compute, written another way.

use warpwise_kernels::maths;

#[test]
fn both_paths_walk_the_same_map_and_round_differently() {
    for x in [0.0, 0.5, 2.0, -3.0, 1e6] {
        let (a, b) = (maths::path_a(x, 1), maths::path_b(x, 1));
        let exact = f64::from(x) * f64::from(0.999_f32) + f64::from(0.001_f32);
        assert_eq!(a, exact as f32, "{x}: fused is rounded once");
        assert!((f64::from(b) - exact).abs() <= 2.0 * f64::from(f32::EPSILON) * exact.abs().max(1.0), "{x}");
    }
    assert!((0..1000).any(|k| maths::path_a(k as f32, 1) != maths::path_b(k as f32, 1)), "never a different rounding");
    assert_eq!(maths::path_a(7.0, 0), 7.0);
}

#[test]
fn both_paths_tend_to_the_fixed_point_from_either_side() {
    for x in [-5.0, 0.0, 5.0] {
        for end in [maths::path_a(x, 40_000), maths::path_b(x, 40_000)] {
            assert!((end - maths::FIXED_POINT).abs() < 1e-3, "{x} to {end}");
        }
    }
    assert!(maths::path_a(f32::NAN, 3).is_nan());
    assert_eq!(maths::path_b(f32::INFINITY, 3), f32::INFINITY);
}

#[test]
fn several_chains_are_each_the_one_chain() {
    let starts = [0.25, -8.0, 3.5, 0.0];
    assert_eq!(maths::path_a_each(starts, 37), starts.map(|x| maths::path_a(x, 37)));
}

#[test]
fn leaky_relu_keeps_what_is_positive_and_scales_the_rest_signed_zero_and_nan_included() {
    assert_eq!(maths::leaky_relu(3.0), 3.0);
    assert_eq!(maths::leaky_relu(-3.0), 0.1_f32 * -3.0);
    assert_eq!(maths::leaky_relu(-0.0).to_bits(), (-0.0_f32).to_bits());
    assert_eq!(maths::leaky_relu(f32::NEG_INFINITY), f32::NEG_INFINITY);
    assert!(maths::leaky_relu(f32::NAN).is_nan());
    assert_eq!(maths::leaky_relu_long(2.0), 2.0);
    assert_eq!(maths::leaky_relu_long(-2.0), maths::path_a(0.1 * -2.0, 32));
}

#[test]
fn blur_is_the_mean_of_nine_with_edges_repeated() {
    let (width, height) = (3, 2);
    let image = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0_f32];
    let read = |column: u32, row: u32| image[(row * width + column) as usize];
    let blurred = |column, row| maths::blur(read, column, row, width, height);
    // The corner repeats itself four times over, its neighbours twice.
    assert_eq!(blurred(0, 0), (4.0 * 1.0 + 2.0 * 2.0 + 2.0 * 8.0 + 16.0) * (1.0 / 9.0_f32));
    assert_eq!(blurred(1, 1), (1.0 + 2.0 + 4.0 + 2.0 * (8.0 + 16.0 + 32.0)) * (1.0 / 9.0_f32));
    assert_eq!(blurred(2, 1), (2.0 + 4.0 * 1.0 + 4.0 + 2.0 * 16.0 + 4.0 * 32.0) * (1.0 / 9.0_f32));
}

#[test]
fn blur_reads_pixels_of_the_image_only_even_one_pixel_wide() {
    for (width, height) in [(1, 1), (1, 5), (5, 1), (2, 2)] {
        for row in 0..height {
            for column in 0..width {
                let read = |c: u32, r: u32| {
                    assert!(c < width && r < height, "({c}, {r}) of {width} × {height}");
                    2.0
                };
                assert_eq!(maths::blur(read, column, row, width, height), 2.0);
            }
        }
    }
}

#[test]
fn outer_products_add_up_to_the_product_of_the_sums() {
    let (column, row) = ([1.0, 2.0, 3.0], [10.0, 20.0]);
    assert_eq!(maths::outer_products(column, row, 0), 0.0);
    assert_eq!(maths::outer_products(column, row, 1), 6.0 * 30.0);
    let two = maths::outer_products(column, row, 2);
    assert!((two - 180.0 * (1.0 + 0.999)).abs() < 1e-3, "the column shrinks by a thousandth: {two}");
}

#[test]
fn mix_takes_path_a_for_even_and_path_b_for_odd_elements() {
    assert_eq!(maths::mix(2690, 0.25, 0.5), maths::path_a(0.75, 16));
    assert_eq!(maths::mix(2691, 0.25, 0.5), maths::path_b(0.75, 16));
}

#[test]
fn successors_follow_each_other_and_wrap() {
    assert_eq!(maths::successor(0, 1), 1_013_904_223);
    assert_eq!(maths::successor(0, 2), 1_013_904_223_u32.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    assert_eq!(maths::successor(u32::MAX, 5), maths::successor(maths::successor(u32::MAX, 2), 3));
    assert_eq!(maths::successor(9, 0), 9);
}

#[test]
fn a_permutation_has_every_number_once_and_leaves_few_where_they_are() {
    for bits in [0, 1, 2, 5, 10, 17] {
        let n = 1_u32 << bits;
        let mut found: Vec<u32> = (0..n).map(|i| maths::permuted(i, bits)).collect();
        let fixed = found.iter().zip(0..).filter(|(at, i)| *at == i).count();
        found.sort_unstable();
        assert!(found.into_iter().eq(0..n), "{bits} bits");
        assert!(bits < 5 || fixed < 8, "{bits} bits: {fixed} stay");
    }
}

#[test]
fn a_sum_of_bfloat16_is_the_exact_one_rounded_to_nearest_even() {
    let number = |bits: u32| f64::from(f32::from_bits(bits << 16));
    let numbers = [0x0000, 0x3f80, 0x3f81, 0xbf80, 0x4300, 0x4301, 0x3c00, 0x7f00, 0xc2fe, 0x0080, 0x8001];
    for a in numbers {
        for b in numbers {
            let sum = maths::add_bf16x2(a | b << 16, b | a << 16);
            assert_eq!(sum & 0xffff, sum >> 16, "{a:#x} + {b:#x}");
            let (found, exact) = (number(sum & 0xffff), number(a) + number(b));
            // Both neighbours of what was found are at least as far away, and an even one wins where they are as far.
            let off = (found - exact).abs();
            if found.is_infinite() {
                // Half a step above the greatest number: what rounds to infinity.
                assert!(exact.abs() >= 2_f64.powi(128) - 2_f64.powi(119), "{a:#x} + {b:#x}");
                continue;
            }
            for neighbour in [(sum & 0xffff).wrapping_sub(1), (sum & 0xffff) + 1] {
                let other = (number(neighbour & 0xffff) - exact).abs();
                assert!(off < other || (off == other && sum & 1 == 0) || other.is_nan(), "{a:#x} + {b:#x}: {sum:#x}");
            }
        }
    }
}
