//! Is more in flight at a device than it can do, all the time?
//!
//! A plateau is seen where queues differ. A device that is at its end for the whole
//! recording has queues that are always alike, and no quiet moment to be held against:
//! the worse the overload, the less a plateau says. Then the published range of storage
//! is the reference: no class of it needs 100 ms for an operation while it has room, and
//! one that does is slow in itself.

use std::collections::BTreeMap;

use fathom_model::diagnosis::DiskLoad;
use fathom_rules::diagnosis::overload::{LASTING, LEAST_SAMPLES, THRESHOLD as LONG_MS};
use fathom_rules::diagnosis::plateau::{LEAST_QUEUE, NEVER_EMPTY};
use fathom_rules::diagnosis::room::USED_QUEUE;
use fathom_rules::diagnosis::slow_device::FEW_PER_SECOND;
use fathom_rules::diagnosis::waits_for_io::HALF;

use crate::load::{self, Samples};
use crate::network_mounts;
use crate::recording::{DiskMoment, Moment, Recording};
use crate::series::Series;
use crate::stalled;

/// What a device shows that is overloaded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Overload {
    /// Operations per second that it gives.
    pub(crate) operations: f64,
    /// Mean queue.
    pub(crate) queue: f64,
    /// Mean time of an operation, in milliseconds.
    pub(crate) wait_ms: f64,
    /// Share of the time for which work waited for I/O meanwhile.
    pub(crate) stalled: f64,
    /// The rate is so even that somebody holds it.
    pub(crate) held: bool,
}

/// The overload of a device, where its samples show one that lasts.
pub(crate) fn find(recording: &Recording, name: &str, samples: &Samples<'_>) -> Option<Overload> {
    let all: f64 = samples.iter().map(|(_, seconds)| seconds).sum();
    let of = |value: fn(&DiskMoment) -> Option<f64>| -> Series {
        let long = samples.iter().filter(|(disk, _)| is_long(disk));
        let values = long.filter_map(|(disk, seconds)| Some((value(disk)?, *seconds)));
        values.collect()
    };
    let rates = of(|disk| Some(disk.operations()));
    let count = samples.iter().filter(|(disk, _)| is_long(disk)).count();
    if count < LEAST_SAMPLES || rates.seconds() < LASTING * all {
        return None;
    }
    let stalled = waited(recording, name).filter(|share| *share >= HALF)?;
    let (operations, queue) = (rates.mean()?, of(DiskMoment::in_flight).mean()?);
    if waited_for_elsewhere(recording, name, queue) {
        return None;
    }
    Some(Overload {
        operations,
        queue,
        wait_ms: 1000.0 * queue / operations,
        stalled,
        held: rates.is_held(),
    })
}

/// Operations queue and take long, and the device is never empty in between, as it is
/// between batches. What is not counted, or counted as nothing at all, says nothing.
fn is_long(disk: &DiskMoment) -> bool {
    let never_empty = |busy| busy == 0.0 || busy >= NEVER_EMPTY;
    disk.util.is_none_or(never_empty)
        && disk.in_flight().is_some_and(|queue| queue >= LEAST_QUEUE)
        && disk.operations() >= FEW_PER_SECOND
        && disk.mean_wait_ms().is_some_and(|ms| ms >= LONG_MS)
}

/// Whether work may wait for another device or a network mount: that of the host is not
/// known by device, and a backlog that nobody waits for looks the same. A device with
/// half as many in flight and more is part of the same stack, or as overloaded.
fn waited_for_elsewhere(recording: &Recording, name: &str, queue: f64) -> bool {
    let is_long_there = |moment: &Moment| {
        let mut disks = moment.disks.iter();
        disks.any(|disk| disk.name == name && is_long(disk))
    };
    let in_flight = |other: &str| {
        let values = load::series(recording, |moment| {
            let disk = moment.disks.iter().find(|disk| disk.name == other)?;
            disk.in_flight().filter(|_| is_long_there(moment))
        });
        values.mean().unwrap_or(0.0)
    };
    let of_others = load::by_disk(recording);
    let others = of_others.keys().filter(|other| **other != name);
    let held: Vec<f64> = others.map(|other| in_flight(other)).collect();
    let held: Vec<f64> = held
        .into_iter()
        .filter(|held| *held < HALF * queue)
        .collect();
    let may_be = held.iter().any(|held| *held >= USED_QUEUE);
    // Each operation keeps one task waiting: more tasks than the others have wait here.
    let more_wait =
        waiting_tasks(recording).is_some_and(|tasks| tasks >= 1.0 + held.iter().sum::<f64>());
    may_be && !more_wait || network_mounts::waits(recording, None).is_some()
}

