use cuda_std::prelude::*;
use cuda_std::warp;

/// Sums of rows of different lengths.
///
/// - `starts`: `rows + 1` indices into `values`: row r is from `starts[r]` to before `starts[r + 1]`; read.
/// - `values`: the rows, one behind the other; read. `sums`: `rows` elements, written.
/// - Launch: one-dimensional, at least `32 * rows` threads, the block's size a multiple of 32.
#[kernel]
pub unsafe fn row_sums(starts: *const u32, values: *const u32, sums: *mut u32, rows: u32) {
    let (row, lane) = (thread::index_1d() / 32, thread::index_1d() % 32);
    // The same for all lanes of a warp, so that all of them come to the shuffles.
    if row < rows {
        // SAFETY: there are rows + 1 starts.
        let (start, end) = unsafe { (*starts.add(row as usize), *starts.add(row as usize + 1)) };
        let mut sum = 0;
        let mut at = start + lane;
        while at < end {
            // SAFETY: the row lies within the values.
            sum += unsafe { *values.add(at as usize) };
            at += 32;
        }
        for distance in [16, 8, 4, 2, 1] {
            // SAFETY: all lanes are here.
            sum += unsafe { warp::warp_shuffle_xor(u32::MAX, sum, distance, 32) }.0;
        }
        if lane == 0 {
            // SAFETY: row < rows.
            unsafe { *sums.add(row as usize) = sum };
        }
    }
}
