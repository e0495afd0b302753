//! Ctrl-C and SIGTERM: the first ends the run in order, the second at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use fathom_fleet::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ};

/// Lets a write beyond the largest file that this process may have end with an
/// error, which is reported, instead of ending the process.
pub(crate) fn survive_file_limits() -> io::Result<()> {
    // SAFETY: the action does nothing.
    unsafe { signal_hook::low_level::register(SIGXFSZ, || {}) }.map(drop)
}

/// Lets the usual signals raise `interrupt`. A third one ends the process on
/// the spot, should even the quick end hang.
pub(crate) fn raise_on_signals(interrupt: &Interrupt) -> io::Result<()> {
    raise_until(interrupt, 2)
}

/// Lets the first of the usual signals raise `interrupt`, and the second end the
/// process on the spot: for what measures nothing that would have to be kept.
pub(crate) fn raise_on_first_signal(interrupt: &Interrupt) -> io::Result<()> {
    raise_until(interrupt, 1)
}

fn raise_until(interrupt: &Interrupt, most: u8) -> io::Result<()> {
    // Counted together: whoever tries SIGTERM after two Ctrl-C means it.
    let presses = Arc::new(AtomicU8::new(0));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let (interrupt, presses) = (interrupt.clone(), Arc::clone(&presses));
        let action = move || {
            interrupt.raise();
            if presses.fetch_add(1, Ordering::Relaxed) >= most {
                signal_hook::low_level::exit(130);
            }
        };
        // SAFETY: the action touches two atomics and may call _exit; all of
        // that is async-signal-safe.
        unsafe { signal_hook::low_level::register(signal, action)? };
    }
    end_at_cpu_limit(interrupt)
}

/// Whether the limit of CPU time ended the load.
static CPU_LIMIT_REACHED: AtomicBool = AtomicBool::new(false);

/// Ends a run in order at the soft limit of CPU time. The kernel repeats the
/// signal every second until the hard limit, so only the first one counts.
fn end_at_cpu_limit(interrupt: &Interrupt) -> io::Result<()> {
    let interrupt = interrupt.clone();
    let action = move || {
        if !CPU_LIMIT_REACHED.swap(true, Ordering::Relaxed) {
            interrupt.raise();
        }
    };
    // SAFETY: the action touches two atomics, which is async-signal-safe.
    unsafe { signal_hook::low_level::register(SIGXCPU, action) }.map(drop)
}

/// What ended a run that no user ended, in words.
pub(crate) fn limit_reached() -> Option<String> {
    CPU_LIMIT_REACHED
        .load(Ordering::Relaxed)
        .then(|| "the limit of CPU time was reached (ulimit -t)".to_owned())
}
