use cuda_std::prelude::*;

/// Multiplies each pixel of an image by a factor.
///
/// - `image`: `width * height` pixels, row by row, read; `result`: as many, written; `factor`.
/// - Launch: one-dimensional, at least `width * height` threads.
#[kernel]
pub unsafe fn brighten(image: *const f32, result: *mut f32, width: u32, height: u32, factor: f32) {
    let i = thread::index_1d();
    if i < width * height {
        let (column, row) = (i % width, i / width);
        let pixel = (row * width + column) as usize;
        // SAFETY: row < height and column < width.
        unsafe { *result.add(pixel) = *image.add(pixel) * factor };
    }
}
