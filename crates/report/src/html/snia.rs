//! The section of a page that reports a test of the SNIA specification.

use fathom_model::figure::Throughput;
use fathom_model::schedule::TrialRole;
use fathom_model::{JudgedRun, JudgedTrial};

use crate::chart;
use crate::snia::{self, PartView, SniaView};

/// What the section is filled with.
pub(super) struct SniaSection<'a> {
    pub(super) view: SniaView<'a>,
    figures: Vec<Vec<String>>,
}

impl<'a> SniaSection<'a> {
    pub(super) fn of(run: &'a JudgedRun) -> Option<SniaSection<'a>> {
        let view = snia::view(run, Throughput::Binary)?;
        let drawn = |part: &PartView| part.plots.iter().map(chart::plot::plot).collect();
        Some(SniaSection {
            figures: view.parts.iter().map(drawn).collect(),
            view,
        })
    }

    /// The parts with their charts.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&PartView, &Vec<String>)> {
        self.view.parts.iter().zip(&self.figures)
    }
}

/// Whether a trial gets a place of its own: of hundreds of rounds only those
/// of the measurement window, and what came before the rounds.
pub(super) fn is_shown(run: &JudgedRun, trial: &JudgedTrial) -> bool {
    let before = trial.workload.bounds.time_ns.is_none();
    run.snia.is_none() || trial.role == TrialRole::Measure || before
}
