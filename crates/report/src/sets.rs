//! Rows that ran at the same time: who was beside whom, and what they did
//! together.

use fathom_model::judged::{LatencySummary, ResultRow};
use fathom_model::together::{ResultSet, SetSum};
use fathom_model::{Estimate, JudgedRun, unit};

use crate::summary;

/// What is said of a row that did not run alone.
pub(crate) fn company(run: &JudgedRun, row: &ResultRow) -> Option<String> {
    let set = run.sets.get(row.set?)?;
    let others = set.rows.iter().filter_map(|at| run.rows.get(*at));
    let others: Vec<&str> = others
        .filter(|other| other.row != row.row)
        .map(|other| other.label.as_str())
        .collect();
    Some(match others.as_slice() {
        [] => "several at the same time".to_owned(),
        [one] => format!("at the same time as {one}"),
        many => format!("at the same time as {} others", many.len()),
    })
}

/// What a sum is over, in words.
pub(crate) fn heading(set: &ResultSet) -> String {
    let Some(sum) = &set.sum else {
        let note = set.note.as_deref().unwrap_or("nothing was measured");
        return format!("{}: no sum, {note}", set.label);
    };
    let note = set.note.as_ref().map(|note| format!("; {note}"));
    format!(
        "{}: over {} in which all of them were measured{}",
        set.label,
        unit::span(sum.duration_ns),
        note.unwrap_or_default()
    )
}

/// One line of a sum: a kind of operation, or all that move data.
#[derive(Debug)]
pub(crate) struct SumLine<'a> {
    /// `read`, `write response`, `all`.
    pub(crate) name: String,
    /// Operations and bytes per second; nothing in the second line of a kind.
    pub(crate) rates: Option<[&'a Estimate; 2]>,
    /// Whether bytes have a meaning.
    pub(crate) moves_data: bool,
    pub(crate) latency: &'a LatencySummary,
}

/// The lines of a sum; several kinds of data operations are followed by all
/// of them together.
pub(crate) fn lines(sum: &SetSum) -> Vec<SumLine<'_>> {
    let done = sum.ops.iter().filter(|op| op.ops > 0);
    let mut lines: Vec<SumLine<'_>> = Vec::new();
    for op in done.clone() {
        for (i, (which, latency)) in summary::latencies(op).into_iter().enumerate() {
            lines.push(SumLine {
                name: match op.response {
                    Some(_) => format!("{} {which}", op.kind.name()),
                    None => op.kind.name().to_owned(),
                },
                rates: (i == 0).then_some([&op.ops_per_second, &op.bytes_per_second]),
                moves_data: op.kind.moves_bytes(),
                latency,
            });
        }
    }
    if done.filter(|op| op.kind.is_data()).count() > 1 {
        lines.push(SumLine {
            name: "all".to_owned(),
            rates: Some([&sum.ops_per_second, &sum.bytes_per_second]),
            moves_data: true,
            latency: &sum.service,
        });
    }
    lines
}
