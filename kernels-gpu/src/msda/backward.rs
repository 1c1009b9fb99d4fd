//! The backward pass: from the gradient of the result to those of values, locations and weights.
//!
//! Many points read the same pixel, so its gradient is a sum over threads that do not know of each other: atomic additions. A point's
//! location and weight belong to one thread or warp and are written once. With `d` the product of the result's gradient with a corner's
//! values, summed over the channels, the weight's gradient is the blend of the four `d`, and the location's that of their differences.

// Kernels take as many pointers as they have arrays.
#![allow(clippy::too_many_arguments)]

use super::{Axis, CHANNELS, HEADS, LEVELS, POINTS, SAMPLES, Sample, channels_at, four, level_at, sample};
use crate::special;
#[allow(unused_imports)] // on the host, the inherent methods of f32 come first
use cuda_std::GpuFloat;
use cuda_std::prelude::*;
use cuda_std::warp;

/// Weight and slope of one of the two columns, or rows, of a point.
#[inline(always)]
fn side(axis: &Axis, second: bool) -> [f32; 2] {
    match second {
        false => [axis.weights[0], axis.slopes[0]],
        true => [axis.weights[1], axis.slopes[1]],
    }
}

/// What a corner adds to the gradients of a point's weight and of its two coordinates, the latter for a weight of 1: `d` times what the
/// corner counts, and how fast that changes.
#[inline(always)]
fn of_corner(sample: &Sample, [lower, right]: [bool; 2], d: f32) -> [f32; 3] {
    let ([y, slope_y], [x, slope_x]) = (side(&sample.y, lower), side(&sample.x, right));
    [d * (y * x), d * (y * slope_x), d * (slope_y * x)]
}

/// A thread a query, head and point, as in [`super::forward::msda_point()`].
///
/// - `value`, `levels`, `locations`, `weights`: read, as the module says; `gradient`: that of the output, read.
/// - `value_gradient`: zeros before the launch, added to; `location_gradient`, `weight_gradient`: written; `queries`: any.
/// - Launch: one-dimensional, at least `queries * 128` threads.
#[kernel]
pub unsafe fn msda_point_backward(
    value: *const f32,
    levels: *const u32,
    locations: *const f32,
    weights: *const f32,
    gradient: *const f32,
    value_gradient: *mut f32,
    location_gradient: *mut f32,
    weight_gradient: *mut f32,
    queries: u32,
) {
    let i = thread::index_1d();
    if i < queries * HEADS * SAMPLES {
        let (result, level) = (i / SAMPLES, i % SAMPLES / POINTS);
        // SAFETY: i is a point, and its pixels are those of the level; values' gradients are touched atomically only.
        unsafe {
            let location = locations.add(2 * i as usize);
            let sample = sample(level_at(levels, level), [*location, *location.add(1)]);
            let weight = *weights.add(i as usize);
            let at = sample.pixels.map(|pixel| channels_at(pixel, result % HEADS));
            let weights = sample.weights.map(|corner| corner * weight);
            let from = gradient.add((result * CHANNELS) as usize);
            let mut products = [0.0_f32; 4];
            for channel in 0..CHANNELS as usize {
                let gradient = *from.add(channel);
                products = four(|corner| {
                    if weights[corner] != 0.0 {
                        special::add_f32(value_gradient.add(at[corner] + channel), weights[corner] * gradient);
                    }
                    (*value.add(at[corner] + channel)).mul_add(gradient, products[corner])
                });
            }
            let parts = four(|corner| of_corner(&sample, [corner / 2 == 1, corner % 2 == 1], products[corner]));
            let sum = |k: usize| parts[0][k] + parts[1][k] + parts[2][k] + parts[3][k];
            let sums = [sum(0), sum(1), sum(2)];
            *weight_gradient.add(i as usize) = sums[0];
            *location_gradient.add(2 * i as usize) = sums[1] * weight;
            *location_gradient.add(2 * i as usize + 1) = sums[2] * weight;
        }
    }
}

