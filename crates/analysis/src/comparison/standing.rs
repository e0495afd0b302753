//! What speaks against a comparison: checks V50 to V53.

use fathom_model::comparison::{Comparison, Difference, Standing};
use fathom_model::unit;
use fathom_model::verdict::{Finding, FindingStatus};
use fathom_rules::check;

use super::paired::Order;
use crate::checks::sort;
use crate::outcome::{Outcome, grade};

/// Differences that a finding names at most.
const NAMED: usize = 4;

/// V50: the sides were measured in turns, or not.
pub(crate) fn unpaired(interleaved: bool) -> Finding {
    let evidence = match interleaved {
        true => "measured in turns, A B B A, in one session",
        false => {
            "the sides were measured one after the other, not in turns: whatever drifted \
             meanwhile is in the difference, so it is indicative at best"
        }
    };
    let status = match interleaved {
        true => FindingStatus::Pass,
        false => FindingStatus::Caveat,
    };
    let sessions = if interleaved { 0.0 } else { 1.0 };
    Outcome::decided(check::V50, status, sessions, None, evidence.to_owned()).finding()
}

/// V51: pairs of the row that has fewest.
pub(crate) fn few_pairs(fewest: usize, planned: Option<u32>) -> Finding {
    let of = planned.map_or(String::new(), |p| format!(" of {p} planned"));
    let pairs = unit::counted(fewest as u64, "pair");
    let evidence = format!("{pairs}{of} can be used in the row with the fewest");
    let outcome = Outcome::graded(check::V51, fewest as f64, evidence);
    let least = check::v51::CAVEAT;
    let too_few = planned.is_some_and(|planned| f64::from(planned) < least);
    match too_few {
        // It did run to its end.
        true => outcome.with_remedy(format!("Ask for more: --pairs {least:.0} or above.")),
        false => outcome,
    }
    .finding()
}

/// What V52 looks at.
#[derive(Default)]
pub(crate) struct Moved {
    /// The row in which the order of the pairs mattered most.
    pub(crate) order: Option<(String, Order)>,
    /// The control: probability, change as a share, and whether it moved.
    pub(crate) control: Option<(f64, f64, bool)>,
}

/// V52: the order mattered, or the control moved with the sides. A steady
/// drift is cancelled by the order of the trials and only a caveat; a control
/// that moves says that the difference is not the factor's.
pub(crate) fn order_and_control(moved: &Moved) -> Finding {
    let mut seen: Vec<(FindingStatus, f64, String)> = Vec::new();
    if let Some((label, order)) = &moved.order {
        let evidence = format!(
            "the later trial of a pair gave {} (p {}) in {label}",
            change_text(order.later.exp_m1()),
            p_text(order.p)
        );
        seen.push((grade(check::V52, order.p).0, order.p, evidence));
    }
    if let Some((p, change, moved)) = moved.control {
        let (status, word) = match moved {
            true => (FindingStatus::Invalid, "moved"),
            false => (FindingStatus::Pass, "differed"),
        };
        let (change, p_text) = (change_text(change), p_text(p));
        let evidence = format!("the control {word} by {change} (p {p_text}) from A to B");
        seen.push((status, p, evidence));
    }
    let Some(worst) = seen.iter().map(|s| s.0).max() else {
        return Outcome::not_measured(check::V52, "too few pairs, and no control").finding();
    };
    let p = seen.iter().map(|s| s.1).fold(1.0, f64::min);
    let evidence: Vec<String> = seen.into_iter().map(|s| s.2).collect();
    Outcome::decided(check::V52, worst, p, check::V52.caveat, evidence.join("; ")).finding()
}

/// V53: differences that nobody declared.
pub(crate) fn config_diff(undeclared: &[Difference]) -> Finding {
    let named: Vec<String> = undeclared
        .iter()
        .take(NAMED)
        .map(|d| {
            let (a, b) = (d.shown(&d.a), d.shown(&d.b));
            format!("{} ({} against {})", d.field, short(&a), short(&b))
        })
        .collect();
    let more = match undeclared.len().saturating_sub(NAMED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let evidence = match undeclared.is_empty() {
        true => "nothing differs beyond what was declared".to_owned(),
        false => format!("not declared: {}{more}", named.join(", ")),
    };
    Outcome::graded(check::V53, undeclared.len() as f64, evidence).finding()
}

fn short(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}..", &text[..at]),
        None => text.to_owned(),
    }
}

/// `+1.2 %`; never `-0.0 %`.
fn change_text(share: f64) -> String {
    let percent = (share * 1000.0).round() / 10.0 + 0.0;
    format!("{percent:+.1} %")
}

/// A probability with two digits.
fn p_text(p: f64) -> String {
    match p {
        p if p < 0.0001 => "< 0.0001".to_owned(),
        p if p < 0.1 => format!("{p:.4}"),
        p => format!("{p:.2}"),
    }
}

/// Sorts the findings and sets the standing.
pub(crate) fn settle(comparison: &mut Comparison, interleaved: bool, untrusted: Vec<String>) {
    sort(&mut comparison.findings);
    let moved = comparison.control.as_ref().is_some_and(|c| c.moved);
    if moved {
        comparison.reasons.push(
            "the untouched control moved with the sides: something else than the factor differs"
                .to_owned(),
        );
    }
    comparison.reasons.extend(untrusted);
    comparison.standing = match (comparison.reasons.is_empty(), interleaved) {
        (false, _) => Standing::Unproven,
        (true, true) => Standing::Proven,
        (true, false) => Standing::Indicative,
    };
    if !interleaved {
        comparison
            .reasons
            .push("not measured in turns; `fathom ab` does that".to_owned());
    }
}
