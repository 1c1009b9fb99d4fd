//! One `cargo xtask` at a time changes what is in the target folder; a second one waits and says so.

use crate::error::{Error, Result};
use std::fs::{File, TryLockError};
use std::path::Path;

/// Held until it is dropped, or until the process ends, however it ends: the system keeps the lock, not the file.
pub struct Lock {
    _file: File,
}

/// Takes the lock of the file at `path`, which need not exist.
pub fn acquire(path: &Path) -> Result<Lock> {
    let file = File::options().create(true).truncate(false).write(true).open(path);
    let file = file.map_err(|error| Error::file("open the lock file", path, &error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            eprintln!("waiting for another cargo xtask");
            file.lock().map_err(|error| Error::file("lock", path, &error))?;
        }
        // A file system without locks: two runs at once are then the user's to avoid.
        Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => {}
        Err(TryLockError::Error(error)) => return Err(Error::file("lock", path, &error)),
    }
    Ok(Lock { _file: file })
}

#[cfg(test)]
mod tests {
    use super::acquire;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    #[test]
    fn two_that_hold_the_lock_never_overlap() {
        let path = std::env::temp_dir().join(format!("xtask-lock-{}", std::process::id()));
        let inside = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let lock = acquire(&path).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "another is inside");
                        thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        std::fs::remove_file(path).unwrap();
    }
}
