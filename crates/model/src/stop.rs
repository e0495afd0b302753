//! How a trial can be told to end early by somebody who looks at its samples.

use crate::sample::Sample;

/// What a stop rule says after an interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Go on.
    Continue,
    /// End the measure phase, for this reason.
    Stop(String),
}

/// Looks at each interval of the measure phase and may end it. The fleet
/// holds one as a value and does not know what it computes.
pub trait StopRule: Send {
    /// Called once per merged interval.
    fn observe(&mut self, sample: &Sample) -> Decision;
}
