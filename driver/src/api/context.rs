//! Contexts: which one is current, what it is set to, and waiting for it.

use std::ffi::{c_int, c_uint, c_ulonglong};
use std::sync::Arc;

use crate::abi::{DeviceOrdinal, Handle, Out};
use crate::code::{Code, Done};
use crate::context::{self, Context, Knobs};
use crate::driver::Driver;
use crate::guard::api;
use crate::stream::{PRIORITY_GREATEST, PRIORITY_LEAST, Target};

/// `CU_CTX_*` flags that exist.
pub const FLAGS_MASK: u32 = 0xff;
/// Newest version of the context's part of the API (`cuCtxGetApiVersion`).
const API_VERSION: u32 = 3020;

/// The context of a handle, or none for null.
pub fn optional(driver: &Driver, handle: Handle) -> Done<Option<Arc<Context>>> {
    if handle.is_null() { Ok(None) } else { driver.context(handle).map(Some) }
}

/// Makes a context and makes it current.
pub fn create(context: Out<Handle>, flags: c_uint, device: DeviceOrdinal) -> Done {
    let driver = Driver::get()?;
    driver.device(device)?;
    context.required()?;
    // Scheduling is one of four bits.
    if flags & !FLAGS_MASK != 0 || (flags & 7).count_ones() > 1 {
        return Err(Code::INVALID_VALUE);
    }
    let new = driver.new_context(flags, API_VERSION);
    context.put(new.handle)?;
    context::push(Some(new));
    Ok(())
}

/// The slot of a limit.
fn limit(limit: c_uint) -> Done<usize> {
    let index = limit as usize;
    if index >= Knobs::LIMITS {
        return Err(Code::INVALID_VALUE);
    }
    if Knobs::UNSUPPORTED_LIMITS.contains(&index) { Err(Code::UNSUPPORTED_LIMIT) } else { Ok(index) }
}

api! {
    fn cuCtxCreate_v2(context: Out<Handle>, flags: c_uint, device: DeviceOrdinal) {
        create(context, flags, device)
    }

    fn cuCtxDestroy_v2(context: Handle) {
        let driver = Driver::get()?;
        let destroyed = driver.context(context)?;
        if driver.primary().context.as_ref().is_some_and(|primary| Arc::ptr_eq(primary, &destroyed)) {
            return Err(Code::INVALID_CONTEXT);
        }
        driver.contexts.remove(context).map_err(|_| Code::INVALID_CONTEXT)?;
        driver.clean(&destroyed);
        destroyed.destroy();
        if context::top().is_some_and(|top| Arc::ptr_eq(&top, &destroyed)) {
            context::pop()?;
        }
        Ok(())
    }

    fn cuCtxPushCurrent_v2(context: Handle) {
        context::push(optional(Driver::get()?, context)?);
        Ok(())
    }

    fn cuCtxPopCurrent_v2(context: Out<Handle>) {
        Driver::get()?;
        let popped = context::pop()?;
        context.put_if_wanted(popped.map_or(Handle::NULL, |popped| popped.handle));
        Ok(())
    }

    fn cuCtxSetCurrent(context: Handle) {
        context::set(optional(Driver::get()?, context)?);
        Ok(())
    }

    fn cuCtxGetCurrent(context: Out<Handle>) {
        Driver::get()?;
        context.put(context::top().map_or(Handle::NULL, |top| top.handle))
    }

    fn cuCtxGetDevice(device: Out<DeviceOrdinal>) {
        Driver::get()?;
        context::top().ok_or(Code::INVALID_CONTEXT)?;
        device.put(0)
    }

    fn cuCtxGetDevice_v2(device: Out<DeviceOrdinal>, context: Handle) {
        match context.is_null() {
            true => context::top().map(|_| ()).ok_or(Code::INVALID_CONTEXT)?,
            false => Driver::get()?.context(context).map(|_| ())?,
        }
        device.put(0)
    }

    fn cuCtxSynchronize() {
        let driver = Driver::get()?;
        context::current()?.synchronize(&driver.engine)
    }

    fn cuCtxSynchronize_v2(context: Handle) {
        let driver = Driver::get()?;
        match context.is_null() {
            true => context::current()?.synchronize(&driver.engine),
            false => driver.context(context)?.synchronize(&driver.engine),
        }
    }

    fn cuCtxGetFlags(flags: Out<c_uint>) {
        Driver::get()?;
        flags.put(context::current()?.flags())
    }

    fn cuCtxSetFlags(flags: c_uint) {
        Driver::get()?;
        if flags & !FLAGS_MASK != 0 {
            return Err(Code::INVALID_VALUE);
        }
        context::current()?.set_flags(flags);
        Ok(())
    }

    fn cuCtxGetId(context: Handle, id: Out<c_ulonglong>) {
        let driver = Driver::get()?;
        let known = match optional(driver, context)? {
            Some(context) => context,
            None => context::current()?,
        };
        id.put(known.handle.0 as c_ulonglong)
    }

    fn cuCtxGetApiVersion(context: Handle, version: Out<c_uint>) {
        let driver = Driver::get()?;
        let known = match optional(driver, context)? {
            Some(context) => context,
            None => context::current()?,
        };
        version.put(known.api_version)
    }

    fn cuCtxGetLimit(value: Out<usize>, which: c_uint) {
        Driver::get()?;
        let context = context::current()?;
        value.put(context.knobs().limits[limit(which)?])
    }

    fn cuCtxSetLimit(which: c_uint, value: usize) {
        Driver::get()?;
        let context = context::current()?;
        context.knobs().limits[limit(which)?] = value;
        Ok(())
    }

    fn cuCtxGetCacheConfig(config: Out<c_uint>) {
        Driver::get()?;
        config.put(context::current()?.knobs().cache_config)
    }

    fn cuCtxSetCacheConfig(config: c_uint) {
        Driver::get()?;
        let context = context::current()?;
        if config > 3 {
            return Err(Code::INVALID_VALUE);
        }
        context.knobs().cache_config = config;
        Ok(())
    }

    fn cuCtxGetSharedMemConfig(config: Out<c_uint>) {
        Driver::get()?;
        config.put(context::current()?.knobs().shared_config)
    }

    fn cuCtxSetSharedMemConfig(config: c_uint) {
        Driver::get()?;
        context::current()?;
        // Banks are four bytes wide on every device since 5.0; other widths are taken and change nothing.
        if config > 2 { Err(Code::INVALID_VALUE) } else { Ok(()) }
    }

    fn cuCtxGetStreamPriorityRange(least: Out<c_int>, greatest: Out<c_int>) {
        Driver::get()?;
        context::current()?;
        least.put_if_wanted(PRIORITY_LEAST);
        greatest.put_if_wanted(PRIORITY_GREATEST);
        Ok(())
    }

    fn cuCtxResetPersistingL2Cache() {
        Driver::get()?;
        context::current().map(|_| ())
    }

    fn cuCtxRecordEvent(context: Handle, event: Handle) {
        let driver = Driver::get()?;
        let context = driver.context(context)?;
        context.check()?;
        driver.events.get(event)?.record_on(&driver.engine, &Target::legacy(context))
    }

    fn cuCtxWaitEvent(context: Handle, event: Handle) {
        let driver = Driver::get()?;
        let context = driver.context(context)?;
        context.check()?;
        driver.events.get(event)?.hold(&driver.engine, &Target::legacy(context));
        Ok(())
    }
}
