//! Which rows of a run its verdict is about: one bad row does not speak for the
//! others.

use fathom_model::judged::{JudgedRun, ResultRow};
use fathom_model::schedule::TrialRole;
use fathom_model::verdict::Validity;

use crate::names;

/// Rows that are named.
const NAMED: usize = 3;

/// The rows whose validity is that of the run, and how the others stand; `None`
/// where there is one row or all stand alike.
pub(crate) fn rows(run: &JudgedRun) -> Option<String> {
    let results = run.rows.iter().filter(|row| row.role != TrialRole::Control);
    let results: Vec<&ResultRow> = results.collect();
    let of = |validity: Validity| -> Vec<&ResultRow> {
        let alike = results
            .iter()
            .filter(|row| row.verdict.validity == validity);
        alike.copied().collect()
    };
    let worst = of(run.verdict.validity);
    if results.len() < 2 || worst.is_empty() || worst.len() == results.len() {
        return None;
    }
    let labels = worst.iter().take(NAMED).map(|row| row.label.as_str());
    let labels: Vec<&str> = labels.collect();
    let more = match worst.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let others = [
        Validity::NotTrusted,
        Validity::Caveats,
        Validity::NotDetermined,
    ]
    .into_iter()
    .filter(|validity| *validity != run.verdict.validity)
    .map(|validity| (of(validity).len(), names::validity(validity)))
    .filter(|(count, _)| *count > 0)
    .map(|(count, words)| format!("; {count} more {words}"));
    let others: String = others.collect();
    Some(format!(
        "{} of {} rows: {}{more}{others}",
        worst.len(),
        results.len(),
        labels.join(", "),
    ))
}
