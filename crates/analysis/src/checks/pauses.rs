//! V47: does the target pause again and again, for less than a second?
//!
//! Garbage collection, a journal or a throttle can hold everything up for some
//! hundred milliseconds every few seconds. The mean over them is right and still
//! describes no second of the trial. A pause shows twice: an operation takes far
//! longer than the slowest of a usual second, and the second lacks about as much work
//! as fits into that time. A slow operation beside which others go on is a tail (V17).

use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::check::v47::{
    LEAST_PAUSE_MS, LEAST_PAUSES, LOST_PART, SECONDS_AROUND, THROTTLED_MS, TIMES_USUAL,
};
use fathom_rules::{Rule, check};
use fathom_stats::median::median;

use super::Facts;
use super::cap;
use super::frequent_pauses;
use super::stall::{longest_ns, own_stops};
use crate::outcome::Outcome;
use crate::trial::{Second, Trial, add, data_kinds};

const RULE: &Rule = check::V47;

/// V47: share of the measure phase in pauses, where there are several.
pub(super) fn recurring(facts: &Facts<'_>) -> Option<Outcome> {
    let trial = facts.trial;
    let seconds: Vec<Measured> = trial
        .measured()
        .filter_map(|s| measured(trial, s))
        .collect();
    let own = OwnStops::of(trial);
    let rare = pauses(&own, &seconds);
    let pauses = match rare.len() < LEAST_PAUSES {
        true => frequent_pauses::lengths_ns(trial, |second| {
            measured(trial, second).is_some_and(|second| own.touch(&second))
        }),
        false => rare,
    };
    let pauses = beyond_a_throttle(trial, pauses);
    if pauses.len() < LEAST_PAUSES {
        let evidence = format!("{} in which everything waited", counted(pauses.len()));
        let passed = FindingStatus::Pass;
        return Some(Outcome::decided(RULE, passed, 0.0, RULE.caveat, evidence));
    }
    let paused_ns = add(pauses.iter().copied());
    let share = paused_ns as f64 / trial.duration_ns as f64;
    let apart_ns = trial.duration_ns / pauses.len() as u64;
    let between_ns = trial.duration_ns.saturating_sub(paused_ns).max(1);
    let between = trial.data_ops() as f64 * 1e9 / between_ns as f64;
    let evidence = format!(
        "{} of {} on average, one every {}, took {:.0} % of the time; between them {} operations/s",
        counted(pauses.len()),
        unit::span(paused_ns / pauses.len() as u64),
        unit::span(apart_ns),
        share * 100.0,
        unit::count(between),
    );
    Some(Outcome::graded(RULE, share, evidence))
}

/// Without those that are how a limit is kept which was declared on this host and met:
/// the kernel lets operations pass in slices, and holds them up in between.
fn beyond_a_throttle(trial: &Trial<'_>, mut pauses: Vec<u64>) -> Vec<u64> {
    if cap::declared(trial).is_some() {
        pauses.retain(|length_ns| *length_ns as f64 > THROTTLED_MS * 1e6);
    }
    pauses
}

fn counted(pauses: usize) -> String {
    match pauses {
        0 => "no pause".to_owned(),
        1 => "one pause".to_owned(),
        n => format!("{n} pauses"),
    }
}

/// One second as this check sees it.
struct Measured {
    start_ns: u64,
    duration_ns: u64,
    ops: u64,
    longest_ns: u64,
}

impl Measured {
    fn ops_per_second(&self) -> f64 {
        self.ops as f64 * 1e9 / self.duration_ns as f64
    }
}

fn measured(trial: &Trial<'_>, second: &Second<'_>) -> Option<Measured> {
    let longest = second.groups.iter().filter_map(|g| longest_ns(trial, g));
    let ops = add(data_kinds()
        .flat_map(|kind| second.ops(kind))
        .map(|op| op.ops));
    (second.duration_ns > 0).then(|| Measured {
        start_ns: second.start_ns,
        duration_ns: second.duration_ns,
        ops,
        longest_ns: longest.max().unwrap_or(0),
    })
}

/// What is usual around one second.
struct Usual {
    ops_per_second: f64,
    longest_ns: f64,
}

impl Usual {
    /// `None` without a second.
    fn around(seconds: &[Measured], at: usize) -> Option<Usual> {
        let from = at.saturating_sub(SECONDS_AROUND);
        let until = seconds.len().min(at + SECONDS_AROUND + 1);
        let near = &seconds[from..until];
        let rates: Vec<f64> = near.iter().map(Measured::ops_per_second).collect();
        let longest: Vec<f64> = near.iter().map(|s| s.longest_ns as f64).collect();
        Some(Usual {
            ops_per_second: median(&rates)?,
            longest_ns: median(&longest)?,
        })
    }

    /// Time in which the missing operations of a second would have been done.
    fn lost_ns(&self, second: &Measured) -> f64 {
        let done_ns = second.ops as f64 * 1e9 / self.ops_per_second;
        second.duration_ns as f64 - done_ns
    }
}

/// When fathom itself stood still.
struct OwnStops(Vec<(u64, u64)>);

impl OwnStops {
    fn of(trial: &Trial<'_>) -> OwnStops {
        OwnStops(own_stops(trial))
    }

