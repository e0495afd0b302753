//! Watches this host for a while, for an answer at once.

use std::time::Duration;

use fathom_diagnose::recording::Recording;
use fathom_fleet::Interrupt;
use fathom_model::unit;
use fathom_observe::Sysroot;
use fathom_recorder::{Instant, Moments, Sampler, recorded_host};

use crate::command::watched::Countdown;
use crate::pace::Pace;
use crate::signals;

/// A reading each second.
const EVERY_NS: u64 = 1_000_000_000;

/// A time for which a host is watched.
pub(super) fn duration(text: &str) -> Result<u64, String> {
    let ns = unit::parse_duration(text).map_err(|error| error.to_string())?;
    match (2 * EVERY_NS..=24 * 3600 * EVERY_NS).contains(&ns) {
        true => Ok(ns),
        false => Err("give a time from 2s to 24h".to_owned()),
    }
}

/// What this host did for so long, or until Ctrl-C.
pub(super) fn record(for_ns: u64) -> anyhow::Result<Recording> {
    let interrupt = Interrupt::new();
    signals::raise_on_signals(&interrupt)?;
    let mut sampler = Sampler::new(&Sysroot::host());
    let mut moments = Moments::new(EVERY_NS);
    let mut recording = Recording {
        host: recorded_host(&sampler.host()),
        source: "this host, live".to_owned(),
        ..Recording::default()
    };
    let countdown = Countdown::new(Duration::from_nanos(for_ns), false);
    let mut pace = Pace::new(EVERY_NS, Some(for_ns));
    while pace.wait(&interrupt) {
        let frame = sampler.sample(Instant::now());
        recording.moments.extend(moments.advance(&frame));
        countdown.tell(Duration::from_nanos(
            recording.moments.len() as u64 * EVERY_NS,
        ));
    }
    Ok(recording)
}
