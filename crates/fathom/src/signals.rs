//! Ctrl-C and SIGTERM: the first ends the run in order, the second at once.

use std::io;

use fathom_fleet::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Lets the usual signals raise `interrupt`. A third one ends the process on
/// the spot, should even the quick end hang.
pub(crate) fn raise_on_signals(interrupt: &Interrupt) -> io::Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let interrupt = interrupt.clone();
        let presses = std::sync::atomic::AtomicU8::new(0);
        let action = move || {
            interrupt.raise();
            if presses.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= 2 {
                signal_hook::low_level::exit(130);
            }
        };
        // SAFETY: the action touches two atomics and may call _exit; all of
        // that is async-signal-safe.
        unsafe { signal_hook::low_level::register(signal, action)? };
    }
    Ok(())
}
