//! Streams and events: in which order things happen, and when by the modelled clock.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::abi::Handle;
use crate::code::{Code, Done};
use crate::context::{self, Context};
use crate::driver::Driver;
use crate::engine::{Engine, Ticket};
use crate::timeline::Lane;

/// Handles that mean default streams (`CU_STREAM_LEGACY`, `CU_STREAM_PER_THREAD`).
const LEGACY: Handle = Handle(1);
const PER_THREAD: Handle = Handle(2);

/// `CU_STREAM_NON_BLOCKING`.
pub const NON_BLOCKING: u32 = 1;
/// Priorities: the highest number is the lowest priority. As an H200 with driver 580 has them.
pub const PRIORITY_LEAST: i32 = 0;
pub const PRIORITY_GREATEST: i32 = -5;

/// A stream that was created.
#[derive(Debug)]
pub struct Stream {
    pub handle: Handle,
    pub context: Arc<Context>,
    pub flags: u32,
    pub priority: i32,
    last: AtomicU64,
}

impl Stream {
    pub fn new(handle: Handle, context: Arc<Context>, flags: u32, priority: i32) -> Self {
        Self { handle, context, flags, priority, last: AtomicU64::new(0) }
    }

    pub fn lane(&self) -> Lane {
        Lane::Own { number: self.handle.0, blocking: self.flags & NON_BLOCKING == 0 }
    }
}

/// Where work goes: a stream that was created, or a default one of a context.
#[derive(Clone, Debug)]
pub struct Target {
    pub context: Arc<Context>,
    pub lane: Lane,
    pub stream: Option<Arc<Stream>>,
}

impl Target {
    /// The stream that a handle means in this thread.
    ///
    /// # Errors
    /// `INVALID_HANDLE`, and as [`context::current`] or [`Context::check`].
    pub fn of(driver: &Driver, handle: Handle) -> Done<Self> {
        let lane = match handle {
            Handle::NULL | LEGACY => Lane::Legacy,
            PER_THREAD => Lane::Thread(thread_number()),
            handle => {
                let stream = driver.streams.get(handle)?;
                stream.context.check()?;
                return Ok(Self { context: Arc::clone(&stream.context), lane: stream.lane(), stream: Some(stream) });
            }
        };
        Ok(Self { context: context::current()?, lane, stream: None })
    }

    /// The legacy default stream of a context.
    pub fn legacy(context: Arc<Context>) -> Self {
        Self { context, lane: Lane::Legacy, stream: None }
    }

    /// As [`Context::enqueue`].
    pub fn enqueue(&self, engine: &Engine, work: impl FnOnce(&Engine) -> Done + Send + 'static) -> Ticket {
        let ticket = self.context.enqueue(engine, work);
        self.counts(ticket);
        ticket
    }

    /// Work that was queued by other means is the stream's, too.
    pub fn counts(&self, ticket: Ticket) {
        self.context.counts(ticket);
        if let Some(stream) = &self.stream {
            stream.last.fetch_max(ticket.0, Ordering::AcqRel);
        }
    }

    /// Last work of the stream. Default streams wait for the others of their context.
    pub fn last(&self) -> Ticket {
        match &self.stream {
            Some(stream) => Ticket(stream.last.load(Ordering::Acquire)),
            None => self.context.last(),
        }
    }

    /// Waits for the stream's work.
    ///
    /// # Errors
    /// As [`Context::check`], after the wait.
    pub fn synchronize(&self, engine: &Engine) -> Done {
        engine.wait(self.last());
        self.context.check()
    }
}

/// A number for the calling thread.
fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

/// `CU_EVENT_DISABLE_TIMING`.
pub const DISABLE_TIMING: u32 = 2;

/// An event: a place in a stream that others can wait for.
#[derive(Debug)]
pub struct Event {
    pub context: Arc<Context>,
    pub takes_times: bool,
    /// Whether it is one of the context's clocks: it takes times and has recorded one.
    is_clock: AtomicBool,
    record: Mutex<Record>,
}

/// What an event recorded last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record {
    /// Its place in the queue; `None` before the first record.
    pub ticket: Option<Ticket>,
    /// Modelled time, once the machine got there.
    pub us: f64,
}

impl Event {
    pub fn new(context: Arc<Context>, flags: u32) -> Self {
        Self {
            context,
            takes_times: flags & DISABLE_TIMING == 0,
            is_clock: AtomicBool::new(false),
            record: Mutex::default(),
        }
    }

    pub fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the event in a stream. If it takes times, the context's launches are timed from now on, as long as it lives.
    ///
    /// # Errors
    /// `INVALID_HANDLE` where the stream is of another context.
    pub fn record_on(self: &Arc<Self>, engine: &Engine, target: &Target) -> Done {
        if !Arc::ptr_eq(&self.context, &target.context) {
            return Err(Code::INVALID_HANDLE);
        }
        let (event, lane) = (Arc::clone(self), target.lane);
        // The machine's thread waits for this lock before it notes the time of a record made meanwhile.
        let mut record = self.record();
        let ticket = target.enqueue(engine, move |_| {
            let us = event.context.timeline().now_us(lane);
            event.record().us = us;
            if event.takes_times && !event.is_clock.swap(true, Ordering::AcqRel) {
                event.context.add_clock();
            }
            Ok(())
        });
        record.ticket = Some(ticket);
        Ok(())
    }

    /// Makes later work of a stream wait for what was recorded last; nothing, if nothing was.
    pub fn hold(self: &Arc<Self>, engine: &Engine, target: &Target) {
        if self.record().ticket.is_some() {
            let (event, context, lane) = (Arc::clone(self), Arc::clone(&target.context), target.lane);
            target.enqueue(engine, move |_| {
                let us = event.record().us;
                context.timeline().wait_until(lane, us);
                Ok(())
            });
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if *self.is_clock.get_mut() {
            self.context.remove_clock();
        }
    }
}
