//! A provisioned or configured limit shows as a plateau: the rate does not
//! move, the operations that do not fit wait, and the rate is a number that a
//! person chose.
//!
//! A healthy drive can be just as steady and hit a round figure by chance, so
//! all of these are asked for at once: a closed loop at depth 2 or more with
//! the depth kept, 20 seconds or more whose coefficient of variation is below
//! 0.5 %, latency that Little's law puts at depth over rate, a rate within
//! 0.25 % of a round figure, and a place where caps exist (a virtual machine or
//! a simulated drive).

use fathom_model::op::OpKind;
use fathom_model::unit;

use crate::check_table::TargetKind;
use crate::checks::{Facts, depth_kept};
use crate::trial::{Trial, add, data_kinds};

const LEAST_SECONDS: usize = 20;
const LARGEST_VARIATION: f64 = 0.005;
const ROUNDNESS: f64 = 0.0025;
const ROUND: [f64; 8] = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5];
/// Binary steps of throughput that providers sell, in MiB/s.
const ROUND_MIB: [f64; 9] = [
    100.0, 125.0, 128.0, 200.0, 250.0, 256.0, 500.0, 512.0, 1000.0,
];

/// The evidence for a cap, when there is one.
pub(crate) fn plateau(facts: &Facts<'_>) -> Option<String> {
    let trial = facts.trial;
    if !caps_exist(trial) || trial.open_loop() || trial.workload.think_ns > 0 {
        return None;
    }
    if trial.total_depth() < 2 || depth_kept(trial)? < 0.95 {
        return None;
    }
    let variation = variation(trial)?;
    if variation >= LARGEST_VARIATION {
        return None;
    }
    let seconds = trial.duration_seconds();
    let ops = trial.data_ops() as f64 / seconds;
    let bytes = trial.data_bytes() as f64 / seconds;
    let expected = trial.total_depth() as f64 / ops * 1e9;
    let latency = mean_latency(trial)?;
    if (latency / expected - 1.0).abs() > 0.05 {
        return None;
    }
    let figure = round_figure(ops, bytes)?;
    Some(format!(
        "a flat plateau at {figure} (variation {:.2} % over {seconds:.0} s) with a mean latency \
         of {}, as a queue of {} before a limit has",
        100.0 * variation,
        unit::latency(latency),
        unit::group(trial.total_depth()),
    ))
}

fn caps_exist(trial: &Trial<'_>) -> bool {
    let hypervisor = trial.host.virtualization.as_deref();
    trial.kind == TargetKind::Sim || hypervisor.is_some_and(|v| v != "none")
}

/// Coefficient of variation of operations per second, without the last second.
fn variation(trial: &Trial<'_>) -> Option<f64> {
    let count = trial.measured().count();
    let rates: Vec<f64> = trial
        .measured()
        .take(count.saturating_sub(1))
        .filter(|s| s.duration_ns > 0)
        .map(|s| {
            let ops = add(data_kinds().flat_map(|kind| s.ops(kind)).map(|op| op.ops));
            ops as f64 / s.duration_ns as f64 * 1e9
        })
        .collect();
    if rates.len() < LEAST_SECONDS {
        return None;
    }
    let n = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / n;
    let variance = rates.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean > 0.0).then(|| variance.sqrt() / mean)
}

/// Mean service latency of the data operations.
fn mean_latency(trial: &Trial<'_>) -> Option<f64> {
    let sum = |kind: OpKind| {
        let ops = trial.measured().flat_map(move |s| s.ops(kind));
        ops.fold((0.0, 0.0), |(sum, count), op| {
            (
                sum + op.service.sum() as f64,
                count + op.service.count() as f64,
            )
        })
    };
    let (total, count) = data_kinds()
        .map(sum)
        .fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
    (count > 0.0).then(|| total / count)
}

fn round_figure(ops: f64, bytes: f64) -> Option<String> {
    let near = |value: f64, round: f64| (value / round - 1.0).abs() <= ROUNDNESS;
    let decimal = |value: f64| {
        let decade = 10f64.powf(value.log10().floor());
        ROUND
            .iter()
            .map(|r| r * decade)
            .chain([10.0 * decade])
            .find(|round| near(value, *round))
    };
    if let Some(round) = decimal(ops).filter(|r| *r >= 100.0) {
        return Some(format!("{} ops/s", unit::count(round)));
    }
    let mib = bytes / 1_048_576.0;
    if let Some(round) = ROUND_MIB.iter().find(|r| near(mib, **r)) {
        return Some(format!("{round} MiB/s"));
    }
    decimal(bytes / 1e6)
        .filter(|r| *r >= 10.0)
        .map(|round| format!("{round} MB/s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_figures_that_people_choose_are_round() {
        assert_eq!(
            round_figure(3001.0, 3001.0 * 4096.0).as_deref(),
            Some("3,000 ops/s")
        );
        assert_eq!(round_figure(9_995.0, 1e6).as_deref(), Some("10,000 ops/s"));
        assert_eq!(
            round_figure(125.0 * 4.1, 131_072_000.0).as_deref(),
            Some("125 MiB/s")
        );
        assert_eq!(round_figure(3_061.0, 3_061.0 * 4096.0), None);
        assert_eq!(round_figure(87_412.0, 87_412.0 * 4096.0), None);
    }
}
