//! V90: how much of what a verdict rests on could be looked at?
//!
//! The checks that "trusted" rests on are data: `required` in the table names the
//! kinds of target. One that has nothing to say about a workload leaves no
//! finding and does not count.

use fathom_model::verdict::{Finding, FindingStatus};
use fathom_rules::{Rule, TargetKind, check};

use crate::fold::required;
use crate::outcome::Outcome;

const RULE: &Rule = check::V90;

/// The finding on required checks that could not run; `None` when all could.
pub fn missing(findings: &[Finding], kind: TargetKind) -> Option<Finding> {
    let of_kind = findings.iter().filter(|f| required(&f.id, kind));
    let essential: Vec<&Finding> = of_kind.collect();
    let missing: Vec<&Finding> = essential
        .iter()
        .copied()
        .filter(|f| f.status == FindingStatus::NotMeasured)
        .collect();
    if missing.is_empty() {
        return None;
    }
    let share = missing.len() as f64 / essential.len() as f64;
    let each: Vec<String> = missing
        .iter()
        .map(|f| format!("{} {} ({})", f.id, f.name, f.evidence))
        .collect();
    let evidence = format!(
        "{} of the {} checks that this verdict rests on could not run: {}",
        missing.len(),
        essential.len(),
        each.join(", ")
    );
    let needs: Vec<String> = missing
        .iter()
        .filter_map(|f| {
            Some(format!(
                "{} needs {}",
                f.id,
                check::TABLE.find(&f.id)?.needs?
            ))
        })
        .collect();
    let remedy = match needs.is_empty() {
        true => RULE.remedy.to_owned(),
        false => format!("{}. {}", needs.join("; "), RULE.remedy),
    };
    Some(
        Outcome::graded(RULE, share, evidence)
            .with_remedy(remedy)
            .finding(),
    )
}

/// Whether so much was missing that the others decide nothing.
pub(crate) fn is_too_little(finding: &Finding) -> bool {
    let share = finding.measured.filter(|_| finding.id == RULE.id);
    share.is_some_and(|share| share >= check::v90::UNDETERMINED)
}

#[cfg(test)]
mod tests {
    use fathom_model::verdict::Validity;

    use super::*;
    use crate::test_records::RecordBuilder;

    /// The record of a host that shows neither /proc nor /sys.
    fn blind(builder: RecordBuilder) -> RecordBuilder {
        builder.edit(|trial| {
            trial.observations.clear();
            trial.target_before = None;
            for sample in &mut trial.samples {
                sample.run_delay_ns = 0;
            }
        })
    }

    #[test]
    fn a_blind_host_never_gives_a_trusted_number() {
        let seeing = RecordBuilder::reads();
        assert_eq!(seeing.status(RULE.id), None);
        assert_eq!(seeing.validity(), Validity::Trusted);
        let finding = blind(RecordBuilder::reads()).finding(RULE.id).unwrap();
        assert_eq!(finding.status, FindingStatus::Caveat);
        assert!(finding.evidence.contains("V01"), "{finding:?}");
        assert!(finding.evidence.contains("V37"), "{finding:?}");
        assert!(finding.remedy.contains("/proc"), "{finding:?}");
        let validity = blind(RecordBuilder::reads()).validity();
        assert_eq!(validity, Validity::NotDetermined);
    }

    #[test]
    fn one_missing_check_of_several_is_a_caveat() {
        let without_cpu = RecordBuilder::reads().edit(|trial| {
            trial.observations.iter_mut().for_each(|o| o.cpu = None);
            trial
                .observations
                .iter_mut()
                .for_each(|o| o.pressure = None);
            trial.samples.iter_mut().for_each(|s| s.run_delay_ns = 0);
        });
        assert_eq!(without_cpu.validity(), Validity::Caveats);
    }

    #[test]
    fn every_required_check_says_what_it_needs() {
        for check in check::TABLE.rules {
            assert_eq!(
                check.required.is_empty(),
                check.needs.is_none(),
                "{}",
                check.id
            );
        }
    }
}
