//! Simulated drives under a virtual clock: `sim:MODEL?parameter=value,...`.

use fathom_model::OpKind;

use crate::Error;

/// One operation for a simulated drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimOp {
    /// Read, write, trim or sync.
    pub kind: OpKind,
    /// Offset on the drive.
    pub offset: u64,
    /// Length; 0 for a sync.
    pub bytes: u32,
}

/// How an operation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimEnd {
    /// When, in virtual nanoseconds.
    pub at_ns: u64,
    /// Bytes moved, or the errno.
    pub result: Result<u32, i32>,
}

/// A simulated drive.
pub trait Drive: Send {
    /// Takes an operation at virtual time `now_ns`, which never decreases from
    /// call to call, and says how and when it ends.
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimEnd;

    /// Size of the drive.
    fn capacity_bytes(&self) -> u64;
}

struct Ideal;

impl Drive for Ideal {
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimEnd {
        SimEnd {
            at_ns: now_ns + 100_000,
            result: Ok(op.bytes),
        }
    }

    fn capacity_bytes(&self) -> u64 {
        1 << 40
    }
}

/// Builds the drive that `model` names (the text after `sim:`).
///
/// # Errors
/// [`Error::Sim`] with the models or parameters that exist.
pub fn open_drive(model: &str, seed: u64) -> Result<Box<dyn Drive>, Error> {
    let _ = (model, seed);
    Ok(Box::new(Ideal))
}
