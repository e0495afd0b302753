//! What trials that ran at the same time did together.
//!
//! Only whole seconds count in which every one of them was being measured. The
//! seconds of trials that began at different moments are cut at different
//! times: they are put together by the nearest whole second from the opening of
//! the set's gate, so that each contributes the same number of them. Histograms
//! are merged by adding counts; percentiles come last.

use std::collections::{BTreeMap, BTreeSet};

use fathom_model::estimate::Unit;
use fathom_model::judged::{JudgedRun, JudgedTrial};
use fathom_model::sample::Phase;
use fathom_model::together::{InSet, ResultSet, SetSum};
use fathom_rules::method::observed::WHOLE;

use crate::company;
use crate::summary::{data_latency, data_rate, kind_latencies, summarize_ops};
use crate::trial::{Second, Trial, add};

const SECOND_NS: u64 = 1_000_000_000;
/// Names of rows in a label.
const NAMED: usize = 3;

/// The sets of a run, and for each of its trials the set and turn to which it
/// belongs.
pub(crate) fn of_run(trials: &[Trial<'_>], judged: &mut [JudgedTrial]) -> Vec<Found> {
    let mut sets: Vec<Found> = Vec::new();
    for range in company::sets(trials) {
        let rows: Vec<u32> = trials[range.clone()]
            .iter()
            .map(|trial| trial.record.spec.row)
            .collect();
        let known = sets.iter().position(|set| set.rows == rows);
        let at = known.unwrap_or_else(|| {
            sets.push(Found {
                rows,
                turns: Vec::new(),
            });
            sets.len() - 1
        });
        for place in range.clone() {
            let end = trials[place].end();
            judged[place].in_set = Some(InSet {
                set: at,
                turn: sets[at].turns.len(),
                load_started_ns: end.and_then(|end| end.load_started_ns),
            });
        }
        sets[at].turns.push(range.collect());
    }
    sets
}

/// A set before it is added up.
pub(crate) struct Found {
    /// Numbers of its rows.
    rows: Vec<u32>,
    turns: Vec<Vec<usize>>,
}

/// Adds up every set of a run whose rows are known.
pub(crate) fn add_up(found: Vec<Found>, trials: &[Trial<'_>], run: &mut JudgedRun) {
    let sets = found.into_iter().map(|set| {
        let place = |row: &u32| run.rows.iter().position(|r| r.row == *row);
        let mut rows: Vec<usize> = set.rows.iter().filter_map(place).collect();
        rows.dedup();
        let (sum, note) = sum(&set.turns, trials);
        ResultSet {
            label: label(rows.iter().map(|row| run.rows[*row].label.as_str())),
            rows,
            trials: set.turns,
            sum,
            note,
        }
    });
    run.sets = sets.collect();
    for (at, set) in run.sets.iter().enumerate() {
        for row in &set.rows {
            run.rows[*row].set = Some(at);
        }
    }
}

fn label<'l>(rows: impl ExactSizeIterator<Item = &'l str>) -> String {
    let count = rows.len();
    let named: Vec<&str> = rows.take(NAMED).collect();
    match count.saturating_sub(NAMED) {
        0 => named.join(" + "),
        more => format!("{} + {more} more", named.join(" + ")),
    }
}

/// Turns of the same work one after the other, each added up over its trials; or why
/// there is no sum.
pub fn sum(turns: &[Vec<usize>], trials: &[Trial<'_>]) -> (Option<SetSum>, Option<String>) {
    let mut merged = Vec::new();
    let (mut from_ns, mut idle) = (None, 0);
    for turn in turns {
        let members: Vec<&Trial<'_>> = turn.iter().map(|place| &trials[*place]).collect();
        let loaded = members.iter().filter(|trial| trial.duration_ns > 0);
        let loaded: Vec<&Trial<'_>> = loaded.copied().collect();
        idle += members.len() - loaded.len();
        if let Some((start_ns, trial)) = merge(&loaded) {
            from_ns.get_or_insert(start_ns);
            merged.push(trial);
        }
    }
    let Some(from_ns) = from_ns else {
        let note = "there was no whole second in which all of them were being measured";
        return (None, Some(note.to_owned()));
    };
    let merged: Vec<&Trial<'_>> = merged.iter().collect();
    let note = (idle > 0).then(|| match idle {
        1 => "one trial measured nothing and is not in the sum".to_owned(),
        n => format!("{n} trials measured nothing and are not in the sum"),
    });
    let sum = SetSum {
        from_ns,
        duration_ns: add(merged.iter().map(|trial| trial.duration_ns)),
        ops: summarize_ops(&merged, &kind_latencies(&merged)),
        ops_per_second: data_rate(&merged, Unit::OpsPerSecond, |op| op.ops),
        bytes_per_second: data_rate(&merged, Unit::BytesPerSecond, |op| op.bytes),
        service: data_latency(&merged),
    };
    (Some(sum), note)
}

/// The trials as one, over the seconds that all of them have. Its begin is
/// counted from the opening of the set's gate.
fn merge<'a>(members: &[&Trial<'a>]) -> Option<(u64, Trial<'a>)> {
    let first = members.first()?;
    let seconds: Vec<BTreeMap<u64, &Second<'a>>> = members.iter().map(|t| whole(t)).collect();
    let mut common: BTreeSet<u64> = seconds.first()?.keys().copied().collect();
    for of_member in &seconds {
        common.retain(|second| of_member.contains_key(second));
    }
    let merged: Vec<Second<'a>> = common
        .iter()
        .zip(0..)
        .map(|(second, index)| {
            let parts: Vec<&Second<'a>> = seconds
                .iter()
                .filter_map(|of_member| of_member.get(second).copied())
                .collect();
            Second {
                phase: Phase::Measure,
                start_ns: SECOND_NS * index,
                duration_ns: parts.iter().map(|s| s.duration_ns).max().unwrap_or(0),
                groups: parts
                    .iter()
                    .flat_map(|s| s.groups.iter().copied())
                    .collect(),
            }
        })
        .collect();
    let from_ns = common.first()?.saturating_mul(SECOND_NS);
    Some((from_ns, first.with_seconds(merged)))
}

/// The seconds of the measure phase by their number from the opening of the
/// gate. Of a trial that lasted less than a second, that part.
fn whole<'t, 'a>(trial: &'t Trial<'a>) -> BTreeMap<u64, &'t Second<'a>> {
    let began_ns = trial.record.load_started_ns();
    let longest = trial.measured().map(|s| s.duration_ns).max().unwrap_or(0);
    let least = (longest as f64 * WHOLE) as u64;
    trial
        .measured()
        .filter(|second| second.duration_ns >= least.max(1))
        .map(|second| {
            let at_ns = began_ns.saturating_add(second.start_ns);
            ((at_ns + SECOND_NS / 2) / SECOND_NS, second)
        })
        .collect()
}

#[cfg(test)]
#[path = "set_sum_tests.rs"]
mod tests;
