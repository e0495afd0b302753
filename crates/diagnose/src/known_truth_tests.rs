//! Recordings that once had a wrong answer, simulated. Real ones of the same kind
//! are with the formats in which they were written.

use fathom_model::diagnosis::{Answer, Diagnosis, Shortage};
use fathom_model::rng::Rng;

use super::diagnose;
use crate::ceiling::Ceiling;
use crate::recording::{CpuShares, DiskMoment, Moment, Recording};

fn limit_of(operations: f64) -> impl Fn(&str) -> Option<Ceiling> {
    move |_| {
        Some(Ceiling {
            source: "the limit of the volume, as given".to_owned(),
            operations,
            block_bytes: None,
            read_share: None,
            wait_ms: None,
        })
    }
}

fn free(recording: &Recording) -> Diagnosis {
    diagnose(recording, |_| None)
}

/// Two minutes of one device, by rate, queue and `%util`; the wait follows.
fn minutes(of: impl FnMut(usize) -> DiskMoment) -> Recording {
    let moments = (0..120).map(of).map(|disk| Moment {
        seconds: Some(1.0),
        cpu: Some(CpuShares {
            user: 0.15,
            iowait: 0.1,
            idle: 0.75,
            ..CpuShares::default()
        }),
        disks: vec![disk],
        ..Moment::default()
    });
    Recording {
        moments: moments.collect(),
        ..Recording::default()
    }
}

fn disk(rate: f64, queue: f64, util: f64, block_bytes: f64) -> DiskMoment {
    DiskMoment {
        name: "sda".to_owned(),
        reads: rate,
        read_bytes: rate * block_bytes,
        read_wait_ms: Some(1000.0 * queue / rate),
        write_wait_ms: Some(0.0),
        queue: Some(queue),
        util: Some(util),
        ..DiskMoment::default()
    }
}

#[test]
fn a_pace_is_no_cap_and_a_cap_is() {
    let mut rng = Rng::new(11);
    // Operations that take between 1 and 25 ms, begun 300 times a second.
    let pace = minutes(|_| {
        let ms = [1.0, 1.0, 2.0, 8.0, 15.0, 25.0][rng.below(6) as usize];
        let queue = 0.3 * ms;
        disk(300.0, queue, 1.0 - (-queue).exp(), 4096.0)
    });
    assert_ne!(free(&pace).answer, Answer::Yes);
    assert_eq!(diagnose(&pace, limit_of(3_000.0)).answer, Answer::No);
    // Batches of changing size, with `%util` and without.
    for util in [Some(0.45), None] {
        let batches = minutes(|_| {
            let queue = [0.5, 0.7, 3.0, 6.0, 12.0][rng.below(5) as usize];
            let mut disk = disk(400.0, queue, 1.0, 4096.0);
            disk.util = util;
            disk
        });
        assert_ne!(free(&batches).answer, Answer::Yes);
    }
    // A cap is there in the longest queues only, or in all of them, and the
    // device is never empty then.
    for least in [0.1, 3.0] {
        let capped = minutes(|_| match least + 12.0 * rng.unit() {
            queue if queue < 1.0 => disk(300.0 * queue, queue, queue, 4096.0),
            queue => disk(300.0, queue, 1.0, 4096.0),
        });
        let found = free(&capped);
        assert_eq!(
            (found.answer, found.limiter),
            (Answer::Yes, Shortage::VolumeCap),
            "{found:#?}"
        );
        // That is less than what the volume is said to give: not both are true.
        let found = diagnose(&capped, limit_of(3_000.0));
        assert_eq!(found.answer, Answer::NotProven);
        assert!(found.evidence[1].contains("of 3,000"), "{found:#?}");
    }
}

#[test]
fn a_full_device_at_which_nothing_is_stalled_is_not_blamed() {
    let stalled = |share| {
        let mut recording = minutes(|second| {
            let queue = [3.0, 6.0, 12.0, 24.0][second % 4];
            disk(300.0, queue, 1.0, 4096.0)
        });
        for moment in &mut recording.moments {
            moment.io_pressure_some = Some(share);
        }
        free(&recording).answer
    };
    assert_eq!(stalled(0.9), Answer::Yes);
    assert_eq!(stalled(0.13), Answer::NotProven);
}

#[test]
fn larger_blocks_are_no_longer_queue_of_the_same() {
    let mut rng = Rng::new(12);
    // Every third second the same rate of blocks that are 32 times as large.
    let large = minutes(|second| match second % 3 {
        0 => disk(1010.0, 8.0 + 30.0 * rng.unit(), 0.9, 2_097_152.0),
        _ => disk(1010.0, 2.2, 0.9, 65_536.0),
    });
    assert_ne!(free(&large).answer, Answer::Yes);
    // Bursts that write back large blocks, beside small reads.
    let bursts = minutes(|second| match second % 5 {
        0 => disk(2300.0, 40.0 + 60.0 * rng.unit(), 0.9, 140_000.0),
        _ => disk(4050.0, 2.2 + 0.3 * rng.unit(), 0.9, 4096.0),
    });
    assert_ne!(free(&bursts).answer, Answer::Yes);
}

#[test]
fn full_cpus_hide_a_device_that_may_be_full_as_well() {
    let busy = |blocked: Option<f64>, disks: Vec<DiskMoment>| {
        let mut recording = minutes(|_| DiskMoment::default());
        recording.host.cpus = Some(4);
        for moment in &mut recording.moments {
            moment.cpu = Some(CpuShares {
                user: 1.0,
                ..CpuShares::default()
            });
            (moment.runnable, moment.blocked) = (Some(12.0), blocked);
            moment.disks.clone_from(&disks);
        }
        free(&recording)
    };
    let of = |found: Diagnosis| (found.answer, found.limiter);
    let unknown = (Answer::NotProven, Shortage::Unknown);
    let cpus = (Answer::No, Shortage::CpuQueue);
    // Of devices nothing is known.
    assert_eq!(of(busy(Some(24.0), vec![])), unknown);
    assert_eq!(of(busy(None, vec![])), unknown);
    assert_eq!(of(busy(Some(0.0), vec![])), cpus);
    let found = busy(Some(24.0), vec![]);
    assert!(found.evidence[0].contains("short of CPU"), "{found:#?}");
    assert!(
        found.evidence[1].contains("24 tasks were blocked"),
        "{found:#?}"
    );
    // A long queue, one operation after the other, and work that is held back
    // before it reaches the device.
    assert_eq!(
        of(busy(None, vec![disk(300.0, 32.0, 1.0, 4096.0)])),
        unknown
    );
    assert_eq!(
        of(busy(Some(1.0), vec![disk(300.0, 1.0, 1.0, 4096.0)])),
        cpus
    );
    assert_eq!(
        of(busy(Some(20.0), vec![disk(300.0, 0.1, 0.1, 4096.0)])),
        unknown
    );
}

#[test]
fn bursts_that_nobody_waits_for_do_not_hide_full_cpus() {
    let bursts = |stalled| {
        let mut recording = minutes(|second| match second % 5 {
            0 => disk(900.0, 25.0, 0.7, 65_536.0),
            _ => disk(50.0, 0.05, 0.05, 4096.0),
        });
        recording.host.cpus = Some(4);
        for moment in &mut recording.moments {
            (moment.runnable, moment.io_pressure_some) = (Some(12.0), Some(stalled));
        }
        free(&recording).answer
    };
    assert_eq!(bursts(0.03), Answer::No);
    assert_eq!(bursts(0.4), Answer::NotProven);
}
