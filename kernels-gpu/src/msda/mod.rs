//! Multi-scale deformable attention, forward and backward, each the obvious way and in tiles.
//!
//! A query looks at a few points of each level of a pyramid of images; the network says where, as a share of the image's width and height,
//! and how much each point weighs. Between pixels a point is blended from its four neighbours; beyond the image there is nothing. The
//! result of a query and head is the weighted sum of its points, channel by channel.
//!
//! What is read is scattered by nature. What can be chosen is which threads share a point: with one for each ([`forward::msda_point()`]) a
//! warp asks for 32 places at a time and takes four bytes from each; with the channels of a point side by side
//! ([`forward::msda_tile()`]) it asks for few places and takes all that is there.
//!
//! Arrays, the last index fastest: `value[pixel][head][channel]`, the levels' pixels one level after the other, rows of each from the top;
//! `locations[query][head][level][point][x, y]`; `weights[query][head][level][point]`; `output[query][head][channel]`;
//! `levels[level][height, width, first pixel]`. Gradients have the shape of what they are the gradient of.

pub mod backward;
pub mod forward;
#[cfg(not(target_arch = "nvptx64"))]
pub mod reference;
mod sample;

pub use sample::{Axis, Level, Sample, sample};

/// Heads, and channels of each: those of Deformable DETR.
pub const HEADS: u32 = 8;
pub const CHANNELS: u32 = 32;
/// Levels of the pyramid, and points of a query and head on each.
pub const LEVELS: u32 = 4;
pub const POINTS: u32 = 4;
/// Points of a query and head.
pub const SAMPLES: u32 = LEVELS * POINTS;

/// Words of a level in `levels`.
pub const LEVEL_WORDS: u32 = 3;

/// A level's size and place.
///
/// # Safety
/// `levels` has an element for each word of all levels, and `level` is one of them.
#[inline(always)]
unsafe fn level_at(levels: *const u32, level: u32) -> Level {
    // SAFETY: the caller's promise.
    let word = |k: u32| unsafe { *levels.add((LEVEL_WORDS * level + k) as usize) };
    Level { height: word(0), width: word(1), first_pixel: word(2) }
}

/// Where the channels of a pixel and head begin in `value`.
#[inline(always)]
fn channels_at(pixel: u32, head: u32) -> usize {
    ((pixel * HEADS + head) * CHANNELS) as usize
}

/// What a function gives for 0 to 3. Written out: in a loop that the compiler leaves a loop, an array has to be in local memory.
#[inline(always)]
fn four<T>(of: impl Fn(usize) -> T) -> [T; 4] {
    [of(0), of(1), of(2), of(3)]
}
