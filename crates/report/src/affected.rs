//! Which rows of a run its verdict is about: one bad row does not speak for the
//! others.

use fathom_model::judged::{JudgedRun, ResultRow};
use fathom_model::schedule::TrialRole;
use fathom_model::verdict::Validity;

use crate::names;

/// Rows that are named.
const NAMED: usize = 3;

/// The rows to which the validity of a run applies, where that is not all of them.
pub(crate) struct Affected {
    /// How many there are, of how many.
    pub(crate) count: String,
    /// What they are called.
    names: String,
    /// The other rows that are not fully trusted: how many, and how they stand.
    others: Vec<(usize, Validity)>,
}

/// The rows whose validity is that of the run, and how the others stand; `None`
/// where there is one row, all stand alike, or the run can be trusted.
pub(crate) fn of(run: &JudgedRun) -> Option<Affected> {
    if run.verdict.validity == Validity::Trusted {
        return None;
    }
    let is_beside = |role| matches!(role, TrialRole::Control | TrialRole::Precondition);
    let results = run.rows.iter().filter(|row| !is_beside(row.role));
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
    .map(|validity| (of(validity).len(), validity))
    .filter(|(count, _)| *count > 0);
    Some(Affected {
        count: format!("{} of {} rows", worst.len(), results.len()),
        names: format!("{}{more}", labels.join(", ")),
        others: others.collect(),
    })
}

/// The rows as a list: `2 of 9 rows: RND4K read, SEQ1M write; 1 more with caveats`.
pub(crate) fn rows(run: &JudgedRun) -> Option<String> {
    let affected = of(run)?;
    let others = affected.others.iter();
    let others = others.map(|(count, of)| format!("; {count} more {}", names::validity(*of)));
    let others: String = others.collect();
    Some(format!("{}: {}{others}", affected.count, affected.names))
}

/// The rows in a sentence; `None` where all stand alike.
pub(crate) fn sentence(run: &JudgedRun) -> Option<String> {
    let affected = of(run)?;
    let rows = &affected.count;
    let stand = match run.verdict.validity {
        Validity::Trusted => return None,
        Validity::Caveats => format!("{rows} can be trusted only with caveats"),
        Validity::NotDetermined => format!("Too few checks could run to trust {rows}"),
        Validity::NotTrusted => format!("{rows} cannot be trusted"),
    };
    let others = affected.others.iter().map(|(count, of)| match of {
        Validity::Caveats => format!("; {count} more with caveats"),
        of => format!("; {count} more {}", names::validity(*of)),
    });
    let others: String = others.collect();
    Some(format!("{stand}: {}{others}.", affected.names))
}
