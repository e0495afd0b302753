//! What a device with room shows, and what it does not.

use crate::decide::diagnose;
use crate::recording::{CpuShares, DiskMoment, DoerMoment, Moment, RecordedHost, Recording};
use fathom_model::diagnosis::{Answer, Diagnosis, Shortage};

/// Fifteen seconds of a host with two CPUs.
fn of(moment: impl Fn(usize) -> Moment) -> Diagnosis {
    let moments = (0..15).map(|second| Moment {
        seconds: Some(1.0),
        ..moment(second)
    });
    let recording = Recording {
        host: RecordedHost {
            cpus: Some(2),
            ..RecordedHost::default()
        },
        moments: moments.collect(),
        ..Recording::default()
    };
    diagnose(&recording, |_| None)
}

fn idle(iowait: f64) -> Option<CpuShares> {
    Some(CpuShares {
        user: 0.02,
        iowait,
        idle: 0.98 - iowait,
        ..CpuShares::default()
    })
}

/// Bursts of writes at a slow disk, every fifth second.
fn bursts(second: usize, queue: f64) -> DiskMoment {
    let writes = if second.is_multiple_of(5) { 40.0 } else { 0.0 };
    DiskMoment {
        name: "sda".to_owned(),
        writes,
        write_bytes: 4096.0 * writes,
        write_wait_ms: Some(if writes > 0.0 { 50.0 } else { 0.0 }),
        queue: Some(if writes > 0.0 { queue } else { 0.0 }),
        util: Some(if writes > 0.0 { 0.6 } else { 0.0 }),
        ..DiskMoment::default()
    }
}

#[test]
fn bursts_that_nobody_waits_for_are_no_shortage() {
    let waited = |iowait: f64| {
        of(|second| Moment {
            cpu: idle(iowait),
            disks: vec![bursts(second, 2.0)],
            ..Moment::default()
        })
    };
    let sound = waited(0.03);
    assert_eq!(sound.answer, Answer::No, "{:?}", sound.evidence);
    assert!(
        sound.evidence[0].contains("something to do for 12 % of the time"),
        "{:?}",
        sound.evidence
    );
    // Somebody waits for a fifth of the time and more.
    assert_eq!(waited(0.12).answer, Answer::NotProven);
    // Pressure stall, where it was recorded, says more than idle CPUs.
    let stalled = of(|second| Moment {
        cpu: idle(0.03),
        disks: vec![bursts(second, 2.0)],
        io_pressure_some: Some(0.3),
        ..Moment::default()
    });
    assert_eq!(stalled.answer, Answer::NotProven);
}

#[test]
fn several_that_wait_behind_slow_flushes_wait_for_the_storage() {
    let committing = |queue: f64, stalled: f64| {
        of(|_| Moment {
            cpu: idle(0.5 * stalled),
            io_pressure_some: Some(stalled),
            disks: vec![DiskMoment {
                name: "sda".to_owned(),
                writes: 90.0,
                write_bytes: 90.0 * 2960.0,
                write_wait_ms: Some(14.7),
                flushes: 44.0,
                flush_wait_ms: Some(22.0),
                queue: Some(queue),
                util: Some(0.99),
                ..DiskMoment::default()
            }],
            ..Moment::default()
        })
    };
    let found = committing(1.4, 0.95);
    assert_eq!(
        (found.answer, found.limiter),
        (Answer::Yes, Shortage::OneByOne),
        "{:?}",
        found.evidence
    );
    // Nobody waits: something writes in the background.
    assert_ne!(committing(1.4, 0.05).answer, Answer::Yes);
    // A long queue is another matter, of rates and not of flushes.
    assert_ne!(committing(30.0, 0.95).limiter, Shortage::OneByOne);
}

#[test]
fn a_volume_that_gives_two_as_much_as_twenty_is_at_its_end() {
    let at = |few_queue: f64, few_util: f64| {
        of(|second| {
            let queue = if second % 3 == 0 { few_queue } else { 17.0 };
            let reads = 450.0 + (second % 2) as f64;
            Moment {
                cpu: idle(0.6),
                io_pressure_some: Some(0.97),
                disks: vec![DiskMoment {
                    name: "sda".to_owned(),
                    reads,
                    read_bytes: 16_384.0 * reads,
                    read_wait_ms: Some(1000.0 * queue / reads),
                    write_wait_ms: Some(0.0),
                    queue: Some(queue),
                    util: Some(if queue < 2.0 { few_util } else { 1.0 }),
                    ..DiskMoment::default()
                }],
                ..Moment::default()
            }
        })
    };
    let found = at(1.9, 0.999);
    assert_eq!(
        (found.answer, found.limiter),
        (Answer::Yes, Shortage::VolumeCap),
        "{:?}",
        found.evidence
    );
    // Where it is empty at times with few in flight, the rate may be a pace.
    assert_eq!(at(1.9, 0.7).answer, Answer::NotProven);
}

#[test]
fn large_operations_that_a_limit_lets_pass_in_lumps_are_at_the_limit() {
    let limited = |used: [f64; 3]| {
        of(|second| Moment {
            cpu: idle(0.5),
            io_pressure_some: Some(0.98),
            disks: vec![DiskMoment {
                name: "sda".to_owned(),
                reads: 6.0,
                read_bytes: 7e6,
                read_wait_ms: Some(0.8),
                queue: Some(0.005),
                util: Some(0.01),
                ..DiskMoment::default()
            }],
            groups: vec![DoerMoment {
                name: "backup".to_owned(),
                limit_used: Some(used[second % 3]),
                ..DoerMoment::default()
            }],
            ..Moment::default()
        })
    };
    let found = limited([1.5, 0.6, 0.9]);
    assert_eq!(
        (found.answer, found.limiter),
        (Answer::Yes, Shortage::VolumeCap),
        "{:?}",
        found.evidence
    );
    // Bursts over what is said to be a limit, and less on average.
    assert_ne!(limited([2.0, 0.0, 0.0]).limiter, Shortage::VolumeCap);
    // More than it allows all the time: it is not in force.
    assert_ne!(limited([1.6, 1.5, 1.7]).limiter, Shortage::VolumeCap);
}
