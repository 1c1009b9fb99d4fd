//! Moving bytes: one row or many, between any two places, now or in a stream.

use warpwise_simt::machine::Machine;

use crate::code::{Code, Done};
use crate::context;
use crate::driver::Driver;
use crate::fault;
use crate::regions::{Kind, Place};
use crate::stream::Target;
use crate::timeline::{Transfer, transfer_us};

/// Up to so many bytes, a copy from pageable memory is staged and the call returns before it is done; a larger one is waited
/// for. (CUDA documents 64 KB for the synchronous form, and "may be synchronous" for the other.)
const STAGED_BYTES_MAX: u64 = 64 << 10;

/// A box of bytes, rows of `width` with gaps between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub width: u64,
    pub height: u64,
    pub depth: u64,
}

impl Shape {
    pub const fn row(bytes: u64) -> Self {
        Self { width: bytes, height: 1, depth: 1 }
    }

    fn bytes(self) -> u64 {
        self.width.saturating_mul(self.height).saturating_mul(self.depth)
    }
}

/// One side of a copy: the first byte, and the distances of rows and slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    pub place: Place,
    pub pitch: u64,
    pub slice: u64,
}

impl Side {
    pub const fn row(place: Place) -> Self {
        Self { place, pitch: 0, slice: 0 }
    }

    /// From the first byte of the shape to past its last, or `None` where no memory is as large.
    pub fn extent(pitch: u64, slice: u64, shape: Shape) -> Option<u64> {
        if shape.bytes() == 0 {
            return Some(0);
        }
        let rows = pitch.checked_mul(shape.height - 1)?;
        slice.checked_mul(shape.depth - 1)?.checked_add(rows)?.checked_add(shape.width)
    }

    fn at(&self, row: u64, slice: u64) -> Place {
        let offset = row * self.pitch + slice * self.slice;
        match self.place {
            Place::Device(address) => Place::Device(address + offset),
            Place::Host(address) => Place::Host(address + offset),
        }
    }
}

/// A copy whose two sides were checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    pub to: Side,
    pub from: Side,
    pub shape: Shape,
}

impl Copy {
    pub const fn row(to: Place, from: Place, bytes: u64) -> Self {
        Self { to: Side::row(to), from: Side::row(from), shape: Shape::row(bytes) }
    }

    /// Copies and waits, after all work of the thread's context.
    ///
    /// # Errors
    /// The context's own.
    pub fn now(self, driver: &Driver) -> Done {
        let context = context::current()?;
        context.synchronize(&driver.engine)?;
        self.perform(&mut driver.engine.machine())?;
        let us = self.us(driver);
        context.timeline().advance(crate::timeline::Lane::Legacy, us);
        Ok(())
    }

    /// Copies in a stream. Only copies from and to pageable memory wait, as CUDA's may.
    ///
    /// # Errors
    /// The context's own.
    pub fn on(self, driver: &Driver, target: &Target) -> Done {
        let staged = match self.from.place {
            Place::Host(address) if self.shape.bytes() <= STAGED_BYTES_MAX => Some(self.stage(address)),
            _ => None,
        };
        let waits =
            matches!(self.to.place, Place::Host(_)) || matches!(self.from.place, Place::Host(_)) && staged.is_none();
        let (context, lane, us) = (target.context.clone(), target.lane, self.us(driver));
        target.enqueue(&driver.engine, move |engine| {
            let mut copy = self;
            if let Some(bytes) = &staged {
                copy.from = Side {
                    place: Place::Host(bytes.as_ptr().expose_provenance() as u64),
                    pitch: self.shape.width,
                    slice: self.shape.width * self.shape.height,
                };
            }
            copy.perform(&mut engine.machine())?;
            context.timeline().advance(lane, us);
            Ok(())
        });
        if waits { target.synchronize(&driver.engine) } else { Ok(()) }
    }

    /// The bytes of a host side, close together.
    fn stage(&self, address: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.shape.bytes() as usize);
        for slice in 0..self.shape.depth {
            for row in 0..self.shape.height {
                let start = address + row * self.from.pitch + slice * self.from.slice;
                // SAFETY: the caller of the driver vouches for the memory that it names as the source.
                bytes.extend_from_slice(unsafe { host_bytes(start, self.shape.width) });
            }
        }
        bytes
    }

    fn perform(&self, machine: &mut Machine) -> Done {
        for slice in 0..self.shape.depth {
            for row in 0..self.shape.height {
                copy_row(machine, self.to.at(row, slice), self.from.at(row, slice), self.shape.width)?;
            }
        }
        Ok(())
    }

    fn us(&self, driver: &Driver) -> f64 {
        let on_host = |place| match place {
            Place::Host(_) => true,
            Place::Device(address) => {
                let kind = driver.regions.find(address).map(|region| region.kind);
                matches!(kind, Some(Kind::Pinned | Kind::Registered))
            }
        };
        let transfer = match (on_host(self.to.place), on_host(self.from.place)) {
            (true, true) => Transfer::Host,
            (false, false) => Transfer::Device,
            _ => Transfer::Link,
        };
        transfer_us(driver.settings.device, transfer, self.shape.bytes())
    }
}

