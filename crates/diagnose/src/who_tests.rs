//! Recordings whose cause is known.

use super::*;
use crate::diagnose;
use crate::recording::{BusiestCpu, CpuShares, DiskMoment, NfsMoment};

fn doer(name: &str, write_bytes: f64, cpus: f64) -> DoerMoment {
    DoerMoment {
        name: name.to_owned(),
        write_bytes,
        cpus,
        ..DoerMoment::default()
    }
}

fn record(moment: impl Fn(usize) -> Moment) -> Recording {
    let moments = (0..30).map(|index| Moment {
        seconds: Some(1.0),
        ..moment(index)
    });
    let mut recording = Recording {
        moments: moments.collect(),
        ..Recording::default()
    };
    recording.host.cpus = Some(4);
    recording
}

fn shares(busy: f64) -> CpuShares {
    CpuShares {
        user: busy,
        idle: 1.0 - busy,
        ..CpuShares::default()
    }
}

/// A device that gives 1,000 operations per second, however many queue.
fn full_disk(index: usize) -> DiskMoment {
    let queue = [0.5, 4.0, 8.0, 16.0, 32.0][index % 5];
    let rate: f64 = if queue < 1.0 {
        500.0
    } else {
        1000.0 + (index % 7) as f64 * 20.0
    };
    DiskMoment {
        name: "sda".to_owned(),
        writes: rate,
        write_bytes: rate * 4096.0,
        read_wait_ms: Some(0.0),
        write_wait_ms: Some(1000.0 * queue / rate),
        queue: Some(queue),
        ..DiskMoment::default()
    }
}

#[test]
fn whoever_fills_a_disk_is_named() {
    let recording = record(|index| Moment {
        io_pressure_some: Some(0.6),
        disks: vec![full_disk(index)],
        processes: vec![doer("812 postgres", 3e6, 0.1), doer("9 tar", 1e6, 0.2)],
        ..Moment::default()
    });
    let found = diagnose(&recording, |_| None);
    assert_eq!(found.answer, Answer::Yes, "{found:?}");
    assert_eq!(found.evidence.len(), 3);
    let text = found.evidence.join("\n");
    assert!(
        text.contains("812 postgres causes 75 % of the I/O of processes"),
        "{text}"
    );
    assert!(text.contains("9 tar 25 %"), "{text}");
}

#[test]
fn many_processes_of_one_program_are_named_together() {
    let by = |sizes: &[f64]| {
        let recording = record(|index| Moment {
            io_pressure_some: Some(0.6),
            disks: vec![full_disk(index)],
            processes: sizes
                .iter()
                .enumerate()
                .map(|(place, bytes)| doer(&format!("{place} dd"), *bytes, 0.1))
                .chain([doer("9 tar", 4e5, 0.2)])
                .collect(),
            ..Moment::default()
        });
        diagnose(&recording, |_| None).evidence.join("\n")
    };
    let text = by(&[6e5; 6]);
    assert!(text.contains("dd (6 processes) causes 90 % of"), "{text}");
    // One of them does more than the others together.
    let text = by(&[3e6, 3e5, 3e5]);
    assert!(text.contains("0 dd causes 75 % of"), "{text}");
}

#[test]
fn a_share_is_of_what_the_devices_moved_where_others_did_most_of_it() {
    let found = |write_bytes: f64| {
        let recording = record(|index| Moment {
            io_pressure_some: Some(0.6),
            disks: vec![full_disk(index)],
            processes: vec![doer("812 postgres", write_bytes, 0.1)],
            ..Moment::default()
        });
        diagnose(&recording, |_| None).evidence.join("\n")
    };
    let half = found(2e6);
    assert!(
        half.contains("812 postgres causes 52 % of what the devices moved"),
        "{half}"
    );
    let little = found(1e5);
    assert!(!little.contains("postgres"), "{little}");
}

#[test]
fn whoever_takes_the_cpus_is_named() {
    let recording = record(|_| Moment {
        cpu: Some(shares(0.99)),
        runnable: Some(12.0),
        blocked: Some(0.0),
        processes: vec![doer("7 ffmpeg", 0.0, 3.2)],
        ..Moment::default()
    });
    let found = diagnose(&recording, |_| None);
    assert_eq!(found.limiter, Shortage::CpuQueue);
    assert!(
        found.evidence[0].ends_with("most of it by 7 ffmpeg (3.2 CPUs)"),
        "{found:?}"
    );
}

#[test]
fn a_single_thread_that_computes_is_told() {
    let recording = record(|_| Moment {
        cpu: Some(shares(0.25)),
        disks: vec![DiskMoment {
            name: "sda".to_owned(),
            queue: Some(0.0),
            ..DiskMoment::default()
        }],
        processes: vec![doer("7 python3", 0.0, 1.0)],
        ..Moment::default()
    });
    let found = diagnose(&recording, |_| None);
    assert_eq!(
        (found.answer, found.limiter),
        (Answer::No, Shortage::Nothing)
    );
    let text = found.evidence.join("\n");
    assert!(text.contains("7 python3 computes on one CPU"), "{text}");
}

#[test]
fn a_cpu_full_of_interrupts_is_short() {
    let recording = record(|_| Moment {
        cpu: Some(shares(0.3)),
        blocked: Some(0.0),
        busiest_cpu: Some(BusiestCpu {
            number: 3,
            busy: 1.0,
            interrupts: 0.95,
        }),
        ..Moment::default()
    });
    let found = diagnose(&recording, |_| None);
    assert_eq!(
        (found.answer, found.limiter),
        (Answer::No, Shortage::CpuQueue)
    );
    assert!(
        found.evidence[0].contains("CPU 3 serves interrupts 95 %"),
        "{found:?}"
    );
}

#[test]
fn idle_disks_prove_nothing_while_work_waits_for_a_mount() {
    let recording = record(|_| Moment {
        cpu: Some(shares(0.1)),
        disks: vec![DiskMoment {
            name: "sda".to_owned(),
            queue: Some(0.0),
            ..DiskMoment::default()
        }],
        nfs: vec![NfsMoment {
            name: "nas:/data on /mnt".to_owned(),
            operations: 100.0,
            round_trip_ms: Some(80.0),
            execute_ms: Some(85.0),
            queue: 8.5,
            retransmits: 3.0,
            ..NfsMoment::default()
        }],
        ..Moment::default()
    });
    let found = diagnose(&recording, |_| None);
    assert_eq!(found.answer, Answer::NotProven);
    let text = found.evidence.join("\n");
    assert!(text.contains("8.5 requests in flight"), "{text}");
    assert!(text.contains("on the network and the server"), "{text}");
    assert!(text.contains("sent again"), "{text}");
    assert!(found.settle[0].contains("the server in the same time"));
}
