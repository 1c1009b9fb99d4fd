//! Events. The time between two is modelled: what the work between them would take on the device that the driver stands for.

use std::ffi::c_uint;
use std::sync::Arc;

use crate::abi::{Handle, Out};
use crate::code::{Code, Done};
use crate::context;
use crate::driver::Driver;
use crate::guard::api;
use crate::notice;
use crate::settings::Timing;
use crate::stream::{DISABLE_TIMING, Event, Target};

/// `CU_EVENT_BLOCKING_SYNC`, `DISABLE_TIMING`, `INTERPROCESS`.
const FLAGS: u32 = 7;
const INTERPROCESS: u32 = 4;

fn record(event: Handle, stream: Handle) -> Done {
    let driver = Driver::get()?;
    let event = driver.events.get(event)?;
    event.context.check()?;
    let target = Target::of(driver, stream)?;
    event.record_on(&driver.engine, &target)
}

fn elapsed(milliseconds: Out<f32>, start: Handle, end: Handle) -> Done {
    let driver = Driver::get()?;
    milliseconds.required()?;
    let (start, end) = (driver.events.get(start)?, driver.events.get(end)?);
    end.context.check()?;
    let comparable = start.takes_times && end.takes_times && Arc::ptr_eq(&start.context, &end.context);
    let [from, to] = [&start, &end].map(|event| event.record().ticket);
    let (Some(from), Some(to)) = (from, to) else { return Err(Code::INVALID_HANDLE) };
    if !comparable {
        return Err(Code::INVALID_HANDLE);
    }
    if !driver.engine.is_done(from) || !driver.engine.is_done(to) {
        return Err(Code::NOT_READY);
    }
    if driver.settings.timing == Timing::Functional {
        notice::say_once("WARPWISE_TIME=functional: an event counts each launch as an empty one");
    }
    // One after the other: the two may be one event.
    let [from, to] = [&start, &end].map(|event| event.record().us);
    milliseconds.put(((to - from) / 1e3) as f32)
}

api! {
    fn cuEventCreate(event: Out<Handle>, flags: c_uint) {
        let driver = Driver::get()?;
        let context = context::current()?;
        event.required()?;
        if flags & !FLAGS != 0 || flags & INTERPROCESS != 0 && flags & DISABLE_TIMING == 0 {
            return Err(Code::INVALID_VALUE);
        }
        if flags & INTERPROCESS != 0 {
            notice::say_once("cuEventCreate: events that are shared between processes are not supported");
            return Err(Code::NOT_SUPPORTED);
        }
        let mut new = Handle::NULL;
        driver.events.insert_with(|handle| {
            new = handle;
            Event::new(context, flags)
        });
        event.put(new)
    }

    fn cuEventDestroy_v2(event: Handle) {
        Driver::get()?.events.remove(event)?.context.check()
    }

    fn cuEventRecord(event: Handle, stream: Handle) {
        record(event, stream)
    }

    fn cuEventRecordWithFlags(event: Handle, stream: Handle, flags: c_uint) {
        if flags > 1 { Err(Code::INVALID_VALUE) } else { record(event, stream) }
    }

    fn cuEventQuery(event: Handle) {
        let driver = Driver::get()?;
        let event = driver.events.get(event)?;
        event.context.check()?;
        let recorded = event.record().ticket.unwrap_or_default();
        if driver.engine.is_done(recorded) { event.context.check() } else { Err(Code::NOT_READY) }
    }

    fn cuEventSynchronize(event: Handle) {
        let driver = Driver::get()?;
        let event = driver.events.get(event)?;
        let recorded = event.record().ticket.unwrap_or_default();
        driver.engine.wait(recorded);
        event.context.check()
    }

    fn cuEventElapsedTime(milliseconds: Out<f32>, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }

    fn cuEventElapsedTime_v2(milliseconds: Out<f32>, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }
}
