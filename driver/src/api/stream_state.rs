//! What a stream is, and that none is being captured: there are no graphs.

use std::ffi::{c_int, c_uint, c_ulonglong};

use crate::abi::{DeviceOrdinal, Handle, Out};
use crate::code::{Code, Done};
use crate::driver::Driver;
use crate::guard::api;
use crate::stream::{PRIORITY_LEAST, Target};
use crate::timeline::Lane;

/// `CU_STREAM_CAPTURE_STATUS_NONE`.
const NOT_CAPTURING: u32 = 0;
/// `CUstreamCaptureMode` has three values.
const CAPTURE_MODE_MAX: u32 = 2;

fn target(stream: Handle) -> Done<Target> {
    Target::of(Driver::get()?, stream)
}

api! {
    fn cuStreamGetFlags(stream: Handle, flags: Out<c_uint>) {
        flags.put(target(stream)?.stream.map_or(0, |stream| stream.flags))
    }

    fn cuStreamGetPriority(stream: Handle, priority: Out<c_int>) {
        priority.put(target(stream)?.stream.map_or(PRIORITY_LEAST, |stream| stream.priority))
    }

    fn cuStreamGetCtx(stream: Handle, context: Out<Handle>) {
        context.put(target(stream)?.context.handle)
    }

    fn cuStreamGetCtx_v2(stream: Handle, context: Out<Handle>, green: Out<Handle>) {
        green.put_if_wanted(Handle::NULL);
        context.put(target(stream)?.context.handle)
    }

    fn cuStreamGetDevice(stream: Handle, device: Out<DeviceOrdinal>) {
        target(stream)?;
        device.put(0)
    }

    fn cuStreamGetId(stream: Handle, id: Out<c_ulonglong>) {
        // Created streams have numbers far above those of default ones.
        id.put(match target(stream)?.lane {
            Lane::Legacy => 1,
            Lane::Thread(number) => number + 2,
            Lane::Own { number, .. } => number as c_ulonglong,
        })
    }

    fn cuStreamIsCapturing(stream: Handle, status: Out<c_uint>) {
        target(stream)?;
        status.put(NOT_CAPTURING)
    }

    fn cuStreamGetCaptureInfo(stream: Handle, status: Out<c_uint>, _id: Out<u64>) {
        target(stream)?;
        status.put(NOT_CAPTURING)
    }

    fn cuStreamGetCaptureInfo_v2(
        stream: Handle,
        status: Out<c_uint>,
        _id: Out<u64>,
        _graph: Out<Handle>,
        _dependencies: Out<Handle>,
        _count: Out<usize>,
    ) {
        target(stream)?;
        status.put(NOT_CAPTURING)
    }

    fn cuStreamGetCaptureInfo_v3(
        stream: Handle,
        status: Out<c_uint>,
        _id: Out<u64>,
        _graph: Out<Handle>,
        _dependencies: Out<Handle>,
        _edges: Out<Handle>,
        _count: Out<usize>,
    ) {
        target(stream)?;
        status.put(NOT_CAPTURING)
    }

    fn cuThreadExchangeStreamCaptureMode(mode: Out<c_uint>) {
        Driver::get()?;
        thread_local! {
            static MODE: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
        }
        let new = mode.get()?;
        if new > CAPTURE_MODE_MAX {
            return Err(Code::INVALID_VALUE);
        }
        mode.put(MODE.replace(new))
    }
}
