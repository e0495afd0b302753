//! A run as CSV: one row per trial and kind of operation.
//!
//! Base units (bytes, nanoseconds, operations per second), plain numbers, an
//! empty field where there is no number, quoting after RFC 4180 and lines
//! that end in `\n`. [`COLUMNS`] names every column and its meaning;
//! columns are only ever added at the end. A study may give records of its own
//! instead: a test of a standard has one row per cell.

use fathom_model::judged::{ErrorCount, LatencySummary, OpSummary};
use fathom_model::together::ResultSet;
use fathom_model::{ErrorClass, Estimate, JudgedRun, JudgedTrial, printable};

use crate::{moment, names};

/// Name and meaning of each column, in order.
pub const COLUMNS: &[(&str, &str)] = &[
    ("run_id", "id of the run"),
    ("run_name", "name of the plan"),
    ("run_label", "burst, sustained or empty"),
    ("tool_version", "version of fathom"),
    ("hostname", "host"),
    ("trial", "position in the schedule, from 0"),
    ("row", "row of the plan; trials of one row are iterations"),
    ("iteration", "repetition, from 0"),
    ("label", "workload name and matrix values"),
    ("target", "what was measured"),
    ("engine", "engine that ran"),
    ("direct", "true when O_DIRECT was in force"),
    ("started", "start of the trial, RFC 3339, UTC"),
    ("state", "running, complete, interrupted or failed"),
    ("reason", "why it ended early or failed"),
    (
        "validity",
        "trusted, caveats, not_determined or not_trusted",
    ),
    ("limiter", "what set the number"),
    (
        "findings",
        "ids of caveats and invalid checks, separated by spaces",
    ),
    ("duration_ns", "length of the measure phase"),
    ("op", "kind of operation; empty when none was measured"),
    ("ops", "successful operations"),
    ("bytes", "bytes that they moved"),
    ("errors", "failed operations, never part of ops"),
    ("errors_io", "failures of class io"),
    ("errors_no_space", "failures of class no_space"),
    ("errors_permission", "failures of class permission"),
    ("errors_unsupported", "failures of class unsupported"),
    ("errors_timeout", "failures of class timeout"),
    ("errors_short", "failures of class short"),
    ("errors_verify", "failures of class verify"),
    ("errors_other", "failures of class other"),
    ("ops_per_second", "estimate"),
    ("ops_per_second_low", "lower end of its 95 % interval"),
    ("ops_per_second_high", "upper end of its 95 % interval"),
    ("bytes_per_second", "estimate"),
    ("bytes_per_second_low", "lower end of its 95 % interval"),
    ("bytes_per_second_high", "upper end of its 95 % interval"),
    ("service_min_ns", "smallest latency from submission"),
    ("service_mean_ns", "estimate"),
    ("service_mean_low_ns", "lower end of its 95 % interval"),
    ("service_mean_high_ns", "upper end of its 95 % interval"),
    (
        "service_p50_ns",
        "estimate; empty when the data cannot support it",
    ),
    ("service_p90_ns", "90th percentile"),
    ("service_p95_ns", "95th percentile"),
    ("service_p99_ns", "99th percentile"),
    ("service_p999_ns", "99.9th percentile"),
    ("service_p9999_ns", "99.99th percentile"),
    ("service_max_ns", "largest latency from submission"),
    (
        "response_min_ns",
        "smallest latency from the intended start; open loop only",
    ),
    ("response_mean_ns", "estimate"),
    ("response_mean_low_ns", "lower end of its 95 % interval"),
    ("response_mean_high_ns", "upper end of its 95 % interval"),
    (
        "response_p50_ns",
        "estimate; empty when the data cannot support it",
    ),
    ("response_p90_ns", "90th percentile"),
    ("response_p95_ns", "95th percentile"),
    ("response_p99_ns", "99th percentile"),
    ("response_p999_ns", "99.9th percentile"),
    ("response_p9999_ns", "99.99th percentile"),
    ("response_max_ns", "largest latency from the intended start"),
    (
        "set",
        "number of the set, from 0, when trials ran at the same time; a line without a trial is \
         the sum of its set",
    ),
    ("set_turn", "which time the set ran, from 0"),
    (
        "load_started_ns",
        "begin of the load after the opening of the set's gate",
    ),
    ("errors_slow_down", "failures of class slow_down"),
    ("errors_reset", "failures of class reset"),
    ("errors_refused", "failures of class refused"),
    ("errors_failed", "failures of class failed"),
];

