//! What holds work back beside devices: limits on groups, locks, full network
//! paths; and loads below the end of a device.

use fathom_model::diagnosis::{Answer, Shortage};

use super::diagnose;
use crate::recording::{
    CpuShares, DiskMoment, DoerMoment, LinkMoment, Moment, RecordedHost, Recording,
};

/// Ten seconds of a host of four CPUs.
fn seconds(moment: impl Fn(usize) -> Moment) -> Recording {
    let moments = (0..10).map(|second| Moment {
        seconds: Some(1.0),
        cpu: Some(CpuShares {
            user: 0.1,
            idle: 0.9,
            ..CpuShares::default()
        }),
        ..moment(second)
    });
    Recording {
        host: RecordedHost {
            cpus: Some(4),
            ..RecordedHost::default()
        },
        source: "simulated".to_owned(),
        moments: moments.collect(),
        remarks: Vec::new(),
    }
}

/// A device by rate and wait; the queue follows (Little).
fn disk(reads: f64, wait_ms: f64) -> Vec<DiskMoment> {
    vec![DiskMoment {
        name: "sda".to_owned(),
        reads,
        read_wait_ms: Some(wait_ms),
        write_wait_ms: Some(0.0),
        queue: Some(reads * wait_ms / 1000.0),
        util: Some(1.0),
        ..DiskMoment::default()
    }]
}

#[track_caller]
fn said(recording: &Recording, answer: Answer, limiter: Shortage) -> Vec<String> {
    let found = diagnose(recording, |_| None);
    assert_eq!(
        (found.answer, found.limiter),
        (answer, limiter),
        "{found:#?}"
    );
    found.evidence
}

#[test]
fn a_group_at_its_limit_is_a_volume_that_is_held() {
    let limited = |waited: f64, cpu_tasks: f64| {
        seconds(|_| Moment {
            // What is held back is not yet at the device, which looks idle.
            disks: disk(200.0, 0.3),
            groups: vec![DoerMoment {
                name: "db".to_owned(),
                limit_used: Some(1.0),
                ..DoerMoment::default()
            }],
            io_pressure_some: Some(waited),
            runnable: Some(cpu_tasks),
            ..Moment::default()
        })
    };
    let evidence = said(&limited(0.9, 1.0), Answer::Yes, Shortage::VolumeCap);
    assert!(evidence[0].starts_with("control group db: at 90 % of its limit"));
    said(&limited(0.0, 1.0), Answer::NotProven, Shortage::Unknown);
    said(&limited(0.9, 12.0), Answer::NotProven, Shortage::Unknown);
}

#[test]
fn tasks_that_wait_for_a_lock_are_not_nothing() {
    let waiting = |waiters| {
        seconds(|_| Moment {
            disks: disk(20.0, 0.5),
            lock_waiters: Some(waiters),
            io_pressure_some: Some(0.01),
            ..Moment::default()
        })
    };
    let evidence = said(&waiting(5.0), Answer::No, Shortage::Lock);
    assert!(evidence[0].starts_with("5 tasks wait"), "{evidence:?}");
    said(&waiting(1.0), Answer::No, Shortage::Nothing);
}

#[test]
fn a_full_path_of_unknown_speed_is_the_network() {
    let recording = seconds(|_| Moment {
        disks: disk(2.0, 0.5),
        links: vec![LinkMoment {
            name: "eth0".to_owned(),
            sent_bytes: 2.4e6,
            ..LinkMoment::default()
        }],
        retransmits: Some((4.0, 0.002)),
        ..Moment::default()
    });
    said(&recording, Answer::No, Shortage::Network);
}

#[test]
fn the_same_times_at_more_operations_prove_room() {
    let recording = seconds(|second| Moment {
        disks: disk(if second % 2 == 0 { 400.0 } else { 900.0 }, 0.8),
        io_pressure_some: Some(0.6),
        ..Moment::default()
    });
    let evidence = said(&recording, Answer::No, Shortage::Nothing);
    assert!(evidence[0].contains("it has room"), "{evidence:?}");
    // One in flight all the time is a program that waits for each.
    let one = seconds(|second| Moment {
        disks: disk(if second < 4 { 600.0 } else { 990.0 }, 1.0),
        io_pressure_some: Some(0.9),
        ..Moment::default()
    });
    said(&one, Answer::No, Shortage::OneByOne);
}

