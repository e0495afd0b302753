//! Two sides compared: measured in turns in one session ([`of_run`]), or from
//! stored runs ([`compare_runs`]).
//!
//! Figures are compared as ratios: the pairs' log ratios have a mean, a 95 %
//! interval and a t test; an exact test by flipping signs stands beside it,
//! which assumes no distribution but cannot find a difference in six pairs
//! unless all six agree. Equivalence is proved by two one-sided tests, never
//! by the absence of a difference. `docs/decisions/0010-comparison.md` has the
//! error rates and the reasons.

mod decide;
mod difference;
pub(crate) mod effect;
mod figures;
pub(crate) mod paired;
mod runs;
mod simulation;
mod standing;
mod table;
mod turns;
mod unpaired;

pub use decide::adjusted as holm;
pub use difference::declared;
pub use runs::{CompareOptions, compare_runs};
pub use simulation::{Rates, Simulated, simulate};
pub(crate) use turns::of_run;

use fathom_model::comparison::{ComparedRow, ComparisonOutcome};
use fathom_rules::check;

/// Pairs below which nothing is decided (V51).
pub const LEAST_PAIRS: usize = check::v51::CAVEAT as usize;

/// Below this probability the order of a pair matters (V52).
pub fn order_level() -> f64 {
    check::v52::CAVEAT
}

/// The outcome of all rows together.
fn overall(rows: &[ComparedRow]) -> ComparisonOutcome {
    use ComparisonOutcome::{Equivalent, Faster, Inconclusive, Slower};
    let any = |outcome| rows.iter().any(|row| row.outcome == outcome);
    if any(Slower) {
        Slower
    } else if rows.is_empty() || any(Inconclusive) {
        Inconclusive
    } else if any(Faster) {
        Faster
    } else {
        Equivalent
    }
}

#[cfg(test)]
mod comparison_tests;
