//! Long work on a target, cut into chunks that several threads take in turn,
//! while the caller's thread reports progress and listens for a stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use super::hooks::{PrepareHooks, PrepareProgress};
use crate::Error;

/// Time between two reports.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// What is to be done.
pub(crate) struct CrewWork<'a> {
    /// For people: `filling test files`.
    pub(crate) what: &'a str,
    /// Chunks are numbered from 0.
    pub(crate) chunks: u64,
    /// All bytes of all chunks.
    pub(crate) total_bytes: u64,
    /// Threads that take chunks.
    pub(crate) threads: usize,
}

/// Runs `step` for each chunk. Each thread makes itself a `tools` first and
/// hands it to its steps; a step returns the bytes that it has done. Chunks are
/// taken in ascending order. The first error ends the work.
pub(crate) fn run<T>(
    work: &CrewWork<'_>,
    hooks: &mut dyn PrepareHooks,
    tools: impl Fn() -> Result<T, Error> + Sync,
    step: impl Fn(&mut T, u64) -> Result<u64, Error> + Sync,
) -> Result<(), Error> {
    let next = AtomicU64::new(0);
    let done_bytes = AtomicU64::new(0);
    let ended = AtomicBool::new(false);
    let failure = Mutex::new(None);
    let (sender, finished) = channel::<()>();
    let threads = work
        .threads
        .clamp(1, usize::try_from(work.chunks).unwrap_or(usize::MAX).max(1));
    let take = || -> Result<(), Error> {
        let mut tools = tools()?;
        while !ended.load(Ordering::Relaxed) {
            let chunk = next.fetch_add(1, Ordering::Relaxed);
            if chunk >= work.chunks {
                break;
            }
            done_bytes.fetch_add(step(&mut tools, chunk)?, Ordering::Relaxed);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let mut started = 0;
        for _ in 0..threads {
            let sender = sender.clone();
            let (take, ended, failure) = (&take, &ended, &failure);
            let begun = Builder::new().spawn_scoped(scope, move || {
                if let Err(error) = take() {
                    ended.store(true, Ordering::Relaxed);
                    let mut first = failure.lock().unwrap_or_else(PoisonError::into_inner);
                    first.get_or_insert(error);
                }
                drop(sender);
            });
            match begun {
                Ok(_) => started += 1,
                // The others do the work of those that cannot be had.
                Err(_) if started > 0 => break,
                Err(error) => {
                    let mut first = failure.lock().unwrap_or_else(PoisonError::into_inner);
                    first.get_or_insert(no_thread(&error));
                }
            }
        }
        drop(sender);
        loop {
            report(work, hooks, done_bytes.load(Ordering::Relaxed));
            if hooks.stop_requested() && !ended.swap(true, Ordering::Relaxed) {
                let mut first = failure.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(Error::Stopped);
            }
            // Nothing is ever sent: the channel closes with the last thread.
            if finished.recv_timeout(REPORT_EVERY) == Err(RecvTimeoutError::Disconnected) {
                break;
            }
        }
    });
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => {
            report(work, hooks, work.total_bytes);
            Ok(())
        }
    }
}

/// Why no thread could be started, and what to do.
pub(crate) fn no_thread(error: &std::io::Error) -> Error {
    Error::Workload(format!(
        "no thread could be started ({error}): raise the limits of processes (ulimit -u) and of \
         memory (ulimit -v)"
    ))
}

fn report(work: &CrewWork<'_>, hooks: &mut dyn PrepareHooks, done_bytes: u64) {
    hooks.progress(PrepareProgress {
        what: work.what,
        done_bytes,
        total_bytes: work.total_bytes,
    });
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::prepare::CreationRefused;

    struct Audience {
        reports: Vec<(u64, u64)>,
        stop: bool,
    }

    impl PrepareHooks for Audience {
        fn progress(&mut self, progress: PrepareProgress<'_>) {
            self.reports
                .push((progress.done_bytes, progress.total_bytes));
        }

        fn creating(&mut self, _: &Path) -> Result<(), CreationRefused> {
            Ok(())
        }

        fn removed(&mut self, _: &Path) {}

        fn stop_requested(&self) -> bool {
            self.stop
        }
    }

    const WORK: CrewWork<'_> = CrewWork {
        what: "counting",
        chunks: 1000,
        total_bytes: 5000,
        threads: 4,
    };

    #[test]
    fn each_chunk_is_done_once() {
        let mut audience = Audience {
            reports: Vec::new(),
            stop: false,
        };
        let seen = Mutex::new(vec![0; 1000]);
        let step = |(): &mut (), chunk: u64| {
            seen.lock().unwrap()[chunk as usize] += 1;
            Ok(5)
        };
        run(&WORK, &mut audience, || Ok(()), step).unwrap();
        assert!(seen.into_inner().unwrap().iter().all(|n| *n == 1));
        assert_eq!(audience.reports.last(), Some(&(5000, 5000)));
    }

    #[test]
    fn the_first_error_and_a_stop_end_the_work() {
        let mut audience = Audience {
            reports: Vec::new(),
            stop: false,
        };
        let fail = |(): &mut (), chunk: u64| match chunk {
            500 => Err(Error::Workload("chunk 500".to_owned())),
            _ => Ok(5),
        };
        let error = run(&WORK, &mut audience, || Ok(()), fail).unwrap_err();
        assert_eq!(error.to_string(), "chunk 500");
        audience.stop = true;
        let wait = |(): &mut (), _| {
            std::thread::sleep(Duration::from_millis(1));
            Ok(5)
        };
        let error = run(&WORK, &mut audience, || Ok(()), wait).unwrap_err();
        assert!(matches!(error, Error::Stopped));
    }
}
