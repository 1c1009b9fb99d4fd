use cuda_std::prelude::*;

/// The negative of a square image: `output = 1 - input`, a thread a pixel.
///
/// - `input`, `output`: `size * size` pixels, row after row; read, written.
/// - Launch: two-dimensional blocks and grid that cover `size` along x and along y.
#[kernel]
pub unsafe fn negative(input: *const f32, output: *mut f32, size: u32) {
    let column = thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x();
    let row = thread::block_idx_y() * thread::block_dim_y() + thread::thread_idx_y();
    if row < size && column < size {
        let pixel = (row * size + column) as usize;
        // SAFETY: row and column are below size.
        unsafe { *output.add(pixel) = 1.0 - *input.add(pixel) };
    }
}
