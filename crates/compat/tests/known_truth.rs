//! Recordings that once had a wrong answer: real ones of drives whose truth is
//! known.

use fathom_compat::recordings;
use fathom_diagnose::recording::Recording;
use fathom_diagnose::{Ceiling, diagnose, join};
use fathom_model::diagnosis::{Answer, Diagnosis, Shortage};

const BATCHES: &str = include_str!("../samples/known-truth/batches-with-room.json");
const NICED: &str = include_str!("../samples/known-truth/niced-hogs-full-volume.json");
const NICED_VMSTAT: &str = include_str!("../samples/known-truth/niced-hogs-full-volume-vmstat.txt");
const BLOCKED: &str = include_str!("../samples/known-truth/blocked-readers.json");
const BLOCKED_UPTIME: &str = include_str!("../samples/known-truth/blocked-readers-uptime.txt");
const HUNG: &str = include_str!("../samples/known-truth/hung-device.json");
const HUNG_TEXT: &str = include_str!("../samples/known-truth/hung-device.txt");

fn read(text: &str) -> Recording {
    recordings::read(text).expect("a recording")
}

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

#[test]
fn batches_at_an_even_pace_are_no_cap() {
    // 400 reads per second in batches of 10 to 200; the drive can do 4,000.
    let recording = read(BATCHES);
    assert_eq!(free(&recording).answer, Answer::NotProven);
    let found = diagnose(&recording, limit_of(4_000.0));
    assert_eq!(found.answer, Answer::No, "{found:#?}");
    assert!(found.evidence[0].contains("peaks at 470 of 4,000"));
}

#[test]
fn niced_programs_do_not_hide_a_full_volume() {
    let mut recording = read(NICED);
    let found = free(&recording);
    assert_eq!(found.answer, Answer::NotProven, "{found:#?}");
    assert!(found.evidence[0].contains("32.0") || found.evidence[0].contains("31.9"));
    assert!(
        found.evidence[1].contains("by niced programs"),
        "{found:#?}"
    );
    // vmstat adds the tasks that wait: always as many as there are operations in flight.
    join(&mut recording, &read(NICED_VMSTAT));
    let found = free(&recording);
    assert_eq!(found.answer, Answer::Yes, "{found:#?}");
    assert!(found.evidence[0].contains("in flight all the time"));
    let found = diagnose(&recording, limit_of(300.0));
    assert_eq!(found.answer, Answer::Yes, "{found:#?}");
}

#[test]
fn a_load_average_alone_is_no_queue_for_cpus() {
    let mut uptime = read(BLOCKED_UPTIME);
    uptime.host.cpus = Some(2);
    let mut both = read(BLOCKED);
    both.host.cpus = Some(2);
    join(&mut both, &uptime);
    for recording in [uptime, both] {
        let found = free(&recording);
        assert_eq!(found.answer, Answer::NotProven, "{found:#?}");
        assert!(found.settle[0].contains("vmstat, or top's %Cpu line"));
        let evidence = found.evidence.join("\n");
        assert!(evidence.contains("a load average of 7.1"), "{evidence}");
    }
}

/// A loop device over a file whose server was stopped, seen by iostat.
#[test]
fn a_frozen_drive_is_named_from_both_formats_of_iostat() {
    for text in [HUNG, HUNG_TEXT] {
        let found = free(&read(text));
        assert_eq!(
            (found.answer, found.limiter),
            (Answer::Yes, Shortage::HungDevice)
        );
        assert!(
            found.evidence[0].starts_with("loop0: operations in flight, and none completed for"),
            "{:?}",
            found.evidence
        );
    }
}
