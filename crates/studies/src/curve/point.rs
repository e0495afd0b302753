//! One row of a run as a point of a curve.

use fathom_analysis::judgement::{is_rate_not_reached, sum_of_kinds};
use fathom_model::curve::{CurveLatency, CurvePoint};
use fathom_model::estimate::{Estimate, Unit};
use fathom_model::judged::{JudgedRun, JudgedTrial, LatencySummary, OpSummary, ResultRow};
use fathom_model::schedule::TrialRole;
use fathom_model::verdict::{Finding, FindingStatus};
use fathom_model::workload::RateUnit;
use fathom_rules::check;

/// The point of a row; nothing for a row without trials.
pub(super) fn of(run: &JudgedRun, row: &ResultRow) -> Option<CurvePoint> {
    let trials: Vec<&JudgedTrial> = row
        .trials
        .iter()
        .filter_map(|i| run.trials.get(*i))
        .collect();
    let first = trials.first()?;
    let workload = &first.workload;
    let nothing = |unit| Estimate::unknown(unit, "no operation completed");
    let data = || row.ops.iter().filter(|op| op.kind.is_data());
    let ops: Vec<&Estimate> = data().map(|op| &op.ops_per_second).collect();
    let bytes: Vec<&Estimate> = data().map(|op| &op.bytes_per_second).collect();
    let lateness = trials.iter().filter_map(|t| {
        let lateness = t.summary.lateness.as_ref()?;
        lateness.percentile(99.0).value
    });
    let in_flight: Vec<f64> = trials
        .iter()
        .filter_map(|t| t.summary.mean_in_flight)
        .collect();
    let ratios = trials
        .iter()
        .filter_map(|t| t.verdict.fitness.as_ref()?.worst_ratio);
    let (holding, breaking): (Vec<f64>, Vec<f64>) = ratios.partition(|ratio| *ratio <= 1.0);
    let told = |trials: Vec<f64>| {
        let slo = workload.slo.as_ref();
        slo.map(|_| u32::try_from(trials.len()).unwrap_or(u32::MAX))
    };
    Some(CurvePoint {
        row: row.row,
        label: row.label.clone(),
        depth: workload.total_depth(),
        block_bytes: workload.block.max_bytes(),
        active_bytes: match first.summary.active_bytes {
            0 => workload
                .data_set
                .working_set_bytes
                .or(workload.data_set.size_bytes)
                .unwrap_or(0),
            bytes => bytes,
        },
        offset_bytes: workload.data_set.offset_bytes,
        read_percent: workload.mix.read_percent,
        offered_per_second: workload.rate.map(|rate| match rate.unit {
            RateUnit::Ops => rate.per_second,
            RateUnit::Bytes => rate.per_second / workload.block.max_bytes().max(1) as f64,
        }),
        trials: u32::try_from(trials.len()).unwrap_or(u32::MAX),
        ops_per_second: sum_of_kinds(&ops).unwrap_or_else(|| nothing(Unit::OpsPerSecond)),
        bytes_per_second: sum_of_kinds(&bytes).unwrap_or_else(|| nothing(Unit::BytesPerSecond)),
        latency: worst_tail(&row.ops),
        lateness_p99_ns: lateness.fold(None, |most: Option<f64>, v| {
            Some(most.map_or(v, |m| m.max(v)))
        }),
        mean_in_flight: (!in_flight.is_empty())
            .then(|| in_flight.iter().sum::<f64>() / in_flight.len() as f64),
        saturated: trials.iter().any(|t| saturated(t)),
        late: trials.iter().any(|t| lag(t).is_some() && !saturated(t)),
        validity: row.verdict.validity,
        limiter: row.verdict.limiter,
        trials_holding: told(holding),
        trials_breaking: told(breaking),
        fitness: row.verdict.fitness.clone(),
        probe: row.role == TrialRole::Probe,
    })
}

/// What V23 says of the rate.
fn of_rate(trial: &JudgedTrial) -> Option<&Finding> {
    let mut findings = trial.verdict.findings.iter();
    findings.find(|finding| finding.id == check::id::V23)
}

/// The objection of V23: operations were later than they took.
fn lag(trial: &JudgedTrial) -> Option<&Finding> {
    of_rate(trial).filter(|finding| finding.status >= FindingStatus::Caveat)
}

fn saturated(trial: &JudgedTrial) -> bool {
    of_rate(trial).is_some_and(is_rate_not_reached)
}

/// The latency of the kind of operation with the worst 99th percentile, or
/// mean where there is none.
fn worst_tail(ops: &[OpSummary]) -> Option<CurveLatency> {
    let all = ops.iter().filter(|op| op.kind.is_data() && op.ops > 0);
    let tail = |op: &&OpSummary| {
        let latency = first(op);
        let p99 = latency.percentile(99.0).value;
        p99.or(latency.mean_ns.value).unwrap_or(0.0)
    };
    let op = all.max_by(|a, b| tail(a).total_cmp(&tail(b)))?;
    let latency = first(op);
    Some(CurveLatency {
        kind: op.kind,
        response: op.response.is_some(),
        mean_ns: latency.mean_ns.clone(),
        p50_ns: latency.percentile(50.0),
        p99_ns: latency.percentile(99.0),
        p999_ns: latency.percentile(99.9),
        max_ns: latency.max_ns,
    })
}

fn first(op: &OpSummary) -> &LatencySummary {
    op.response.as_ref().unwrap_or(&op.service)
}
