use cuda_std::prelude::*;

/// Chains of each thread.
const CHAINS: usize = 4;

/// Four walks through a table of successors a thread, `steps` steps each; writes the sum of where they end.
///
/// - `next`: the table, each entry an index into it, read. `out`: an element a thread, written.
/// - `stride`: how far apart the chains of a thread begin; `steps`: length of a chain.
/// - Launch: one-dimensional; entry `i + 3 * stride` is in the table for every thread i.
#[kernel]
pub unsafe fn four_chains(next: *const u32, out: *mut u32, stride: u32, steps: u32) {
    let i = thread::index_1d();
    let mut at: [u32; CHAINS] = core::array::from_fn(|k| i + k as u32 * stride);
    for _ in 0..steps {
        for chain in &mut at {
            // SAFETY: every entry is an index into the table.
            *chain = unsafe { *next.add(*chain as usize) };
        }
    }
    // SAFETY: there is an element for each thread.
    unsafe { *out.add(i as usize) = at.iter().fold(0, |sum, at| sum + at) };
}
