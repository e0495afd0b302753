//! The seconds of a trial for charts and machine readers.

use fathom_model::histogram::{Histogram, bucket_middle};
use fathom_model::judged::{Interval, IntervalOp};
use fathom_model::observation::Observation;
use fathom_model::op::OpKind;
use fathom_rules::method::observed::LEAST_OF_A_SECOND as LEAST_COVERAGE;

use crate::activity::observation_end;
use crate::trial::{Second, Trial, add};

/// One entry per second of warm-up and measure.
pub(crate) fn intervals(trial: &Trial<'_>) -> Vec<Interval> {
    let observations = &trial.record.observations;
    let mut next = 0;
    trial
        .seconds
        .iter()
        .map(|second| {
            // Both are in order of time; what lies wholly before is done with.
            while next < observations.len()
                && observation_end(&observations[next]) <= second.start_ns as i64
            {
                next += 1;
            }
            interval(second, &observations[next..])
        })
        .collect()
}

fn interval(second: &Second<'_>, observations: &[Observation]) -> Interval {
    let end = i64::try_from(second.end_ns()).unwrap_or(i64::MAX);
    let near: Vec<&Observation> = observations
        .iter()
        .take_while(|o| o.start_ns < end)
        .take(16)
        .collect();
    let cpu = |second: &Second<'_>| second.sum(|g| g.cpu_user_ns.saturating_add(g.cpu_system_ns));
    Interval {
        phase: second.phase,
        start_ns: second.start_ns,
        duration_ns: second.duration_ns,
        ops: OpKind::ALL
            .into_iter()
            .filter_map(|kind| interval_op(second, kind))
            .collect(),
        device_read_bytes: leaf_bytes(second, &near, |d| d.read_bytes),
        device_write_bytes: leaf_bytes(second, &near, |d| d.write_bytes),
        host_cpu_busy: cpu_busy(second, &near),
        worker_cpu_ns: cpu(second),
    }
}

fn interval_op(second: &Second<'_>, kind: OpKind) -> Option<IntervalOp> {
    let parts: Vec<_> = second.ops(kind).collect();
    if parts.is_empty() {
        return None;
    }
    let histograms: Vec<&Histogram> = parts
        .iter()
        .map(|op| op.response.as_ref().unwrap_or(&op.service))
        .collect();
    let mut merged;
    let latency = match histograms.as_slice() {
        [one] => *one,
        many => {
            merged = Histogram::new();
            many.iter().for_each(|h| merged.merge(h));
            &merged
        }
    };
    let [p50_ns, p90_ns, p99_ns, p999_ns] = quantiles(latency, [0.5, 0.9, 0.99, 0.999]);
    Some(IntervalOp {
        kind,
        ops: add(parts.iter().map(|op| op.ops)),
        bytes: add(parts.iter().map(|op| op.bytes)),
        errors: add(parts.iter().map(|op| op.errors.total())),
        p50_ns,
        p90_ns,
        p99_ns,
        p999_ns,
        max_ns: latency.max(),
    })
}

/// Several ascending quantiles in one pass, as [`Histogram::quantile`] defines
/// them: an hour has thousands of these histograms.
fn quantiles<const N: usize>(latency: &Histogram, wanted: [f64; N]) -> [Option<u64>; N] {
    let mut found = [latency.max(); N];
    let (Some(min), Some(max)) = (latency.min(), latency.max()) else {
        return found;
    };
    let total = latency.count();
    let rank = |quantile: f64| ((quantile * total as f64).ceil() as u64).max(1);
    let mut next = 0;
    let mut seen = 0u64;
    for (bucket, count) in latency.buckets() {
        seen = seen.saturating_add(count);
        while next < N && rank(wanted[next]) < total && seen >= rank(wanted[next]) {
            found[next] = Some(bucket_middle(bucket).clamp(min, max));
            next += 1;
        }
        if next == N || rank(wanted[next]) >= total {
            break;
        }
    }
    found
}

