//! What every model can do.

use super::truth::{Expected, Inside};
use super::{SimAnswer, SimEnd, SimOp};

/// How a model works, without the faults and changes that can be put around it.
/// Times never decrease from call to call.
pub(super) trait Mechanism: Send {
    /// Takes an operation that lies within the drive.
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimAnswer;

    /// As [`super::Drive::wake_ns`].
    fn wake_ns(&self) -> Option<u64> {
        None
    }

    /// As [`super::Drive::advance`].
    fn advance(&mut self, _now_ns: u64, _known: &mut Vec<(u64, SimEnd)>) {}

    /// Size of the drive.
    fn capacity_bytes(&self) -> u64;

    /// As [`super::Drive::written_share`].
    fn written_share(&self, _start: u64, _bytes: u64) -> Option<f64> {
        None
    }

    /// What follows from its parameters.
    fn expected(&self) -> Expected;

    /// What it has counted up to `now_ns`.
    fn inside(&self, now_ns: u64) -> Inside;
}
