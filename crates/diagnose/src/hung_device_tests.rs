use super::*;
use crate::diagnose;
use crate::recording::{CpuShares, Moment};
use fathom_model::diagnosis::{Answer, Diagnosis, Shortage};

/// A second of a device by what its sample shows, with CPUs that wait this much.
fn second(number: i32, disk: DiskMoment, iowait: f64) -> Moment {
    let noon = jiff::civil::date(2026, 11, 23).at(12, 0, 0, 0);
    Moment {
        at: noon
            .checked_add(SignedDuration::from_secs(i64::from(number)))
            .ok(),
        seconds: Some(1.0),
        cpu: Some(CpuShares {
            iowait,
            idle: 1.0 - iowait,
            ..CpuShares::default()
        }),
        disks: vec![disk],
        ..Moment::default()
    }
}

fn working() -> DiskMoment {
    DiskMoment {
        name: "loop5".to_owned(),
        reads: 500.0,
        read_bytes: 500.0 * 4096.0,
        read_wait_ms: Some(0.1),
        write_wait_ms: Some(0.0),
        queue: Some(0.05),
        util: Some(0.05),
        ..DiskMoment::default()
    }
}

/// As iostat shows a device that hangs on a kernel of today.
fn hung() -> DiskMoment {
    DiskMoment {
        name: "loop5".to_owned(),
        read_wait_ms: Some(0.0),
        write_wait_ms: Some(0.0),
        queue: Some(0.0),
        util: Some(1.0),
        ..DiskMoment::default()
    }
}

fn recorded(moments: impl IntoIterator<Item = Moment>) -> Recording {
    Recording {
        moments: moments.into_iter().collect(),
        ..Recording::default()
    }
}

fn answer(recording: &Recording) -> Diagnosis {
    diagnose(recording, |_| None)
}

#[test]
fn a_yes_beside_a_queue_of_none_says_why() {
    let moments = |stuck: DiskMoment| {
        let begin = (0..10).map(|n| second(n, working(), 0.0));
        let end = (10..40).map(move |n| second(n, stuck.clone(), 1.0));
        recorded(begin.chain(end))
    };
    // What hangs is in flight, where that was read.
    let gauge = DiskMoment {
        outstanding: Some(4.0),
        ..hung()
    };
    let found = answer(&moments(gauge));
    assert_eq!(found.answer, Answer::Yes);
    let queue = found.disks[0].queue.expect("it was recorded");
    assert!((3.0..3.1).contains(&queue), "{queue}");
    assert!(!found.remarks.iter().any(|r| r.contains("beside YES")));
    // Where it was not, it is said.
    let blind = recorded((0..40).map(|n| second(n, hung(), 1.0)));
    let found = answer(&blind);
    assert_eq!(found.answer, Answer::Yes);
    assert_eq!(found.disks[0].queue, Some(0.0));
    let remark = |found: &Diagnosis| found.remarks.join(" ");
    assert!(remark(&found).contains("loop5: a queue of 0.00 beside YES: the kernel counts"));
}

#[test]
fn a_device_that_stops_completing_is_named_with_its_time() {
    let moments = (1..=14).map(|number| match number {
        1..=4 => second(number, working(), 0.01),
        _ => second(number, hung(), 0.58),
    });
    let found = answer(&recorded(moments));
    assert_eq!(
        (found.answer, found.limiter),
        (Answer::Yes, Shortage::HungDevice)
    );
    assert_eq!(
        found.evidence[0],
        "loop5: operations in flight, and none completed for 10 s, to the end of the recording \
         (since 2026-11-23 12:00:04)"
    );
    assert!(
        found.remarks.iter().all(|remark| !remark.contains("%util")),
        "{:?}",
        found.remarks
    );
}

#[test]
fn every_way_to_see_operations_in_flight_counts() {
    let ways = [
        hung(),
        DiskMoment {
            queue: Some(8.0),
            util: None,
            ..hung()
        },
        // Kernels that count use and queue when operations end.
        DiskMoment {
            outstanding: Some(3.0),
            util: Some(0.0),
            ..hung()
        },
        // A dying disk: one operation in some seconds.
        DiskMoment {
            reads: 0.2,
            outstanding: Some(1.0),
            ..hung()
        },
    ];
    for way in ways {
        let found = answer(&recorded(
            (1..=8).map(|number| second(number, way.clone(), 0.5)),
        ));
        assert_eq!(found.limiter, Shortage::HungDevice, "{way:?}");
        assert_eq!(found.disks[0].name, "loop5");
    }
}

