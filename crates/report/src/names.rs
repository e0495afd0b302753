//! Words for findings and for the values of the verdict, the same in every output.

use fathom_model::Finding;
use fathom_model::Limiter;
pub(crate) use fathom_model::names::{
    fit, limiter, limiter_key, mark, state, status, validity, validity_key,
};
use fathom_model::unit::counted;
use fathom_model::verdict::FindingStatus;
use fathom_rules::check;

/// What a longer run mends. Other objections weigh more: they say that something else was
/// measured.
const TOO_SHORT: [&str; 4] = [
    check::id::V15,
    check::id::V16,
    check::id::V17,
    check::id::V63,
];

/// The findings that say something against the number, worst first.
pub(crate) fn objections(findings: &[Finding]) -> Vec<&Finding> {
    let mut found: Vec<&Finding> = findings
        .iter()
        .filter(|f| f.status >= FindingStatus::Caveat)
        .collect();
    let is_short = |finding: &Finding| TOO_SHORT.contains(&finding.id.as_str());
    found.sort_by_key(|f| (std::cmp::Reverse(f.status), is_short(f)));
    found
}

/// How many findings have a status.
pub(crate) fn tally(findings: &[Finding], status: FindingStatus) -> usize {
    findings.iter().filter(|f| f.status == status).count()
}

/// What is said of checks without the evidence that they need.
pub(crate) const NOT_RUN: &str = "could not run here";

/// `21 checks passed`, and how many of them could not run.
pub(crate) fn checks_passed(findings: &[Finding], not_measured: &str) -> String {
    let passed = counted(tally(findings, FindingStatus::Pass) as u64, "check");
    match tally(findings, FindingStatus::NotMeasured) {
        0 => format!("{passed} passed"),
        unmeasured => format!("{passed} passed, {unmeasured} {not_measured}"),
    }
}

/// What a limiter is in a sentence: `limited by the file system`.
pub(crate) fn limited_by(limiter: Limiter) -> String {
    match limiter {
        Limiter::Device | Limiter::QueueDepth | Limiter::Filesystem | Limiter::Network => {
            format!("the {}", self::limiter(limiter))
        }
        Limiter::GeneratorCpu => "the CPU of the generator".to_owned(),
        Limiter::DeviceOrCap => "the device or a limit in front of it".to_owned(),
        Limiter::Flush => "flushes (durability)".to_owned(),
        Limiter::Unknown => "something that is not determined".to_owned(),
        limiter => self::limiter(limiter).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use fathom_rules::check;

    use super::*;

    #[test]
    fn what_a_longer_run_mends_is_said_last() {
        let finding = |id: &str, status| Finding {
            id: id.to_owned(),
            name: String::new(),
            status,
            measured: None,
            threshold: None,
            evidence: String::new(),
            remedy: String::new(),
        };
        let findings = [
            finding(check::id::V16, FindingStatus::Caveat),
            finding(check::id::V77, FindingStatus::Caveat),
            finding(check::id::V17, FindingStatus::Pass),
            finding(check::id::V63, FindingStatus::Invalid),
        ];
        let order = objections(&findings);
        let order: Vec<&str> = order.iter().map(|finding| finding.id.as_str()).collect();
        assert_eq!(order, ["V63", "V77", "V16"]);
    }
}
