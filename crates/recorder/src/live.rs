//! This host, watched for a while.

use std::time::Duration;

use fathom_diagnose::recording::Recording;
use fathom_observe::Sysroot;

use crate::frame::Instant;
use crate::kind::Kind;
use crate::moments::{Moments, recorded_host};
use crate::pace::Pace;
use crate::sampler::Sampler;

/// A reading each second.
const EVERY_NS: u64 = 1_000_000_000;

/// What this host did for so long, or until it is stopped. The names of its
/// devices are accepted before it is watched; `tell` hears of the time that passed.
///
/// # Errors
/// Why the devices are not accepted.
pub fn watch_host<E>(
    for_ns: u64,
    accepts: impl Fn(Vec<&str>) -> Result<(), E>,
    stopped: impl Fn() -> bool,
    tell: impl Fn(Duration),
) -> Result<Recording, E> {
    let mut sampler = Sampler::new(&Sysroot::host());
    let mut moments = Moments::new(EVERY_NS);
    let mut recording = Recording {
        host: recorded_host(&sampler.host()),
        source: "this host, live".to_owned(),
        ..Recording::default()
    };
    let mut pace = Pace::new(EVERY_NS, Some(for_ns));
    let mut is_first = true;
    while pace.wait(&stopped) {
        let frame = sampler.sample(Instant::now());
        if is_first {
            let names = frame.of(Kind::Disk).map(|row| &*row.name);
            accepts(names.collect())?;
            is_first = false;
        }
        recording.moments.extend(moments.advance(&frame));
        tell(Duration::from_nanos(
            recording.moments.len() as u64 * EVERY_NS,
        ));
    }
    Ok(recording)
}
