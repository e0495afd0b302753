//! Threads that read or write blocks at random places, each one operation at a
//! time. Demand changes in steps, as that of real programs does.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use fathom_model::rng::{Rng, derive_seed};
use serde::{Deserialize, Serialize};

use crate::Error;

/// How often a thread that is not wanted looks whether it is again.
const NOT_WANTED: Duration = Duration::from_millis(5);
/// Alignment that every device takes.
const ALIGNMENT: usize = 4096;
/// More threads than that say nothing more.
const MOST_THREADS: u32 = 512;

/// What is done to each block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// It is read, past the page cache.
    Read,
    /// It is written, past the page cache.
    Write,
    /// It is written, and then `fdatasync` is waited for.
    WriteAndSync,
}

/// Reads or writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockIo {
    /// A file that exists, or a device. Its content is lost when it is written.
    pub path: PathBuf,
    /// What is done.
    pub operation: Operation,
    /// Size of each operation.
    pub block_bytes: u32,
    /// Threads at work in one step after the other, again and again.
    pub active: Vec<u32>,
    /// Length of a step.
    pub step_ms: u64,
    /// Each thread begins an operation so often, on average; 0 is at once
    /// after the one before. An operation that is late is left out.
    pub every_us: u64,
    /// Threads begin their operations together, in batches, as often as makes
    /// so many operations a second of all of them; 0 is each for itself.
    #[serde(default)]
    pub batched_per_second: u64,
    /// Of the places and pauses.
    pub seed: u64,
}

impl BlockIo {
    /// Works until the process is killed.
    pub(super) fn run(&self) -> Result<(), Error> {
        let file = self.open()?;
        let bytes = (&file)
            .seek(SeekFrom::End(0))
            .map_err(Error::io("find the size of", &self.path))?;
        let blocks = bytes / u64::from(self.block_bytes.max(1));
        let threads = self.active.iter().copied().max().unwrap_or(0);
        if blocks == 0 || threads == 0 || threads > MOST_THREADS || self.step_ms == 0 {
            return Err(Error::Description(format!(
                "the application: {threads} threads in steps of {} ms on {} of {bytes} bytes is not a load",
                self.step_ms,
                self.path.display()
            )));
        }
        let started = Instant::now();
        thread::scope(|scope| {
            for number in 0..threads {
                let file = &file;
                scope.spawn(move || self.work(number, file, blocks, started));
            }
        });
        Ok(())
    }

    fn open(&self) -> Result<File, Error> {
        let mut options = OpenOptions::new();
        options
            .read(self.operation == Operation::Read)
            .write(self.operation != Operation::Read);
        // What is synced afterwards may go through the page cache, as logs do.
        if self.operation != Operation::WriteAndSync {
            options.custom_flags(libc::O_DIRECT);
        }
        options
            .open(&self.path)
            .map_err(Error::io("open", &self.path))
    }

    /// Threads that are wanted now.
    fn active(&self, started: Instant) -> u32 {
        let step = started.elapsed().as_millis() as u64 / self.step_ms;
        let place = step as usize % self.active.len();
        self.active.get(place).copied().unwrap_or(0)
    }

    /// Until the next batch begins: all threads count from the same start.
    fn until_batch(&self, started: Instant) -> Duration {
        let apart = f64::from(self.active(started)) / self.batched_per_second.max(1) as f64;
        let now = started.elapsed().as_secs_f64();
        Duration::from_secs_f64((((now / apart).floor() + 1.0) * apart - now).clamp(0.0, 10.0))
    }

    fn work(&self, number: u32, file: &File, blocks: u64, started: Instant) {
        let mut rng = Rng::new(derive_seed(self.seed, u64::from(number)));
        let block_bytes = self.block_bytes as usize;
        let mut room = vec![0xA5_u8; block_bytes + ALIGNMENT];
        let start = room.as_ptr().align_offset(ALIGNMENT);
        let block = &mut room[start..start + block_bytes];
        let mut due = Instant::now();
        loop {
            if number >= self.active(started) {
                thread::sleep(NOT_WANTED);
                due = Instant::now();
                continue;
            }
            if self.every_us > 0 {
                let pause = self.every_us as f64 * (0.5 + rng.unit());
                due = due.max(Instant::now() - Duration::from_micros(self.every_us));
                due += Duration::from_micros(pause as u64);
                thread::sleep(due.saturating_duration_since(Instant::now()));
            }
            if self.batched_per_second > 0 {
                thread::sleep(self.until_batch(started));
            }
            let offset = rng.below(blocks) * u64::from(self.block_bytes);
            let done = match self.operation {
                Operation::Read => file.read_at(block, offset).map(drop),
                Operation::Write => file.write_at(block, offset).map(drop),
                Operation::WriteAndSync => {
                    file.write_at(block, offset).and_then(|_| file.sync_data())
                }
            };
            if done.is_err() {
                // A device that is taken away ends its application.
                return;
            }
        }
    }
}
