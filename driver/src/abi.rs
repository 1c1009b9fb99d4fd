//! What C hands over: pointers with types that say what the caller promises, handles, and the structures of `cuda.h`.
//!
//! A function of this crate that takes `Out<T>` takes a `T *`. Such a value comes from C only, whose documented duty is that the
//! pointer is null or points to what the API says; so reading and writing through it is safe for the rest of the crate, and
//! null is an error code.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use crate::code::{Code, Done};

/// Null, or a place for one `T` (or an array of them, where the function says so).
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    /// # Errors
    /// `INVALID_VALUE` for null.
    pub fn put(self, value: T) -> Done {
        self.required()?;
        self.put_if_wanted(value);
        Ok(())
    }

    /// Null means that the caller does not want to know.
    pub fn put_if_wanted(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: the caller vouches for a place for a `T`; C may have aligned it less than Rust would.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// For functions that must not act before they know that they can answer.
    pub fn required(self) -> Done {
        if self.0.is_null() { Err(Code::INVALID_VALUE) } else { Ok(()) }
    }

    pub fn is_wanted(self) -> bool {
        !self.0.is_null()
    }

    /// The element `index` of an array; null stays null.
    pub fn element(self, index: usize) -> Self {
        if self.0.is_null() { self } else { Self(self.0.wrapping_add(index)) }
    }

    /// The same place for something else, for `void *` results whose type an argument chooses.
    pub fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    pub fn at(address: u64) -> Self {
        Self(std::ptr::with_exposed_provenance_mut(address as usize))
    }
}

impl<T: Copy> Out<T> {
    /// What is there already, for arguments that go both ways.
    pub fn get(self) -> Done<T> {
        In(self.0.cast_const()).get()
    }
}

impl Out<c_char> {
    /// Writes a text of at most `capacity` bytes, the zero at its end included; a longer one is cut.
    pub fn put_text(self, text: &str, capacity: usize) -> Done {
        self.required()?;
        let Some(room) = capacity.checked_sub(1) else { return Err(Code::INVALID_VALUE) };
        let bytes = text.bytes().take(room).chain([0]);
        for (index, byte) in bytes.enumerate() {
            self.element(index).put_if_wanted(byte as c_char);
        }
        Ok(())
    }
}

/// Null, or a `T` (or an array of them) to be read.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// # Errors
    /// `INVALID_VALUE` for null.
    pub fn get(self) -> Done<T> {
        self.if_given().ok_or(Code::INVALID_VALUE)
    }

    pub fn if_given(self) -> Option<T> {
        // SAFETY: the caller vouches for a `T` there, where the pointer is not null.
        (!self.0.is_null()).then(|| unsafe { self.0.read_unaligned() })
    }

    /// The element `index` of an array.
    pub fn element(self, index: usize) -> Self {
        if self.0.is_null() { self } else { Self(self.0.wrapping_add(index)) }
    }

    /// `count` elements.
    ///
    /// # Errors
    /// `INVALID_VALUE` for null, unless none are wanted.
    pub fn array(self, count: usize) -> Done<Vec<T>> {
        (0..count).map(|index| self.element(index).get()).collect()
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The same place as something else.
    pub fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }

    pub fn at(address: u64) -> Self {
        Self(std::ptr::with_exposed_provenance(address as usize))
    }
}

/// Null, or a text that ends in zero.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Text(*const c_char);

impl Text {
    /// # Errors
    /// `INVALID_VALUE` for null.
    pub fn get(self) -> Done<String> {
        let text = self.bytes()?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The bytes before the zero.
    pub fn bytes(self) -> Done<Vec<u8>> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: the caller vouches for a text that ends in zero.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes().to_vec())
    }
}

/// An address of this process that the driver copies from or to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Host(*mut c_void);

// SAFETY: an address; who reads or writes through it answers for that.
unsafe impl Send for Host {}

impl Host {
    pub fn address(self) -> u64 {
        self.0.expose_provenance() as u64
    }

    pub fn at(address: u64) -> Self {
        Self(std::ptr::with_exposed_provenance_mut(address as usize))
    }
}

/// An opaque handle as C keeps it: a pointer that is never followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Handle(pub usize);

impl Handle {
    pub const NULL: Self = Self(0);

    pub fn is_null(self) -> bool {
        self == Self::NULL
    }
}

/// `CUdevice`: the ordinal.
pub type DeviceOrdinal = c_int;
/// `CUdeviceptr`.
pub type DevicePtr = u64;
/// `CUhostFn`.
pub type HostFn = Option<unsafe extern "C" fn(*mut c_void)>;
/// `CUstreamCallback`.
pub type StreamCallback = Option<unsafe extern "C" fn(Handle, u32, *mut c_void)>;
/// `CUoccupancyB2DSize`.
pub type BlockToShared = Option<unsafe extern "C" fn(c_int) -> usize>;