#[test]
fn a_device_that_is_idle_or_completes_something_does_not_hang() {
    let idle = DiskMoment {
        util: Some(0.0),
        outstanding: Some(0.0),
        ..hung()
    };
    let flushing = DiskMoment {
        flushes: 20.0,
        ..hung()
    };
    let slow = DiskMoment {
        writes: 2.0,
        ..hung()
    };
    for way in [idle, flushing, slow, working()] {
        assert!(!is_stuck(&way), "{way:?}");
    }
}

#[test]
fn a_pause_of_three_seconds_is_no_proof_and_never_a_no() {
    let moments = (1..=60).map(|number| match number {
        30..=32 => second(number, hung(), 0.5),
        _ => second(number, working(), 0.0),
    });
    let found = answer(&recorded(moments));
    assert_eq!(found.answer, Answer::NotProven, "{found:#?}");
    assert!(
        found.evidence[0].contains("none completed for 3 s (from 2026-11-23 12:00:29"),
        "{:?}",
        found.evidence
    );
    // Without it the device has room.
    let calm = (1..=60).map(|number| second(number, working(), 0.0));
    assert_eq!(answer(&recorded(calm)).answer, Answer::No);
}

#[test]
fn a_device_hangs_whether_or_not_its_programs_are_counted_as_waiting() {
    // Databases with asynchronous I/O show none.
    let queued = DiskMoment {
        queue: Some(32.0),
        ..hung()
    };
    for stuck in [hung(), queued] {
        let mut never_worked = recorded((1..=20).map(|number| second(number, stuck.clone(), 0.0)));
        let found = answer(&never_worked);
        assert_eq!(found.answer, Answer::Yes, "{found:#?}");
        assert_eq!(found.limiter, Shortage::HungDevice);
        assert!(found.evidence[0].starts_with("loop5: operations in flight"));
        assert!(found.evidence[1].contains("`fathom ping`"), "{found:#?}");
        for moment in &mut never_worked.moments {
            moment.cpu = None;
        }
        assert_eq!(answer(&never_worked).answer, Answer::Yes);
    }
}

#[test]
fn a_stall_that_no_device_shows_is_named_and_never_a_no() {
    let idle = DiskMoment {
        util: Some(0.0),
        outstanding: Some(0.0),
        ..hung()
    };
    let stalled = |pressure| {
        recorded((1..=60).map(|number| Moment {
            io_pressure_some: Some(pressure),
            io_pressure_full: Some(pressure),
            ..second(number, idle.clone(), 0.0)
        }))
    };
    let found = answer(&stalled(0.92));
    assert_eq!(found.answer, Answer::NotProven, "{found:#?}");
    assert!(
        found.evidence[0]
            .starts_with("tasks wait for I/O 100 % of the time, but the listed devices"),
        "{:?}",
        found.evidence
    );
    assert!(found.settle[0].contains("network mounts"), "{found:#?}");
    // Also where something else would have been the answer.
    let mut busy = stalled(0.92);
    for moment in &mut busy.moments {
        moment.cpu = Some(CpuShares {
            user: 1.0,
            ..CpuShares::default()
        });
        moment.runnable = Some(20.0);
        moment.blocked = Some(0.0);
    }
    busy.host.cpus = Some(2);
    let found = answer(&busy);
    assert_eq!(found.answer, Answer::NotProven, "{found:#?}");
    assert_eq!(answer(&stalled(0.0)).answer, Answer::No);
    // A mount that does not answer is no good news either.
    let mut silent = stalled(0.0);
    for moment in &mut silent.moments {
        moment.silent = vec!["/mnt/nas".to_owned()];
    }
    let found = answer(&silent);
    assert_eq!(found.answer, Answer::NotProven, "{found:#?}");
    assert!(
        found.evidence[0].starts_with("/mnt/nas does not respond"),
        "{:?}",
        found.evidence
    );
}
