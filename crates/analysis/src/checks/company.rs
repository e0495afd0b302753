//! V75: did other trials of the run load the host at the same time?

use fathom_rules::{Rule, check};

use super::Facts;
use crate::outcome::Outcome;

const RULE: &Rule = check::V75;

/// Others that are named.
const NAMED: usize = 3;

/// V75: the trial was one of a set.
pub(super) fn together(facts: &Facts<'_>) -> Option<Outcome> {
    let trial = facts.trial;
    let others = trial.set_size.checked_sub(1).filter(|others| *others > 0)?;
    let own = trial.record.spec.label.as_str();
    let names = trial.set_labels.iter().filter(|label| **label != own);
    let names: Vec<&str> = names.copied().take(NAMED).collect();
    let more = match others.saturating_sub(names.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shared = match trial.company.as_ref().map(|c| c.loads - 1) {
        None if trial.device_names().is_empty() => "no device below them is known".to_owned(),
        None => "none of them on the same devices".to_owned(),
        Some(all) if all == others => "on the same devices".to_owned(),
        Some(some) => format!("{some} of them on the same devices"),
    };
    let evidence = format!(
        "ran at the same time as {}{more}, {shared}: its figures are its part of a common load, \
         not what it would do alone",
        names.join(", ")
    );
    Some(Outcome::graded(RULE, others as f64, evidence))
}
