//! The result table of mdtest, from phases on files.
//!
//! Its rate is that of the slowest task times the tasks: all operations over
//! the time of the last finisher. Every phase of a run is an iteration of its row.
//! mdtest has no latencies, and none are here.

use std::fmt::Write;

use fathom_model::schedule::TrialRole;
use fathom_model::workload::MetaWork;
use fathom_model::{OpKind, Phase, RunRecord, Sample, TrialRecord};
use fathom_stats::moments::Moments;

/// The rows of the table in mdtest's order.
const ROWS: [(OpKind, &str); 8] = [
    (OpKind::Mkdir, "Directory creation"),
    (OpKind::Statdir, "Directory stat"),
    (OpKind::Rmdir, "Directory removal"),
    (OpKind::Create, "File creation"),
    (OpKind::Stat, "File stat"),
    (OpKind::ReadFile, "File read"),
    (OpKind::Rename, "File rename"),
    (OpKind::Unlink, "File removal"),
];

/// The table of a run. `None` when it has no phase that mdtest knows.
pub fn table(record: &RunRecord) -> Option<String> {
    let rows: Vec<(&str, Vec<f64>)> = ROWS
        .iter()
        .map(|(kind, name)| (*name, rates(record, *kind)))
        .filter(|(_, rates)| !rates.is_empty())
        .collect();
    let iterations = rows.iter().map(|(_, rates)| rates.len()).max()?;
    let mut out = format!("SUMMARY rate (in ops/sec): (of {iterations} iterations)\n");
    out.push_str(
        "   Operation                     Max            Min           Mean        Std Dev\n",
    );
    out.push_str(
        "   ---------                     ---            ---           ----        -------\n",
    );
    for (name, rates) in rows {
        let moments = Moments::of(&rates)?;
        let most = rates.iter().copied().fold(f64::MIN, f64::max);
        let least = rates.iter().copied().fold(f64::MAX, f64::min);
        let _ = writeln!(
            out,
            "   {name:<18} {most:>14.3} {least:>14.3} {:>14.3} {:>14.3}",
            moments.mean,
            moments.deviation_within()
        );
    }
    Some(out)
}

/// The rate of each complete phase of a kind.
fn rates(record: &RunRecord, kind: OpKind) -> Vec<f64> {
    let phases = record.trials.iter().filter(|trial| {
        let meta = trial.spec.workload.files_work();
        trial.spec.role == TrialRole::Measure && meta.and_then(MetaWork::phase) == Some(kind)
    });
    phases.filter_map(rate).collect()
}

fn rate(trial: &TrialRecord) -> Option<f64> {
    let finishers = trial.end.as_ref().and_then(|end| end.engine.finishers);
    if let Some(finishers) = finishers.filter(|f| f.last_ns > 0) {
        return Some(finishers.ops as f64 * 1e9 / finishers.last_ns as f64);
    }
    let measured = || trial.samples.iter().filter(|s| s.phase == Phase::Measure);
    let ops: u64 = measured().map(Sample::data_ops).sum();
    let time_ns: u64 = measured().map(|sample| sample.duration_ns).sum();
    (ops > 0 && time_ns > 0).then(|| ops as f64 * 1e9 / time_ns as f64)
}