    /// Whether one may be what held operations of a second up.
    fn touch(&self, second: &Measured) -> bool {
        let until_ns = second.start_ns.saturating_add(second.duration_ns);
        let from_ns = until_ns.saturating_sub(second.duration_ns.max(second.longest_ns));
        let mut stops = self.0.iter();
        stops.any(|(from, to)| from_ns < *to && until_ns > *from)
    }
}

/// Lengths in nanoseconds.
fn pauses(own: &OwnStops, seconds: &[Measured]) -> Vec<u64> {
    let pause = |(at, second): (usize, &Measured)| {
        let length_ns = second.longest_ns;
        if (length_ns as f64) < LEAST_PAUSE_MS * 1e6 || own.touch(second) {
            return None;
        }
        let usual = Usual::around(seconds, at).filter(|usual| usual.ops_per_second > 0.0)?;
        // It ended in this second and may have begun in the one before.
        let before = at.checked_sub(1).map(|at| usual.lost_ns(&seconds[at]));
        let lost_ns = usual.lost_ns(second) + before.unwrap_or(0.0).max(0.0);
        let held_up = length_ns as f64 >= TIMES_USUAL * usual.longest_ns;
        (held_up && lost_ns >= LOST_PART * length_ns as f64).then_some(length_ns)
    };
    seconds.iter().enumerate().filter_map(pause).collect()
}

#[cfg(test)]
mod tests {
    use fathom_model::run::TrialRecord;
    use fathom_model::sample::Sample;
    use fathom_model::verdict::FindingStatus::{Caveat, Pass};

    use crate::test_records::RecordBuilder;

    /// One operation of a second takes `length_ms`, and the second does `left` of its work.
    fn held_up(sample: &mut Sample, length_ms: u64, left: f64) {
        for op in &mut sample.ops {
            op.ops = (op.ops as f64 * left) as u64;
            op.service.record(length_ms * 1_000_000);
        }
    }

    fn every(step: usize, length_ms: u64, left: f64) -> impl Fn(&mut TrialRecord) {
        move |record| {
            let seconds = record.samples.iter_mut().skip(3).step_by(step);
            seconds.for_each(|sample| held_up(sample, length_ms, left));
        }
    }

    #[test]
    fn pauses_that_come_again_and_again_are_counted_with_length_and_distance() {
        let pauses = RecordBuilder::reads().edit_with(every(4, 600, 0.4));
        let finding = pauses.finding("V47").unwrap();
        assert_eq!(finding.status, Caveat);
        for part in [
            "15 pauses",
            "600 ms",
            "every 4 s",
            "15 %",
            "1,000 operations/s",
        ] {
            assert!(finding.evidence.contains(part), "{part}: {finding:?}");
        }
        // A pause across the turn of a second lacks part of its work in each.
        let across = RecordBuilder::reads().edit_with(|record| {
            every(4, 600, 0.7)(record);
            let before = record.samples.iter_mut().skip(2).step_by(4);
            for op in before.flat_map(|sample| &mut sample.ops) {
                op.ops = op.ops * 7 / 10;
            }
        });
        assert_eq!(across.status("V47"), Some(Caveat));
    }

    #[test]
    fn a_slow_operation_beside_which_others_go_on_is_a_tail() {
        let tail = RecordBuilder::reads().edit_with(every(2, 600, 1.0));
        assert_eq!(tail.status("V47"), Some(Pass));
    }

    #[test]
    fn single_pauses_short_ones_and_latencies_that_are_always_long_pass() {
        for (step, length_ms) in [(40, 600), (1, 600), (4, 60)] {
            let usual = RecordBuilder::reads().edit_with(every(step, length_ms, 0.4));
            assert_eq!(usual.status("V47"), Some(Pass), "{step} {length_ms}");
        }
    }

    #[test]
    fn slices_of_a_throttle_are_how_a_declared_limit_is_kept() {
        let quick = || RecordBuilder::reads().with(|b| b.workload.queue_depth = 8);
        let slices = quick().edit_with(every(3, 180, 0.8));
        assert_eq!(slices.clone().status("V47"), Some(Caveat));
        let limit = [("cgroup_read_ops", "937")];
        let held = slices.drive_facts(&limit, &[]);
        assert_eq!(held.status("V47"), Some(Pass));
        let long = quick().edit_with(every(4, 600, 0.4));
        let long = long.drive_facts(&[("cgroup_read_ops", "850")], &[]);
        assert_eq!(long.status("V47"), Some(Caveat));
    }

    #[test]
    fn a_step_of_the_rate_is_not_a_pause() {
        let step = RecordBuilder::reads().edit_with(|record| {
            for sample in record.samples.iter_mut().take(20) {
                held_up(sample, 150, 0.3);
            }
        });
        assert_eq!(step.status("V47"), Some(Pass));
    }

    #[test]
    fn stops_of_the_generator_are_not_pauses_of_the_target() {
        let own = RecordBuilder::reads().edit_with(|record| {
            every(4, 900, 0.1)(record);
            let stopped = record.samples.iter_mut().skip(3).step_by(4);
            stopped.for_each(|sample| sample.longest_stall_ns = 900_000_000);
        });
        assert_eq!(own.status("V47"), Some(Pass));
        assert_eq!(own.status("V27"), Some(Caveat));
    }
}
