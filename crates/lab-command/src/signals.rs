//! Ctrl-C, SIGTERM and SIGHUP, counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How often the end is looked for.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// Ctrl-C, SIGTERM and SIGHUP since the start.
pub(crate) struct Signals(Arc<AtomicUsize>);

impl Signals {
    pub(crate) fn listen() -> std::io::Result<Signals> {
        let count = Arc::new(AtomicUsize::new(0));
        for signal in [
            signal_hook::consts::SIGINT,
            signal_hook::consts::SIGTERM,
            signal_hook::consts::SIGHUP,
        ] {
            let count = Arc::clone(&count);
            // SAFETY: the action adds to an atomic, which is async-signal-safe.
            unsafe {
                signal_hook::low_level::register(signal, move || {
                    count.fetch_add(1, Ordering::Relaxed);
                })?;
            }
        }
        Ok(Signals(count))
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}
