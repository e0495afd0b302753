//! Ctrl-C and SIGTERM: the first ends the run in order, the second at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use fathom_fleet::Interrupt;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};

/// The signals that end a run. A core file of a generator tells nobody anything, and
/// its test files would stay.
const ENDING: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// Lets a write beyond the largest file that this process may have end with an
/// error, which is reported, instead of ending the process.
pub fn survive_file_limits() -> io::Result<()> {
    // SAFETY: the action does nothing.
    unsafe { signal_hook::low_level::register(SIGXFSZ, || {}) }.map(drop)
}

/// Lets the usual signals raise `interrupt`. A third one ends the process on
/// the spot, should even the quick end hang.
pub fn raise_on_signals(interrupt: &Interrupt) -> io::Result<()> {
    raise_until(interrupt, 2)
}

/// Lets the first of the usual signals raise `interrupt`, and the second end the
/// process on the spot: for what measures nothing that would have to be kept.
pub fn raise_on_first_signal(interrupt: &Interrupt) -> io::Result<()> {
    raise_until(interrupt, 1)
}

/// A flag that the first of the usual signals raises; the second ends the process
/// at once.
///
/// # Errors
/// What the system says.
pub fn stop_on_signals() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in ENDING {
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

fn raise_until(interrupt: &Interrupt, most: u8) -> io::Result<()> {
    // Counted together: whoever tries SIGTERM after two Ctrl-C means it.
    let presses = Arc::new(AtomicU8::new(0));
    for signal in ENDING {
        let (interrupt, presses) = (interrupt.clone(), Arc::clone(&presses));
        let action = move || {
            interrupt.raise();
            fathom_deadline::interrupt_waits();
            if presses.fetch_add(1, Ordering::Relaxed) >= most {
                signal_hook::low_level::exit(130);
            }
        };
        // SAFETY: the action touches atomics and may call _exit; all of
        // that is async-signal-safe.
        unsafe { signal_hook::low_level::register(signal, action)? };
    }
    end_at_cpu_limit(interrupt)
}

/// Ends a run in order at the soft limit of CPU time. Where the hard limit is the
/// same, the kernel would kill the process at once, so the soft one is lowered.
fn end_at_cpu_limit(interrupt: &Interrupt) -> io::Result<()> {
    let limits = getrlimit(Resource::Cpu);
    if let (Some(soft), Some(hard)) = (limits.current, limits.maximum)
        && soft == hard
        && hard > 1
    {
        let current = Some(hard - 1);
        // A limit that stays as it is ends the process later: nothing is lost.
        let _ = setrlimit(Resource::Cpu, Rlimit { current, ..limits });
    }
    let interrupt = interrupt.clone();
    // SAFETY: the action touches atomics only, which is async-signal-safe.
    unsafe { signal_hook::low_level::register(SIGXCPU, move || interrupt.raise_at_cpu_limit()) }
        .map(drop)
}
