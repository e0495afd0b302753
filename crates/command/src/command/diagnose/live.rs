//! Watches this host for a while, for an answer at once.

use std::time::Duration;

use fathom_diagnose::recording::Recording;
use fathom_fleet::Interrupt;
use fathom_model::unit;
use fathom_recorder::watch_host;
use fathom_screen::Countdown;

use crate::exit::CommandError;
use crate::signals;

const SECOND_NS: u64 = 1_000_000_000;

/// A time for which a host is watched.
pub(super) fn duration(text: &str) -> Result<u64, String> {
    let ns = unit::parse_seconds(text).map_err(|error| error.to_string())?;
    match (2 * SECOND_NS..=24 * 3600 * SECOND_NS).contains(&ns) {
        true => Ok(ns),
        false => Err("give a time from 2s to 24h".to_owned()),
    }
}

/// What this host did for so long, or until Ctrl-C, and whether that came. The names
/// of its devices are accepted before it is watched.
pub(super) fn record(
    for_ns: u64,
    quiet: bool,
    accepts: impl Fn(Vec<&str>) -> Result<(), CommandError>,
) -> anyhow::Result<(Recording, bool)> {
    let interrupt = Interrupt::new();
    signals::raise_on_signals(&interrupt)?;
    let countdown = Countdown::new(Duration::from_nanos(for_ns), quiet);
    let stopped = || interrupt.is_raised();
    let watched = watch_host(for_ns, accepts, stopped, |passed| {
        countdown.tell(passed);
    });
    let mut recording = watched?;
    if interrupt.is_raised() {
        let seconds = recording.moments.len();
        recording.remarks.push(format!(
            "interrupted after {seconds} of {} s: this is what was seen until then",
            for_ns / SECOND_NS
        ));
    }
    let was_interrupted = interrupt.is_raised();
    Ok((recording, was_interrupted))
}
