//! Words for findings and for the values of the verdict, the same in every output.

use fathom_model::Finding;
pub(crate) use fathom_model::names::{
    fit, limiter, limiter_key, mark, state, status, validity, validity_key,
};
use fathom_model::verdict::FindingStatus;

/// The findings that say something against the number, worst first.
pub(crate) fn objections(findings: &[Finding]) -> Vec<&Finding> {
    let mut found: Vec<&Finding> = findings
        .iter()
        .filter(|f| f.status >= FindingStatus::Caveat)
        .collect();
    found.sort_by_key(|f| std::cmp::Reverse(f.status));
    found
}

/// How many findings have a status.
pub(crate) fn tally(findings: &[Finding], status: FindingStatus) -> usize {
    findings.iter().filter(|f| f.status == status).count()
}
