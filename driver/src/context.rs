//! Contexts: what is sticky in them, what they still wait for, and which one is current in a thread.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::abi::Handle;
use crate::code::{Code, Done, SUCCESS};
use crate::engine::{Engine, Ticket};
use crate::timeline::Timeline;

/// Values that programs set and read back. The machine's behaviour depends on none of them.
#[derive(Clone, Debug)]
pub struct Knobs {
    /// By `CUlimit`.
    pub limits: [usize; Self::LIMITS],
    pub cache_config: u32,
    pub shared_config: u32,
}

impl Knobs {
    pub const LIMITS: usize = 7;
    /// `CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH` and `CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT`: of kernels that launch kernels.
    pub const UNSUPPORTED_LIMITS: [usize; 2] = [3, 4];
}

impl Default for Knobs {
    /// Limits as an H200 with driver 580 gives them; the shared-memory bank size is four bytes.
    fn default() -> Self {
        Self { limits: [1024, 7 << 20, 8 << 20, 0, 0, 64, 0], cache_config: 0, shared_config: 1 }
    }
}

#[derive(Debug)]
pub struct Context {
    pub handle: Handle,
    pub api_version: u32,
    flags: AtomicU32,
    destroyed: AtomicBool,
    /// The first error of work that nobody waited for; every later call answers it.
    sticky: AtomicU32,
    /// Last work of any stream.
    last: AtomicU64,
    /// Events alive that have recorded a time: without one, nobody can see how long a launch takes.
    clocks: AtomicUsize,
    timeline: Mutex<Timeline>,
    knobs: Mutex<Knobs>,
}

impl Context {
    pub fn new(handle: Handle, flags: u32, api_version: u32) -> Self {
        Self {
            handle,
            api_version,
            flags: flags.into(),
            destroyed: AtomicBool::new(false),
            sticky: SUCCESS.into(),
            last: AtomicU64::new(0),
            clocks: AtomicUsize::new(0),
            timeline: Mutex::default(),
            knobs: Mutex::default(),
        }
    }

    /// # Errors
    /// The sticky error, or that the context is no more.
    pub fn check(&self) -> Done {
        if self.destroyed.load(Ordering::Acquire) {
            return Err(Code::CONTEXT_IS_DESTROYED);
        }
        match Code::from_number(self.sticky.load(Ordering::Acquire)) {
            Some(code) => Err(code),
            None => Ok(()),
        }
    }

    /// Queues work for the machine, which is left out if work before it failed. Its own error becomes the sticky one.
    pub fn enqueue(self: &Arc<Self>, engine: &Engine, work: impl FnOnce(&Engine) -> Done + Send + 'static) -> Ticket {
        let context = Arc::clone(self);
        let ticket = engine.submit(Box::new(move |engine| {
            if context.check().is_ok() {
                match catch_unwind(AssertUnwindSafe(|| work(engine))) {
                    Ok(Ok(())) => {}
                    Ok(Err(code)) => context.poison(code),
                    Err(_) => context.poison(Code::UNKNOWN),
                }
            }
        }));
        self.counts(ticket);
        ticket
    }

    /// Work that was queued by other means is the context's, too.
    pub fn counts(&self, ticket: Ticket) {
        self.last.fetch_max(ticket.0, Ordering::AcqRel);
    }

    /// Waits for all work of the context.
    ///
    /// # Errors
    /// As [`Context::check`], after the wait.
    pub fn synchronize(&self, engine: &Engine) -> Done {
        engine.wait(self.last());
        self.check()
    }

    pub fn last(&self) -> Ticket {
        Ticket(self.last.load(Ordering::Acquire))
    }

    /// Only the first error stays.
    pub fn poison(&self, code: Code) {
        let _ = self.sticky.compare_exchange(SUCCESS, code.number(), Ordering::AcqRel, Ordering::Acquire);
    }

    pub fn destroy(&self) {
        self.destroyed.store(true, Ordering::Release);
    }

    /// As new, for a primary context that is reset.
    pub fn reset(&self) {
        self.sticky.store(SUCCESS, Ordering::Release);
        *self.timeline() = Timeline::default();
        *self.knobs() = Knobs::default();
    }

    pub fn flags(&self) -> u32 {
        self.flags.load(Ordering::Relaxed)
    }

    pub fn set_flags(&self, flags: u32) {
        self.flags.store(flags, Ordering::Relaxed);
    }

    pub fn takes_times(&self) -> bool {
        self.clocks.load(Ordering::Acquire) > 0
    }

    pub fn add_clock(&self) {
        self.clocks.fetch_add(1, Ordering::AcqRel);
    }

    pub fn remove_clock(&self) {
        self.clocks.fetch_sub(1, Ordering::AcqRel);
    }

    pub fn timeline(&self) -> MutexGuard<'_, Timeline> {
        self.timeline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn knobs(&self) -> MutexGuard<'_, Knobs> {
        self.knobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    /// The thread's stack of contexts, the current one last. A null context can be pushed, too.
    static STACK: RefCell<Vec<Option<Arc<Context>>>> = const { RefCell::new(Vec::new()) };
}

/// The thread's current context, dead or alive.
pub fn top() -> Option<Arc<Context>> {
    STACK.with_borrow(|stack| stack.last().cloned().flatten())
}

/// The thread's current context.
///
/// # Errors
/// `INVALID_CONTEXT` without one, and as [`Context::check`].
pub fn current() -> Done<Arc<Context>> {
    let context = top().ok_or(Code::INVALID_CONTEXT)?;
    context.check()?;
    Ok(context)
}

pub fn push(context: Option<Arc<Context>>) {
    STACK.with_borrow_mut(|stack| stack.push(context));
}

/// # Errors
/// `INVALID_CONTEXT` where the stack is empty.
pub fn pop() -> Done<Option<Arc<Context>>> {
    STACK.with_borrow_mut(|stack| stack.pop().ok_or(Code::INVALID_CONTEXT))
}

/// Replaces the top of the stack; null takes it away.
pub fn set(context: Option<Arc<Context>>) {
    STACK.with_borrow_mut(|stack| {
        stack.pop();
        if context.is_some() {
            stack.push(context);
        }
    });
}