/// `CUmemorytype`.
pub mod memory_type {
    pub const HOST: u32 = 1;
    pub const DEVICE: u32 = 2;
    pub const UNIFIED: u32 = 4;
}

/// `CUDA_MEMCPY2D`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Copy2d {
    pub src_x: usize,
    pub src_y: usize,
    pub src_type: c_uint,
    pub src_host: Host,
    pub src_device: DevicePtr,
    pub src_array: Handle,
    pub src_pitch: usize,
    pub dst_x: usize,
    pub dst_y: usize,
    pub dst_type: c_uint,
    pub dst_host: Host,
    pub dst_device: DevicePtr,
    pub dst_array: Handle,
    pub dst_pitch: usize,
    pub width: usize,
    pub height: usize,
}

/// `CUDA_MEMCPY3D`, and `CUDA_MEMCPY3D_PEER`, whose contexts are where the other reserves a pointer.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Copy3d {
    pub src_x: usize,
    pub src_y: usize,
    pub src_z: usize,
    pub src_lod: usize,
    pub src_type: c_uint,
    pub src_host: Host,
    pub src_device: DevicePtr,
    pub src_array: Handle,
    pub src_context: Handle,
    pub src_pitch: usize,
    pub src_height: usize,
    pub dst_x: usize,
    pub dst_y: usize,
    pub dst_z: usize,
    pub dst_lod: usize,
    pub dst_type: c_uint,
    pub dst_host: Host,
    pub dst_device: DevicePtr,
    pub dst_array: Handle,
    pub dst_context: Handle,
    pub dst_pitch: usize,
    pub dst_height: usize,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// `CUlaunchConfig`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct LaunchConfig {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_bytes: c_uint,
    pub stream: Handle,
    pub attributes: In<LaunchAttribute>,
    pub attribute_count: c_uint,
}

/// `CUlaunchAttribute`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct LaunchAttribute {
    pub id: c_uint,
    pub padding: [u8; 4],
    /// The value, as words; `cuda.h` has a union of 64 bytes here.
    pub value: [u32; 16],
}

/// `CUmemLocation`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Location {
    pub kind: c_uint,
    pub id: c_int,
}

/// `CUmemPoolProps`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PoolProperties {
    pub allocation_type: c_uint,
    pub handle_types: c_uint,
    pub location: Location,
    pub security_attributes: Host,
    pub max_bytes: usize,
    pub reserved: [u8; 56],
}

/// `CUmemAccessDesc`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct AccessDescription {
    pub location: Location,
    pub flags: c_uint,
}

/// `CUdevprop`, from before there were attributes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DeviceProperties {
    pub max_threads_per_block: c_int,
    pub max_threads_dim: [c_int; 3],
    pub max_grid_size: [c_int; 3],
    pub shared_per_block: c_int,
    pub constant_memory: c_int,
    pub warp_size: c_int,
    pub max_pitch: c_int,
    pub registers_per_block: c_int,
    pub clock_khz: c_int,
    pub texture_alignment: c_int,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_as_large_as_in_cuda_h() {
        assert_eq!(size_of::<Copy2d>(), 128);
        assert_eq!(size_of::<Copy3d>(), 200);
        assert_eq!(size_of::<LaunchAttribute>(), 72);
        assert_eq!(size_of::<LaunchConfig>(), 56);
        assert_eq!(size_of::<PoolProperties>(), 88);
        assert_eq!(size_of::<DeviceProperties>(), 56);
    }

    #[test]
    fn null_is_an_error_where_something_is_needed_and_nothing_where_it_is_not() {
        let nowhere = Out::<u32>::at(0);
        assert_eq!(nowhere.put(1), Err(Code::INVALID_VALUE));
        nowhere.put_if_wanted(1);
        assert!(!nowhere.element(3).is_wanted());
        assert_eq!(In::<u32>::at(0).get(), Err(Code::INVALID_VALUE));
        assert_eq!(In::<u32>::at(0).array(0), Ok(Vec::new()));
        assert_eq!(In::<u32>::at(0).array(1), Err(Code::INVALID_VALUE));
        assert_eq!(Text(std::ptr::null()).get(), Err(Code::INVALID_VALUE));
    }

    #[test]
    fn a_text_is_cut_to_the_room_there_is_and_always_ends_in_zero() {
        let mut room = [1 as c_char; 6];
        let out = Out(room.as_mut_ptr());
        assert_eq!(out.put_text("warpwise", 5), Ok(()));
        assert_eq!(room, [b'w' as c_char, b'a' as c_char, b'r' as c_char, b'p' as c_char, 0, 1]);
        assert_eq!(out.put_text("", 1), Ok(()));
        assert_eq!(room[0], 0);
        assert_eq!(out.put_text("x", 0), Err(Code::INVALID_VALUE));
    }
}
