//! JSON and CSV.

use fathom_model::{Estimate, JudgedRun, Unit};
use fathom_report::{Error, csv, json};
use serde_json::Value;

use crate::synthetic;

#[test]
fn json_reads_back_as_the_run_without_what_is_only_drawn() {
    let run = synthetic::open_loop_lag();
    let text = json::render(&run, true).unwrap();
    assert!(text.ends_with("}\n"));
    let back: JudgedRun = serde_json::from_str(&text).unwrap();
    assert!(back.trials[0].charts.ops.is_empty() && !run.trials[0].charts.ops.is_empty());
    assert!(back.run == run.run && back.verdict == run.verdict);
    assert!(back.trials[0].workload == run.trials[0].workload);
    let (a, b) = (&back.rows[0].ops[0], &run.rows[0].ops[0]);
    assert_eq!((a.ops, a.bytes, &a.errors), (b.ops, b.bytes, &b.errors));
    assert_eq!(a.service.max_ns, b.service.max_ns);
    let rates = a.ops_per_second.value.zip(b.ops_per_second.value).unwrap();
    assert!((rates.0 / rates.1 - 1.0).abs() < 1e-12, "{rates:?}");
    let one_line = json::render(&run, false).unwrap();
    assert_eq!(one_line.lines().count(), 1);
}

#[test]
fn a_number_that_is_not_finite_never_gets_out() {
    let mut run = synthetic::errors();
    run.rows[0].ops[0].ops_per_second = Estimate::point(Unit::OpsPerSecond, f64::NAN, "x");
    let value: Value = serde_json::from_str(&json::render(&run, false).unwrap()).unwrap();
    assert_eq!(
        value["rows"][0]["ops"][0]["ops_per_second"]["value"],
        Value::Null
    );
    let ceiling = run.trials[0].summary.ceiling.as_mut().unwrap();
    ceiling.ops_per_second = f64::INFINITY;
    let error = json::render(&run, false).unwrap_err();
    assert!(matches!(error, Error::NotFinite { .. }));
    assert!(
        error.to_string().contains("trials[0].summary.ceiling"),
        "{error}"
    );
}

/// Splits one CSV text as RFC 4180 has it.
fn records(text: &str) -> Vec<Vec<String>> {
    let mut records = vec![vec![String::new()]];
    let mut quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let record = records.last_mut().unwrap();
        match c {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                record.last_mut().unwrap().push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(String::new()),
            '\n' if !quoted => records.push(vec![String::new()]),
            c => record.last_mut().unwrap().push(c),
        }
    }
    assert_eq!(records.pop(), Some(vec![String::new()]));
    records
}

#[test]
fn csv_has_one_row_per_trial_and_kind() {
    for run in [
        synthetic::quick(),
        synthetic::open_loop_lag(),
        synthetic::failed(),
        synthetic::hostile(),
    ] {
        let rows = records(&csv::render(&run));
        let header: Vec<&str> = csv::COLUMNS.iter().map(|c| c.0).collect();
        assert_eq!(rows[0], header);
        let expected: usize = run.trials.iter().map(|t| t.summary.ops.len().max(1)).sum();
        assert_eq!(rows.len() - 1, expected);
        assert!(rows.iter().all(|r| r.len() == header.len()));
    }
}

#[test]
fn csv_fields_are_base_units_and_stand_in_their_columns() {
    let run = synthetic::hostile();
    let rows = records(&csv::render(&run));
    let field = |name: &str| {
        let at = csv::COLUMNS.iter().position(|c| c.0 == name).unwrap();
        rows[1][at].as_str()
    };
    let op = &run.trials[0].summary.ops[0];
    let label = fathom_model::printable::lines(&run.trials[0].label);
    assert_eq!(
        field("label"),
        label,
        "a terminal that shows it obeys nothing"
    );
    assert_eq!(field("started"), "2026-11-21T15:45:30Z");
    assert_eq!(field("op"), "read");
    assert_eq!(field("ops"), op.ops.to_string());
    assert_eq!(field("errors"), "21");
    assert_eq!(field("errors_io"), "21");
    assert_eq!(field("errors_other"), "0");
    assert_eq!(field("validity"), "not_trusted");
    assert_eq!(field("findings"), "V26");
    let rate: f64 = field("bytes_per_second").parse().unwrap();
    assert_eq!(Some(rate), op.bytes_per_second.value);
    assert_eq!(
        field("service_max_ns"),
        op.service.max_ns.unwrap().to_string()
    );
    assert_eq!(field("response_p99_ns"), "");
}

#[test]
fn every_csv_column_is_explained_once() {
    let mut names: Vec<&str> = csv::COLUMNS.iter().map(|c| c.0).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), csv::COLUMNS.len());
    assert!(csv::COLUMNS.iter().all(|c| !c.1.is_empty()));
}
