//! What a program that carries or starts agents complains about: the last of
//! its standard error, kept for the case that something goes wrong.

use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is kept.
const KEPT_BYTES: usize = 16 << 10;

/// Longest line that is passed on.
const LINE_CHARS: usize = 300;

/// The last words of a program.
#[derive(Debug, Clone)]
pub(crate) struct StderrTail(Arc<Mutex<Vec<u8>>>);

impl StderrTail {
    /// Listens until there is no more.
    pub(crate) fn of(mut errors: impl Read + Send + 'static) -> StderrTail {
        let complaints = StderrTail(Arc::default());
        let keep = complaints.clone();
        let listen = move || {
            let mut buffer = [0; 1024];
            while let Ok(n @ 1..) = errors.read(&mut buffer) {
                let mut kept = keep.kept();
                kept.extend_from_slice(&buffer[..n]);
                let over = kept.len().saturating_sub(KEPT_BYTES);
                kept.drain(..over);
            }
        };
        // Without a thread to spare there are no words, and no error either.
        let _ = std::thread::Builder::new()
            .name("fathom-complaint".to_owned())
            .stack_size(128 << 10)
            .spawn(listen);
        complaints
    }

    fn kept(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last line that `fits`, fit for a terminal.
    pub(crate) fn last(&self, fits: impl Fn(&str) -> bool) -> Option<String> {
        self.lines(fits).pop()
    }

    /// The first one: where others follow from it, it is the cause.
    pub(crate) fn first(&self, fits: impl Fn(&str) -> bool) -> Option<String> {
        self.lines(fits).into_iter().next()
    }

    fn lines(&self, fits: impl Fn(&str) -> bool) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.kept()).into_owned();
        let lines = text.lines().map(str::trim);
        lines
            .filter(|line| !line.is_empty() && fits(line))
            .map(|line| {
                line.chars()
                    .filter(|c| !c.is_control())
                    .take(LINE_CHARS)
                    .collect()
            })
            .collect()
    }
}