#[test]
fn work_that_waits_for_more_than_the_device_shows_proves_no_room() {
    let waits = |share: f64| {
        seconds(|_| Moment {
            disks: disk(500.0, 0.6),
            io_pressure_some: Some(share),
            ..Moment::default()
        })
    };
    // Busy ticks all the time, and something in flight for a third of it.
    said(&waits(0.3), Answer::No, Shortage::Nothing);
    // Whatever holds it back is not at this device.
    said(&waits(0.95), Answer::NotProven, Shortage::Unknown);
}

#[test]
fn the_slope_before_a_plateau_does_not_hide_it() {
    // 30, 60, 90 operations per second with one, two and three in flight, and
    // 120 from four on.
    let queues = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 20.0, 24.0];
    let recording = seconds(|second| {
        let queue: f64 = queues[second];
        let rate = 30.0 * queue.min(4.0);
        Moment {
            disks: disk(rate, 1000.0 * queue / rate),
            io_pressure_some: Some(0.9),
            ..Moment::default()
        }
    });
    said(&recording, Answer::Yes, Shortage::VolumeCap);
    // Without an end the rate grows with the queue all the way.
    let elastic = seconds(|second| {
        let queue: f64 = queues[second];
        Moment {
            disks: disk(30.0 * queue, 1000.0 / 30.0),
            io_pressure_some: Some(0.9),
            ..Moment::default()
        }
    });
    said(&elastic, Answer::No, Shortage::Nothing);
}

#[test]
fn a_disk_full_of_swapped_pages_is_a_shortage_of_memory() {
    let swapping = |swapped_bytes: f64| {
        seconds(|second| {
            let queue = [2.0, 4.0, 8.0, 16.0, 32.0][second % 5];
            let mut disks = disk(400.0, 2.5 * queue);
            disks[0].read_bytes = 10e6;
            Moment {
                disks,
                swap_in_bytes_per_second: Some(swapped_bytes),
                swap_out_bytes_per_second: Some(0.0),
                io_pressure_some: Some(0.9),
                ..Moment::default()
            }
        })
    };
    said(&swapping(8e6), Answer::No, Shortage::Memory);
    // What fills it is something else, so that both are short.
    said(&swapping(2e6), Answer::NotProven, Shortage::Unknown);
    said(&swapping(0.0), Answer::Yes, Shortage::VolumeCap);
}

#[test]
fn a_flush_is_in_flight_once() {
    // One thread that writes, flushes and waits for both: the kernel counts the
    // time of its flushes twice.
    let recording = seconds(|_| {
        let mut disks = disk(0.0, 0.0);
        disks[0].writes = 132.0;
        disks[0].write_wait_ms = Some(7.5);
        disks[0].queue = Some(1.49);
        disks[0].flushes = 132.0;
        disks[0].flush_wait_ms = Some(0.5 / 132.0 * 1000.0);
        Moment {
            disks,
            io_pressure_some: Some(0.98),
            ..Moment::default()
        }
    });
    said(&recording, Answer::No, Shortage::OneByOne);
    let found = diagnose(&recording, |_| None);
    let queue = found.disks[0].queue.expect("it was recorded");
    assert!((0.95..1.05).contains(&queue), "{queue}");
}

#[test]
fn commits_behind_slow_flushes_are_the_storages() {
    // Pressure stall holds the half of it, as of a flush of a device.
    let committing = |flush_ms: f64, stalled: f64| {
        let mut recording = seconds(|_| {
            let mut disks = disk(0.0, 0.0);
            let flushes = 600.0 / flush_ms;
            disks[0].writes = 2.0 * flushes;
            disks[0].write_wait_ms = Some(flush_ms / 2.0);
            disks[0].queue = Some(1.6);
            disks[0].flushes = flushes;
            disks[0].flush_wait_ms = Some(flush_ms);
            Moment {
                disks,
                io_pressure_some: Some(stalled / 2.0),
                ..Moment::default()
            }
        });
        recording.host.cpus = Some(2);
        for moment in &mut recording.moments {
            moment.cpu = Some(CpuShares {
                iowait: stalled / 2.0,
                idle: 1.0 - stalled / 2.0,
                ..CpuShares::default()
            });
        }
        recording
    };
    said(&committing(9.0, 0.98), Answer::Yes, Shortage::OneByOne);
    said(&committing(2.0, 0.98), Answer::No, Shortage::OneByOne);
    said(&committing(9.0, 0.3), Answer::No, Shortage::OneByOne);
}
