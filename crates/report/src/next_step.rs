//! What to do next: the last thing that a result says.

use fathom_model::{JudgedRun, RunState, Validity};
use fathom_rules::check;

use crate::{comparison, names};

/// What to do about the worst finding, or else what the study suggests.
pub(crate) fn of(run: &JudgedRun) -> Option<String> {
    let objections = names::objections(&run.verdict.findings);
    let early = RunState::Complete != run.run.state;
    let ended_early = objections
        .iter()
        .find(|finding| finding.id == check::V29.id);
    // What made a run fail is to be mended before it is repeated.
    let failed = || objections.iter().any(|finding| finding.id == check::V26.id);
    let is_cause = run.run.state == RunState::Failed && failed();
    if let Some(finding) = ended_early.filter(|_| early && !is_cause) {
        // Of a run that somebody ended the kernel has nothing to tell.
        let (again, log) = finding
            .remedy
            .split_once(';')
            .unwrap_or((&finding.remedy, ""));
        let is_stuck = log.is_empty() || finding.evidence.contains("outstanding");
        return Some(match is_stuck {
            true => finding.remedy.clone(),
            false => format!("{again}."),
        });
    }
    let mut with_remedy = objections
        .iter()
        .filter(|finding| !finding.remedy.is_empty());
    let with_remedy = match is_cause {
        true => with_remedy.find(|finding| finding.id == check::V26.id),
        false => with_remedy.next(),
    };
    if let Some(finding) = with_remedy {
        return Some(finding.remedy.clone());
    }
    if let Some(step) = run.comparison.as_ref().and_then(comparison::next_step) {
        return Some(step);
    }
    // A result that is doubted for whatever reason needs no further measurements.
    let view = run.view.as_ref();
    let view = view.filter(|_| run.verdict.validity == Validity::Trusted);
    view.and_then(|view| view.next_step.clone())
}