/// Tasks that wait for I/O, on average: as counted, or at least as many as CPUs idle
/// meanwhile.
fn waiting_tasks(recording: &Recording) -> Option<f64> {
    let blocked = load::series(recording, |m| m.blocked).mean();
    let cpus = f64::from(recording.host.cpus?);
    let idle = load::series(recording, |m| Some(m.cpu?.iowait)).mean();
    let idle = idle.map(|share| share * cpus);
    blocked.into_iter().chain(idle).reduce(f64::max)
}

/// The device that is overloaded, where one is: that of all with the longest queue, which
/// need not be the one that most is asked of. Beside the slow member of an array the
/// array itself has more in flight, and takes less long on average.
pub(crate) fn worst<'d>(
    recording: &Recording,
    disks: &'d [DiskLoad],
    samples: &BTreeMap<&str, Samples<'_>>,
) -> Option<&'d DiskLoad> {
    disks.iter().find(|disk| {
        let own = samples.get(disk.name.as_str());
        own.is_some_and(|own| find(recording, &disk.name, own).is_some())
    })
}

/// Share of the time for which work waited for I/O while operations took long.
fn waited(recording: &Recording, name: &str) -> Option<f64> {
    let waits = load::series(recording, |moment| {
        let disk = moment.disks.iter().find(|disk| disk.name == *name)?;
        let share = stalled::share(moment, disk, recording.host.cpus)?;
        is_long(disk).then_some(share)
    });
    waits.mean()
}

#[cfg(test)]
mod tests {
    use fathom_model::diagnosis::{Answer, Shortage};

    use super::*;
    use crate::recording::{CpuShares, DoerMoment, RecordedHost};
    use crate::{Ceiling, diagnose};

    /// A quarter of an hour, in samples of ten seconds, of a device with so many
    /// operations in flight that take so long each.
    fn steady(queue: f64, wait_ms: f64, pressure: Option<f64>, iowait: f64) -> Recording {
        let operations = queue / wait_ms * 1000.0;
        let moment = |number: u32| Moment {
            seconds: Some(10.0),
            cpu: Some(CpuShares {
                user: 0.04,
                iowait,
                idle: 0.96 - iowait,
                ..CpuShares::default()
            }),
            io_pressure_some: pressure,
            disks: vec![DiskMoment {
                name: "sda".to_owned(),
                reads: operations * (1.0 + 0.05 * (f64::from(number % 7) - 3.0)),
                read_bytes: operations * 16_384.0,
                read_wait_ms: Some(wait_ms),
                write_wait_ms: Some(0.0),
                queue: Some(queue),
                util: Some(1.0),
                ..DiskMoment::default()
            }],
            ..Moment::default()
        };
        Recording {
            host: RecordedHost {
                cpus: Some(8),
                ..RecordedHost::default()
            },
            moments: (0..90).map(moment).collect(),
            ..Recording::default()
        }
    }

    #[test]
    fn a_device_that_is_overloaded_all_the_time_is_the_bottleneck() {
        for (pressure, iowait) in [(Some(0.9), 0.1), (None, 0.5), (None, 0.1)] {
            let found = diagnose(&steady(18.0, 111.0, pressure, iowait), |_| None);
            assert_eq!(found.answer, Answer::Yes, "{found:#?}");
            assert_eq!(found.limiter, Shortage::Disk, "{found:#?}");
            assert!(found.evidence[0].contains("111 ms"), "{found:#?}");
        }
    }

    #[test]
    fn long_queues_that_nobody_waits_for_prove_nothing() {
        for (pressure, iowait) in [(Some(0.2), 0.1), (None, 0.02)] {
            let found = diagnose(&steady(18.0, 111.0, pressure, iowait), |_| None);
            assert_ne!(found.answer, Answer::Yes, "{found:#?}");
        }
    }

