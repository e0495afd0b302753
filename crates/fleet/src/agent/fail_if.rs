//! What ends a trial as failed: a rate that is too low for a whole second, or
//! an operation that took too long. Looked at once a second, apart from the
//! workers.

use fathom_model::sample::Phase;
use fathom_model::workload::FailIf;
use fathom_model::{Sample, unit};

/// An interval of at least this length counts as a whole second.
const WHOLE_NS: u64 = 990_000_000;

/// Why the samples end the trial, if they do.
pub(crate) fn fault(rule: &FailIf, samples: &[Sample]) -> Option<String> {
    if *rule == FailIf::default() {
        return None;
    }
    let mut measured = samples.iter().filter(|s| s.phase == Phase::Measure);
    measured.find_map(|sample| slow(rule, sample).or_else(|| late(rule, sample)))
}

fn slow(rule: &FailIf, sample: &Sample) -> Option<String> {
    if sample.duration_ns < WHOLE_NS {
        return None;
    }
    let seconds = sample.duration_ns as f64 / 1e9;
    let second = sample.start_ns / 1_000_000_000;
    let rate = sample.data_ops() as f64 / seconds;
    if let Some(floor) = rule.ops_per_second_below.filter(|floor| rate < *floor) {
        return Some(format!(
            "{rate:.0} operations per second in second {second}, fewer than the {floor} \
             required by fail_if"
        ));
    }
    let bytes: u64 = sample.ops.iter().map(|op| op.bytes).sum();
    let rate = bytes as f64 / seconds;
    let floor = rule.bytes_per_second_below.filter(|floor| rate < *floor)?;
    Some(format!(
        "{} in second {second}, less than the {} that fail_if requires",
        unit::throughput(rate),
        unit::throughput(floor)
    ))
}

fn late(rule: &FailIf, sample: &Sample) -> Option<String> {
    let limit_ns = rule.latency_above_ns?;
    let data = sample.ops.iter().filter(|op| op.kind.is_data());
    let longest_ns = data.filter_map(|op| op.service.max()).max()?;
    (longest_ns > limit_ns).then(|| {
        format!(
            "an operation took {}, longer than the {} that were allowed by fail_if",
            unit::latency(longest_ns as f64),
            unit::latency(limit_ns as f64)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::{OpKind, OpSample};

    fn second(ops: u64, latency_ns: u64) -> Sample {
        let mut sample = Sample::new(Phase::Measure, 3, 3_000_000_000);
        sample.duration_ns = 1_000_000_000;
        let mut reads = OpSample::new(OpKind::Read, false);
        for _ in 0..ops {
            reads.service.record(latency_ns);
        }
        reads.ops = ops;
        reads.bytes = ops * 4096;
        sample.ops = vec![reads];
        sample
    }

    #[test]
    fn each_limit_ends_the_trial_and_says_why() {
        let ops = FailIf {
            ops_per_second_below: Some(100.0),
            ..FailIf::default()
        };
        let bytes = FailIf {
            bytes_per_second_below: Some(1e6),
            ..FailIf::default()
        };
        let late = FailIf {
            latency_above_ns: Some(5_000_000),
            ..FailIf::default()
        };
        let slow = [second(99, 1_000)];
        let reason = fault(&ops, &slow).unwrap();
        assert!(
            reason.contains("99 operations per second in second 3"),
            "{reason}"
        );
        assert!(fault(&bytes, &slow).unwrap().contains("second 3"));
        assert_eq!(fault(&late, &slow), None);
        assert!(fault(&late, &[second(1, 6_000_000)]).is_some());
        assert_eq!(fault(&ops, &[second(100, 1)]), None);
        assert_eq!(fault(&FailIf::default(), &[second(0, 0)]), None);
    }

    #[test]
    fn a_part_of_a_second_and_the_warm_up_are_not_judged() {
        let ops = FailIf {
            ops_per_second_below: Some(100.0),
            ..FailIf::default()
        };
        let mut short = second(1, 1);
        short.duration_ns = 500_000_000;
        let mut warm = second(1, 1);
        warm.phase = Phase::Warmup;
        assert_eq!(fault(&ops, &[short, warm]), None);
    }
}
