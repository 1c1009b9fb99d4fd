//! What an address is.

use std::ffi::{c_int, c_uint};

use crate::abi::{DevicePtr, Handle, In, Out, memory_type};
use crate::code::{Code, Done};
use crate::context;
use crate::driver::Driver;
use crate::guard::api;
use crate::regions::{Kind, Region};

/// `CUpointer_attribute`.
mod attribute {
    pub const CONTEXT: u32 = 1;
    pub const MEMORY_TYPE: u32 = 2;
    pub const DEVICE_POINTER: u32 = 3;
    pub const HOST_POINTER: u32 = 4;
    pub const P2P_TOKENS: u32 = 5;
    pub const SYNC_MEMOPS: u32 = 6;
    pub const BUFFER_ID: u32 = 7;
    pub const IS_MANAGED: u32 = 8;
    pub const DEVICE_ORDINAL: u32 = 9;
    pub const IS_IPC_CAPABLE: u32 = 10;
    pub const RANGE_START: u32 = 11;
    pub const RANGE_BYTES: u32 = 12;
    pub const MAPPED: u32 = 13;
    pub const HANDLE_TYPES: u32 = 14;
    pub const IS_RDMA_CAPABLE: u32 = 15;
    pub const ACCESS_FLAGS: u32 = 16;
    pub const POOL: u32 = 17;
    pub const MAPPING_BYTES: u32 = 18;
    pub const MAPPING_START: u32 = 19;
    pub const BLOCK_ID: u32 = 20;
    pub const IS_DECOMPRESS_CAPABLE: u32 = 21;
}

/// `CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE`.
const READ_WRITE: u64 = 3;

fn memory_kind(region: &Region) -> u32 {
    match region.kind {
        Kind::Pinned | Kind::Registered => memory_type::HOST,
        Kind::Device | Kind::Pool(_) | Kind::Managed | Kind::Variable => memory_type::DEVICE,
    }
}

/// Writes the attribute with its own width: that of a pointer, an int or a boolean.
fn put(region: &Region, which: u32, address: DevicePtr, data: Out<u64>) -> Done {
    let int = |value: u32| data.cast::<c_uint>().put(value);
    let flag = |value: bool| data.cast::<u8>().put(value.into());
    match which {
        attribute::CONTEXT => data.put(region.context.0 as u64),
        attribute::MEMORY_TYPE => int(memory_kind(region)),
        attribute::DEVICE_POINTER => data.put(address),
        attribute::HOST_POINTER if region.kind.is_host_visible() => data.put(address),
        attribute::HOST_POINTER => Err(Code::INVALID_VALUE),
        attribute::BUFFER_ID | attribute::BLOCK_ID => data.put(region.id),
        attribute::IS_MANAGED => flag(region.kind == Kind::Managed),
        attribute::DEVICE_ORDINAL => int(0),
        attribute::RANGE_START | attribute::MAPPING_START => data.put(region.start),
        attribute::RANGE_BYTES | attribute::MAPPING_BYTES => data.put(region.bytes),
        attribute::MAPPED => flag(true),
        attribute::HANDLE_TYPES => data.put(0),
        attribute::ACCESS_FLAGS => int(READ_WRITE as u32),
        attribute::POOL => data.put(match region.kind {
            Kind::Pool(pool) => pool.0 as u64,
            _ => 0,
        }),
        attribute::SYNC_MEMOPS
        | attribute::IS_IPC_CAPABLE
        | attribute::IS_RDMA_CAPABLE
        | attribute::IS_DECOMPRESS_CAPABLE => flag(false),
        attribute::P2P_TOKENS => Err(Code::NOT_SUPPORTED),
        _ => Err(Code::INVALID_VALUE),
    }
}

/// What `cuPointerGetAttributes` gives for an address that is none of the driver's: zeros of each attribute's width.
fn put_nothing(which: u32, data: Out<u64>) -> Done {
    match which {
        attribute::MEMORY_TYPE | attribute::ACCESS_FLAGS => data.cast::<c_uint>().put(0),
        // `CU_DEVICE_INVALID`.
        attribute::DEVICE_ORDINAL => data.cast::<c_int>().put(-2),
        attribute::IS_MANAGED
        | attribute::SYNC_MEMOPS
        | attribute::IS_IPC_CAPABLE
        | attribute::MAPPED
        | attribute::IS_RDMA_CAPABLE
        | attribute::IS_DECOMPRESS_CAPABLE => data.cast::<u8>().put(0),
        attribute::CONTEXT..=attribute::IS_DECOMPRESS_CAPABLE => data.put(0),
        _ => Err(Code::INVALID_VALUE),
    }
}

api! {
    fn cuPointerGetAttribute(data: Out<u64>, which: c_uint, address: DevicePtr) {
        let driver = Driver::get()?;
        context::current()?;
        data.required()?;
        let region = driver.regions.find(address).ok_or(Code::INVALID_VALUE)?;
        put(&region, which, address, data)
    }

    fn cuPointerGetAttributes(count: c_uint, which: In<c_uint>, data: In<u64>, address: DevicePtr) {
        let driver = Driver::get()?;
        context::current()?;
        let region = driver.regions.find(address);
        for (index, which) in which.array(count as usize)?.into_iter().enumerate() {
            let out = Out::at(data.element(index).get()?);
            match &region {
                // One that this kind of memory does not have is nothing, too.
                Some(region) => put(region, which, address, out).or_else(|_| put_nothing(which, out))?,
                None => put_nothing(which, out)?,
            }
        }
        Ok(())
    }

    /// `SYNC_MEMOPS` is the one that can be set; copies here are synchronous where it matters.
    fn cuPointerSetAttribute(value: In<c_uint>, which: c_uint, address: DevicePtr) {
        let driver = Driver::get()?;
        context::current()?;
        value.get()?;
        let known = which == attribute::SYNC_MEMOPS && driver.regions.find(address).is_some();
        if known { Ok(()) } else { Err(Code::INVALID_VALUE) }
    }
}

/// A pool's handle is an address-sized number in every attribute above.
const _: () = assert!(size_of::<Handle>() == size_of::<u64>());
