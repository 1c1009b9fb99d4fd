//! The forward pass.

use super::{CHANNELS, HEADS, POINTS, SAMPLES, channels_at, four, level_at, sample};
use crate::special;
#[allow(unused_imports)] // on the host, the inherent methods of f32 come first
use cuda_std::GpuFloat;
use cuda_std::prelude::*;

/// A thread a query, head and point: as many threads as there can be, each of which walks the channels and adds its part to the result,
/// which 16 threads share.
///
/// - `value`, `levels`, `locations`, `weights`: read, as the module says; `output`: zeros before the launch, added to; `queries`: any.
/// - Launch: one-dimensional, at least `queries * 128` threads.
#[kernel]
pub unsafe fn msda_point(
    value: *const f32,
    levels: *const u32,
    locations: *const f32,
    weights: *const f32,
    output: *mut f32,
    queries: u32,
) {
    let i = thread::index_1d();
    if i < queries * HEADS * SAMPLES {
        let (result, level) = (i / SAMPLES, i % SAMPLES / POINTS);
        // SAFETY: i is a point, and its pixels are those of the level.
        unsafe {
            let location = locations.add(2 * i as usize);
            let sample = sample(level_at(levels, level), [*location, *location.add(1)]);
            let weight = *weights.add(i as usize);
            let from = sample.pixels.map(|pixel| value.add(channels_at(pixel, result % HEADS)));
            let weights = sample.weights.map(|corner| corner * weight);
            let to = output.add((result * CHANNELS) as usize);
            // From an array in local memory: counted up, the compiler adds the place to five addresses and keeps all ten.
            for first in [0, 4, 8, 12, 16, 20, 24, 28] {
                add_four(from, weights, to, first);
            }
        }
    }
}

/// Adds four channels of a point, from `first` on. All are loaded before the first is added: no load passes an atomic.
///
/// # Safety
/// The four pixels and the result have these channels, and the launch touches the result atomically only.
#[inline(always)]
unsafe fn add_four(from: [*const f32; 4], weights: [f32; 4], to: *mut f32, first: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let sums = four(|channel| {
            let value = four(|corner| *from[corner].add(first + channel));
            let upper = value[1].mul_add(weights[1], value[0] * weights[0]);
            value[3].mul_add(weights[3], value[2].mul_add(weights[2], upper))
        });
        special::add_f32(to.add(first), sums[0]);
        special::add_f32(to.add(first + 1), sums[1]);
        special::add_f32(to.add(first + 2), sums[2]);
        special::add_f32(to.add(first + 3), sums[3]);
    }
}

/// Channels of a thread of [`msda_tile()`], one access of 16 bytes, and threads that share a query and head.
pub const TILE_CHANNELS: u32 = 4;
pub const TILE_THREADS: u32 = CHANNELS / TILE_CHANNELS;

/// Four neighbours, loaded and stored by one instruction of 16 bytes.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Four([f32; 4]);

/// Eight threads a query and head, four channels each: a warp reads four whole pixels of a head at a time, 128 bytes of each, and the sum
/// stays in registers until it is written once.
///
/// The 16 loads of a level's four points do not wait for each other, which takes registers, and so few warps fit on an SM. All eight
/// threads work out where the points lie: passing that on would take more instructions of the same pipe than it saves elsewhere.
///
/// - `value`, `levels`, `locations`, `weights`: read, as the module says, aligned to 16 bytes; `output`: written; `queries`: any.
/// - Launch: one-dimensional, at least `queries * 64` threads.
#[kernel]
pub unsafe fn msda_tile(
    value: *const f32,
    levels: *const u32,
    locations: *const f32,
    weights: *const f32,
    output: *mut f32,
    queries: u32,
) {
    let i = thread::index_1d();
    let result = i / TILE_THREADS;
    if result < queries * HEADS {
        let channel = (i % TILE_THREADS * TILE_CHANNELS) as usize;
        // SAFETY: the arrays are as the module says, and the result is one of them.
        let add = |sums, level| unsafe { add_level((value, levels, locations, weights), sums, level, result, channel) };
        // Written out, so that a level's places are worked out while the values of the one before are on their way.
        let sums = add(add(add(add([0.0; 4], 0), 1), 2), 3);
        // SAFETY: the channels of this thread.
        unsafe { *output.add((result * CHANNELS) as usize + channel).cast::<Four>() = Four(sums) };
    }
}

/// Adds the four points of a level to the sums of four channels of a query and head.
///
/// # Safety
/// Arrays as for [`msda_tile()`]; `level` below [`super::LEVELS`], `result` below eight times the queries, `channel` a multiple of 4 below
/// [`CHANNELS`].
#[inline(always)]
unsafe fn add_level(
    (value, levels, locations, weights): (*const f32, *const u32, *const f32, *const f32),
    sums: [f32; 4],
    level: u32,
    result: u32,
    channel: usize,
) -> [f32; 4] {
    let first = (result * SAMPLES + level * POINTS) as usize;
    // SAFETY: the four points of a query, head and level; their pixels are those of the level; rows of four are aligned.
    unsafe {
        let level = level_at(levels, level);
        let locations = locations.add(2 * first).cast::<Four>();
        let (Four(a), Four(b)) = (*locations, *locations.add(1));
        let Four(weights) = *weights.add(first).cast::<Four>();
        let points = [[a[0], a[1]], [a[2], a[3]], [b[0], b[1]], [b[2], b[3]]];
        let samples = four(|point| sample(level, points[point]));
        let read = |pixel| (*value.add(channels_at(pixel, result % HEADS) + channel).cast::<Four>()).0;
        let values = four(|point| four(|corner| read(samples[point].pixels[corner])));
        let blend = |sums: [f32; 4], point: usize| {
            let weights = four(|corner| samples[point].weights[corner] * weights[point]);
            let from = values[point];
            let add = |sums: [f32; 4], corner: usize| four(|k| from[corner][k].mul_add(weights[corner], sums[k]));
            add(add(add(add(sums, 0), 1), 2), 3)
        };
        blend(blend(blend(blend(sums, 0), 1), 2), 3)
    }
}
