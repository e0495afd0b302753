//! Devices that have operations in flight and complete none.
//!
//! Neither queue nor rate shows that: since kernel 5.0 the queue is counted when
//! operations end, so that it is 0 while none does, and a rate of 0 looks like a
//! device that nobody asks. What shows it is the gauge of operations in flight,
//! or `%util`, beside a count of completions that stands still.

use fathom_rules::diagnosis;
use fathom_rules::diagnosis::hung_device::LEAST_SAMPLES;

use jiff::civil::DateTime;
use jiff::{SignedDuration, Unit};

use crate::load::{self, Samples, seconds};
use crate::recording::{DiskMoment, Recording};

/// A time in which a device completed nothing of what it had.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hang {
    /// Kernel name of the device.
    pub(crate) name: String,
    /// Length of the longest time in a row.
    pub(crate) seconds: f64,
    samples: usize,
    /// Samples of all times in which it did so.
    samples_in_all: usize,
    /// Operations that it completed in that time.
    completed: f64,
    /// Beginning and end by the host's clock.
    span: Option<(DateTime, DateTime)>,
    /// It goes on to the end of the recording.
    pub(crate) lasts: bool,
    /// Share of the whole recording, with all other times in which it did so.
    pub(crate) share: f64,
    /// The device completed operations at another time of the recording.
    pub(crate) worked_before: bool,
}

impl Hang {
    /// Long enough that no healthy device does so.
    pub(crate) fn is_proved(&self) -> bool {
        self.is_long() && self.samples_in_all >= LEAST_SAMPLES
    }

    fn is_long(&self) -> bool {
        self.seconds >= diagnosis::hung_device::FOR_SECONDS as f64
    }

    /// `loop5: operations in flight, and none completed for 10 s, to the end of the
    /// recording (since 2026-11-23 12:00:05)`.
    pub(crate) fn line(&self) -> String {
        let completed = match self.completed.round() {
            none if none < 1.0 => "none".to_owned(),
            some => format!("{some:.0}"),
        };
        let clock = |at: DateTime| at.strftime("%Y-%m-%d %H:%M:%S").to_string();
        let span = self.span.map(|(from, to)| (clock(from), clock(to)));
        let when = match (span, self.lasts) {
            (Some((from, _)), true) => {
                format!(", to the end of the recording (since {from})")
            }
            (Some((from, to)), false) => format!(" (from {from} to {to})"),
            (None, true) => ", to the end of the recording".to_owned(),
            (None, false) => String::new(),
        };
        format!(
            "{}: operations in flight, and {completed} completed for {:.0} s{when}",
            self.name, self.seconds
        )
    }
}

/// Whether a device has something in flight nearly all the time.
pub(crate) fn is_in_use(disk: &DiskMoment) -> bool {
    let in_use = diagnosis::in_use::THRESHOLD;
    let used = [disk.util, disk.queue].into_iter().flatten();
    used.reduce(f64::max).is_some_and(|most| most >= in_use)
}

/// Whether a moment of a device is one of a hang.
pub fn is_stuck(disk: &DiskMoment) -> bool {
    let used = is_in_use(disk);
    match disk.outstanding {
        // What is in flight at the end while none ended since the last reading.
        Some(outstanding) if outstanding >= 1.0 && disk.completions() == 0.0 => true,
        Some(outstanding) if outstanding < 1.0 => false,
        _ => used && disk.completions() < diagnosis::hung_device::THRESHOLD,
    }
}

/// The longest hang of each device, the longest first.
pub(crate) fn find(recording: &Recording) -> Vec<Hang> {
    let all: f64 = recording.moments.iter().map(seconds).sum();
    let names = load::by_disk(recording);
    let hangs = names
        .iter()
        .filter_map(|(name, samples)| longest(recording, name, samples, all));
    let mut hangs: Vec<Hang> = hangs.collect();
    hangs.sort_by(|a, b| {
        let lasting = b.lasts.cmp(&a.lasts);
        lasting.then(b.seconds.total_cmp(&a.seconds))
    });
    hangs
}

fn longest(recording: &Recording, name: &str, samples: &Samples<'_>, all: f64) -> Option<Hang> {
    if !samples.iter().any(|(disk, _)| is_stuck(disk)) {
        return None;
    }
    let last = recording.moments.len().checked_sub(1)?;
    let mut found: Option<Hang> = None;
    let mut current: Option<Hang> = None;
    let (mut worked, mut stuck_seconds, mut stuck_samples) = (false, 0.0, 0);
    for (index, moment) in recording.moments.iter().enumerate() {
        let disk = moment.disks.iter().find(|disk| disk.name == name);
        let Some(disk) = disk.filter(|disk| is_stuck(disk)) else {
            worked |= disk.is_some_and(|disk| disk.completions() > 0.0);
            current = None;
            continue;
        };
        let length = seconds(moment);
        let begins = || {
            let to = moment.at?;
            let from = to.checked_sub(SignedDuration::try_from_secs_f64(length).ok()?);
            Some((from.ok()?.round(Unit::Second).ok()?, to))
        };
        let hang = current.get_or_insert_with(|| Hang {
            name: name.to_owned(),
            seconds: 0.0,
            samples: 0,
            samples_in_all: 0,
            completed: 0.0,
            span: begins(),
            lasts: false,
            share: 0.0,
            worked_before: false,
        });
        stuck_seconds += length;
        stuck_samples += 1;
        hang.seconds += length;
        hang.samples += 1;
        hang.completed += length * disk.completions();
        hang.span = hang.span.and_then(|(from, _)| {
            let to = moment.at?.round(Unit::Second).ok()?;
            Some((from, to))
        });
        hang.lasts = index == last;
        let longer = found.as_ref().is_none_or(|f| hang.seconds > f.seconds);
        // One that goes on matters more than one that is over.
        if longer || hang.lasts {
            found = Some(hang.clone());
        }
    }
    // One long sample is enough for doubt: all of it passed without an end.
    let mut found = found.filter(|hang| hang.samples >= LEAST_SAMPLES || hang.is_long())?;
    found.worked_before = worked;
    found.samples_in_all = stuck_samples;
    found.share = if all > 0.0 { stuck_seconds / all } else { 0.0 };
    Some(found)
}

#[cfg(test)]
#[path = "hung_device_tests.rs"]
mod tests;