/// One step of a sum over lanes for many values at once: lanes whose number has `distance` keep the upper half of the values and give the
/// lower half away, the others the other way round. So the sums of 16 values over 16 lanes take 15 shuffles and not 64, and each lane ends
/// with one of them.
///
/// # Safety
/// All lanes of the warp come here; `HALF` is half of `ALL`.
#[inline(always)]
unsafe fn halve<const ALL: usize, const HALF: usize>(values: [f32; ALL], distance: u32) -> [f32; HALF] {
    let keeps_upper = warp::lane_id() & distance != 0;
    let mut kept = [0.0; HALF];
    for k in 0..HALF {
        let (lower, upper) = (values[k], values[HALF + k]);
        let (mine, theirs) = if keeps_upper { (upper, lower) } else { (lower, upper) };
        // SAFETY: the caller's promise.
        kept[k] = mine + unsafe { warp::warp_shuffle_xor(u32::MAX, theirs, distance, 32) }.0;
    }
    kept
}

/// The sum of a value over this lane and that at `distance`.
///
/// # Safety
/// All lanes of the warp come here.
#[inline(always)]
unsafe fn with_neighbour(value: f32, distance: u32) -> f32 {
    // SAFETY: the caller's promise.
    value + unsafe { warp::warp_shuffle_xor(u32::MAX, value, distance, 32) }.0
}

/// A warp a query and head, a lane a channel. Not four channels a lane, as forward: the additions to one pixel would then be four
/// instructions of four bytes in 16 each, and L2 takes them by sectors of 32 bytes.
///
/// - Parameters as for [`msda_point_backward()`], aligned to 16 bytes.
/// - Launch: one-dimensional, blocks of whole warps, at least `queries * 256` threads.
#[kernel]
pub unsafe fn msda_tile_backward(
    value: *const f32,
    levels: *const u32,
    locations: *const f32,
    weights: *const f32,
    gradient: *const f32,
    value_gradient: *mut f32,
    location_gradient: *mut f32,
    weight_gradient: *mut f32,
    queries: u32,
) {
    let (result, lane) = (thread::index_1d() / CHANNELS, warp::lane_id());
    if result < queries * HEADS {
        // SAFETY: a channel of a query and head.
        let gradient = unsafe { *gradient.add((result * CHANNELS + lane) as usize) };
        for level in 0..LEVELS {
            let first = (result * SAMPLES + level * POINTS) as usize;
            // SAFETY: the four points of a query, head and level; their pixels are those of the level; values' gradients are touched
            // atomically only; whole warps come here.
            unsafe {
                let level = level_at(levels, level);
                let location = |point: usize| {
                    let location = locations.add(2 * (first + point));
                    [*location, *location.add(1)]
                };
                let samples = four(|point| sample(level, location(point)));
                let at = four(|point| {
                    four(|corner| channels_at(samples[point].pixels[corner], result % HEADS) + lane as usize)
                });
                let values = four(|point| four(|corner| *value.add(at[point][corner])));
                let products = four(|point| {
                    let scaled = *weights.add(first + point) * gradient;
                    four(|corner| {
                        let weight = samples[point].weights[corner];
                        if weight != 0.0 {
                            special::add_f32(value_gradient.add(at[point][corner]), weight * scaled);
                        }
                        values[point][corner] * gradient
                    })
                });
                let [a, b, c, d] = products;
                let products =
                    [a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3], c[0], c[1], c[2], c[3], d[0], d[1], d[2], d[3]];
                // Lanes 8p to 8p + 7 end with point p, of these two neighbours with each corner.
                let [product] = halve::<2, 1>(halve::<4, 2>(halve::<8, 4>(halve::<16, 8>(products, 16), 8), 4), 2);
                let product = with_neighbour(product, 1);
                let point = (lane / 8) as usize;
                let mine = sample(level, location(point));
                let part = of_corner(&mine, [lane & 4 != 0, lane & 2 != 0], product);
                let sums = part.map(|part| with_neighbour(with_neighbour(part, 2), 4));
                if lane % 8 == 0 {
                    let at = first + point;
                    let weight = *weights.add(at);
                    *weight_gradient.add(at) = sums[0];
                    *location_gradient.add(2 * at) = sums[1] * weight;
                    *location_gradient.add(2 * at + 1) = sums[2] * weight;
                }
            }
        }
    }
}
