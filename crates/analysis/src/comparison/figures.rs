//! The figures of trials by which sides are compared.

use fathom_model::estimate::{Estimate, Unit};
use fathom_model::judged::{JudgedTrial, LatencySummary, OpSummary};
use fathom_model::{Metric, OpKind};
use fathom_rules::check;
use fathom_rules::method::comparison::ROUGH;

use super::effect::Effect;
use crate::unknown::Unknown;

/// Which figure: of one kind of operation, or of all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Figure {
    pub(crate) metric: Metric,
    pub(crate) op: Option<OpKind>,
}

/// A trial's figure, with half its 95 % interval over the value where its own
/// seconds give one; or why there is none.
pub(crate) type Value = Result<(f64, Option<f64>), Unknown>;

impl Figure {
    pub(crate) fn unit(self) -> Unit {
        match self.metric {
            Metric::OpsPerSecond => Unit::OpsPerSecond,
            Metric::BytesPerSecond => Unit::BytesPerSecond,
            _ => Unit::Nanoseconds,
        }
    }

    /// The effect on this figure: latencies come from buckets.
    pub(crate) fn effect(self, effect: Effect) -> Effect {
        match self.unit() == Unit::Nanoseconds && self.metric != Metric::CpuPerOp {
            true => effect.of_buckets(),
            false => effect,
        }
    }

    /// The figure of a trial. Only a positive one has a logarithm.
    pub(crate) fn of(self, trial: &JudgedTrial) -> Value {
        let (value, half) = match self.metric {
            Metric::OpsPerSecond => sum(trial, |op| &op.ops_per_second)?,
            Metric::BytesPerSecond => sum(trial, |op| &op.bytes_per_second)?,
            Metric::LatencyP50 => self.percentile(trial, 50.0)?,
            Metric::LatencyP99 => self.percentile(trial, 99.0)?,
            Metric::LatencyP999 => self.percentile(trial, 99.9)?,
            Metric::CpuPerOp => match trial.summary.cpu_ns_per_op {
                Some(cpu) => (cpu, None),
                None => return Err(Unknown::because("the CPU time of the workers is not known")),
            },
        };
        match value.is_finite() && value > 0.0 {
            true => Ok((value, half)),
            false => Err(Unknown::because("no operation succeeded")),
        }
    }

    fn percentile(self, trial: &JudgedTrial, percent: f64) -> Value {
        let op = trial.summary.ops.iter().find(|op| Some(op.kind) == self.op);
        let nothing = || Unknown::because("no operation succeeded");
        let latency = op.map(relevant).ok_or_else(nothing)?;
        let estimate = latency.percentiles.iter().find(|p| p.percent == percent);
        let estimate = estimate
            .map(|p| &p.latency_ns)
            .ok_or_else(|| Unknown::because("not computed"))?;
        value_of(estimate)
    }
}

/// Response latency in an open loop, else service latency.
fn relevant(op: &OpSummary) -> &LatencySummary {
    op.response.as_ref().unwrap_or(&op.service)
}

fn value_of(estimate: &Estimate) -> Value {
    match estimate.value {
        Some(value) => Ok((value, estimate.relative_half_width())),
        None => {
            let reason = estimate.reason.clone();
            let reason = reason.unwrap_or_else(|| "not measured".to_owned());
            Err(Unknown::because(reason))
        }
    }
}

/// Half the width over the rate that the seconds of a trial roughly show: enough for a
/// difference that nobody would call chance.
fn rough_half(trial: &JudgedTrial) -> Option<f64> {
    let mut findings = trial.verdict.findings.iter();
    let width = findings.find(|finding| finding.id == check::id::V16)?;
    Some(ROUGH * width.measured?)
}

/// Over all data operations. The relative error is that of the largest part, or a rough
/// one where its seconds are too few for an interval.
fn sum(trial: &JudgedTrial, of: impl Fn(&OpSummary) -> &Estimate) -> Value {
    let parts = trial.summary.ops.iter().filter(|op| op.kind.is_data());
    let parts: Vec<&Estimate> = parts.map(of).filter(|e| e.value.is_some()).collect();
    let total: f64 = parts.iter().filter_map(|e| e.value).sum();
    let largest = parts
        .iter()
        .max_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)));
    let half = largest.and_then(|e| e.relative_half_width());
    Ok((total, half.or_else(|| rough_half(trial))))
}

/// The figures that a row is compared by; the first decides.
pub(crate) fn figures_of(
    a: &[&JudgedTrial],
    b: &[&JudgedTrial],
    decides: Option<Metric>,
) -> Vec<Figure> {
    let has = |side: &[&JudgedTrial], kind: OpKind| {
        let mut ops = side.iter().flat_map(|t| &t.summary.ops);
        ops.any(|op| op.kind == kind && op.ops > 0)
    };
    let kinds: Vec<OpKind> = OpKind::ALL
        .into_iter()
        // A commit is a write and its flush, as the database waits for it.
        .filter(|kind| *kind != OpKind::Sync && has(a, *kind) && has(b, *kind))
        .collect();
    let all = |metric| Figure { metric, op: None };
    let mut figures = vec![all(Metric::OpsPerSecond), all(Metric::BytesPerSecond)];
    for kind in kinds {
        for metric in [Metric::LatencyP50, Metric::LatencyP99, Metric::LatencyP999] {
            let op = Some(kind);
            figures.push(Figure { metric, op });
        }
    }
    figures.push(all(Metric::CpuPerOp));
    figures.retain(|figure| {
        let known = |side: &[&JudgedTrial]| side.iter().any(|t| figure.of(t).is_ok());
        let usual = matches!(
            figure.metric,
            Metric::OpsPerSecond | Metric::LatencyP50 | Metric::LatencyP99
        );
        usual || (known(a) && known(b))
    });
    let first = decides.unwrap_or_else(|| deciding(a, b));
    // The commit latency is what matters where there are commits.
    let at = figures.iter().rposition(|f| f.metric == first).unwrap_or(0);
    if let Some(of) = figures.get(..=at) {
        let moved = of.len() - 1;
        figures[..=moved].rotate_right(1);
    }
    figures
}

/// What a row is for: the tail in an open loop, bytes where the blocks differ
/// in size, else operations.
fn deciding(a: &[&JudgedTrial], b: &[&JudgedTrial]) -> Metric {
    let both = || a.first().zip(b.first());
    let open = both().is_some_and(|(a, b)| a.workload.rate.is_some() || b.workload.rate.is_some());
    let blocks = both().is_some_and(|(a, b)| a.workload.block != b.workload.block);
    match (open, blocks) {
        (true, _) => Metric::LatencyP99,
        (false, true) => Metric::BytesPerSecond,
        (false, false) => Metric::OpsPerSecond,
    }
}
