//! Watching this host for a while: readings each second, or ten of them in
//! less; Ctrl-C ends the watching early, and what was seen counts.

use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fathom_console::rewrite_line;
use fathom_model::machine::HostReading;
use fathom_model::unit;
use fathom_observe::machine::MachineWatch;
use fathom_observe::{Sysroot, host_fingerprint};

const EVERY: Duration = Duration::from_secs(1);
const SHORTEST: Duration = Duration::from_millis(100);
/// A look at the signal.
const LOOK: Duration = Duration::from_millis(50);
const DAY: Duration = Duration::from_secs(86_400);

/// A time from a tenth of a second to a day.
///
/// # Errors
/// It is another one, or none.
pub fn duration(text: &str) -> Result<Duration, String> {
    let ns = unit::parse_seconds(text).map_err(|error| error.to_string())?;
    let span = Duration::from_nanos(ns);
    match (SHORTEST..=DAY).contains(&span) {
        true => Ok(span),
        false => Err("watch for at least 100 ms and at most a day".to_owned()),
    }
}

/// The time that is left, on a terminal: a host is watched for minutes.
pub struct Countdown {
    span: Duration,
    shows: bool,
}

impl Countdown {
    /// Of so long; nothing is shown where nobody is to be told.
    #[must_use]
    pub fn new(span: Duration, quiet: bool) -> Countdown {
        let shows = !quiet && stderr().is_terminal();
        Countdown { span, shows }
    }

    /// Says what is left after so long.
    pub fn tell(&self, passed: Duration) {
        let left = self.span.saturating_sub(passed);
        if self.shows && !left.is_zero() {
            let left = unit::span(left.as_nanos().try_into().unwrap_or(u64::MAX));
            rewrite_line(&format!(
                "watching this host: {left} to go (Ctrl-C answers now)"
            ));
        }
    }
}

impl Drop for Countdown {
    fn drop(&mut self) {
        if self.shows {
            rewrite_line("");
        }
    }
}

/// How long a host was watched.
#[derive(Debug, Clone, Copy)]
pub struct WatchedSpan {
    /// The seconds.
    pub seconds: f64,
    /// A signal ended it early.
    pub was_interrupted: bool,
}

/// Adds the readings of so long, or until a signal.
pub fn watch(
    watched: &mut MachineWatch,
    span: Duration,
    readings: &mut Vec<HostReading>,
    quiet: bool,
) -> WatchedSpan {
    let countdown = Countdown::new(span, quiet);
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // Without a handler the signal ends the command, as it does elsewhere.
        let _ = signal_hook::flag::register(signal, Arc::clone(&stop));
    }
    let begun = Instant::now();
    let every = EVERY.min(span / 10).max(SHORTEST / 10);
    let mut next = every;
    while next <= span + every / 2 && !stop.load(Ordering::Relaxed) {
        countdown.tell(next - every);
        while begun.elapsed() < next && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK.min(next.saturating_sub(begun.elapsed())));
        }
        readings.extend(watched.tick());
        next += every;
    }
    WatchedSpan {
        seconds: begun.elapsed().as_secs_f64(),
        was_interrupted: stop.load(Ordering::Relaxed),
    }
}

/// The name of this host.
#[must_use]
pub fn host_name(sys: &Sysroot) -> String {
    host_fingerprint(sys).hostname
}
