//! Streams: made, waited for, and given work that is no kernel.

use std::ffi::{c_int, c_uint, c_void};

use crate::abi::{DevicePtr, Handle, Host, HostFn, Out, StreamCallback};
use crate::code::{Code, Done, SUCCESS};
use crate::context;
use crate::driver::Driver;
use crate::fault;
use crate::guard::api;
use crate::stream::{NON_BLOCKING, PRIORITY_GREATEST, PRIORITY_LEAST, Stream, Target};

fn create(stream: Out<Handle>, flags: c_uint, priority: c_int) -> Done {
    let driver = Driver::get()?;
    let context = context::current()?;
    stream.required()?;
    if flags & !NON_BLOCKING != 0 {
        return Err(Code::INVALID_VALUE);
    }
    let priority = priority.clamp(PRIORITY_GREATEST, PRIORITY_LEAST);
    stream.put(driver.streams.insert_with(|handle| Stream::new(handle, context, flags, priority)).handle)
}

fn host_function(stream: Handle, function: HostFn, data: Host) -> Done {
    let driver = Driver::get()?;
    let target = Target::of(driver, stream)?;
    let function = function.ok_or(Code::INVALID_VALUE)?;
    target.enqueue(&driver.engine, move |_| {
        // SAFETY: the caller of the driver vouches for its function, and for the data until it has run.
        unsafe { function(data.address() as *mut c_void) };
        Ok(())
    });
    Ok(())
}

/// Writes a word when the stream gets there.
fn write_value(stream: Handle, address: DevicePtr, value: &[u8]) -> Done {
    let driver = Driver::get()?;
    let target = Target::of(driver, stream)?;
    if !address.is_multiple_of(value.len() as u64) {
        return Err(Code::INVALID_VALUE);
    }
    driver.regions.device(address, value.len() as u64)?;
    let value = value.to_vec();
    target.enqueue(&driver.engine, move |engine| {
        engine.machine().write(address, &value).map_err(|error| fault::of_memory(&error))
    });
    Ok(())
}

api! {
    fn cuStreamCreate(stream: Out<Handle>, flags: c_uint) {
        create(stream, flags, PRIORITY_LEAST)
    }

    fn cuStreamCreateWithPriority(stream: Out<Handle>, flags: c_uint, priority: c_int) {
        create(stream, flags, priority)
    }

    /// Work in the stream is finished all the same.
    fn cuStreamDestroy_v2(stream: Handle) {
        let driver = Driver::get()?;
        let stream = driver.streams.remove(stream)?;
        stream.context.check()?;
        let lane = stream.lane();
        let context = stream.context.clone();
        stream.context.enqueue(&driver.engine, move |_| {
            context.timeline().forget(lane);
            Ok(())
        });
        Ok(())
    }

    fn cuStreamSynchronize(stream: Handle) {
        let driver = Driver::get()?;
        Target::of(driver, stream)?.synchronize(&driver.engine)
    }

    fn cuStreamQuery(stream: Handle) {
        let driver = Driver::get()?;
        let target = Target::of(driver, stream)?;
        if !driver.engine.is_done(target.last()) {
            return Err(Code::NOT_READY);
        }
        target.context.check()
    }

    fn cuStreamWaitEvent(stream: Handle, event: Handle, _flags: c_uint) {
        let driver = Driver::get()?;
        let target = Target::of(driver, stream)?;
        driver.events.get(event)?.hold(&driver.engine, &target);
        Ok(())
    }

    fn cuLaunchHostFunc(stream: Handle, function: HostFn, data: Host) {
        host_function(stream, function, data)
    }

    fn cuLaunchHostFunc_v2(stream: Handle, function: HostFn, data: Host, _mode: c_uint) {
        host_function(stream, function, data)
    }

    /// Unlike a host function, a callback is also called when work before it failed, with the error.
    fn cuStreamAddCallback(stream: Handle, callback: StreamCallback, data: Host, flags: c_uint) {
        let driver = Driver::get()?;
        let target = Target::of(driver, stream)?;
        let callback = callback.filter(|_| flags == 0).ok_or(Code::INVALID_VALUE)?;
        let context = target.context.clone();
        let ticket = driver.engine.submit(Box::new(move |_| {
            let status = context.check().err().map_or(SUCCESS, Code::number);
            // SAFETY: as for host functions.
            unsafe { callback(stream, status, data.address() as *mut c_void) };
        }));
        target.counts(ticket);
        Ok(())
    }

    fn cuStreamWriteValue32_v2(stream: Handle, address: DevicePtr, value: u32, _flags: c_uint) {
        write_value(stream, address, &value.to_le_bytes())
    }

    fn cuStreamWriteValue32(stream: Handle, address: DevicePtr, value: u32, _flags: c_uint) {
        write_value(stream, address, &value.to_le_bytes())
    }

    fn cuStreamWriteValue64_v2(stream: Handle, address: DevicePtr, value: u64, _flags: c_uint) {
        write_value(stream, address, &value.to_le_bytes())
    }

    fn cuStreamWriteValue64(stream: Handle, address: DevicePtr, value: u64, _flags: c_uint) {
        write_value(stream, address, &value.to_le_bytes())
    }
}
