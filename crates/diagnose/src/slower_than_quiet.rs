//! Do operations take several times as long as they do on the same device when it is
//! quiet, although no more and no fewer are in flight all the while, or no more and no
//! fewer are served?
//!
//! A plateau compares queues that differ. Workers that come all at once and stay keep one
//! queue, so none shows. But the quiet part of the same recording says what an operation
//! of this kind and size needs: a device with room for all that are in flight would
//! answer each as quickly, and one that takes several times as long lets them wait for
//! one another.

use fathom_rules::diagnosis::closed_loop::{STEADY, THRESHOLD as SLOW_MS};
use fathom_rules::diagnosis::plateau::{LIKE_BLOCK, QUIET_QUEUE};
use fathom_rules::diagnosis::slow_device::FEW_PER_SECOND;
use fathom_rules::diagnosis::slower_than_quiet::{
    FAR, LEAST_QUIET, LEAST_SAMPLES, LONG_MS, SAME_KINDS, THRESHOLD as TIMES,
};
use fathom_rules::diagnosis::waits_for_io::{HALF, LASTING};

use crate::closed_loop::is_never_empty;
use crate::load;
use crate::network_mounts;
use crate::recording::{DiskMoment, Moment, Recording};
use crate::series::Series;
use crate::stalled;

/// A device whose operations wait for one another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SlowerThanQuiet {
    /// Operations in flight, on average.
    pub(crate) queue: f64,
    /// Operations per second that the device gives.
    pub(crate) operations: f64,
    /// Mean time of an operation, in milliseconds.
    pub(crate) wait_ms: f64,
    /// Mean time of an operation while the device was quiet, in milliseconds.
    pub(crate) quiet_ms: f64,
    /// The rate is so even that somebody holds it.
    pub(crate) held: bool,
}

/// A device and the seconds of one of its samples.
type Sample<'a> = (&'a DiskMoment, f64);

/// What the samples of a device show of it, where they show both parts.
pub(crate) fn find(recording: &Recording, name: &str) -> Option<SlowerThanQuiet> {
    if network_mounts::waits(recording, None).is_some() {
        return None;
    }
    let samples = || {
        recording.moments.iter().filter_map(|moment| {
            let disk = moment.disks.iter().find(|disk| disk.name == name)?;
            Some((moment, disk))
        })
    };
    let cpus = recording.host.cpus;
    let queued: Vec<Sample<'_>> = samples()
        .filter(|(moment, disk)| waits_in_a_queue(moment, disk, cpus))
        .map(|(moment, disk)| (disk, load::seconds(moment)))
        .collect();
    let of = |value: fn(&DiskMoment) -> Option<f64>| of_samples(&queued, value);
    let queues = of(DiskMoment::in_flight);
    let all: f64 = recording.moments.iter().map(load::seconds).sum();
    let rates = of(|disk| Some(disk.operations()));
    // A rate that stays while the queue varies is set by the device, and not by what is asked of it.
    let one_load = queues.stays(STEADY) || rates.is_held();
    if queued.len() < LEAST_SAMPLES || queues.seconds() < LASTING * all || !one_load {
        return None;
    }
    let block_bytes = of(block_bytes).quantile(0.5);
    let read_share = of(read_share).mean()?;
    let quiet: Vec<Sample<'_>> = samples()
        .filter(|(_, disk)| is_quiet(disk))
        .filter(|(_, disk)| are_alike(block_bytes, self::block_bytes(disk)))
        .filter(|(_, disk)| {
            self::read_share(disk).is_some_and(|share| (share - read_share).abs() <= SAME_KINDS)
        })
        .map(|(moment, disk)| (disk, load::seconds(moment)))
        .collect();
    let quiet_ms = of_samples(&quiet, DiskMoment::mean_wait_ms).mean()?;
    let (queue, operations) = (queues.mean()?, rates.mean()?);
    let wait_ms = 1000.0 * queue / operations;
    let long = wait_ms >= LONG_MS || wait_ms >= FAR * quiet_ms;
    let slower = quiet.len() >= LEAST_QUIET && wait_ms >= TIMES * quiet_ms && long;
    slower.then(|| SlowerThanQuiet {
        queue,
        operations,
        wait_ms,
        quiet_ms,
        held: rates.is_held(),
    })
}

/// Several operations are in flight all the time, each takes long, and work waits for them.
/// A backlog that is written out while work waits for another device looks alike.
fn waits_in_a_queue(moment: &Moment, disk: &DiskMoment, cpus: Option<u32>) -> bool {
    let Some(queue) = disk.in_flight() else {
        return false;
    };
    is_never_empty(disk, queue)
        && !stalled::may_wait_elsewhere(moment, disk, queue)
        && disk.mean_wait_ms().is_some_and(|ms| ms >= SLOW_MS)
        && stalled::share(moment, disk, cpus).is_some_and(|share| share >= HALF)
}

fn is_quiet(disk: &DiskMoment) -> bool {
    disk.operations() >= FEW_PER_SECOND && disk.in_flight().is_some_and(|queue| queue < QUIET_QUEUE)
}

/// Some recordings hold no bytes.
fn are_alike(usual: Option<f64>, other: Option<f64>) -> bool {
    match (usual, other) {
        (Some(usual), Some(other)) => (usual / LIKE_BLOCK..=usual * LIKE_BLOCK).contains(&other),
        (None, None) => true,
        _ => false,
    }
}

fn block_bytes(disk: &DiskMoment) -> Option<f64> {
    let bytes = disk.bytes() / disk.operations();
    (bytes > 0.0).then_some(bytes)
}