/// Classes of errors that have their columns beside the operations; those that
/// came later stand at the end.
const FIRST_CLASSES: usize = 8;
/// Those at the end.
const LATER_CLASSES: usize = ErrorClass::ALL.len() - FIRST_CLASSES;

/// Of them those that tell the set.
const SET_COLUMNS: usize = 3;
/// Those at the beginning that tell the trial.
const TRIAL_COLUMNS: usize = 19;

const PERCENTILES: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// The run as CSV with a header line.
pub fn render(run: &JudgedRun) -> String {
    let mut out = String::new();
    if let Some(records) = run.view.as_ref().and_then(|view| view.records.as_ref()) {
        push_record(
            &mut out,
            records.columns.iter().map(|name| (*name).to_owned()),
        );
        for row in &records.rows {
            push_record(&mut out, row.iter().cloned());
        }
        return out;
    }
    push_record(&mut out, COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    for trial in &run.trials {
        let head = trial_fields(run, trial);
        let set = set_fields(trial);
        let mut push = |fields: Vec<String>, later: Vec<String>| {
            let fields = head.iter().cloned().chain(fields);
            push_record(&mut out, fields.chain(set.iter().cloned()).chain(later));
        };
        if trial.summary.ops.is_empty() {
            let none = |columns: usize| vec![String::new(); columns];
            let others = TRIAL_COLUMNS + SET_COLUMNS + LATER_CLASSES;
            push(none(COLUMNS.len() - others), none(LATER_CLASSES));
        }
        for op in &trial.summary.ops {
            push(op_fields(op), later_error_fields(op.errors.iter()));
        }
    }
    for (number, set) in run.sets.iter().enumerate() {
        push_sum(&mut out, run, number, set);
    }
    out
}

fn set_fields(trial: &JudgedTrial) -> [String; SET_COLUMNS] {
    let Some(place) = &trial.in_set else {
        return [const { String::new() }; SET_COLUMNS];
    };
    let began = place.load_started_ns;
    [
        place.set.to_string(),
        place.turn.to_string(),
        began.map_or(String::new(), |ns| ns.to_string()),
    ]
}

/// The sum of a set: a line for each kind of operation, and one for all data
/// operations.
fn push_sum(out: &mut String, run: &JudgedRun, number: usize, set: &ResultSet) {
    let Some(sum) = &set.sum else {
        return;
    };
    let mut head = vec![String::new(); TRIAL_COLUMNS];
    head[0].clone_from(&run.run.id);
    head[1].clone_from(&run.run.name);
    head[4].clone_from(&run.host.hostname);
    head[8] = format!("sum of {}", set.label);
    head[TRIAL_COLUMNS - 1] = sum.duration_ns.to_string();
    let tail = [number.to_string(), String::new(), sum.from_ns.to_string()];
    let mut push = |fields: Vec<String>, later: Vec<String>| {
        let fields = head.iter().cloned().chain(fields);
        push_record(out, fields.chain(tail.iter().cloned()).chain(later));
    };
    for op in &sum.ops {
        push(op_fields(op), later_error_fields(op.errors.iter()));
    }
    let data = || sum.ops.iter().filter(|op| op.kind.is_data());
    if data().count() > 1 {
        let total = |of: fn(&OpSummary) -> u64| data().map(of).fold(0, u64::saturating_add);
        let mut fields = vec![
            "all".to_owned(),
            total(|op| op.ops).to_string(),
            total(|op| op.bytes).to_string(),
        ];
        let failed = || data().flat_map(|op| &op.errors);
        fields.extend(error_fields(failed()));
        fields.extend(interval(&sum.ops_per_second));
        fields.extend(interval(&sum.bytes_per_second));
        fields.extend(latency_fields(Some(&sum.service)));
        fields.extend(latency_fields(None));
        push(fields, later_error_fields(failed()));
    }
}

fn trial_fields(run: &JudgedRun, trial: &JudgedTrial) -> Vec<String> {
    let findings: Vec<&str> = names::objections(&trial.verdict.findings)
        .into_iter()
        .map(|f| f.id.as_str())
        .collect();
    vec![
        run.run.id.clone(),
        run.run.name.clone(),
        run.run.label.clone().unwrap_or_default(),
        run.run.tool_version.clone(),
        run.host.hostname.clone(),
        trial.index.to_string(),
        trial.row.to_string(),
        trial.iteration.to_string(),
        trial.label.clone(),
        trial.target.to_string(),
        trial.summary.engine.map_or("", |e| e.name()).to_owned(),
        trial.summary.direct.to_string(),
        moment::rfc3339(trial.started_unix_ns),
        names::state(trial.state).to_owned(),
        trial.reason.clone().unwrap_or_default(),
        names::validity_key(trial.verdict.validity).to_owned(),
        names::limiter_key(trial.verdict.limiter).to_owned(),
        findings.join(" "),
        trial.summary.duration_ns.to_string(),
    ]
}

fn op_fields(op: &OpSummary) -> Vec<String> {
    let mut out = vec![
        op.kind.name().to_owned(),
        op.ops.to_string(),
        op.bytes.to_string(),
    ];
    out.extend(error_fields(op.errors.iter()));
    out.extend(interval(&op.ops_per_second));
    out.extend(interval(&op.bytes_per_second));
    out.extend(latency_fields(Some(&op.service)));
    out.extend(latency_fields(op.response.as_ref()));
    out
}

/// Failures in all, and of the first classes.
fn error_fields<'e>(errors: impl Iterator<Item = &'e ErrorCount>) -> Vec<String> {
    let by_class = by_class(errors);
    let all = by_class.iter().sum::<u64>();
    let first = by_class.into_iter().take(FIRST_CLASSES);
    std::iter::once(all)
        .chain(first)
        .map(|count| count.to_string())
        .collect()
}

