//! Two recordings of one host: whether they belong together, and what they make together.

use std::fmt::Write as _;

use fathom_diagnose::recording::{Moment, NfsMoment, QuotaMoment, Recording};
use fathom_diagnose::{
    Ceiling, GroupWords, anonymised, diagnose, join, no_test_load, only_limits_of, same_host,
    same_time, without_file_names,
};
use fathom_model::diagnosis::Diagnosis;

use crate::draw::Draw;
use crate::hosts;
use crate::kept::{is_as_kept, of_document, of_text};

/// A second recording: of the same host later or with a scaled load, or of another host.
fn another(draw: &mut Draw, of: &Recording) -> Recording {
    let mut other = match draw.one_in(3) {
        true => hosts::recording(draw),
        false => of.clone(),
    };
    let count = other.moments.len() as i64;
    let later = draw.pick(&[
        0,
        0,
        1,
        count / 2,
        count * 9 / 10,
        count - 1,
        count,
        100,
        -count / 2,
    ]);
    let times = draw.pick(&[1.0, 1.0, 1.49, 1.5, 1.51, 0.5]);
    let queues = draw.pick(&[1.0, 1.0, 1.49, 1.5, 1.51, 8.0]);
    for moment in &mut other.moments {
        moment.at = moment.at.and_then(|at| {
            let later = jiff::SignedDuration::from_millis(1000 * later);
            at.checked_add(later).ok()
        });
        for disk in &mut moment.disks {
            disk.reads *= times;
            disk.writes *= times;
            disk.queue = disk.queue.map(|queue| queue * queues);
        }
    }
    if draw.one_in(4) {
        other.moments.truncate(draw.below(8) as usize);
    }
    let names = ["db1", "db1.acme", "db1.acme.example", "db12", "db2"];
    other.host.name = draw.maybe(&names).map(str::to_owned);
    other.source = "another test".to_owned();
    other.remarks = vec!["db1.frec is damaged".to_owned()];
    other
}

#[test]
fn what_two_recordings_make_together_is_as_kept() {
    let mut said = String::new();
    for case in 0..320 {
        let mut draw = Draw::of(0x9A18, case);
        let mut main = hosts::recording(&mut draw);
        let other = another(&mut draw, &main);
        let (host, time) = (same_host(&main, &other), same_time(&main, &other));
        let load = no_test_load(&main, &other);
        let found = diagnose(&main, |disk| Ceiling::of_test(&other, disk));
        join(&mut main, &other);
        let joined = of_text(&format!("{main:?}"));
        let judged = of_document(&found);
        let _ = writeln!(
            said,
            "pair {case}: host {host}, time {time}, {joined} {judged}"
        );
        if let Some(why) = load {
            let _ = writeln!(said, "  {why}");
        }
    }
    is_as_kept("pairs.txt", &said);
}

#[test]
fn each_part_of_a_moment_is_taken_from_the_other_where_it_is_missing() {
    for case in 0..60 {
        let full = hosts::recording(&mut Draw::of(0x9A19, case));
        let mut main = Recording {
            moments: full.moments.iter().map(|_| Moment::default()).collect(),
            ..Recording::default()
        };
        join(&mut main, &full);
        for (made, of) in main.moments.iter().zip(&full.moments) {
            let kept_out = Moment {
                at: None,
                seconds: None,
                cpu_pressure_some: None,
                memory: None,
                silent: Vec::new(),
                stuck: Vec::new(),
                ..of.clone()
            };
            assert_eq!(*made, kept_out);
        }
        assert_eq!(main.host, full.host);
    }
}

fn named(draw: &mut Draw) -> Recording {
    let mut recording = hosts::recording(draw);
    recording.host.name = draw.maybe(&["cubes".to_owned()]);
    let mounts = ["filer:/vol on /mnt", "10.0.0.7:/vol on /data"];
    for moment in &mut recording.moments {
        let mounts = mounts.iter().filter(|_| draw.one_in(2));
        let mounts = mounts.map(|name| NfsMoment {
            name: (*name).to_owned(),
            queue: 3.0,
            ..NfsMoment::default()
        });
        moment.nfs = mounts.collect();
        let quotas = ["/", "acme/web", "acme/shop"]
            .iter()
            .filter(|_| draw.one_in(2));
        let quotas = quotas.map(|name| QuotaMoment {
            name: (*name).to_owned(),
            held_back: 0.9,
        });
        moment.quotas = quotas.collect();
    }
    recording.remarks = vec![
        "cubes-20261121-153000.frec: damaged; xcubes.frec and cubes_1 are not".to_owned(),
        "sent to 192.168.1.20:2049, [fe80::1] and 192.168.1.20. At 12:30:45 10.0.0.7: none"
            .to_owned(),
        "cubes-2026112-1 of cubes-202611211-1 was cubes.".to_owned(),
    ];
    recording
}

#[test]
fn what_strangers_read_is_as_kept() {
    let mut said = String::new();
    for case in 0..80 {
        let mut draw = Draw::of(0xA401, case);
        let mut recording = named(&mut draw);
        let files = ["cubes.frec", "xcubes.frec"].map(str::to_owned);
        if draw.one_in(2) {
            without_file_names(&mut recording, &files);
        }
        let words = GroupWords::put_into(&mut recording);
        let known = draw.maybe(&[300.0]).map(Ceiling::given);
        let found = diagnose(&recording, |_| known.clone());
        let found: Diagnosis = anonymised(found, &recording, words);
        let _ = writeln!(said, "case {case}: {} {}", found.host, of_document(&found));
        for line in found.evidence.iter().chain(&found.remarks) {
            if case < 20 {
                let _ = writeln!(said, "  {line}");
            }
        }
    }
    is_as_kept("unnamed.txt", &said);
}

#[test]
fn limits_of_other_groups_are_left_out_of_drawn_hosts() {
    let mut said = String::new();
    for case in 0..60 {
        let mut draw = Draw::of(0x6407, case);
        let mut recording = hosts::recording(&mut draw);
        let group = draw.pick(&["/db", "db/one", "batch", "/", "dbx"]);
        only_limits_of(&mut recording, group);
        let groups = recording.moments.iter().flat_map(|moment| &moment.groups);
        let limited = groups.filter(|group| group.limit_used.is_some()).count();
        let found = diagnose(&recording, |_| None);
        let _ = writeln!(said, "case {case}: {limited} {}", of_document(&found));
    }
    is_as_kept("limits.txt", &said);
}

#[test]
fn recordings_without_a_length_share_no_time() {
    let mut recording = hosts::recording(&mut Draw::of(0x9A1A, 0));
    recording.moments.truncate(1);
    for moment in &mut recording.moments {
        moment.at = Some(jiff::civil::date(2026, 11, 21).at(12, 0, 0, 0));
        moment.seconds = Some(0.0);
    }
    assert!(!same_time(&recording, &recording));
    recording.moments[0].seconds = Some(1.0);
    assert!(same_time(&recording, &recording));
}
