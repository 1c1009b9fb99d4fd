//! Lines on standard error while a long step runs: what it does, that it still does, how long it took.
//!
//! Whole lines and no cursor movement, since two steps run side by side and logs are read too.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// A step says nothing until it has taken this long: what is fresh passes in silence.
const SILENT: Duration = Duration::from_millis(500);

/// The first reminder comes after this, each further one after twice as long, up to a minute.
const REMINDER: Duration = Duration::from_secs(10);
const REMINDER_MAX: Duration = Duration::from_secs(60);

/// Runs `work`, and says so if it takes a while.
pub fn step<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let (done, is_done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut wait = SILENT;
            while let Err(mpsc::RecvTimeoutError::Timeout) = is_done.recv_timeout(wait) {
                if wait == SILENT {
                    eprintln!("{what} …");
                    wait = REMINDER;
                } else {
                    eprintln!("{what} … {} s", begin.elapsed().as_secs());
                    wait = REMINDER_MAX.min(2 * wait);
                }
            }
            if wait != SILENT {
                eprintln!("{what}: {:.1} s", begin.elapsed().as_secs_f64());
            }
        });
        let result = work();
        drop(done);
        result
    })
}
