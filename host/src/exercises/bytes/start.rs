use cuda_std::prelude::*;

/// `y = 2 x` for a matrix of `rows` times `columns` elements, row by row.
///
/// - `x`: `rows * columns` elements, read; `y`: as many, written.
/// - Launch: one-dimensional, at least `rows * columns` threads.
#[kernel]
pub unsafe fn double(x: *const f32, y: *mut f32, rows: u32, columns: u32) {
    let i = thread::index_1d();
    if i < rows * columns {
        // Thread i has row i % rows: neighbours are a row apart.
        let at = i % rows * columns + i / rows;
        // SAFETY: the element is one of the matrix.
        unsafe { *y.add(at as usize) = 2.0 * *x.add(at as usize) };
    }
}
