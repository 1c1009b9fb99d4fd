//! A two-dimensional kernel: a thread a pixel, x the column and y the row.

use crate::maths;
use cuda_std::prelude::*;

/// Replaces each pixel of an image by the mean of the 3 × 3 pixels around it; beyond an edge, the edge repeats.
///
/// The block's shape is the launch's choice. It decides which pixels a warp holds, and so how many sectors its store
/// touches; the result is the same.
///
/// - `input`: `width * height` elements, row by row, read; `output`: as many, written.
/// - Launch: two-dimensional, at least `width` threads along x and `height` along y.
#[kernel]
pub unsafe fn blur(input: *const f32, output: *mut f32, width: u32, height: u32) {
    let pixel = thread::index_2d();
    if pixel.y < height && pixel.x < width {
        // SAFETY: `maths::blur` asks for pixels of the image only.
        let read = |column: u32, row: u32| unsafe { *input.add((row * width + column) as usize) };
        let mean = maths::blur(read, pixel.x, pixel.y, width, height);
        // SAFETY: the pixel is one of the image.
        unsafe { *output.add((pixel.y * width + pixel.x) as usize) = mean };
    }
}
