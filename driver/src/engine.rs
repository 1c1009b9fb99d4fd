//! The machine with its queue: work that C does not wait for runs on a thread of its own, in the order in which it was given.
//!
//! There is one machine for the process, so that an address means one thing in all contexts and host memory has the same address
//! for kernels. The queue is one, too: the order in which work was given to it is one of the orders that streams permit. A
//! caller that waits takes the machine itself once the work before it is done, without a change of threads.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use warpwise_simt::checks::Checks;
use warpwise_simt::device::Device;
use warpwise_simt::machine::Machine;

/// Work for the machine's thread.
pub type Job = Box<dyn FnOnce(&Engine) + Send>;

/// A place in the queue; the first is 1, and 0 is before all work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

#[derive(Debug)]
pub struct Engine {
    machine: Mutex<Machine>,
    queue: Mutex<Queue>,
    /// The queue has work.
    given: Condvar,
    /// Work was done.
    done: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    submitted: Ticket,
    completed: Ticket,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("submitted", &self.submitted).field("completed", &self.completed).finish()
    }
}

thread_local! {
    static IS_MACHINE_THREAD: Cell<bool> = const { Cell::new(false) };
}

impl Engine {
    /// A machine for the device that makes these checks, its thread started. The thread lives as long as the process.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(device: &Device, checks: Checks) -> std::io::Result<Arc<Self>> {
        let mut machine = Machine::new(device);
        machine.set_checks(checks);
        let engine = Arc::new(Self {
            machine: Mutex::new(machine),
            queue: Mutex::default(),
            given: Condvar::new(),
            done: Condvar::new(),
        });
        let worker = Arc::clone(&engine);
        std::thread::Builder::new().name("warpwise machine".to_owned()).spawn(move || worker.work())?;
        Ok(engine)
    }

    /// Whether this is the machine's own thread, which runs host functions and may not wait for itself.
    pub fn is_machine_thread() -> bool {
        IS_MACHINE_THREAD.get()
    }

    /// Queues work and does not wait.
    pub fn submit(&self, job: Job) -> Ticket {
        let mut queue = self.queue();
        queue.jobs.push_back(job);
        queue.submitted.0 += 1;
        let ticket = queue.submitted;
        drop(queue);
        self.given.notify_one();
        ticket
    }

    /// Waits until the work of the ticket, and all before it, is done.
    pub fn wait(&self, ticket: Ticket) {
        let queue = self.queue();
        drop(self.done.wait_while(queue, |queue| queue.completed < ticket).unwrap_or_else(PoisonError::into_inner));
    }

    pub fn is_done(&self, ticket: Ticket) -> bool {
        self.queue().completed >= ticket
    }

    /// The machine, once what runs on it now has ended.
    pub fn machine(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        IS_MACHINE_THREAD.set(true);
        loop {
            let waiting = self.given.wait_while(self.queue(), |queue| queue.jobs.is_empty());
            let Some(job) = waiting.unwrap_or_else(PoisonError::into_inner).jobs.pop_front() else { continue };
            // A job's panic is its context's to report; the queue goes on.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job(self)));
            self.queue().completed.0 += 1;
            self.done.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_in_order_and_a_panic_does_not_stop_it() {
        let engine = Engine::start(Device::default_device(), Checks::default()).unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut last = Ticket::default();
        for number in 0..100 {
            let seen = Arc::clone(&seen);
            last = engine.submit(Box::new(move |_| {
                assert!(Engine::is_machine_thread());
                seen.lock().unwrap().push(number);
                assert!(number != 50, "planted");
            }));
        }
        engine.wait(last);
        assert_eq!(last, Ticket(100));
        assert!(engine.is_done(last) && !engine.is_done(Ticket(101)));
        assert!(!Engine::is_machine_thread());
        assert!(seen.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().eq(0..100));
    }
}