/// Share of each observation that falls into the second; `None` when too
/// little of the second was observed.
fn shares<'a>(
    second: &Second<'_>,
    near: &[&'a Observation],
    usable: impl Fn(&Observation) -> bool,
) -> Option<Vec<(&'a Observation, f64)>> {
    let start = i64::try_from(second.start_ns).unwrap_or(i64::MAX);
    let end = i64::try_from(second.end_ns()).unwrap_or(i64::MAX);
    let mut covered = 0.0;
    let mut shares = Vec::new();
    for observation in near.iter().filter(|o| usable(o)) {
        let from = observation.start_ns.max(start);
        let to = observation_end(observation).min(end);
        let inside = to.saturating_sub(from).max(0) as f64;
        if inside > 0.0 {
            covered += inside;
            shares.push((*observation, inside / observation.duration_ns.max(1) as f64));
        }
    }
    (covered >= LEAST_COVERAGE * second.duration_ns.max(1) as f64).then_some(shares)
}

fn leaf_bytes(
    second: &Second<'_>,
    near: &[&Observation],
    field: fn(&fathom_model::observation::DeviceActivity) -> u64,
) -> Option<u64> {
    let shares = shares(second, near, |o| o.devices.iter().any(|d| d.leaf))?;
    let bytes = |o: &Observation| -> f64 {
        o.devices
            .iter()
            .filter(|d| d.leaf)
            .map(|d| field(d) as f64)
            .sum()
    };
    Some(
        shares
            .iter()
            .map(|(o, share)| bytes(o) * share)
            .sum::<f64>() as u64,
    )
}

fn cpu_busy(second: &Second<'_>, near: &[&Observation]) -> Option<f64> {
    let shares = shares(second, near, |o| o.cpu.is_some())?;
    let (mut busy, mut all) = (0.0, 0.0);
    for (observation, share) in shares {
        let Some(cpu) = &observation.cpu else {
            continue;
        };
        let working = [cpu.user_ns, cpu.system_ns, cpu.interrupt_ns, cpu.steal_ns];
        let working: f64 = working.iter().map(|t| *t as f64).sum();
        busy += working * share;
        all += (working + cpu.idle_ns as f64 + cpu.iowait_ns as f64) * share;
    }
    (all > 0.0).then(|| (busy / all).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_records::RecordBuilder;

    #[test]
    fn quantiles_of_one_pass_are_those_of_the_histogram() {
        let mut histogram = Histogram::new();
        let wanted = [0.5, 0.9, 0.99, 0.999];
        for count in [0u64, 1, 2, 3, 10, 500, 3000] {
            histogram.clear();
            (0..count).for_each(|v| histogram.record(1000 + v * v));
            let expected = wanted.map(|q| histogram.quantile(q));
            assert_eq!(quantiles(&histogram, wanted), expected, "{count}");
        }
    }

    #[test]
    fn device_bytes_are_shared_out_by_overlap() {
        let judged = crate::judge(&RecordBuilder::reads().with(|b| b.noise = 0.0).run());
        let second = &judged.trials[0].intervals[10];
        let bytes = second.device_read_bytes.unwrap() as f64;
        assert!((bytes / 4_096_000.0 - 1.0).abs() < 0.01, "{bytes}");
        let busy = second.host_cpu_busy.unwrap();
        assert!((busy - 0.025).abs() < 1e-6, "{busy}");
        assert_eq!(second.ops[0].ops, 1000);
    }

    #[test]
    fn unobserved_seconds_have_no_device_bytes() {
        let half = RecordBuilder::reads().edit(|t| t.observations.truncate(30));
        let judged = crate::judge(&half.run());
        let intervals = &judged.trials[0].intervals;
        assert!(intervals[10].device_read_bytes.is_some());
        assert_eq!(intervals[40].device_read_bytes, None);
        assert_eq!(intervals[40].host_cpu_busy, None);
    }
}
