//! A trial's measure phase in numbers.

use fathom_model::estimate::{Estimate, Unit};
use fathom_model::histogram::Histogram;
use fathom_model::judged::{CallCount, ErrorCount, LatencySummary, OpSummary, TrialSummary};
use fathom_model::op::{ErrorCounts, OpKind};
use fathom_model::run::{Ceiling, TrialEnd};
use fathom_model::sample::OpSample;

use crate::statistics::percentile::Latencies;
use crate::statistics::ratio::{Ratio, RatioPart, over_trials};
use crate::trial::{Second, Trial, add, data_kinds};

/// Which of an operation's histograms.
#[derive(Clone, Copy)]
pub(crate) enum Which {
    Service,
    Response,
}

impl Which {
    pub(crate) fn of(self, op: &OpSample) -> Option<&Histogram> {
        match self {
            Which::Service => Some(&op.service),
            Which::Response => op.response.as_ref(),
        }
    }
}

/// The latencies of one kind of operation over one or more trials.
pub(crate) struct KindLatencies<'a> {
    pub(crate) kind: OpKind,
    pub(crate) service: Latencies<'a>,
    pub(crate) response: Option<Latencies<'a>>,
}

impl<'a> KindLatencies<'a> {
    /// The latency that matters and whose it is: response in an open loop,
    /// else service.
    pub(crate) fn relevant(&self) -> (Which, &Latencies<'a>) {
        match &self.response {
            Some(response) => (Which::Response, response),
            None => (Which::Service, &self.service),
        }
    }
}

/// The latencies of every kind that the trials recorded.
pub(crate) fn kind_latencies<'a>(trials: &[&'a Trial<'_>]) -> Vec<KindLatencies<'a>> {
    let has = |kind: OpKind, test: fn(&OpSample) -> bool| {
        let mut seconds = trials.iter().flat_map(|t| t.measured());
        seconds.any(|s| s.ops(kind).any(test))
    };
    OpKind::ALL
        .into_iter()
        .filter(|kind| has(*kind, |_| true))
        .map(|kind| KindLatencies {
            kind,
            service: latencies(trials, kind, Which::Service),
            response: has(kind, |op| op.response.is_some())
                .then(|| latencies(trials, kind, Which::Response)),
        })
        .collect()
}

/// The numbers of one trial.
pub(crate) fn summarize(trial: &Trial<'_>, latencies: &[KindLatencies<'_>]) -> TrialSummary {
    let end = trial.end();
    let data_ops = trial.data_ops();
    let cpu = add(trial
        .measured()
        .map(|s| s.sum(|g| g.cpu_user_ns.saturating_add(g.cpu_system_ns))));
    TrialSummary {
        duration_ns: trial.duration_ns,
        ops: summarize_ops(&[trial], latencies),
        engine: end.and_then(|end| end.engine.used),
        direct: trial.direct(),
        cpu_ns_per_op: (data_ops > 0 && cpu > 0).then(|| cpu as f64 / data_ops as f64),
        mean_in_flight: trial.mean_in_flight(),
        ceiling: end.and_then(|end| end.ceiling).filter(usable),
        lateness: lateness(trial),
        active_bytes: end.map_or(0, |end| end.data.active_bytes),
        final_flush_ns: end.and_then(|end| end.final_flush_ns),
        finishers: end.and_then(|end| end.engine.finishers),
        endpoints: end.map_or_else(Vec::new, |end| end.engine.endpoints.clone()),
        calls: end.map_or_else(Vec::new, calls),
        gluster: end.and_then(|end| end.gluster.as_deref().cloned()),
    }
}

/// A ceiling that is a number.
pub(crate) fn usable(ceiling: &Ceiling) -> bool {
    ceiling.ops_per_second.is_finite()
        && ceiling.ops_per_second > 0.0
        && ceiling.cpu_ns_per_op.is_finite()
}

