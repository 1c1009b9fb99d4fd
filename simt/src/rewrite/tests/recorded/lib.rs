#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]
use core::arch::nvptx;
mod helper;
use helper::{index, norm};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { nvptx::trap() }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn vecadd(a: *const f32, b: *const f32, c: *mut f32, n: u32) {
    let i = index();
    if i < n {
        let i = i as usize;
        unsafe {
            let x = a.add(i).read();
            let y = b.add(i).read();
            c.add(i).write(x + y);
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn norms(xs: *const f32, ys: *mut f32, n: u32) {
    let i = index() as usize;
    let xs = unsafe { core::slice::from_raw_parts(xs, n as usize) };
    let ys = unsafe { core::slice::from_raw_parts_mut(ys, n as usize) };
    for (x, y) in xs.iter().zip(ys.iter_mut()) {
        *y = norm(*x, *y);
    }
    ys[i] = norm(xs[i], 3.0);
}

#[inline(never)]
fn far(x: f32) -> f32 {
    norm(x, 1.0) / x
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn calls(x: *mut f32) {
    unsafe {
        let v = far(*x);
        nvptx::_syncthreads();
        *x = far(v) + far(v * 2.0);
    }
}
