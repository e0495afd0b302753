//! Pauses that come so often that most seconds hold one: what is usual in a second then
//! says nothing.
//!
//! A pause holds up everything that is in flight, so that operations which take far
//! longer than others end in groups, as many at a time as are in flight. Where slow
//! operations come one by one, others go on beside them: that is a tail (V17).

use fathom_model::histogram::{Histogram, bucket_middle};
use fathom_rules::check::v47::{
    FREQUENT_PER_SECOND, GROUP_PART, LEAST_PAUSE_MS, ODD_SECONDS, TIMES_MEDIAN,
};

use crate::trial::{Second, Trial, data_kinds};

/// Lengths of the pauses in nanoseconds, one after the other; none where slow
/// operations come otherwise.
pub(super) fn lengths_ns(trial: &Trial<'_>, left_out: impl Fn(&Second<'_>) -> bool) -> Vec<u64> {
    let Some(slow_from_ns) = slow_from_ns(trial) else {
        return Vec::new();
    };
    let in_flight = trial.mean_in_flight().unwrap_or(0.0).round().max(1.0);
    let mut lengths = Vec::new();
    let (mut with_slow, mut odd) = (0.0, 0.0);
    for second in trial.measured().filter(|second| !left_out(second)) {
        let (count, sum_ns) = slow_of(second, slow_from_ns);
        if count == 0 {
            continue;
        }
        with_slow += 1.0;
        let groups = (count as f64 / in_flight).round();
        let most = FREQUENT_PER_SECOND * second.duration_ns as f64 / 1e9;
        if (count as f64) < GROUP_PART * in_flight || groups > most.max(1.0) {
            odd += 1.0;
            continue;
        }
        let length_ns = (sum_ns / count as f64) as u64;
        lengths.extend(std::iter::repeat_n(length_ns, groups.max(1.0) as usize));
    }
    match odd > ODD_SECONDS * with_slow {
        true => Vec::new(),
        false => lengths,
    }
}

/// From which time on an operation is a slow one of this trial.
fn slow_from_ns(trial: &Trial<'_>) -> Option<u64> {
    let mut all = Histogram::new();
    for second in trial.measured() {
        for op in data_kinds().flat_map(|kind| second.ops(kind)) {
            all.merge(&op.service);
        }
    }
    let median_ns = all.quantile(0.5)? as f64;
    Some((TIMES_MEDIAN * median_ns).max(LEAST_PAUSE_MS * 1e6) as u64)
}

/// Slow operations that ended in a second, and their times added up.
fn slow_of(second: &Second<'_>, slow_from_ns: u64) -> (u64, f64) {
    let ops = data_kinds().flat_map(|kind| second.ops(kind));
    let buckets = ops.flat_map(|op| op.service.buckets());
    let slow = buckets
        .map(|(bucket, count)| (bucket_middle(bucket), count))
        .filter(|(middle_ns, _)| *middle_ns >= slow_from_ns);
    slow.fold((0, 0.0), |(all, sum_ns), (middle_ns, count)| {
        (all + count, sum_ns + middle_ns as f64 * count as f64)
    })
}

#[cfg(test)]
mod tests {
    use fathom_model::run::TrialRecord;
    use fathom_model::verdict::FindingStatus::{Caveat, Pass};

    use crate::test_records::RecordBuilder;

    /// Seconds in which so many operations each take this long, one second after the
    /// other.
    fn slow(counts: [u64; 4], length_ms: u64) -> impl Fn(&mut TrialRecord) {
        move |record| {
            let counts = counts.into_iter().cycle();
            for (sample, count) in record.samples.iter_mut().zip(counts) {
                for op in &mut sample.ops {
                    (0..count).for_each(|_| op.service.record(length_ms * 1_000_000));
                }
            }
        }
    }

    #[test]
    fn pauses_in_most_seconds_are_counted() {
        let depth = in_flight();
        let often = [depth, 0, depth, depth];
        let record = RecordBuilder::reads().edit_with(slow(often, 520));
        let finding = record.finding("V47").unwrap();
        assert_eq!(finding.status, Caveat, "{finding:?}");
        assert!(
            finding.evidence.contains("45 pauses of 519 ms"),
            "{finding:?}"
        );
    }

    #[test]
    fn slow_operations_one_by_one_are_a_tail() {
        let depth = in_flight();
        for counts in [[1, 0, 1, 1], [1, depth, 2, 1], [20 * depth; 4]] {
            let record = RecordBuilder::reads().edit_with(slow(counts, 520));
            assert_eq!(record.status("V47"), Some(Pass), "{counts:?}");
        }
    }

    /// Operations in flight of the records that tests begin with.
    fn in_flight() -> u64 {
        let record = RecordBuilder::reads().trial();
        let area: u128 = record.samples.iter().map(|s| s.in_flight_ns).sum();
        let all: u64 = record.samples.iter().map(|s| s.duration_ns).sum();
        (area as f64 / all as f64).round() as u64
    }
}