/// Results by kind of operation over one trial, or over the iterations of a
/// row.
pub(crate) fn summarize_ops(
    trials: &[&Trial<'_>],
    latencies: &[KindLatencies<'_>],
) -> Vec<OpSummary> {
    latencies
        .iter()
        .map(|latencies| summarize_op(trials, latencies))
        .collect()
}

/// What the engine asked of the system.
fn calls(end: &TrialEnd) -> Vec<CallCount> {
    let calls = end.engine.calls.iter();
    calls
        .map(|(name, count)| CallCount {
            name: name.clone(),
            count: *count,
        })
        .collect()
}

fn summarize_op(trials: &[&Trial<'_>], latencies: &KindLatencies<'_>) -> OpSummary {
    let kind = latencies.kind;
    let mut errors = ErrorCounts::default();
    let totals: Vec<_> = trials.iter().map(|t| t.total(kind)).collect();
    for total in &totals {
        for (class, count) in total.errors.iter() {
            errors.add_many(class, count.min(u64::MAX - errors.total()));
        }
    }
    OpSummary {
        kind,
        ops: add(totals.iter().map(|t| t.ops)),
        bytes: add(totals.iter().map(|t| t.bytes)),
        errors: errors
            .iter()
            .map(|(class, count)| ErrorCount { class, count })
            .collect(),
        ops_per_second: rate(trials, kind, Unit::OpsPerSecond, |op| op.ops),
        bytes_per_second: rate(trials, kind, Unit::BytesPerSecond, |op| op.bytes),
        service: latencies.service.summary(),
        response: latencies.response.as_ref().map(Latencies::summary),
    }
}

/// Operations or bytes of reads, writes and trims together, per second.
pub(crate) fn data_rate(
    trials: &[&Trial<'_>],
    unit: Unit,
    counted: impl Fn(&OpSample) -> u64,
) -> Estimate {
    let of_second = |s: &Second<'_>| RatioPart {
        numerator: data_kinds()
            .flat_map(|kind| s.ops(kind))
            .map(|op| counted(op) as f64)
            .sum(),
        denominator: s.duration_ns as f64 / 1e9,
    };
    let parts: Vec<Vec<RatioPart>> = trials
        .iter()
        .map(|trial| merge_short_last(trial.measured().map(of_second).collect()))
        .collect();
    over_trials(&parts, unit, add(trials.iter().map(|t| t.duration_ns)))
        .unwrap_or_else(|| Estimate::unknown(unit, "nothing was measured"))
}

/// The latency from submission of reads, writes and trims together.
pub fn data_latency(trials: &[&Trial<'_>]) -> LatencySummary {
    latencies_of(trials, OpKind::is_data, Which::Service).summary()
}

/// The latencies of one kind of operation, second by second.
fn latencies<'a>(trials: &[&'a Trial<'_>], kind: OpKind, which: Which) -> Latencies<'a> {
    latencies_of(trials, |other| other == kind, which)
}

fn latencies_of<'a>(
    trials: &[&'a Trial<'_>],
    counts: impl Fn(OpKind) -> bool,
    which: Which,
) -> Latencies<'a> {
    let seconds_of = |trial: &&'a Trial<'_>| -> Vec<Vec<&'a Histogram>> {
        trial
            .measured()
            .map(|s| {
                s.groups
                    .iter()
                    .flat_map(|g| g.ops.iter().filter(|op| counts(op.kind)))
                    .filter_map(|op| which.of(op))
                    .collect()
            })
            .collect()
    };
    let parts: Vec<_> = trials
        .iter()
        .map(seconds_of)
        .filter(|seconds| !seconds.is_empty())
        .collect();
    Latencies::new(parts, add(trials.iter().map(|t| t.duration_ns)))
}

fn lateness(trial: &Trial<'_>) -> Option<LatencySummary> {
    let of_second = |s: &Second<'_>| s.groups.iter().any(|g| g.lateness.is_some());
    if !trial.measured().any(of_second) {
        return None;
    }
    let seconds = trial
        .measured()
        .map(|s| {
            s.groups
                .iter()
                .filter_map(|g| g.lateness.as_ref())
                .collect()
        })
        .collect();
    Some(Latencies::new(vec![seconds], trial.duration_ns).summary())
}

/// Operations or bytes per second.
///
/// Where the writes end in a flush, its time counts in their rate: each second
/// is charged its share.
fn rate(
    trials: &[&Trial<'_>],
    kind: OpKind,
    unit: Unit,
    counted: impl Fn(&OpSample) -> u64,
) -> Estimate {
    let parts: Vec<Vec<RatioPart>> = trials
        .iter()
        .map(|trial| rate_parts(trial, kind, &counted))
        .collect();
    over_trials(&parts, unit, add(trials.iter().map(|t| t.duration_ns)))
        .unwrap_or_else(|| Estimate::unknown(unit, "nothing was measured"))
}

/// Operations of one kind and time, second by second.
fn rate_parts(
    trial: &Trial<'_>,
    kind: OpKind,
    counted: impl Fn(&OpSample) -> u64,
) -> Vec<RatioPart> {
    let stretch = 1.0 + flush_share(trial, kind);
    let part = |s: &Second<'_>| RatioPart {
        numerator: s.ops(kind).map(|op| counted(op) as f64).sum(),
        denominator: s.duration_ns as f64 / 1e9 * stretch,
    };
    merge_short_last(trial.measured().map(part).collect())
}

/// The rate of one kind of operation in one trial with its error, printable
/// or not.
pub(crate) fn operation_rate(trial: &Trial<'_>, kind: OpKind) -> Option<Ratio> {
    Ratio::of(&rate_parts(trial, kind, |op| op.ops))
}

/// Time of the final flush over the measure phase, for kinds that it completes.
fn flush_share(trial: &Trial<'_>, kind: OpKind) -> f64 {
    let flush = trial.end().and_then(|end| end.final_flush_ns);
    match (kind, flush) {
        (OpKind::Write, Some(flush))
            if trial.workload.sync.final_flush && trial.duration_ns > 0 && !trial.part =>
        {
            flush as f64 / trial.duration_ns as f64
        }
        _ => 0.0,
    }
}

/// A last part of less than half a second says little about the variation;
/// it joins its neighbour.
fn merge_short_last(mut parts: Vec<RatioPart>) -> Vec<RatioPart> {
    if let [.., before, last] = parts.as_mut_slice()
        && last.denominator < 0.5 * before.denominator
    {
        before.numerator += last.numerator;
        before.denominator += last.denominator;
        parts.pop();
    }
    parts
}
