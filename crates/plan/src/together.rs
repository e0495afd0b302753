//! Turns of a plan: which rows run at the same time.
//!
//! Consecutive workloads with the same `together` are a set. A matrix varies
//! the set as a whole: its first combination gives the first turn, in which each
//! workload runs with its own first combination, and so on.

use std::collections::BTreeMap;

use fathom_model::schedule::MAX_TOGETHER;

use crate::diagnostic::{Problems, error};
use crate::rows::Row;

/// Rows that run at the same time, by their number; one that runs alone is a
/// turn of its own.
pub(crate) type Turn = Vec<usize>;

/// The rows of a plan in turns. Rows of a set that does not fit together are
/// reported.
pub(crate) fn turns(rows: &[Row], problems: &mut Problems) -> Vec<Turn> {
    let mut turns = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut at = 0;
    while at < rows.len() {
        let members = members(rows, at);
        let after = members.last().map_or(at + 1, |last| last.end);
        if let Some(name) = name(&rows[at]) {
            if let Some(first) = seen.insert(name, at) {
                not_consecutive(&rows[first], &rows[at], problems);
            }
            check(name, rows, &members, problems);
        }
        let points = members.iter().map(ExactSizeIterator::len).min();
        for point in 0..points.unwrap_or(0) {
            turns.push(members.iter().map(|rows| rows.start + point).collect());
        }
        at = after;
    }
    turns
}

/// The rows of each workload of the set that begins at row `at`.
fn members(rows: &[Row], at: usize) -> Vec<std::ops::Range<usize>> {
    let mut members = vec![rows_of_workload(rows, at)];
    while let Some(next) = members.last().map(|last| last.end) {
        let joins = next < rows.len() && name(&rows[at]).is_some();
        if !joins || name(&rows[next]) != name(&rows[at]) {
            break;
        }
        members.push(rows_of_workload(rows, next));
    }
    members
}

fn rows_of_workload(rows: &[Row], at: usize) -> std::ops::Range<usize> {
    let same = rows[at..].iter().take_while(|row| {
        // A matrix over `together` would make sets of its own.
        row.workload == rows[at].workload && name(row) == name(&rows[at])
    });
    at..at + same.count()
}

fn name(row: &Row) -> Option<&str> {
    row.keys.together.as_ref().map(|key| key.value.0.as_str())
}

fn check(name: &str, rows: &[Row], members: &[std::ops::Range<usize>], problems: &mut Problems) {
    let Some(first) = members.first() else {
        return;
    };
    if members.len() > MAX_TOGETHER {
        let message = format!(
            "{} workloads run together as `{name}`; the limit is {MAX_TOGETHER}",
            members.len()
        );
        problems.error("limit", rows[first.start].entry, message);
    }
    let uneven = members.iter().find(|rows| rows.len() != first.len());
    if let Some(uneven) = uneven {
        let message = format!(
            "workloads of the set `{name}` have {} and {} combinations of their matrix",
            first.len(),
            uneven.len()
        );
        problems.push(
            error("together_matrix", rows[uneven.start].entry, message)
                .relate(rows[first.start].entry, "the first of the set")
                .help("use the matrix of the plan: it varies the set as a whole"),
        );
    }
}

fn not_consecutive(first: &Row, again: &Row, problems: &mut Problems) {
    let name = name(again).unwrap_or_default();
    let message = format!("the workloads of the set `{name}` do not follow one another");
    problems.push(
        error("together_apart", again.entry, message)
            .relate(first.entry, "it began here")
            .help("move them next to each other, or name the second set differently"),
    );
}

#[cfg(test)]
#[path = "together_tests.rs"]
mod tests;
