//! A job of another tool as one side of a cross-check.

use fathom_compat::results::{ResultDirection, ResultJob};

use super::figures::{CrossKind, CrossSide};

/// The figures of a job, as the tool states them.
pub(super) fn cross_side(job: &ResultJob) -> CrossSide {
    let sum = |of: fn(&ResultDirection) -> Option<f64>| -> f64 {
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
    CrossSide {
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
        error: job.error,
    }
}

fn kind_of_direction(direction: &ResultDirection) -> Option<CrossKind> {
    // The whole time: what the other tool spends in submission is part of
    // what fathom times.
    let latency = direction.total.as_ref().or(direction.completion.as_ref())?;
    Some(CrossKind {
        kind: direction.kind?,
        count: latency.count.or(direction.ops).unwrap_or(0.0),
        mean_ns: latency.mean_ns,
        percentiles: latency.percentiles.clone(),
    })
}

#[cfg(test)]
mod tests {
    use fathom_compat::results::ResultLatency;
    use fathom_model::OpKind;

    use super::*;

    #[test]
    fn submission_and_cpu_are_means_over_all_operations() {
        let latency = |mean_ns, count| ResultLatency {
            count: Some(count),
            mean_ns: Some(mean_ns),
            ..ResultLatency::default()
        };
        let direction = |kind, ops, submission| ResultDirection {
            kind: Some(kind),
            ops: Some(ops),
            ops_per_second: Some(ops / 60.0),
            submission: Some(submission),
            completion: Some(latency(1e6, ops)),
            ..ResultDirection::default()
        };
        let side = cross_side(&ResultJob {
            error: Some(5),
            cpu_user: Some(0.02),
            cpu_system: Some(0.03),
            job_time_ns: Some(60e9),
            directions: vec![
                direction(OpKind::Read, 3000.0, latency(1000.0, 3000.0)),
                direction(OpKind::Write, 1000.0, latency(5000.0, 1000.0)),
            ],
            ..ResultJob::default()
        });
        assert_eq!(side.submission_ns, Some(2000.0));
        assert_eq!(side.cpu_ns_per_op, Some(0.05 * 60e9 / 4000.0));
        assert_eq!((side.kinds.len(), side.error), (2, Some(5)));
        assert!(side.kinds.iter().all(|kind| kind.mean_ns == Some(1e6)));
    }
}
