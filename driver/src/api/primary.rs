//! The primary context, which libraries of one program share.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use super::context::FLAGS_MASK;
use crate::abi::{DeviceOrdinal, Handle, Out};
use crate::code::{Code, Done};
use crate::driver::Driver;
use crate::guard::api;

/// As `cuCtxGetApiVersion` gives it for primary contexts.
const API_VERSION: u32 = 3020;

fn set_flags(device: DeviceOrdinal, flags: c_uint) -> Done {
    let driver = Driver::get()?;
    driver.device(device)?;
    if flags & !FLAGS_MASK != 0 {
        return Err(Code::INVALID_VALUE);
    }
    let mut primary = driver.primary();
    primary.flags = flags;
    if let Some(context) = &primary.context {
        context.set_flags(flags);
    }
    Ok(())
}

fn release(device: DeviceOrdinal) -> Done {
    let driver = Driver::get()?;
    driver.device(device)?;
    let mut primary = driver.primary();
    primary.retained = primary.retained.checked_sub(1).ok_or(Code::INVALID_CONTEXT)?;
    if primary.retained == 0
        && let Some(context) = primary.context.take()
    {
        drop(primary);
        driver.contexts.remove(context.handle).map_err(|_| Code::INVALID_CONTEXT)?;
        driver.clean(&context);
        context.destroy();
    }
    Ok(())
}

/// Everything in the context goes, its fault included; who holds it goes on with it as new.
fn reset(device: DeviceOrdinal) -> Done {
    let driver = Driver::get()?;
    driver.device(device)?;
    let context = driver.primary().context.clone();
    if let Some(context) = context {
        driver.clean(&context);
        context.reset();
    }
    Ok(())
}

api! {
    fn cuDevicePrimaryCtxRetain(context: Out<Handle>, device: DeviceOrdinal) {
        let driver = Driver::get()?;
        driver.device(device)?;
        context.required()?;
        let mut primary = driver.primary();
        let flags = primary.flags;
        let retained = Arc::clone(primary.context.get_or_insert_with(|| driver.new_context(flags, API_VERSION)));
        primary.retained += 1;
        context.put(retained.handle)
    }

    fn cuDevicePrimaryCtxRelease_v2(device: DeviceOrdinal) {
        release(device)
    }

    fn cuDevicePrimaryCtxRelease(device: DeviceOrdinal) {
        release(device)
    }

    fn cuDevicePrimaryCtxReset_v2(device: DeviceOrdinal) {
        reset(device)
    }

    fn cuDevicePrimaryCtxReset(device: DeviceOrdinal) {
        reset(device)
    }

    fn cuDevicePrimaryCtxSetFlags_v2(device: DeviceOrdinal, flags: c_uint) {
        set_flags(device, flags)
    }

    fn cuDevicePrimaryCtxSetFlags(device: DeviceOrdinal, flags: c_uint) {
        set_flags(device, flags)
    }

    fn cuDevicePrimaryCtxGetState(device: DeviceOrdinal, flags: Out<c_uint>, active: Out<c_int>) {
        let driver = Driver::get()?;
        driver.device(device)?;
        let primary = driver.primary();
        flags.put_if_wanted(primary.flags);
        active.put_if_wanted(primary.context.is_some().into());
        Ok(())
    }
}
