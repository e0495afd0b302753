//! Operations so slow that a short queue does not prove there is room.
//!
//! How long a queue is 95 % of the time says nothing of a device that stands still
//! at times, and what tells a slow device by its reads and writes says nothing of
//! one whose flushes or discards are what takes long.

use fathom_model::diagnosis::Shortage;
use fathom_model::unit;
use fathom_rules::diagnosis::hung_device::FOR_SECONDS;
use fathom_rules::diagnosis::room::{ONE_IN_FLIGHT, USED_QUEUE};
use fathom_rules::diagnosis::slow_device::{FEW_PER_SECOND, THRESHOLD as SLOW_MS};

use crate::hung_device::is_in_use;
use crate::load::{self, Samples};
use crate::recording::{DiskMoment, Recording};
use crate::series::Series;

/// In words, for the device that is worst. Where memory is short, swapping may be
/// what makes reads and writes slow.
pub(crate) fn line(recording: &Recording, limiter: Shortage) -> Option<String> {
    let disks = load::by_disk(recording);
    let stands_still = disks.iter().filter_map(|(name, samples)| {
        let longest_s = longest_s(samples)?;
        Some((longest_s, *name))
    });
    if let Some((seconds, name)) = stands_still.max_by(|a, b| a.0.total_cmp(&b.0)) {
        return Some(format!(
            "{name}: at times operations take {seconds:.0} s on average, as when it stands still"
        ));
    }
    let slow = disks.iter().filter_map(|(name, samples)| {
        let (kind, wait_ms) = slow_kind(samples)?;
        Some((wait_ms, *name, kind))
    });
    if let Some((wait_ms, name, kind)) = slow.max_by(|a, b| a.0.total_cmp(&b.0)) {
        return Some(format!(
            "{name}: a {kind} takes {} on average, and one is in flight most of the time",
            span(wait_ms)
        ));
    }
    let alone = disks.iter().filter(|_| limiter != Shortage::Memory);
    let alone = alone.filter_map(|(name, samples)| Some((slow_alone(samples)?, *name)));
    let (wait_ms, name) = alone.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!(
        "{name}: a read or write takes {} on average with no other in its way",
        span(wait_ms)
    ))
}

fn span(wait_ms: f64) -> String {
    unit::span((wait_ms * 1e6) as u64)
}

/// Mean time of a read or write while about one is in flight at most, where it is
/// long: then it is the device that is slow and not its queue.
fn slow_alone(samples: &Samples<'_>) -> Option<f64> {
    let alone = || {
        let queues = |disk: &DiskMoment| disk.in_flight().is_some_and(|n| n > ONE_IN_FLIGHT);
        samples.iter().filter(move |(disk, _)| !queues(disk))
    };
    let rate = alone().map(|(disk, seconds)| (disk.operations(), *seconds));
    let rate = rate.collect::<Series>().mean()?;
    let waits = alone().filter_map(|(disk, s)| Some((disk.mean_wait_ms()?, s * disk.operations())));
    let wait_ms = waits.collect::<Series>().mean()?;
    (rate >= FEW_PER_SECOND && wait_ms >= SLOW_MS).then_some(wait_ms)
}

/// The longest mean time of the operations of a sample, where it is one that no
/// healthy device needs.
fn longest_s(samples: &Samples<'_>) -> Option<f64> {
    let used = samples.iter().filter(|(disk, _)| is_in_use(disk));
    let waits = used.flat_map(|(disk, _)| {
        let other = disk.others().map(|kind| kind.wait_ms);
        [disk.read_wait_ms, disk.write_wait_ms, disk.wait_ms]
            .into_iter()
            .chain(other)
            .flatten()
    });
    let longest_s = waits.reduce(f64::max)? / 1000.0;
    (longest_s >= FOR_SECONDS as f64).then_some(longest_s)
}