fn copy_row(machine: &mut Machine, to: Place, from: Place, bytes: u64) -> Done {
    if bytes == 0 {
        return Ok(());
    }
    let copied = match (to, from) {
        (Place::Device(to), Place::Device(from)) => machine.copy(to, from, bytes),
        // SAFETY: the caller of the driver vouches for the memory that it names, until the copy is done.
        (Place::Device(to), Place::Host(from)) => machine.write(to, unsafe { host_bytes(from, bytes) }),
        // SAFETY: as above; nobody else uses the destination of a copy that is not done.
        (Place::Host(to), Place::Device(from)) => machine.read(from, unsafe { host_bytes_mut(to, bytes) }),
        (Place::Host(to), Place::Host(from)) => {
            let (to, from) = (std::ptr::with_exposed_provenance_mut::<u8>(to as usize), from as usize);
            // SAFETY: as above; the two may overlap.
            unsafe { std::ptr::copy(std::ptr::with_exposed_provenance(from), to, bytes as usize) };
            Ok(())
        }
    };
    copied.map_err(|error| fault::of_memory(&error))
}

/// # Safety
/// The memory must be readable, and not be written to while the slice lives.
unsafe fn host_bytes<'a>(address: u64, bytes: u64) -> &'a [u8] {
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address as usize), bytes as usize) }
}

/// # Safety
/// The memory must be writable, and used by nobody else while the slice lives.
unsafe fn host_bytes_mut<'a>(address: u64, bytes: u64) -> &'a mut [u8] {
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts_mut(std::ptr::with_exposed_provenance_mut(address as usize), bytes as usize) }
}

/// What memory is filled with: one element, 1, 2 or 4 bytes wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub value: u32,
    pub bytes: u64,
}

/// A pattern that is not one byte over and over is written in pieces of this size.
const PIECE_BYTES: usize = 64 << 10;

impl Pattern {
    /// Fills rows of `shape.width` bytes in a stream.
    ///
    /// # Errors
    /// `INVALID_VALUE` where the destination is not aligned to the element or not device memory.
    pub fn fill_on(self, driver: &Driver, target: &Target, address: u64, pitch: u64, shape: Shape) -> Done {
        let aligned = address.is_multiple_of(self.bytes) && (shape.height <= 1 || pitch.is_multiple_of(self.bytes));
        let extent = Side::extent(pitch, 0, shape).filter(|_| aligned).ok_or(Code::INVALID_VALUE)?;
        let to = Side { place: driver.regions.device(address, extent)?, pitch, slice: 0 };
        if shape.bytes() == 0 {
            return Ok(());
        }
        let (context, lane) = (target.context.clone(), target.lane);
        let us = transfer_us(driver.settings.device, Transfer::Fill, shape.bytes());
        target.enqueue(&driver.engine, move |engine| {
            let mut machine = engine.machine();
            for row in 0..shape.height {
                if let Place::Device(start) = to.at(row, 0) {
                    self.fill_row(&mut machine, start, shape.width)?;
                }
            }
            context.timeline().advance(lane, us);
            Ok(())
        });
        Ok(())
    }

    fn fill_row(self, machine: &mut Machine, address: u64, bytes: u64) -> Done {
        let element = &self.value.to_le_bytes()[..self.bytes as usize];
        let memory = |error| fault::of_memory(&error);
        if element.iter().all(|byte| *byte == element[0]) {
            return machine.fill(address, bytes, element[0]).map_err(memory);
        }
        let piece = element.repeat(PIECE_BYTES.min(bytes as usize).div_ceil(element.len()));
        for start in (0..bytes).step_by(piece.len()) {
            let length = (bytes - start).min(piece.len() as u64) as usize;
            machine.write(address + start, &piece[..length]).map_err(memory)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extent_ends_with_the_last_row_and_not_with_its_pitch() {
        assert_eq!(Side::extent(0, 0, Shape::row(7)), Some(7));
        assert_eq!(Side::extent(512, 0, Shape { width: 100, height: 3, depth: 1 }), Some(1124));
        assert_eq!(Side::extent(10, 100, Shape { width: 10, height: 2, depth: 3 }), Some(220));
        assert_eq!(Side::extent(512, 0, Shape { width: 100, height: 0, depth: 1 }), Some(0));
        assert_eq!(Side::extent(u64::MAX, 0, Shape { width: 1, height: 3, depth: 1 }), None);
    }

    #[test]
    fn a_pattern_is_laid_end_to_end_over_pieces() {
        let mut machine = Machine::new(warpwise_simt::device::Device::default_device());
        let bytes = PIECE_BYTES as u64 * 2 + 6;
        let address = machine.alloc(bytes).unwrap();
        Pattern { value: 0xbeef, bytes: 2 }.fill_row(&mut machine, address, bytes).unwrap();
        let mut out = vec![0; bytes as usize];
        machine.read(address, &mut out).unwrap();
        assert!(out.chunks(2).all(|element| element == [0xef, 0xbe]));
    }
}