    #[test]
    fn reads_of_programs_are_waited_for_whatever_the_host_shows() {
        let by = |reader: &str| {
            let mut recording = steady(18.0, 111.0, Some(0.0), 0.0);
            for moment in &mut recording.moments {
                let read_bytes = moment.disks[0].read_bytes;
                moment.processes = vec![DoerMoment {
                    name: reader.to_owned(),
                    read_bytes,
                    ..DoerMoment::default()
                }];
            }
            diagnose(&recording, |_| None).answer
        };
        // Asynchronous I/O beside niced programs: neither stalls nor idle CPUs show.
        assert_eq!(by("812 postgres"), Answer::Yes);
        // A check of an array, which nobody waits for.
        assert_ne!(by("77 [md0_resync]"), Answer::Yes);
    }

    #[test]
    fn a_backlog_beside_another_device_that_is_waited_for_proves_nothing() {
        let beside = |queue: f64| {
            let mut recording = steady(18.0, 111.0, Some(0.9), 0.1);
            for moment in &mut recording.moments {
                let mut other = moment.disks[0].clone();
                other.name = "sdb".to_owned();
                other.queue = Some(queue);
                other.reads = 1000.0 * queue / 5.0;
                other.read_wait_ms = Some(5.0);
                moment.disks.push(other);
            }
            diagnose(&recording, |_| None).answer
        };
        assert_ne!(beside(1.0), Answer::Yes);
        // A little of something else waits for nobody.
        assert_eq!(beside(0.1), Answer::Yes);
    }

    #[test]
    fn the_slow_member_of_an_array_is_named_beside_quick_ones() {
        let mut recording = steady(15.0, 230.0, None, 0.63);
        for moment in &mut recording.moments {
            moment.disks[0].name = "sdd".to_owned();
            for (name, queue, wait_ms) in
                [("md0", 17.5, 47.0), ("sda", 0.6, 9.0), ("sdb", 0.6, 9.0)]
            {
                let mut other = moment.disks[0].clone();
                other.name = name.to_owned();
                other.queue = Some(queue);
                other.reads = 1000.0 * queue / wait_ms;
                other.read_wait_ms = Some(wait_ms);
                moment.disks.push(other);
            }
        }
        let found = diagnose(&recording, |_| None);
        assert_eq!(found.answer, Answer::Yes, "{found:#?}");
        assert!(found.evidence[0].starts_with("sdd: "), "{found:#?}");
        // Where hardly anything waits, it may be for the others.
        for moment in &mut recording.moments {
            if let Some(cpu) = &mut moment.cpu {
                cpu.iowait = 0.2;
            }
        }
        assert_ne!(diagnose(&recording, |_| None).answer, Answer::Yes);
    }

    #[test]
    fn batches_at_a_device_that_is_empty_in_between_prove_nothing() {
        let mut recording = steady(18.0, 111.0, Some(0.6), 0.1);
        for disk in recording.moments.iter_mut().flat_map(|m| &mut m.disks) {
            disk.util = Some(0.6);
        }
        let found = diagnose(&recording, |_| None);
        assert_ne!(found.answer, Answer::Yes, "{found:#?}");
    }

    #[test]
    fn operations_that_are_no_longer_than_storage_needs_prove_nothing() {
        for (queue, wait_ms) in [(18.0, 60.0), (1.1, 150.0)] {
            let found = diagnose(&steady(queue, wait_ms, Some(0.9), 0.5), |_| None);
            assert_ne!(found.answer, Answer::Yes, "{found:#?}");
        }
    }

    #[test]
    fn another_shortage_beside_it_leaves_it_open() {
        let mut recording = steady(18.0, 111.0, Some(0.9), 0.1);
        for moment in &mut recording.moments {
            moment.network_use = Some(0.97);
        }
        let found = diagnose(&recording, |_| None);
        assert_eq!(found.answer, Answer::NotProven, "{found:#?}");
    }

    #[test]
    fn a_pace_at_a_volume_with_room_is_no_wait_for_the_one_before() {
        let ceiling = |_: &str| {
            Some(Ceiling {
                source: "the limit of the volume, as given".to_owned(),
                operations: 5300.0,
                block_bytes: None,
                read_share: None,
                wait_ms: None,
            })
        };
        let found = diagnose(&steady(0.57, 0.77, Some(0.3), 0.1), ceiling);
        assert_eq!(found.answer, Answer::No, "{found:#?}");
        assert_eq!(found.limiter, Shortage::Nothing, "{found:#?}");
        let always_one = diagnose(&steady(1.0, 0.77, Some(0.9), 0.1), ceiling);
        assert_eq!(always_one.limiter, Shortage::OneByOne, "{always_one:#?}");
    }
}
