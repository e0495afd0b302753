//! V45: did the target stand still?
//!
//! A mean over a time in which nothing came back is no rate of anything, and
//! an interval that takes such seconds for outliers hides them.

use fathom_model::op::OpKind;
use fathom_model::sample::{Phase, Sample};
use fathom_model::unit;
use fathom_rules::check::v45::{ALL_IN_FLIGHT, CAVEAT, HELD_UP, LEAST_OPS_PER_SECOND};
use fathom_rules::{Rule, check};

use super::Facts;
use crate::outcome::Outcome;
use crate::trial::{Second, Trial, add, data_kinds};

const RULE: &Rule = check::V45;

/// V45: seconds in which operations were in flight and none came back.
pub(super) fn target_stall(facts: &Facts<'_>) -> Option<Outcome> {
    let trial = facts.trial;
    let after = after_the_end(trial);
    // An operation that was held up is a stop however slow the load is.
    if after.is_none() && usual_ops_per_second(trial) < LEAST_OPS_PER_SECOND {
        let reason = "too few operations a second to tell a stop from a pause between two";
        return Some(Outcome::not_measured(RULE, reason));
    }
    let within = longest(trial, |_| false);
    // A load of one operation at a time is cut by seconds only where one ends.
    let alone = longest_of_one(trial).filter(|op| op.1 >= (CAVEAT * 1e9) as u64);
    let candidates = [Some(within), alone, after];
    let longest_of = candidates.into_iter().flatten().max_by_key(|stop| stop.1);
    let (from_ns, length_ns) = longest_of.unwrap_or(within);
    let stopped = length_ns as f64 / 1e9;
    let evidence = match length_ns {
        0 if longest(trial, |_| true).1 > 0 => {
            "seconds without a completion are those in which fathom itself stood still (V27)"
                .to_owned()
        }
        0 => "every second saw completions".to_owned(),
        _ => format!(
            "nothing came back for {} from {} on, although operations were in flight",
            unit::span(length_ns),
            unit::span(from_ns),
        ),
    };
    Some(Outcome::graded(RULE, stopped, evidence))
}

/// Operations per second while the target answered: a stop would otherwise make the
/// load look like one that is too slow for a stop to be seen.
fn usual_ops_per_second(trial: &Trial<'_>) -> f64 {
    let still = trial.measured().filter(|second| stands_still(second));
    let still_ns = add(still.map(|second| second.duration_ns));
    let answered_ns = trial.duration_ns.saturating_sub(still_ns);
    match answered_ns {
        0 => 0.0,
        _ => trial.data_ops() as f64 * 1e9 / answered_ns as f64,
    }
}

