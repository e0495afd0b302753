//! The checks of a page: what failed first and open, the rest by outcome and
//! closed. A remedy stands only where a check failed.

use fathom_model::Finding;
use fathom_model::figure;
use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::{Rule, TABLES};

use crate::names;

/// The checks by outcome.
pub(super) struct Checks<'a> {
    /// What speaks against the figures, worst first.
    pub(super) failed: Vec<FindingLine<'a>>,
    /// Title and lines of each other outcome that occurred.
    pub(super) others: Vec<(String, Vec<FindingLine<'a>>)>,
}

/// One check.
pub(super) struct FindingLine<'a> {
    pub(super) finding: &'a Finding,
    pub(super) failed: bool,
    pub(super) status: &'static str,
    pub(super) class: &'static str,
    pub(super) sign: &'static str,
    pub(super) measured: String,
    pub(super) threshold: String,
}

impl<'a> Checks<'a> {
    pub(super) fn of(findings: &'a [Finding]) -> Checks<'a> {
        let outcomes = [
            (FindingStatus::Info, "for information"),
            (FindingStatus::Pass, "passed"),
            (FindingStatus::NotMeasured, "not measured here"),
        ];
        let others = outcomes.into_iter().filter_map(|(status, word)| {
            let alike = findings.iter().filter(|f| f.status == status);
            let lines: Vec<FindingLine<'_>> = alike.map(finding_line).collect();
            (!lines.is_empty()).then(|| {
                let count = unit::counted(lines.len() as u64, "check");
                (format!("{count} {word}"), lines)
            })
        });
        Checks {
            failed: names::objections(findings)
                .into_iter()
                .map(finding_line)
                .collect(),
            others: others.collect(),
        }
    }
}

fn finding_line(finding: &Finding) -> FindingLine<'_> {
    let (class, sign) = match finding.status {
        FindingStatus::Pass => ("good", "✓"),
        FindingStatus::NotMeasured => ("none", "○"),
        FindingStatus::Info => ("none", "•"),
        FindingStatus::Caveat => ("warn", "▲"),
        FindingStatus::Invalid => ("bad", "✕"),
    };
    let rule = TABLES.iter().find_map(|table| table.find(&finding.id));
    let unit = rule.map_or("", |rule| rule.unit);
    let known = |value: Option<f64>| value.filter(|v| v.is_finite());
    let none = || "–".to_owned();
    FindingLine {
        finding,
        failed: finding.status >= FindingStatus::Caveat,
        status: names::status(finding.status),
        class,
        sign,
        measured: known(finding.measured).map_or_else(none, |v| quantity(v, unit)),
        threshold: known(finding.threshold).map_or_else(none, |v| {
            format!("{} {}", sign_of(rule, v), quantity(v, unit))
        }),
    }
}

/// Which side of the threshold is bad.
fn sign_of(rule: Option<&Rule>, threshold: f64) -> &'static str {
    let upper = rule.is_some_and(|rule| rule.upper == Some(threshold));
    match rule {
        Some(rule) if rule.below && !upper => "<",
        _ => ">",
    }
}

/// A value of a check in its rule's unit.
fn quantity(value: f64, unit: &str) -> String {
    match unit {
        "ratio" | "share" => figure::percent(value),
        "ns" => unit::latency(value),
        "B" | "bytes" => unit::bytes(value.max(0.0) as u64).to_string(),
        "B/s" | "bytes/s" => unit::throughput(value),
        "count" | "state" | "" => figure::digits(value),
        unit => format!("{} {unit}", figure::digits(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_carry_the_units_of_their_rules() {
        assert_eq!(quantity(0.05, "ratio"), figure::percent(0.05));
        assert_eq!(quantity(1.5e6, "ns"), "1.50 ms");
        assert_eq!(quantity(12.0, "operations"), "12.0 operations");
        assert_eq!(quantity(3.0, "count"), "3.00");
    }
}