fn read_share(disk: &DiskMoment) -> Option<f64> {
    let share = disk.reads / disk.operations();
    share.is_finite().then_some(share)
}

fn of_samples(samples: &[Sample<'_>], value: fn(&DiskMoment) -> Option<f64>) -> Series {
    let all = samples.iter();
    all.filter_map(|(disk, seconds)| Some((value(disk)?, *seconds)))
        .collect()
}

#[cfg(test)]
mod tests {
    use fathom_model::diagnosis::{Answer, Shortage};

    use crate::diagnose;
    use crate::recording::{CpuShares, DiskMoment, Moment, RecordedHost, Recording};

    fn second(reads: f64, wait_ms: f64, iowait: f64) -> Moment {
        let queue = reads * wait_ms / 1000.0;
        Moment {
            seconds: Some(1.0),
            cpu: Some(CpuShares {
                user: 0.03,
                iowait,
                idle: 0.97 - iowait,
                ..CpuShares::default()
            }),
            disks: vec![DiskMoment {
                name: "sda".to_owned(),
                reads,
                read_bytes: reads * 4096.0,
                read_wait_ms: Some(wait_ms),
                write_wait_ms: Some(0.0),
                queue: Some(queue),
                util: Some(queue.min(1.0)),
                ..DiskMoment::default()
            }],
            ..Moment::default()
        }
    }

    /// Three quiet seconds, then seven with twelve readers that all wait.
    fn then_twelve(quiet: Moment) -> Recording {
        let busy = |number: u32| second(170.0 + f64::from(number % 2), 12_000.0 / 170.0, 0.8);
        let mut moments = vec![quiet; 3];
        moments.extend((0..7).map(busy));
        Recording {
            host: RecordedHost {
                cpus: Some(2),
                ..RecordedHost::default()
            },
            moments,
            ..Recording::default()
        }
    }

    #[test]
    fn readers_that_come_and_stay_are_held_against_the_quiet_part() {
        let found = diagnose(&then_twelve(second(60.0, 0.4, 0.02)), |_| None);
        assert_eq!(found.answer, Answer::Yes, "{found:#?}");
        assert_eq!(found.limiter, Shortage::VolumeCap, "{found:#?}");
        assert!(found.evidence[0].contains("0.40 ms"), "{found:#?}");
    }

    #[test]
    fn a_quiet_part_as_slow_or_of_other_operations_proves_nothing() {
        let as_slow = second(6.0, 60.0, 0.02);
        let mut larger = second(60.0, 0.4, 0.02);
        larger.disks[0].read_bytes *= 4.0;
        let mut writes = second(0.0, 0.0, 0.02);
        writes.disks[0].writes = 60.0;
        writes.disks[0].write_bytes = 60.0 * 4096.0;
        writes.disks[0].write_wait_ms = Some(0.4);
        writes.disks[0].queue = Some(0.024);
        let nothing = second(0.0, 0.0, 0.0);
        for quiet in [as_slow, larger, writes, nothing] {
            let found = diagnose(&then_twelve(quiet), |_| None);
            assert_ne!(found.answer, Answer::Yes, "{found:#?}");
        }
    }

    #[test]
    fn a_backlog_beside_another_device_that_is_waited_for_proves_nothing() {
        let beside = |queue: f64| {
            let mut recording = then_twelve(second(60.0, 0.4, 0.02));
            for moment in &mut recording.moments {
                let mut other = second(1000.0 * queue, 1.0, 0.0).disks.remove(0);
                other.name = "sdb".to_owned();
                moment.disks.push(other);
            }
            diagnose(&recording, |_| None).answer
        };
        assert_eq!(beside(0.1), Answer::Yes);
        assert_ne!(beside(1.0), Answer::Yes);
    }

    #[test]
    fn a_rate_that_is_held_while_the_queue_varies_is_held_against_the_quiet_part() {
        let report = |rate: &dyn Fn(u32) -> f64, queue: &dyn Fn(u32) -> f64| {
            let busy = |number: u32| {
                let (rate, queue) = (rate(number), queue(number));
                second(rate, 1000.0 * queue / rate, 0.6)
            };
            let quiet = vec![second(250.0, 0.7, 0.05); 4];
            let moments = quiet.into_iter().chain((0..16).map(busy));
            Recording {
                host: RecordedHost {
                    cpus: Some(2),
                    ..RecordedHost::default()
                },
                moments: moments.collect(),
                ..Recording::default()
            }
        };
        let varies = |number: u32| 48.0 + 3.0 * (f64::from(number * 7 % 11) - 5.0);
        let held = |number: u32| 3_000.0 + f64::from(number % 3);
        let found = diagnose(&report(&held, &varies), |_| None);
        assert_eq!(found.answer, Answer::Yes, "{found:#?}");
        assert_eq!(found.limiter, Shortage::VolumeCap, "{found:#?}");
        // Ten milliseconds that are not far from the quiet ones.
        let near = |number: u32| 100.0 * held(number) / 3_000.0;
        let short = |_: u32| 1.0;
        let found = diagnose(&report(&near, &short), |_| None);
        assert_ne!(found.answer, Answer::Yes, "{found:#?}");
    }

    #[test]
    fn a_queue_that_nobody_waits_for_proves_nothing() {
        let mut recording = then_twelve(second(60.0, 0.4, 0.02));
        for cpu in recording.moments.iter_mut().filter_map(|m| m.cpu.as_mut()) {
            cpu.iowait = 0.02;
        }
        let found = diagnose(&recording, |_| None);
        assert_ne!(found.answer, Answer::Yes, "{found:#?}");
    }
}
