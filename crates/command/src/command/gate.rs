//! Comparisons as gates: which outcomes end with a status of their own.

use fathom_model::comparison::{Comparison, ComparisonOutcome, Standing};

use crate::exit::Exit;

/// An outcome that fails a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FailOn {
    /// B is slower.
    Slower,
    /// B is slower or faster.
    Different,
    /// Not decided, or unproven.
    Inconclusive,
    /// Nothing.
    Never,
}

/// The status of a comparison.
pub(crate) fn gate(comparison: &Comparison, fail_on: &[FailOn]) -> Exit {
    let asked = |outcome| fail_on.contains(&outcome);
    if asked(FailOn::Never) {
        return Exit::Success;
    }
    let unproven = comparison.standing == Standing::Unproven;
    let any = |outcome| {
        let mut rows = comparison.rows.iter();
        !unproven && rows.any(|row| row.outcome == outcome)
    };
    let open = unproven || comparison.rows.is_empty() || any(ComparisonOutcome::Inconclusive);
    if any(ComparisonOutcome::Slower) && (asked(FailOn::Slower) || asked(FailOn::Different)) {
        Exit::Slower
    } else if any(ComparisonOutcome::Faster) && asked(FailOn::Different) {
        Exit::Faster
    } else if open && asked(FailOn::Inconclusive) {
        Exit::Inconclusive
    } else {
        Exit::Success
    }
}
