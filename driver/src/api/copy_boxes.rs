//! Copies of two- and three-dimensional boxes between linear memories. CUDA arrays, which are for textures, are not there.

use crate::abi::{Copy2d, Copy3d, DevicePtr, Handle, Host, In, memory_type};
use crate::code::{Code, Done};
use crate::context;
use crate::driver::Driver;
use crate::guard::api;
use crate::notice;
use crate::stream::Target;
use crate::transfer::{Copy, Shape, Side};

/// One side as the structures describe it.
struct Described {
    kind: u32,
    host: Host,
    device: DevicePtr,
    /// Of the box's corner: bytes, rows, slices.
    corner: [usize; 3],
    pitch: usize,
    /// Rows in a slice.
    height: usize,
}

impl Described {
    /// The side with its range checked.
    ///
    /// # Errors
    /// `NOT_SUPPORTED` for arrays, `INVALID_VALUE` for a pitch below the width or memory that is not there.
    fn side(&self, driver: &Driver, shape: Shape) -> Done<Side> {
        // Without a pitch, rows follow each other.
        let pitch = if self.pitch == 0 { shape.width } else { self.pitch as u64 };
        let height = if self.height == 0 { shape.height } else { self.height as u64 };
        let rows_fit = shape.height <= 1 && shape.depth <= 1 || pitch >= shape.width;
        let slices_fit = shape.depth <= 1 || height >= shape.height;
        if !rows_fit || !slices_fit {
            return Err(Code::INVALID_VALUE);
        }
        let base = match self.kind {
            memory_type::HOST => self.host.address(),
            memory_type::DEVICE | memory_type::UNIFIED => self.device,
            3 => {
                notice::say_once("copies from and to CUDA arrays are not supported");
                return Err(Code::NOT_SUPPORTED);
            }
            _ => return Err(Code::INVALID_VALUE),
        };
        let slice = pitch.checked_mul(height).ok_or(Code::INVALID_VALUE)?;
        let start = self.start(base, pitch, slice).ok_or(Code::INVALID_VALUE)?;
        let extent = Side::extent(pitch, slice, shape).ok_or(Code::INVALID_VALUE)?;
        let place = match self.kind {
            memory_type::DEVICE => driver.regions.device(start, extent)?,
            _ => driver.regions.any(start, extent)?,
        };
        Ok(Side { place, pitch, slice })
    }

    fn start(&self, base: u64, pitch: u64, slice: u64) -> Option<u64> {
        let [x, y, z] = self.corner.map(|index| index as u64);
        slice.checked_mul(z)?.checked_add(pitch.checked_mul(y)?)?.checked_add(x)?.checked_add(base)
    }
}

fn copy_2d(driver: &Driver, given: In<Copy2d>) -> Done<Copy> {
    let c = given.get()?;
    let shape = Shape { width: c.width as u64, height: c.height as u64, depth: 1 };
    let described =
        |kind, host, device, x, y, pitch| Described { kind, host, device, corner: [x, y, 0], pitch, height: 0 };
    let to = described(c.dst_type, c.dst_host, c.dst_device, c.dst_x, c.dst_y, c.dst_pitch);
    let from = described(c.src_type, c.src_host, c.src_device, c.src_x, c.src_y, c.src_pitch);
    Ok(Copy { to: to.side(driver, shape)?, from: from.side(driver, shape)?, shape })
}

fn copy_3d(driver: &Driver, given: In<Copy3d>) -> Done<Copy> {
    let c = given.get()?;
    let shape = Shape { width: c.width as u64, height: c.height as u64, depth: c.depth as u64 };
    let to = Described {
        kind: c.dst_type,
        host: c.dst_host,
        device: c.dst_device,
        corner: [c.dst_x, c.dst_y, c.dst_z],
        pitch: c.dst_pitch,
        height: c.dst_height,
    };
    let from = Described {
        kind: c.src_type,
        host: c.src_host,
        device: c.src_device,
        corner: [c.src_x, c.src_y, c.src_z],
        pitch: c.src_pitch,
        height: c.src_height,
    };
    Ok(Copy { to: to.side(driver, shape)?, from: from.side(driver, shape)?, shape })
}

fn now(copy: impl FnOnce(&Driver) -> Done<Copy>) -> Done {
    let driver = Driver::get()?;
    context::current()?;
    copy(driver)?.now(driver)
}

fn on(stream: Handle, copy: impl FnOnce(&Driver) -> Done<Copy>) -> Done {
    let driver = Driver::get()?;
    let target = Target::of(driver, stream)?;
    copy(driver)?.on(driver, &target)
}

api! {
    fn cuMemcpy2D_v2(copy: In<Copy2d>) {
        now(|driver| copy_2d(driver, copy))
    }

    fn cuMemcpy2DUnaligned_v2(copy: In<Copy2d>) {
        now(|driver| copy_2d(driver, copy))
    }

    fn cuMemcpy2DAsync_v2(copy: In<Copy2d>, stream: Handle) {
        on(stream, |driver| copy_2d(driver, copy))
    }

    fn cuMemcpy3D_v2(copy: In<Copy3d>) {
        now(|driver| copy_3d(driver, copy))
    }

    fn cuMemcpy3DAsync_v2(copy: In<Copy3d>, stream: Handle) {
        on(stream, |driver| copy_3d(driver, copy))
    }

    fn cuMemcpy3DPeer(copy: In<Copy3d>) {
        now(|driver| copy_3d(driver, copy))
    }

    fn cuMemcpy3DPeerAsync(copy: In<Copy3d>, stream: Handle) {
        on(stream, |driver| copy_3d(driver, copy))
    }
}