/// The kind beside reads and writes of which one is usually in flight and takes
/// long, with the mean time of it.
fn slow_kind(samples: &Samples<'_>) -> Option<(&'static str, f64)> {
    let places = 0..DiskMoment::default().others().len();
    let slow = places.filter_map(|place| {
        let kinds = || {
            let of = |(disk, seconds): &(&DiskMoment, f64)| (disk.others()[place], *seconds);
            samples.iter().map(of)
        };
        let in_flight = kinds().map(|(kind, seconds)| (kind.in_flight(), seconds));
        let waits = kinds().filter_map(|(kind, s)| Some((kind.wait_ms?, s * kind.rate)));
        let wait_ms = waits.collect::<Series>().mean()?;
        let used = in_flight.collect::<Series>().mean()? >= USED_QUEUE;
        (used && wait_ms >= SLOW_MS).then(|| (kinds().next().map_or("", |k| k.0.name), wait_ms))
    });
    slow.max_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use fathom_model::diagnosis::Answer;

    use super::*;
    use crate::diagnose;
    use crate::recording::{CpuShares, Moment};

    /// Ten seconds by what iostat shows of them.
    fn ten_seconds(disk: DiskMoment, iowait: f64) -> Moment {
        Moment {
            seconds: Some(10.0),
            cpu: Some(CpuShares {
                user: 0.05,
                iowait,
                idle: 0.95 - iowait,
                ..CpuShares::default()
            }),
            disks: vec![disk],
            ..Moment::default()
        }
    }

    fn quiet() -> DiskMoment {
        DiskMoment {
            name: "sda".to_owned(),
            reads: 50.0,
            writes: 20.0,
            read_wait_ms: Some(2.0),
            write_wait_ms: Some(1.0),
            queue: Some(0.12),
            util: Some(0.12),
            ..DiskMoment::default()
        }
    }

    fn answer(moments: impl Iterator<Item = Moment>) -> (Answer, String) {
        let mut recording = Recording::default();
        recording.host.cpus = Some(8);
        recording.moments = moments.collect();
        let found = diagnose(&recording, |_| None);
        (found.answer, found.evidence[0].clone())
    }

    #[test]
    fn a_device_that_stands_still_now_and_then_has_no_proven_room() {
        // Ten seconds in every four hundred: what was in flight ends after them, or
        // nearly all of it goes on.
        for ended in [0.1, 10.0] {
            let still = DiskMoment {
                reads: ended,
                writes: ended,
                read_wait_ms: Some(9_000.0),
                write_wait_ms: Some(9_000.0),
                queue: Some(100.0),
                util: Some(1.0),
                ..quiet()
            };
            let (found, evidence) = answer((0..80).map(|number| match number % 40 {
                20 => ten_seconds(still.clone(), 0.95),
                _ => ten_seconds(quiet(), 0.01),
            }));
            assert_eq!(found, Answer::NotProven, "{ended}: {evidence}");
            assert!(evidence.starts_with("sda: "), "{evidence}");
        }
        let calm = (0..80).map(|_| ten_seconds(quiet(), 0.01));
        assert_eq!(answer(calm).0, Answer::No);
    }

    #[test]
    fn flushes_and_discards_that_take_long_are_no_room() {
        let flushing = DiskMoment {
            reads: 0.0,
            writes: 5.0,
            write_wait_ms: Some(0.1),
            flushes: 5.0,
            flush_wait_ms: Some(190.0),
            queue: Some(0.01),
            util: Some(0.95),
            ..quiet()
        };
        let discarding = DiskMoment {
            reads: 3.0,
            writes: 0.0,
            discards: 1.0,
            discard_wait_ms: Some(990.0),
            queue: Some(0.99),
            util: Some(0.99),
            ..quiet()
        };
        for (disk, expected, words) in [
            // One is in progress all the time, and work waits for it.
            (flushing, Answer::Yes, "a flush takes 190"),
            (discarding, Answer::NotProven, "a discard takes 990"),
        ] {
            let moments = (0..60).map(|_| ten_seconds(disk.clone(), 0.12));
            let (found, evidence) = answer(moments);
            assert_eq!(found, expected, "{evidence}");
            assert!(evidence.contains(words), "{evidence}");
        }
    }

    #[test]
    fn a_device_that_needs_long_for_each_operation_has_no_proven_room() {
        let slow = |reads: f64, wait_ms: f64| DiskMoment {
            reads,
            writes: 0.0,
            read_wait_ms: Some(wait_ms),
            write_wait_ms: Some(0.0),
            queue: Some(reads * wait_ms / 1000.0),
            util: Some(reads * wait_ms / 1000.0),
            ..quiet()
        };
        for (reads, wait_ms) in [(3.0, 150.0), (1.5, 200.0)] {
            let disk = slow(reads, wait_ms);
            let (found, evidence) = answer((0..60).map(|_| ten_seconds(disk.clone(), 0.0)));
            assert_eq!(found, Answer::NotProven, "{evidence}");
            assert!(evidence.contains("a read or write takes"), "{evidence}");
        }
        // A few slow operations a minute, and quick ones, say nothing.
        for disk in [slow(0.2, 150.0), slow(3.0, 20.0)] {
            let (found, evidence) = answer((0..60).map(|_| ten_seconds(disk.clone(), 0.0)));
            assert_eq!(found, Answer::No, "{evidence}");
        }
    }

    #[test]
    fn a_queue_that_contradicts_rate_and_time_is_no_room() {
        for writes in [false, true] {
            let disk = DiskMoment {
                reads: if writes { 0.0 } else { 1000.0 },
                writes: if writes { 1000.0 } else { 0.0 },
                read_wait_ms: Some(15.0),
                write_wait_ms: Some(15.0),
                queue: Some(0.1),
                util: Some(0.1),
                ..quiet()
            };
            let (found, evidence) = answer((0..60).map(|_| ten_seconds(disk.clone(), 0.0)));
            assert_eq!(found, Answer::NotProven, "{evidence}");
            assert!(evidence.contains("contradict"), "{evidence}");
            assert!(evidence.contains("15"), "{evidence}");
        }
    }
}