/// Start and length of the longest time of whole seconds without a completion
/// while operations were in flight throughout. Seconds in which the generator
/// stood still count only if `own` says so.
fn longest(trial: &Trial<'_>, own: impl Fn(&Second<'_>) -> bool) -> (u64, u64) {
    let stops = own_stops(trial);
    let in_own_stop = |second: &Second<'_>| {
        let touches = |(from, to): &(u64, u64)| second.start_ns < *to && second.end_ns() > *from;
        stops.iter().any(touches)
    };
    let (mut best, mut run) = ((0u64, 0u64), (0u64, 0u64));
    for second in trial.measured() {
        if stands_still(second) && (own(second) || !in_own_stop(second)) {
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

/// Longest operation of a sample, in nanoseconds. The flush at the end of a trial
/// covers all that was written and may take its time; one after every N writes is
/// waited for as a write is.
pub(super) fn longest_ns(trial: &Trial<'_>, sample: &Sample) -> Option<u64> {
    let sync = &trial.workload.sync;
    let flushes = sync.every_writes > 0 || sync.other_every_writes > 0;
    let counts = |kind: OpKind| kind.is_data() || (flushes && kind == OpKind::Sync);
    let ops = sample.ops.iter().filter(|op| counts(op.kind));
    ops.filter_map(|op| op.service.max()).max()
}

/// Start and length of the longest operation where there is one at a time: while it
/// was out, nothing else could come back.
fn longest_of_one(trial: &Trial<'_>) -> Option<(u64, u64)> {
    if trial.workload.workers > 1 || trial.workload.queue_depth > 1 || trial.set_size > 1 {
        return None;
    }
    let seconds: Vec<&Second<'_>> = trial.measured().collect();
    let of_second = |(at, second): (usize, &&Second<'_>)| {
        let samples = second.groups.iter();
        let length_ns = samples
            .filter_map(|sample| longest_ns(trial, sample))
            .max()?;
        // It came back at some moment of this second, and had begun before those in which
        // nothing came back.
        let latest_ns = second.end_ns().saturating_sub(length_ns);
        let still = seconds[..at].iter().rev().take_while(|s| stands_still(s));
        let begun_ns = still.last().map_or(latest_ns, |first| first.start_ns);
        let earliest_ns = second.start_ns.saturating_sub(length_ns);
        Some((latest_ns.min(begun_ns).max(earliest_ns), length_ns))
    };
    let by_second = seconds.iter().enumerate().filter_map(of_second);
    let (from_ns, length_ns) = by_second.max_by_key(|op| op.1)?;
    let until_ns = from_ns.saturating_add(length_ns);
    let own = own_stops(trial);
    let touches = own
        .iter()
        .any(|(from, to)| from_ns < *to && until_ns > *from);
    (!touches).then_some((from_ns, length_ns))
}

/// Start and length of a stop that lasted beyond the measure phase: seen in the
/// operations that were in flight at its end.
fn after_the_end(trial: &Trial<'_>) -> Option<(u64, u64)> {
    let longest = |samples: &mut dyn Iterator<Item = &Sample>| {
        samples.filter_map(|sample| longest_ns(trial, sample)).max()
    };
    let mut measured = trial.measured().flat_map(|s| s.groups.iter().copied());
    let usual_ns = longest(&mut measured)?;
    let settling = || {
        let samples = trial.record.samples.iter();
        samples.filter(|sample| sample.phase == Phase::Settle)
    };
    let length_ns = longest(&mut settling())?;
    if length_ns < usual_ns.saturating_mul(HELD_UP) {
        return None;
    }
    let end_ns = settling()
        .map(|s| s.start_ns.saturating_add(s.duration_ns))
        .max()?;
    let from_ns = end_ns.saturating_sub(length_ns);
    // A stop of fathom in that time is recorded in its samples.
    let own = settling().filter_map(|sample| {
        let stop_ns = sample.longest_stall_ns;
        let until_ns = sample.start_ns.saturating_add(sample.duration_ns);
        own_stop(stop_ns, sample.start_ns, until_ns)
    });
    let mut own = own.chain(own_stops(trial));
    let touches = own.any(|(from, to)| from_ns < to && end_ns > from);
    (!touches).then_some((from_ns, length_ns))
}

/// From when to when the generator itself can have stood still for long: a stop
/// is recorded in the second in which it ended.
pub(super) fn own_stops(trial: &Trial<'_>) -> Vec<(u64, u64)> {
    let stops = trial.seconds.iter().filter_map(|second| {
        let stop_ns = second.largest(|g| g.longest_stall_ns);
        own_stop(stop_ns, second.start_ns, second.end_ns())
    });
    stops.collect()
}

fn own_stop(stop_ns: u64, start_ns: u64, end_ns: u64) -> Option<(u64, u64)> {
    let least_ns = (check::v27::CAVEAT * 1e9) as u64;
    (stop_ns >= least_ns).then(|| (start_ns.saturating_sub(stop_ns), end_ns))
}

fn stands_still(second: &Second<'_>) -> bool {
    let done = |kind| add(second.ops(kind).map(|op| op.ops));
    let in_flight: f64 = second.groups.iter().map(|g| g.in_flight_ns as f64).sum();
    add(data_kinds().map(done)) == 0 && in_flight >= ALL_IN_FLIGHT * second.duration_ns as f64
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

    /// What was in flight at the end comes back after `ns`.
    fn held_up(record: &mut TrialRecord, ns: u64) {
        let mut last = record.samples.last().expect("a sample").clone();
        last.phase = fathom_model::sample::Phase::Settle;
        last.start_ns += last.duration_ns;
        last.duration_ns = ns;
        for op in &mut last.ops {
            *op = fathom_model::sample::OpSample::new(op.kind, false);
            op.ops = 1;
            op.service.record(ns);
        }
        record.samples.push(last);
    }

    #[test]
    fn a_stop_that_begins_in_the_last_second_counts_until_it_ends() {
        let held = RecordBuilder::reads().edit(|record| held_up(record, 16_000_000_000));
        let finding = held.finding("V45").unwrap();
        assert_eq!(finding.status, Invalid);
        assert!(finding.evidence.contains("16 s"), "{finding:?}");
        // Unless fathom itself stood still meanwhile.
        let own = RecordBuilder::reads().edit(|record| {
            held_up(record, 16_000_000_000);
            record
                .samples
                .last_mut()
                .expect("a sample")
                .longest_stall_ns = 15_900_000_000;
        });
        assert_eq!(own.status("V45"), Some(Pass));
        // A queue that empties in its usual time is none.
        let usual = RecordBuilder::reads().edit(|record| held_up(record, 100_000));
        assert_eq!(usual.status("V45"), Some(Pass));
    }

    #[test]
    fn a_flush_that_hangs_is_a_stop_as_a_write_is() {
        use fathom_model::OpKind;
        let hangs = |record: &mut TrialRecord| {
            held_up(record, 18_000_000_000);
            let settle = record.samples.last_mut().expect("a sample");
            for op in &mut settle.ops {
                op.kind = OpKind::Sync;
            }
        };
        let flushing = |every: u32| {
            let builder = RecordBuilder::writes();
            builder
                .with(|b| b.workload.sync.every_writes = every)
                .edit(hangs)
        };
        let finding = flushing(1);
        let finding = finding.finding("V45").unwrap();
        assert_eq!(finding.status, Invalid, "{finding:?}");
        assert!(finding.evidence.contains("18 s"), "{finding:?}");
        // The flush at the end of all writes may take its time.
        assert_eq!(flushing(0).status("V45"), Some(Pass));
    }

    #[test]
    fn a_stop_begins_before_the_seconds_without_a_completion() {
        // One at a time: what was asked for as second 20 began comes back early in second 22.
        let stop = RecordBuilder::reads().edit(|record| {
            still(record, 20, 2);
            for op in &mut record.samples[22].ops {
                op.service.record(2_000_000_000);
            }
        });
        let alone = stop.with(|b| b.workload.queue_depth = 1);
        let finding = alone.finding("V45").unwrap();
        assert!(finding.evidence.contains("2 s from 20 s"), "{finding:?}");
    }

    #[test]
    fn a_stop_soon_after_the_start_is_no_slow_load() {
        // 20 operations a second for two of 30 seconds are fewer than two a second.
        let early = RecordBuilder::reads()
            .with(|b| b.ops_per_second = 20)
            .edit(|record| {
                let seconds = record.samples.len();
                still(record, 2, seconds - 2);
            });
        assert_eq!(early.status("V45"), Some(Invalid));
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
        // A stop of fathom itself leaves the same seconds behind.
        let own = RecordBuilder::reads().edit(|record| {
            still(record, 10, 3);
            record.samples[13].longest_stall_ns = 3_200_000_000;
        });
        let finding = own.finding("V45").unwrap();
        assert_eq!(finding.status, Pass);
        assert!(finding.evidence.contains("fathom itself"), "{finding:?}");
        assert_eq!(own.status("V27"), Some(Invalid));
        let slow = RecordBuilder::reads().with(|b| b.ops_per_second = 3);
        assert_eq!(slow.status("V45"), Some(NotMeasured));
    }
}
