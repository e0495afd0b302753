//! V18: how much do the iterations of a row differ?
//!
//! All of them count, none is discarded. From three on their coefficient of
//! variation is judged; of fewer it is said that nothing is known about it:
//! an interval from the seconds of one trial knows nothing about the next.

use fathom_model::judged::JudgedTrial;
use fathom_model::verdict::{Finding, FindingStatus, Validity, Verdict};
use fathom_rules::check::v18::LEAST_TRIALS;
use fathom_rules::{Rule, check};
use fathom_stats::moments::Moments;

use crate::checks;
use crate::fold::{Source, fold};
use crate::outcome::Outcome;

const RULE: &Rule = check::V18;

/// The finding on the trials of one row; `None` when none of them measured
/// anything.
pub(crate) fn of_row(trials: &[&JudgedTrial]) -> Option<Finding> {
    let rates: Vec<f64> = trials.iter().filter_map(|t| rate(t)).collect();
    if rates.is_empty() {
        return None;
    }
    let k = rates.len();
    if k < LEAST_TRIALS {
        let evidence = match k {
            1 => "one trial: how much repetitions differ is not known".to_owned(),
            _ => format!("{k} trials: too few to say how much repetitions differ"),
        };
        return Some(Outcome::not_measured(RULE, evidence).finding());
    }
    let moments = Moments::of(&rates)?;
    let (mean, variation) = (moments.mean, moments.variation()?);
    let lowest = rates.iter().copied().fold(f64::MAX, f64::min);
    let highest = rates.iter().copied().fold(f64::MIN, f64::max);
    let evidence = format!(
        "{k} trials vary by {:.1} % (standard deviation over mean); lowest {:+.1} %, highest \
         {:+.1} % of the mean",
        100.0 * variation,
        100.0 * (lowest / mean - 1.0),
        100.0 * (highest / mean - 1.0),
    );
    Some(Outcome::graded(RULE, variation, evidence).finding())
}

/// The rate that stands for a trial: of its last level, where it has several.
fn rate(trial: &JudgedTrial) -> Option<f64> {
    let last = trial.steadiness.as_ref().and_then(|s| s.regimes.last());
    let ops = last.map_or(&trial.summary.ops, |regime| &regime.ops);
    let data = ops.iter().filter(|op| op.kind.is_data());
    let rates: Vec<(f64, f64)> = data
        .filter_map(|op| Some((op.bytes_per_second.value?, op.ops_per_second.value?)))
        .collect();
    let bytes: f64 = rates.iter().map(|r| r.0).sum();
    let ops: f64 = rates.iter().map(|r| r.1).sum();
    let rate = if bytes > 0.0 { bytes } else { ops };
    (rate > 0.0 && rate.is_finite()).then_some(rate)
}

/// Adds findings about rows to the verdict on the run, each once.
pub(crate) fn add_to_run(verdict: &mut Verdict, rows: Vec<(String, Finding)>) {
    let alone: Vec<(String, Verdict)> = rows
        .into_iter()
        .map(|(label, finding)| {
            let verdict = Verdict {
                findings: vec![finding],
                ..verdict.clone()
            };
            (label, verdict)
        })
        .collect();
    let sources: Vec<Source<'_>> = alone
        .iter()
        .map(|(label, verdict)| Source {
            label: label.clone(),
            verdict,
        })
        .collect();
    for finding in fold(&sources).findings {
        add(verdict, finding);
    }
}

/// Adds a finding to a verdict.
pub(crate) fn add(verdict: &mut Verdict, finding: Finding) {
    let validity = match finding.status {
        FindingStatus::Invalid => Validity::NotTrusted,
        FindingStatus::Caveat => Validity::Caveats,
        _ => Validity::Trusted,
    };
    verdict.validity = verdict.validity.max(validity);
    verdict.findings.push(finding);
    checks::sort(&mut verdict.findings);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_records::{RecordBuilder, run_of};

    fn status(rates: &[u64]) -> (FindingStatus, Validity) {
        let trials: Vec<_> = rates
            .iter()
            .map(|rate| {
                RecordBuilder::reads()
                    .with(|b| {
                        b.ops_per_second = *rate;
                        b.seconds = 20;
                    })
                    .trial()
            })
            .collect();
        let host = RecordBuilder::reads().host;
        let mut record = run_of(trials, host);
        for trial in &mut record.trials {
            trial.spec.row = 0;
        }
        let judged = crate::judge(&record);
        let of = |v: &Verdict| {
            v.findings
                .iter()
                .find(|f| f.id == RULE.id)
                .map(|f| f.status)
        };
        assert_eq!(of(&judged.verdict), of(&judged.rows[0].verdict));
        (of(&judged.verdict).unwrap(), judged.verdict.validity)
    }

    #[test]
    fn repetitions_that_differ_are_a_caveat() {
        let alike = status(&[1000, 1010, 990]);
        assert_eq!(alike, (FindingStatus::Pass, Validity::Trusted));
        let apart = status(&[1000, 1200, 900, 1000]);
        assert_eq!(apart, (FindingStatus::Caveat, Validity::Caveats));
        let one = status(&[1000]);
        assert_eq!(one, (FindingStatus::NotMeasured, Validity::Trusted));
        assert_eq!(status(&[1000, 2000]).0, FindingStatus::NotMeasured);
    }
}
