//! V45: did the target stand still?
//!
//! A mean over a time in which nothing came back is no rate of anything, and
//! an interval that takes such seconds for outliers hides them.

use fathom_model::unit;

use super::Facts;
use crate::outcome::Outcome;
use crate::trial::{Second, Trial, add, data_kinds};

const ID: &str = "V45";

/// A slower load has seconds without a completion by its nature.
const LEAST_OPS_PER_SECOND: f64 = 10.0;

/// V45: seconds in which operations were in flight and none came back.
pub(super) fn target_stall(facts: &Facts<'_>) -> Option<Outcome> {
    let trial = facts.trial;
    let seconds = trial.duration_seconds();
    let usual = trial.data_ops() as f64 / seconds;
    if !usual.is_finite() || usual < LEAST_OPS_PER_SECOND {
        let reason = "too few operations a second to tell a stop from a pause between two";
        return Some(Outcome::not_measured(ID, reason));
    }
    let (from_ns, length_ns) = longest(trial);
    let stopped = length_ns as f64 / 1e9;
    let evidence = match length_ns {
        0 => "every second saw completions".to_owned(),
        _ => format!(
            "nothing came back for {} from {} on, although operations were in flight",
            unit::span(length_ns),
            unit::span(from_ns),
        ),
    };
    Some(Outcome::graded(ID, stopped, evidence))
}

/// Start and length of the longest time of whole seconds without a completion
/// while operations were in flight throughout.
fn longest(trial: &Trial<'_>) -> (u64, u64) {
    let (mut best, mut run) = ((0u64, 0u64), (0u64, 0u64));
    for second in trial.measured() {
        if stands_still(second) {
            if run.1 == 0 {
                run.0 = second.start_ns;
            }
            run.1 = run.1.saturating_add(second.duration_ns);
        } else {
            run = (0, 0);
        }
        if run.1 > best.1 {
            best = run;
        }
    }
    best
}

fn stands_still(second: &Second<'_>) -> bool {
    let done = |kind| add(second.ops(kind).map(|op| op.ops));
    let in_flight: f64 = second.groups.iter().map(|g| g.in_flight_ns as f64).sum();
    add(data_kinds().map(done)) == 0 && in_flight >= 0.9 * second.duration_ns as f64
}

#[cfg(test)]
mod tests {
    use fathom_model::run::TrialRecord;
    use fathom_model::verdict::FindingStatus::{Caveat, Invalid, NotMeasured, Pass};

    use crate::test_records::RecordBuilder;

    fn still(record: &mut TrialRecord, from: usize, seconds: usize) {
        for sample in &mut record.samples[from..from + seconds] {
            for op in &mut sample.ops {
                *op = fathom_model::sample::OpSample::new(op.kind, false);
            }
        }
    }

    #[test]
    fn a_target_that_stands_still_is_named_with_time_and_length() {
        let sound = RecordBuilder::reads();
        assert_eq!(sound.status("V45"), Some(Pass));
        let brief = RecordBuilder::reads().edit(|record| still(record, 20, 2));
        let finding = brief.finding("V45").unwrap();
        assert_eq!(finding.status, Caveat);
        assert!(finding.evidence.contains("2 s from 20 s"), "{finding:?}");
        let long = RecordBuilder::reads().edit(|record| still(record, 10, 20));
        assert_eq!(long.status("V45"), Some(Invalid));
        let slow = RecordBuilder::reads().with(|b| b.ops_per_second = 3);
        assert_eq!(slow.status("V45"), Some(NotMeasured));
    }
}
