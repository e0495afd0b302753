//! Findings into verdicts.
//!
//! The worst finding decides. "Not measured" never makes a number untrusted: it
//! is a caveat where the table requires the check for the kind of target, and
//! leaves validity open where most of the required checks could not run (V90).

use fathom_model::verdict::{Finding, FindingStatus, Limiter, Validity, Verdict};
use fathom_rules::{TargetKind, check};

use crate::checks::{evidence, sort};
use crate::named_limiter::Named;
use crate::{fitness, limiter};

/// Labels that a folded finding names at most.
const MOST_LABELS: usize = 6;

/// One verdict of several that are folded.
pub struct Source<'a> {
    /// What it is a verdict on.
    pub label: String,
    /// The verdict.
    pub verdict: &'a Verdict,
}

/// The validity that findings on one kind of target add up to.
pub fn validity(findings: &[Finding], kind: TargetKind) -> Validity {
    let of = |finding: &Finding| match finding.status {
        FindingStatus::Invalid => Validity::NotTrusted,
        FindingStatus::Caveat if evidence::is_too_little(finding) => Validity::NotDetermined,
        FindingStatus::Caveat => Validity::Caveats,
        FindingStatus::NotMeasured if required(&finding.id, kind) => Validity::Caveats,
        _ => Validity::Trusted,
    };
    findings.iter().map(of).max().unwrap_or(Validity::Trusted)
}

pub(crate) fn required(id: &str, kind: TargetKind) -> bool {
    check::TABLE
        .find(id)
        .is_some_and(|check| check.required.contains(&kind))
}

/// Several verdicts as one: the worst validity, each finding once with the
/// labels that it concerns, and a limiter if all agree.
pub fn fold(sources: &[Source<'_>]) -> Verdict {
    let mut ids: Vec<&str> = sources
        .iter()
        .flat_map(|s| s.verdict.findings.iter().map(|f| f.id.as_str()))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    let mut findings: Vec<Finding> = ids.iter().filter_map(|id| fold_one(sources, id)).collect();
    sort(&mut findings);
    let named: Vec<(String, Named)> = sources
        .iter()
        .map(|s| {
            let named = (s.verdict.limiter, s.verdict.limiter_evidence.clone());
            (s.label.clone(), named)
        })
        .collect();
    let (limiter, limiter_evidence) = limiter::fold(&named);
    let worst = sources.iter().map(|s| s.verdict.validity).max();
    Verdict {
        validity: worst.unwrap_or(Validity::NotTrusted),
        limiter,
        limiter_evidence,
        findings,
        fitness: fitness::fold(sources.iter().filter_map(|s| {
            let fitness = s.verdict.fitness.as_ref()?;
            Some((s.label.clone(), fitness))
        })),
    }
}

/// The worst finding of one check, with all labels that share its status.
fn fold_one(sources: &[Source<'_>], id: &str) -> Option<Finding> {
    let all: Vec<(&str, &Finding)> = sources
        .iter()
        .filter_map(|s| {
            let finding = s.verdict.findings.iter().find(|f| f.id == id)?;
            Some((s.label.as_str(), finding))
        })
        .collect();
    // "Not measured" ranks above "pass" here too: it is what the reader misses.
    let worst = all.iter().map(|(_, f)| f.status).max()?;
    let mut alike: Vec<(&str, &Finding)> = all
        .iter()
        .copied()
        .filter(|(_, f)| f.status == worst)
        .collect();
    alike.sort_by(|a, b| severity(b.1).total_cmp(&severity(a.1)));
    let mut finding = alike.first()?.1.clone();
    if sources.len() > 1 {
        let mut labels: Vec<&str> = Vec::new();
        for (label, _) in &alike {
            if !labels.contains(label) {
                labels.push(label);
            }
        }
        let everywhere = alike.len() == sources.len();
        let first = labels.first().copied().unwrap_or_default();
        let concerns = match everywhere {
            true if worst == FindingStatus::Pass => "all".to_owned(),
            true => format!("all; the figures are of {first}"),
            // The figures are those of the first.
            false if labels.len() > 1 && alike.iter().any(|f| f.1.evidence != finding.evidence) => {
                format!("{first}; also {}", list(&labels[1..]))
            }
            false => list(&labels),
        };
        finding.evidence = format!("{} [{concerns}]", finding.evidence);
    }
    Some(finding)
}

/// The measured value, larger for worse, so that the worst figures are shown.
fn severity(finding: &Finding) -> f64 {
    let below = check::TABLE.find(&finding.id).is_some_and(|c| c.below);
    let measured = finding.measured.unwrap_or(0.0);
    if below { -measured } else { measured }
}

fn list(labels: &[&str]) -> String {
    match labels.len() {
        n if n <= MOST_LABELS => labels.join(", "),
        n => format!(
            "{} and {} more",
            labels[..MOST_LABELS].join(", "),
            n - MOST_LABELS
        ),
    }
}

/// A verdict on a run in which nothing ran.
pub(crate) fn nothing(finding: Finding) -> Verdict {
    Verdict {
        validity: Validity::NotTrusted,
        limiter: Limiter::Unknown,
        limiter_evidence: "nothing was measured".to_owned(),
        findings: vec![finding],
        fitness: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(id: &str, status: FindingStatus, measured: f64) -> Verdict {
        Verdict {
            validity: Validity::Caveats,
            limiter: Limiter::Unknown,
            limiter_evidence: String::new(),
            findings: vec![Finding {
                id: id.to_owned(),
                name: String::new(),
                status,
                measured: Some(measured),
                threshold: None,
                evidence: format!("measured {measured}"),
                remedy: String::new(),
            }],
            fitness: None,
        }
    }

    fn folded(verdicts: &[Verdict]) -> Verdict {
        let labelled = verdicts.iter().enumerate();
        let sources: Vec<Source<'_>> = labelled
            .map(|(i, verdict)| Source {
                label: format!("row {i}"),
                verdict,
            })
            .collect();
        fold(&sources)
    }

    #[test]
    fn each_finding_appears_once_with_its_labels_and_worst_figures() {
        let verdict = folded(&[
            verdict("V30", FindingStatus::Caveat, 0.03),
            verdict("V30", FindingStatus::Pass, 0.0),
            verdict("V30", FindingStatus::Caveat, 0.09),
        ]);
        assert_eq!(verdict.findings.len(), 1);
        assert_eq!(
            verdict.findings[0].evidence,
            "measured 0.09 [row 2; also row 0]"
        );
    }

    #[test]
    fn lower_is_worse_where_the_check_says_so() {
        let verdict = folded(&[
            verdict("V01", FindingStatus::Invalid, 0.5),
            verdict("V01", FindingStatus::Invalid, 0.1),
        ]);
        let evidence = &verdict.findings[0].evidence;
        assert!(evidence.starts_with("measured 0.1 [all"), "{evidence}");
    }

    #[test]
    fn a_missing_measurement_lowers_only_where_it_is_required() {
        let missing = verdict("V01", FindingStatus::NotMeasured, 0.0).findings;
        assert_eq!(validity(&missing, TargetKind::File), Validity::Caveats);
        assert_eq!(validity(&missing, TargetKind::Network), Validity::Trusted);
        let optional = verdict("V33", FindingStatus::NotMeasured, 0.0).findings;
        assert_eq!(validity(&optional, TargetKind::File), Validity::Trusted);
    }
}
