//! This host, watched for a while.

use std::time::Duration;

use fathom_diagnose::recording::Recording;
use fathom_observe::{Sysroot, monotonic_ns};

use crate::frame::Instant;
use crate::kind::Kind;
use crate::moments::{Moments, recorded_host};
use crate::pace::Pace;
use crate::pause_watch::{LOOK_NS, PauseWatch};
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
    let mut pauses = PauseWatch::new(&Sysroot::host());
    let mut pace = Pace::new(LOOK_NS, Some(for_ns));
    let mut next_ns = 0;
    let mut is_first = true;
    while pace.wait(&stopped) {
        pauses.look(monotonic_ns);
        let now_ns = monotonic_ns();
        if now_ns < next_ns {
            continue;
        }
        // From tick to tick: one that is late doesn't move those after it.
        next_ns = match now_ns < next_ns.saturating_add(EVERY_NS) {
            true => next_ns.saturating_add(EVERY_NS),
            false => now_ns.saturating_add(EVERY_NS - LOOK_NS / 2),
        };
        let frame = sampler.sample(Instant::now());
        if is_first {
            let names = frame.of(Kind::Disk).map(|row| &*row.name);
            accepts(names.collect())?;
            is_first = false;
        }
        let mut moment = moments.advance(&frame);
        for disk in moment.iter_mut().flat_map(|moment| &mut moment.disks) {
            disk.pauses_s = Some(pauses.take(&disk.name));
        }
        recording.moments.extend(moment);
        tell(Duration::from_nanos(
            recording.moments.len() as u64 * EVERY_NS,
        ));
    }
    // What has not ended yet stands in the last sample.
    for disk in recording
        .moments
        .last_mut()
        .into_iter()
        .flat_map(|last| &mut last.disks)
    {
        let pauses_s = disk.pauses_s.get_or_insert_default();
        pauses_s.extend(pauses.running(&disk.name));
    }
    Ok(recording)
}
