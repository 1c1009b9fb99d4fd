use core::arch::nvptx;

#[inline(always)]
pub fn index() -> u32 {
    unsafe { (nvptx::_block_idx_x() * nvptx::_block_dim_x() + nvptx::_thread_idx_x()) as u32 }
}

#[inline(always)]
pub fn square(x: f32) -> f32 {
    x * x
}

#[inline(always)]
pub fn norm(x: f32, y: f32) -> f32 {
    let xx = square(x);
    let yy = square(y);
    xx + yy
}
