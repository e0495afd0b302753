//! The figures of both tools in the same units and with the same rules.

use fathom_model::crosscheck::CrossFigure;
use fathom_model::estimate::Unit;
use fathom_model::foreign::{ForeignDirection, ForeignJob};
use fathom_model::histogram::Histogram;
use fathom_model::op::OpKind;
use fathom_stats::order_statistics::least_samples;

use crate::trial::{Trial, add, data_kinds};

/// A figure of one kind of operation, or of all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Which {
    pub(super) figure: CrossFigure,
    pub(super) op: Option<OpKind>,
}

/// What one tool gave in one trial.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Side {
    pub(super) ops_per_second: f64,
    pub(super) bytes_per_second: f64,
    pub(super) cpu_ns_per_op: Option<f64>,
    /// CPU time of all workers over the time that they ran.
    pub(super) cpu_share: Option<f64>,
    pub(super) kinds: Vec<Kind>,
    /// Mean time from preparation to the return of submission, where stated.
    pub(super) submission_ns: Option<f64>,
    /// Operations that failed.
    pub(super) failures: f64,
}

/// One kind of data operation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kind {
    pub(super) kind: OpKind,
    pub(super) count: f64,
    pub(super) mean_ns: Option<f64>,
    /// Percent and nanoseconds.
    pub(super) percentiles: Vec<(f64, f64)>,
}

impl Which {
    /// Of all kinds together.
    pub(super) fn all(figure: CrossFigure) -> Which {
        Which { figure, op: None }
    }

    /// What the issue is: the rate and the tail.
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
    pub(super) fn of(self, side: &Side) -> Result<f64, String> {
        let value = match self.figure {
            CrossFigure::OpsPerSecond => side.ops_per_second,
            CrossFigure::BytesPerSecond => side.bytes_per_second,
            CrossFigure::CpuPerOp => side.cpu_ns_per_op.ok_or("no CPU time is known")?,
            CrossFigure::LatencyMean => self.kind(side)?.mean_ns.ok_or("no mean is stated")?,
            CrossFigure::LatencyP50 => self.percentile(side, 50.0)?,
            CrossFigure::LatencyP99 => self.percentile(side, 99.0)?,
            CrossFigure::LatencyP999 => self.percentile(side, 99.9)?,
        };
        match value.is_finite() && value > 0.0 {
            true => Ok(value),
            false => Err("no operation succeeded".to_owned()),
        }
    }

    fn kind(self, side: &Side) -> Result<&Kind, String> {
        let found = side.kinds.iter().find(|k| Some(k.kind) == self.op);
        found.ok_or_else(|| "no operation succeeded".to_owned())
    }

    /// A percentile of enough operations. That they come in clusters is in the
    /// spread of the pairs.
    fn percentile(self, side: &Side, percent: f64) -> Result<f64, String> {
        let kind = self.kind(side)?;
        let needed = least_samples(percent / 100.0);
        if kind.count < needed {
            return Err(format!(
                "p{percent} needs {needed:.0} operations in each trial; one has {}",
                kind.count
            ));
        }
        let found = kind
            .percentiles
            .iter()
            .find(|(p, _)| (p - percent).abs() < 1e-6);
        found
            .map(|(_, ns)| *ns)
            .ok_or_else(|| "not stated".to_owned())
    }
}

impl Side {
    /// fathom's: over the measure phase, from merged histograms of the service
    /// latency, which is what the other tool measures.
    pub(super) fn of_trial(trial: &Trial<'_>) -> Side {
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
        Side {
            ops_per_second: per_second(ops),
            bytes_per_second: per_second(trial.data_bytes()),
            cpu_ns_per_op: (ops > 0 && cpu > 0).then(|| cpu as f64 / ops as f64),
            cpu_share: (cpu > 0 && seconds > 0.0).then(|| cpu as f64 / 1e9 / seconds / workers),
            kinds: data_kinds()
                .filter_map(|kind| kind_of(trial, kind))
                .collect(),
            submission_ns: None,
            failures: add(failures) as f64,
        }
    }

    /// The other tool's, as it states it.
    pub(super) fn of_job(job: &ForeignJob) -> Side {
        let sum = |of: fn(&ForeignDirection) -> Option<f64>| -> f64 {
            job.directions.iter().filter_map(of).sum()
        };
        let ops = sum(|d| d.ops);
        let share = job
            .cpu_user
            .zip(job.cpu_system)
            .map(|(user, system)| user + system);
        let cpu_ns = share.zip(job.job_time_ns).map(|(share, time)| share * time);
        let submission = job.directions.iter().filter_map(|d| {
            let latency = d.submission.as_ref()?;
            Some((latency.mean_ns?, latency.count?))
        });
        let (total, count) = submission.fold((0.0, 0.0), |(total, count), (mean, n)| {
            (total + mean * n, count + n)
        });
        Side {
            ops_per_second: sum(|d| d.ops_per_second),
            bytes_per_second: sum(|d| d.bytes_per_second),
            cpu_ns_per_op: cpu_ns
                .filter(|ns| ops > 0.0 && *ns > 0.0)
                .map(|ns| ns / ops),
            cpu_share: share,
            kinds: job
                .directions
                .iter()
                .filter_map(kind_of_direction)
                .collect(),
            submission_ns: (count > 0.0).then(|| total / count),
            failures: job.failures_ignored.unwrap_or(0) as f64,
        }
    }
}

fn kind_of(trial: &Trial<'_>, kind: OpKind) -> Option<Kind> {
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
    Some(Kind {
        kind,
        count: merged.count() as f64,
        mean_ns: merged.mean(),
        percentiles: [50.0, 99.0, 99.9]
            .into_iter()
            .filter_map(percentile)
            .collect(),
    })
}

fn kind_of_direction(direction: &ForeignDirection) -> Option<Kind> {
    // The whole time: what the other tool spends in submission is part of
    // what fathom times.
    let latency = direction.total.as_ref().or(direction.completion.as_ref())?;
    Some(Kind {
        kind: direction.kind?,
        count: latency.count.or(direction.ops).unwrap_or(0.0),
        mean_ns: latency.mean_ns,
        percentiles: latency.percentiles.clone(),
    })
}
