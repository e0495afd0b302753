//! The ladder of steady state in words.

use fathom_model::steadiness::{RungStatus, Steadiness};
use fathom_model::{JudgedRun, JudgedTrial};

/// One rung as it is shown.
#[derive(Debug, Clone)]
pub(crate) struct RungLine {
    /// What it asks.
    pub(crate) title: &'static str,
    /// `held`, `not held`, `not applicable`.
    pub(crate) status: &'static str,
    /// Class of its tag.
    pub(crate) class: &'static str,
    /// A sign of its own shape.
    pub(crate) sign: &'static str,
    /// The figures.
    pub(crate) evidence: String,
}

/// The rungs of a trial in order.
pub(crate) fn ladder(steadiness: &Steadiness) -> Vec<RungLine> {
    steadiness
        .ladder
        .iter()
        .map(|rung| {
            let (status, class, sign) = match rung.status {
                RungStatus::Held => ("held", "good", "✓"),
                RungStatus::NotHeld => ("not held", "warn", "▲"),
                RungStatus::NotApplicable => ("not applicable", "none", "○"),
            };
            RungLine {
                title: title(&rung.name),
                status,
                class,
                sign,
                evidence: rung.evidence.clone(),
            }
        })
        .collect()
}

fn title(name: &str) -> &'static str {
    match name {
        "bytes" => "bytes written",
        "segment" => "one level",
        "snia" => "SNIA PTS",
        "drift" => "no drift",
        "precision" => "precision",
        _ => "further",
    }
}

/// `slowdown: 2.90 GB/s for the first 23.0 GB, then 414 MB/s`.
pub(crate) fn headline(steadiness: &Steadiness) -> String {
    if steadiness.zones.is_some() {
        return steadiness.sentence.clone();
    }
    format!("{}: {}", steadiness.class.words(), steadiness.sentence)
}

/// The trials about whose steadiness there is something to say, each with
/// what is to be said.
pub(crate) fn of_run(run: &JudgedRun) -> Vec<(&JudgedTrial, &Steadiness)> {
    let known = |trial: &'_ JudgedTrial| -> bool {
        let steadiness = trial.steadiness.as_ref();
        steadiness.is_some_and(|s| s.snia.is_some() || s.zones.is_some())
    };
    run.trials
        .iter()
        .filter(|trial| known(trial))
        .filter_map(|trial| Some((trial, trial.steadiness.as_ref()?)))
        .collect()
}
