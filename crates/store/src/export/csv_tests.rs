use fathom_model::{OpKind, RunState};

use super::*;
use crate::fixtures;

/// A reader of RFC 4180, written from the grammar and nothing else.
fn parse(text: &str) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    let (mut line, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => line.push(std::mem::take(&mut field)),
            '\r' if !quoted => {
                assert_eq!(chars.next(), Some('\n'), "a line ends with CR LF");
                line.push(std::mem::take(&mut field));
                lines.push(std::mem::take(&mut line));
            }
            c => field.push(c),
        }
    }
    assert!(
        field.is_empty() && line.is_empty(),
        "the last line ends too"
    );
    lines
}

fn run() -> RunRecord {
    let meta = fixtures::meta("a", 1);
    let mut load = fixtures::Load::new(3, 50.0);
    let mut samples = vec![load.sample(0), load.sample(1)];
    let mut late = Histogram::new();
    late.record(1_000);
    late.record(3_000_000_000);
    samples[1].ops[1].response = Some(late);
    samples[1].ops[0].errors.add_many(ErrorClass::Verify, 3);
    samples[1].ops[0].service = Histogram::new();
    let trial = TrialRecord {
        spec: fixtures::trial(0),
        started_unix_ns: 5,
        state: RunState::Complete,
        samples,
        observations: Vec::new(),
        target_before: None,
        end: None,
    };
    RunRecord {
        meta,
        trials: vec![trial],
    }
}

#[test]
fn every_line_has_every_column_and_says_what_was_measured() {
    let run = run();
    let mut out = Vec::new();
    csv(&run, &mut out).unwrap();
    let lines = parse(&String::from_utf8(out).unwrap());
    assert_eq!(lines.len(), 1 + 4);
    assert!(lines.iter().all(|line| line.len() == CSV_COLUMNS.len()));
    let column = |line: usize, name: &str| {
        let at = lines[0].iter().position(|n| n == name).unwrap();
        lines[line][at].as_str()
    };
    assert_eq!(column(1, "label"), "mixed, 4 KiB \"random\"");
    assert_eq!(column(1, "response_count"), "", "a closed loop has none");
    let read = run.trials[0].samples[0].op(OpKind::Read).unwrap();
    assert_eq!(column(1, "kind"), "read");
    assert_eq!(column(1, "bytes"), (read.ops * 4096).to_string());
    assert_eq!(column(1, "service_sum_ns"), read.service.sum().to_string());
    assert_eq!(column(3, "errors"), "3");
    assert_eq!(column(3, "errors_verify"), "3");
    assert_eq!(column(3, "service_p50_ns"), "", "nothing was recorded");
    assert_eq!(column(4, "response_max_ns"), "3000000000");
    assert_eq!(column(4, "interval"), "1");
}

#[test]
fn every_column_is_documented_once() {
    let mut names: Vec<&str> = CSV_COLUMNS.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), CSV_COLUMNS.len());
    assert!(CSV_COLUMNS.iter().all(|(_, meaning)| !meaning.is_empty()));
}
