//! V05 from the probe of the payload: four short trials of the same writes with
//! random bytes, zeros, zeros, random bytes (ABBA). The order cancels a steady
//! drift of the device.

use fathom_model::judged::JudgedTrial;
use fathom_model::schedule::TrialRole;
use fathom_model::verdict::FindingStatus;
use fathom_model::workload::Content;
use fathom_rules::{Rule, check};
use fathom_stats::moments::mean;

use crate::outcome::Outcome;
use crate::trial::Trial;

const RULE: &Rule = check::V05;

/// The outcome for each trial whose row was probed.
pub(crate) fn outcomes(trials: &[Trial<'_>], judged: &[JudgedTrial]) -> Vec<(usize, Outcome)> {
    let mut rows: Vec<u32> = judged
        .iter()
        .filter(|t| t.role == TrialRole::PayloadProbe)
        .map(|t| t.row)
        .collect();
    rows.dedup();
    let mut found = Vec::new();
    for row in rows {
        let Some(ratio) = ratio(trials, row) else {
            continue;
        };
        for (index, trial) in trials.iter().enumerate() {
            let spec = &trial.record.spec;
            if spec.row == row && !spec.role.is_probe() {
                found.push((index, outcome(trial, ratio)));
            }
        }
    }
    found
}

/// Rate with zeros over rate with random bytes: the geometric means of the two
/// trials each.
fn ratio(trials: &[Trial<'_>], row: u32) -> Option<f64> {
    let logs = |content: &Content| -> Vec<f64> {
        let of_row = trials.iter().filter(|trial| {
            let spec = &trial.record.spec;
            spec.row == row
                && spec.role == TrialRole::PayloadProbe
                && spec.workload.payload.content == *content
        });
        of_row
            .filter_map(|trial| mean_rate(trial))
            .map(f64::ln)
            .collect()
    };
    let (zeros, random) = (logs(&Content::Zeros), logs(&Content::Random));
    // Half an ABBA block does not cancel drift.
    if zeros.len() < 2 || random.len() < 2 {
        return None;
    }
    Some((mean(&zeros)? - mean(&random)?).exp()).filter(|ratio| ratio.is_finite())
}

fn mean_rate(trial: &Trial<'_>) -> Option<f64> {
    mean(&trial.second_rates()).filter(|mean| *mean > 0.0)
}

fn outcome(trial: &Trial<'_>, ratio: f64) -> Outcome {
    let limit = check::v05::INFO;
    let payload = &trial.workload.payload;
    let compressible = crate::checks::is_compressible(payload);
    let what = match compressible {
        true => "the payload of this result compresses",
        false => "the payload of this result does not compress",
    };
    let evidence = format!(
        "zeros were written {ratio:.2} times as fast as random bytes (four trials, ABBA); {what}"
    );
    let status = match (ratio > limit, compressible) {
        (false, _) => FindingStatus::Pass,
        (true, false) => FindingStatus::Info,
        (true, true) => FindingStatus::Invalid,
    };
    Outcome::decided(RULE, status, ratio, Some(limit), evidence)
}

#[cfg(test)]
#[path = "payload_tests.rs"]
mod tests;
