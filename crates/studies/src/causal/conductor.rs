//! The parts of the test: the limit on and off in turns, and what was seen in each.

use fathom_model::rng::Rng;
use fathom_rules::diagnosis::smaller_volume::{SETTLE_MOST_SECONDS, SETTLE_SHARE};

use super::judge::{CausalEffect, effect};
use super::part::{CausalDesign, CausalPart};

/// An application and the limit on its volume.
pub trait Experiment {
    /// Why something cannot be done to the application.
    type Error;

    /// Puts the limit on or takes it off: once for each part, and at the end.
    ///
    /// # Errors
    /// It could not be changed.
    fn limit(&mut self, on: bool) -> Result<(), Self::Error>;
    /// How far the application has come: a number that only grows.
    ///
    /// # Errors
    /// It could not be read.
    fn progress(&mut self) -> Result<f64, Self::Error>;
    /// Operations of the application on the volume so far, where they are
    /// counted.
    fn operations(&mut self) -> Option<f64>;
    /// Seconds since some moment.
    fn now_seconds(&mut self) -> f64;
    /// Waits. False when the test is to end.
    fn wait(&mut self, seconds: f64) -> bool;
}

/// Why a test could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExperimentError<E> {
    /// Something could not be done to the application.
    #[error("{0}")]
    Application(E),
    /// Two readings at the same moment.
    #[error("the clock stood still during the test")]
    ClockStoodStill,
}

impl<E> From<E> for ExperimentError<E> {
    fn from(error: E) -> ExperimentError<E> {
        ExperimentError::Application(error)
    }
}

/// Whether each part is limited, in order.
pub(super) fn order(design: &CausalDesign) -> Vec<bool> {
    let mut rng = Rng::new(design.seed);
    let block = |_| match rng.next_u64() & 1 {
        0 => [false, true, true, false],
        _ => [true, false, false, true],
    };
    (0..design.blocks).flat_map(block).collect()
}

/// Makes the test, or as much of it as there is time for. The limit is off
/// at the end, whatever happens in between.
///
/// # Errors
/// What the experiment says.
pub fn experiment<X: Experiment>(
    design: &CausalDesign,
    on: &mut X,
) -> Result<CausalEffect, ExperimentError<X::Error>> {
    let parts = carry_out(design, on);
    let off = on.limit(false);
    let parts = parts?;
    off?;
    Ok(effect(&parts))
}

fn carry_out<X: Experiment>(
    design: &CausalDesign,
    on: &mut X,
) -> Result<Vec<CausalPart>, ExperimentError<X::Error>> {
    let order = order(design);
    let settle = (SETTLE_SHARE * design.part_seconds).min(SETTLE_MOST_SECONDS);
    let mut parts = Vec::new();
    for limited in order {
        on.limit(limited)?;
        if !on.wait(settle) {
            break;
        }
        let (from, before, operations) = (on.now_seconds(), on.progress()?, on.operations());
        if !on.wait(design.part_seconds - settle) {
            break;
        }
        // In the order of the first reading, so that both take as long.
        let (to, after, then) = (on.now_seconds(), on.progress()?, on.operations());
        let seconds = to - from;
        if seconds <= 0.0 {
            return Err(ExperimentError::ClockStoodStill);
        }
        parts.push(CausalPart {
            limited,
            progress: (after - before).max(0.0) / seconds,
            operations: operations
                .zip(then)
                .map(|(before, then)| (then - before).max(0.0) / seconds),
        });
    }
    Ok(parts)
}
