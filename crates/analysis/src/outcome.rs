//! From a measured value to a finding, by the table.

use fathom_model::verdict::{Finding, FindingStatus};
use fathom_rules::Rule;

/// The outcome for a measured value, and the threshold that decided.
pub(crate) fn grade(rule: &Rule, value: f64) -> (FindingStatus, Option<f64>) {
    let beyond = |threshold: f64| match rule.below {
        true => value < threshold,
        false => value > threshold,
    };
    let over = |upper: Option<f64>| upper.filter(|u| value > *u);
    if let Some(threshold) = rule.invalid.filter(|t| beyond(*t)) {
        (FindingStatus::Invalid, Some(threshold))
    } else if let Some(threshold) = rule.caveat.filter(|t| beyond(*t)).or(over(rule.upper)) {
        (FindingStatus::Caveat, Some(threshold))
    } else if let Some(threshold) = rule.info.filter(|t| beyond(*t)) {
        (FindingStatus::Info, Some(threshold))
    } else {
        (
            FindingStatus::Pass,
            rule.caveat.or(rule.invalid).or(rule.info),
        )
    }
}

/// A finding in the making.
pub struct Outcome {
    check: &'static Rule,
    status: FindingStatus,
    measured: Option<f64>,
    threshold: Option<f64>,
    evidence: String,
    /// In place of the table's, where the evidence calls for another one.
    remedy: Option<String>,
}

impl Outcome {
    /// Graded by the thresholds of the table.
    pub fn graded(check: &'static Rule, measured: f64, evidence: String) -> Outcome {
        let (status, threshold) = grade(check, measured);
        Outcome {
            check,
            status,
            measured: Some(measured),
            threshold,
            evidence,
            remedy: None,
        }
    }

    /// With a status that more than one value decides.
    pub fn decided(
        check: &'static Rule,
        status: FindingStatus,
        measured: f64,
        threshold: Option<f64>,
        evidence: String,
    ) -> Outcome {
        Outcome {
            check,
            status,
            measured: Some(measured),
            threshold,
            evidence,
            remedy: None,
        }
    }

    /// Could not be measured, and why.
    pub fn not_measured(check: &'static Rule, reason: impl Into<String>) -> Outcome {
        Outcome {
            check,
            status: FindingStatus::NotMeasured,
            measured: None,
            threshold: None,
            evidence: reason.into(),
            remedy: None,
        }
    }

    /// With another remedy than the table's.
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Outcome {
        self.remedy = Some(remedy.into());
        self
    }

    /// With more evidence behind the first.
    pub fn and(mut self, more: &str) -> Outcome {
        self.evidence.push_str(more);
        self
    }

    /// Not worse than `limit`; then the threshold is that of the milder status.
    pub fn at_most(mut self, limit: FindingStatus) -> Outcome {
        if self.status > limit {
            self.status = limit;
            let milder = match limit {
                FindingStatus::Caveat => self.check.caveat,
                FindingStatus::Info => self.check.info,
                _ => None,
            };
            self.threshold = milder.or(self.threshold);
        }
        self
    }

    /// Whether it is the one to show of two outcomes of a check for which more
    /// is worse.
    pub fn is_worse_than(&self, other: &Outcome) -> bool {
        let rank = |outcome: &Outcome| (outcome.status, outcome.measured.unwrap_or(0.0));
        rank(self).partial_cmp(&rank(other)) == Some(std::cmp::Ordering::Greater)
    }

    /// How bad it is.
    pub fn status(&self) -> FindingStatus {
        self.status
    }

    /// The finding.
    pub fn finding(self) -> Finding {
        let finite = |v: Option<f64>| v.filter(|v| v.is_finite());
        Finding {
            id: self.check.id.to_owned(),
            name: self.check.name.to_owned(),
            status: self.status,
            measured: finite(self.measured),
            threshold: finite(self.threshold),
            evidence: self.evidence,
            remedy: match self.status {
                FindingStatus::Pass => String::new(),
                _ => self.remedy.unwrap_or_else(|| self.check.remedy.to_owned()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use fathom_rules::check;

    use super::*;

    #[test]
    fn grades_follow_the_direction_of_the_check() {
        let status = |rule, value| grade(rule, value).0;
        assert_eq!(status(check::V01, 1.3), FindingStatus::Pass);
        assert_eq!(status(check::V01, 0.9), FindingStatus::Caveat);
        assert_eq!(status(check::V01, 0.1), FindingStatus::Invalid);
        assert_eq!(status(check::V20, 1.05), FindingStatus::Caveat);
        assert_eq!(status(check::V37, 0.02), FindingStatus::Caveat);
        assert_eq!(status(check::V26, 0.0), FindingStatus::Pass);
        assert_eq!(status(check::V26, 1.0), FindingStatus::Invalid);
    }
}
