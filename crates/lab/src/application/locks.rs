//! Threads that wait for one another.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use crate::Error;

/// Lets `threads` want one lock until the process is killed.
pub(super) fn contend(file: Option<&Path>, threads: u32, hold_ms: u64) -> Result<(), Error> {
    let hold = Duration::from_millis(hold_ms);
    let in_memory = Mutex::new(());
    let mut ends = Vec::new();
    for _ in 0..threads.max(1) {
        // Each opens it anew: who shares an open file shares its lock.
        ends.push(match file {
            Some(path) => Some(
                OpenOptions::new()
                    .write(true)
                    .create(true)
                    .truncate(false)
                    .open(path)
                    .map_err(Error::io("open", path))?,
            ),
            None => None,
        });
    }
    thread::scope(|scope| {
        for end in &ends {
            let in_memory = &in_memory;
            scope.spawn(move || {
                loop {
                    let Some(file) = end else {
                        let _held = in_memory.lock().unwrap_or_else(PoisonError::into_inner);
                        thread::sleep(hold);
                        continue;
                    };
                    if flock(file, FlockOperation::LockExclusive).is_err() {
                        return;
                    }
                    thread::sleep(hold);
                    let _ = flock(file, FlockOperation::Unlock);
                }
            });
        }
    });
    Ok(())
}