/// Failures of the classes that came later.
fn later_error_fields<'e>(errors: impl Iterator<Item = &'e ErrorCount>) -> Vec<String> {
    let later = by_class(errors).into_iter().skip(FIRST_CLASSES);
    later.map(|count| count.to_string()).collect()
}

fn by_class<'e>(errors: impl Iterator<Item = &'e ErrorCount>) -> [u64; ErrorClass::ALL.len()] {
    let mut counts = [0; ErrorClass::ALL.len()];
    for error in errors {
        let place = ErrorClass::ALL.iter().position(|c| *c == error.class);
        if let Some(place) = place {
            counts[place] += error.count;
        }
    }
    counts
}

fn latency_fields(latency: Option<&LatencySummary>) -> Vec<String> {
    let Some(latency) = latency else {
        return vec![String::new(); 5 + PERCENTILES.len()];
    };
    let exact = |value: Option<u64>| value.map_or(String::new(), |ns| ns.to_string());
    let mut out = vec![exact(latency.min_ns)];
    out.extend(interval(&latency.mean_ns));
    for percent in PERCENTILES {
        out.push(number(latency.percentile(percent).value));
    }
    out.push(exact(latency.max_ns));
    out
}

fn interval(estimate: &Estimate) -> [String; 3] {
    [estimate.value, estimate.low, estimate.high].map(number)
}

fn number(value: Option<f64>) -> String {
    value
        .filter(|v| v.is_finite())
        .map_or(String::new(), |v| v.to_string())
}

fn push_record(out: &mut String, fields: impl Iterator<Item = String>) {
    for (i, field) in fields.enumerate() {
        let field = printable::lines(&field);
        if i > 0 {
            out.push(',');
        }
        if field.contains([',', '"', '\n', '\r']) || field.starts_with(' ') || field.ends_with(' ')
        {
            out.push('"');
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(&field);
        }
    }
    out.push('\n');
}
