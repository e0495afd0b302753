//! What is said of drawn hosts, with and without knowing what their volume can give.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fathom_diagnose::recording::{DiskMoment, Recording};
use fathom_diagnose::{Ceiling, diagnose};
use fathom_model::diagnosis::Diagnosis;

use crate::draw::Draw;
use crate::hosts;
use crate::kept::{is_as_kept, of_document, of_text};

const CASES: u64 = 3000;
/// Of these the evidence is kept word for word.
const READ: u64 = 120;
/// Others share a digest, so that the file stays short.
const TOGETHER: u64 = 6;

/// Around what the load reaches, as a limit or as a measurement.
fn ceiling(draw: &mut Draw, recording: &Recording) -> Option<Ceiling> {
    let rates = recording.moments.iter().flat_map(|moment| &moment.disks);
    let most = rates.map(DiskMoment::operations).fold(1.0, f64::max);
    let times = [
        1.0,
        0.9,
        0.7,
        1.0 / 0.9,
        1.0 / 0.7,
        1.5,
        1.0 / 1.15,
        0.8,
        4.0,
    ];
    let given = Ceiling::given(most * draw.pick(&times));
    match draw.below(4) {
        0 | 1 => None,
        2 => Some(given),
        _ => Some(Ceiling {
            source: "a measurement".to_owned(),
            block_bytes: draw.maybe(&[1024.0, 4096.0, 16_384.0, 65_536.0, 262_144.0]),
            read_share: draw.maybe(&[0.0, 0.3, 0.5, 0.7, 1.0]),
            wait_ms: draw.maybe(&[0.0, 1.0, 10.0, 33.0]),
            ..given
        }),
    }
}

fn said_of(case: u64) -> Diagnosis {
    let mut draw = Draw::of(0x5A1D, case);
    let recording = hosts::recording(&mut draw);
    let ceiling = ceiling(&mut draw, &recording);
    diagnose(&recording, |_| ceiling.clone())
}

#[test]
fn what_is_said_of_drawn_hosts_is_as_kept() {
    let mut said = String::new();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut digests = String::new();
    for case in 0..CASES {
        let found = said_of(case);
        let answer = format!("{:?} {:?}", found.answer, found.limiter);
        digests.push_str(&of_document(&found));
        *counts.entry(answer.clone()).or_default() += 1;
        if case < READ {
            let _ = writeln!(said, "host {case}: {answer}");
            for line in found.evidence.iter().chain(&found.remarks) {
                let _ = writeln!(said, "  - {line}");
            }
        }
        if (case + 1).is_multiple_of(TOGETHER) {
            let _ = writeln!(said, "to {case}: {}", of_text(&digests));
            digests.clear();
        }
    }
    for (answer, count) in counts {
        let _ = writeln!(said, "{count} times {answer}");
    }
    is_as_kept("said.txt", &said);
}
