//! The tracked variable of a test, from one trial.

use fathom_analysis::judgement::{Second, Trial, data_kinds};
use fathom_model::estimate::Unit;
use fathom_model::op::OpKind;
use fathom_model::snia::SniaTest;

/// The unit of a test's tracked variable.
pub(super) fn unit(test: SniaTest) -> Unit {
    match test {
        SniaTest::Iops | SniaTest::Wsat => Unit::OpsPerSecond,
        SniaTest::Throughput => Unit::BytesPerSecond,
        SniaTest::Latency => Unit::Nanoseconds,
    }
}

/// The tracked variable in words, for blocks of a size.
pub(super) fn words(test: SniaTest, block: &str) -> String {
    match test {
        SniaTest::Iops | SniaTest::Wsat => format!("{block} random writes, IOPS"),
        SniaTest::Throughput => format!("{block} sequential writes, throughput"),
        SniaTest::Latency => format!("{block} random writes, average latency"),
    }
}

/// The variable over a trial; `None` where nothing succeeded.
pub(super) fn of_trial(test: SniaTest, trial: &Trial<'_>) -> Option<f64> {
    let seconds: Vec<&Second<'_>> = trial.measured().collect();
    of_seconds(test, &seconds)
}

/// The variable over some seconds.
pub(super) fn of_seconds(test: SniaTest, seconds: &[&Second<'_>]) -> Option<f64> {
    let time_s = seconds.iter().map(|s| s.duration_ns as f64).sum::<f64>() / 1e9;
    let totals = totals(seconds);
    if totals.ops == 0 || time_s <= 0.0 {
        return None;
    }
    match test {
        SniaTest::Iops | SniaTest::Wsat => Some(totals.ops as f64 / time_s),
        SniaTest::Throughput => Some(totals.bytes as f64 / time_s),
        SniaTest::Latency => totals.mean_ns,
    }
}

/// Sums over all data operations.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    pub(super) ops: u64,
    pub(super) bytes: u64,
    pub(super) written: u64,
    pub(super) mean_ns: Option<f64>,
}

pub(super) fn totals(seconds: &[&Second<'_>]) -> Totals {
    let mut totals = Totals::default();
    let (mut sum_ns, mut count) = (0.0, 0.0);
    for second in seconds {
        for op in data_kinds().flat_map(|kind| second.ops(kind)) {
            totals.ops = totals.ops.saturating_add(op.ops);
            totals.bytes = totals.bytes.saturating_add(op.bytes);
            if op.kind == OpKind::Write {
                totals.written = totals.written.saturating_add(op.bytes);
            }
            if let Some(mean) = op.service.mean() {
                let recorded = op.service.count() as f64;
                sum_ns += mean * recorded;
                count += recorded;
            }
        }
    }
    totals.mean_ns = (count > 0.0).then(|| sum_ns / count);
    totals
}
