//! Somebody else on the machine: a program that takes a core, a reader on the
//! same device.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use rustix::thread::{CpuSet, sched_setaffinity};

use crate::Error;

/// Threads that disturb. Dropping it ends them.
#[derive(Debug)]
pub struct Disturber {
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Disturber {
    /// Takes `threads` times all that core `cpu` gives.
    ///
    /// # Errors
    /// [`Error::Absent`] when this process may not use that core.
    pub fn on_core(cpu: usize, threads: usize) -> Result<Disturber, Error> {
        let mut disturber = Disturber::idle();
        let mut set = CpuSet::new();
        set.set(cpu);
        let allowed = thread::spawn(move || sched_setaffinity(None, &set).is_ok());
        if !allowed.join().unwrap_or(false) {
            return Err(Error::Absent(format!("core {cpu} may not be used here")));
        }
        for _ in 0..threads {
            let stop = Arc::clone(&disturber.stop);
            let done = Arc::clone(&disturber.done);
            disturber.threads.push(thread::spawn(move || {
                // Refused only where it was refused above.
                let _ = sched_setaffinity(None, &set);
                while !stop.load(Ordering::Relaxed) {
                    for _ in 0..1000 {
                        std::hint::spin_loop();
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                }
            }));
        }
        Ok(disturber)
    }

    /// Reads blocks of `block_bytes` from `path` one after the other, past the
    /// page cache where that is possible.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be opened.
    pub fn reading(path: &Path, block_bytes: usize) -> Result<Disturber, Error> {
        let direct = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECT)
            .open(path);
        let file = direct
            .or_else(|_| File::open(path))
            .map_err(Error::io("open", path))?;
        let mut disturber = Disturber::idle();
        let stop = Arc::clone(&disturber.stop);
        let done = Arc::clone(&disturber.done);
        disturber.threads.push(thread::spawn(move || {
            read_round(&file, block_bytes, &stop, &done);
        }));
        Ok(disturber)
    }

    fn idle() -> Disturber {
        Disturber {
            stop: Arc::default(),
            done: Arc::default(),
            threads: Vec::new(),
        }
    }

    /// How much it did: blocks, or rounds of spinning.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

impl Drop for Disturber {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Alignment that every device takes.
const ALIGNMENT: usize = 4096;

fn read_round(file: &File, block_bytes: usize, stop: &AtomicBool, done: &AtomicU64) {
    let mut room = vec![0u8; block_bytes + ALIGNMENT];
    let start = room.as_ptr().align_offset(ALIGNMENT);
    let block = &mut room[start..start + block_bytes];
    let mut offset = 0;
    while !stop.load(Ordering::Relaxed) {
        match file.read_at(block, offset) {
            Ok(read) if read == block_bytes => offset += block_bytes as u64,
            Ok(_) if offset > 0 => offset = 0,
            Ok(_) | Err(_) => return,
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
}
