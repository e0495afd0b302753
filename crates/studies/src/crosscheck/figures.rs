//! The figures of both tools in the same units and with the same rules.

use fathom_analysis::judgement::{Trial, add, data_kinds};
use fathom_model::crosscheck::CrossFigure;
use fathom_model::estimate::Unit;
use fathom_model::histogram::Histogram;
use fathom_model::op::OpKind;
use fathom_stats::order_statistics::least_samples;

/// A figure of one kind of operation, or of all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Which {
    pub(super) figure: CrossFigure,
    pub(super) op: Option<OpKind>,
}

/// Why a side has no such figure.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub(super) enum NoFigure {
    #[error("no CPU time is known")]
    CpuTime,
    #[error("no mean is stated")]
    Mean,
    #[error("no operation succeeded")]
    Operations,
    /// A percentile that the operations do not carry.
    #[error("p{percent} needs {needed:.0} operations in each trial; one has {had}")]
    TooFew { percent: f64, needed: f64, had: f64 },
    #[error("not stated")]
    Percentile,
}

/// What one tool gave in one trial.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CrossSide {
    /// Data operations per second.
    pub(super) ops_per_second: f64,
    /// Bytes per second.
    pub(super) bytes_per_second: f64,
    /// CPU time per data operation.
    pub(super) cpu_ns_per_op: Option<f64>,
    /// CPU time of all workers over the time that they ran.
    pub(super) cpu_share: Option<f64>,
    /// The kinds of operations that succeeded.
    pub(super) kinds: Vec<CrossKind>,
    /// Mean time from preparation to the return of submission, where stated.
    pub(super) submission_ns: Option<f64>,
    /// Operations that failed.
    pub(super) failures: f64,
    /// Error number with which the tool ended; 0 is none.
    pub(super) error: Option<i64>,
}

/// One kind of data operation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CrossKind {
    /// Which.
    pub(super) kind: OpKind,
    /// How many of them have a latency.
    pub(super) count: f64,
    /// Mean latency.
    pub(super) mean_ns: Option<f64>,
    /// Percent and nanoseconds.
    pub(super) percentiles: Vec<(f64, f64)>,
}

impl Which {
    /// Of all kinds together.
    pub(super) fn all(figure: CrossFigure) -> Which {
        Which { figure, op: None }
    }

    /// The rate and the tail decide, the rest stands beside them.
    pub(super) fn decides(self) -> bool {
        matches!(
            self.figure,
            CrossFigure::OpsPerSecond | CrossFigure::LatencyP99
        )
    }

    pub(super) fn unit(self) -> Unit {
        match self.figure {
            CrossFigure::OpsPerSecond => Unit::OpsPerSecond,
            CrossFigure::BytesPerSecond => Unit::BytesPerSecond,
            _ => Unit::Nanoseconds,
        }
    }

    /// The figure of a side, or why there is none.
    pub(super) fn of(self, side: &CrossSide) -> Result<f64, NoFigure> {
        let value = match self.figure {
            CrossFigure::OpsPerSecond => side.ops_per_second,
            CrossFigure::BytesPerSecond => side.bytes_per_second,
            CrossFigure::CpuPerOp => side.cpu_ns_per_op.ok_or(NoFigure::CpuTime)?,
            CrossFigure::LatencyMean => self.kind(side)?.mean_ns.ok_or(NoFigure::Mean)?,
            CrossFigure::LatencyP50 => self.percentile(side, 50.0)?,
            CrossFigure::LatencyP99 => self.percentile(side, 99.0)?,
            CrossFigure::LatencyP999 => self.percentile(side, 99.9)?,
        };
        match value.is_finite() && value > 0.0 {
            true => Ok(value),
            false => Err(NoFigure::Operations),
        }
    }

    fn kind(self, side: &CrossSide) -> Result<&CrossKind, NoFigure> {
        let found = side.kinds.iter().find(|k| Some(k.kind) == self.op);
        found.ok_or(NoFigure::Operations)
    }

    /// A percentile of enough operations. That they come in clusters is in the
    /// spread of the pairs.
    fn percentile(self, side: &CrossSide, percent: f64) -> Result<f64, NoFigure> {
        let kind = self.kind(side)?;
        let needed = least_samples(percent / 100.0);
        if kind.count < needed {
            return Err(NoFigure::TooFew {
                percent,
                needed,
                had: kind.count,
            });
        }
        let found = kind
            .percentiles
            .iter()
            .find(|(p, _)| (p - percent).abs() < 1e-6);
        found.map(|(_, ns)| *ns).ok_or(NoFigure::Percentile)
    }
}

impl CrossSide {
    /// fathom's: over the measure phase, from merged histograms of the service
    /// latency, which is what the other tool measures.
    pub(super) fn of_trial(trial: &Trial<'_>) -> CrossSide {
        let seconds = trial.duration_seconds();
        let per_second = |n: u64| match seconds > 0.0 {
            true => n as f64 / seconds,
            false => 0.0,
        };
        let cpu = add(trial
            .measured()
            .map(|s| s.sum(|g| g.cpu_user_ns.saturating_add(g.cpu_system_ns))));
        let ops = trial.data_ops();
        let workers = f64::from(trial.workload.workers.max(1));
        let failures = data_kinds().map(|kind| trial.total(kind).errors.total());
        CrossSide {
            ops_per_second: per_second(ops),
            bytes_per_second: per_second(trial.data_bytes()),
            cpu_ns_per_op: (ops > 0 && cpu > 0).then(|| cpu as f64 / ops as f64),
            cpu_share: (cpu > 0 && seconds > 0.0).then(|| cpu as f64 / 1e9 / seconds / workers),
            kinds: data_kinds()
                .filter_map(|kind| kind_of(trial, kind))
                .collect(),
            submission_ns: None,
            failures: add(failures) as f64,
            error: None,
        }
    }
}

fn kind_of(trial: &Trial<'_>, kind: OpKind) -> Option<CrossKind> {
    let mut merged = Histogram::new();
    for op in trial.measured().flat_map(|s| s.ops(kind)) {
        merged.merge(&op.service);
    }
    if merged.is_empty() {
        return None;
    }
    let percentile = |percent: f64| {
        let value = merged.quantile(percent / 100.0)?;
        Some((percent, value as f64))
    };
    Some(CrossKind {
        kind,
        count: merged.count() as f64,
        mean_ns: merged.mean(),
        percentiles: [50.0, 99.0, 99.9]
            .into_iter()
            .filter_map(percentile)
            .collect(),
    })
}
