//! Simulated drives: `MODEL`, `MODEL?parameter=value,…` or `@FILE.toml`.
//!
//! A drive is asked what happens to an operation that is submitted at a virtual
//! time, and answers at once when it will end, or that this depends on what
//! comes after (a disk that chooses from its queue). Nothing sleeps, so that
//! hours of drive time pass in milliseconds, and the same seed gives the same
//! trial. The same models serve real files when somebody else keeps the time.
//!
//! Whoever keeps the time calls [`Drive::submit`] for each operation and, while
//! operations with a [`SimAnswer::Later`] are open, [`Drive::advance`] at
//! [`Drive::wake_ns`].
//!
//! [`models`] lists the models with their parameters; every model also takes
//! those of [`common_parameters`]: faults, stalls, speed that changes, noise and
//! a neighbour. `docs/reference/lab-models.md` is made from these declarations.
//!
//! [`Drive::truth`] says what a drive is and did, exactly: what a measurement of
//! it must find.

mod array;
mod cloud;
mod counters;
mod description;
mod description_file;
mod device;
mod error;
mod fault_injection;
mod flash;
mod hdd;
mod ideal;
mod log_normal;
mod mechanism;
mod model;
mod models_page;
mod neighbour;
mod parameter;
mod persistent_drive;
mod rmw;
mod speed;
mod thin;
mod throttle;
mod truth;
mod volatile;

use fathom_model::OpKind;

pub use self::counters::Counters;
pub use self::description::common_parameters;
pub use self::error::{DescriptionError, Error};
pub use self::model::{Model, models};
pub use self::models_page::models_markdown;
pub use self::parameter::{Parameter, Quantity};
pub use self::persistent_drive::{DriveUnderLoad, PersistentDrive};
pub use self::truth::{Expected, Inside, KindDone, Latency, LatencyCounts, Truth, Zone};

use self::device::Device;

/// What an operation carries, for drives whose speed depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimContent {
    /// The same for blocks of the same content, 0 for a block unlike any other.
    pub fingerprint: u64,
    /// What a compressor leaves of it, 0 to 1000 thousandths.
    pub kept_permille: u16,
}

impl Default for SimContent {
    /// Unique and incompressible.
    fn default() -> Self {
        SimContent {
            fingerprint: 0,
            kept_permille: 1000,
        }
    }
}

/// One operation for a simulated drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimOp {
    /// Read, write, trim or sync.
    pub kind: OpKind,
    /// Offset on the drive.
    pub offset: u64,
    /// Length; 0 for a sync.
    pub bytes: u32,
    /// What a write carries; ignored for other kinds.
    pub content: SimContent,
}

impl SimOp {
    /// An operation whose content is unique and incompressible.
    pub fn new(kind: OpKind, offset: u64, bytes: u32) -> SimOp {
        SimOp {
            kind,
            offset,
            bytes,
            content: SimContent::default(),
        }
    }
}

/// How an operation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimEnd {
    /// When, in virtual nanoseconds; `u64::MAX` is never.
    pub at_ns: u64,
    /// Bytes moved, or the errno.
    pub result: Result<u32, i32>,
}

/// What a drive says to an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimAnswer {
    /// It will end like this.
    Ends(SimEnd),
    /// Not known yet: [`Drive::advance`] will say, under this number.
    Later(u64),
}

/// A simulated drive.
pub trait Drive: Send {
    /// Takes an operation at virtual time `now_ns`, which never decreases from
    /// call to call, and says how and when it ends (never before `now_ns`).
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimAnswer;

    /// When [`Drive::advance`] wants to be called; `None` while no operation is
    /// open whose end is unknown.
    fn wake_ns(&self) -> Option<u64>;

    /// Goes on to `now_ns` and appends the operations whose end has become
    /// known, by the number that they were given.
    fn advance(&mut self, now_ns: u64, known: &mut Vec<(u64, SimEnd)>);

    /// Size of the drive.
    fn capacity_bytes(&self) -> u64;

    /// Share of the `bytes` from `start` on that was ever written, 0 to 1;
    /// `None` where reads of what was never written are like any others.
    fn written_share(&self, _start: u64, _bytes: u64) -> Option<f64> {
        None
    }

    /// What the drive is and did up to now.
    fn truth(&self) -> Truth;

    /// What the drive counted up to `now_ns`, as a device's own statistics would
    /// show it. Cheap.
    fn counters(&self, now_ns: u64) -> Counters;
}

/// Builds the drive that `text` names: `MODEL`, `MODEL?parameter=value,…` or
/// `@FILE` with such a description in TOML (`model = "…"`, `seed = …`, and
/// the parameters by name). A seed in the description goes before `seed`.
///
/// # Errors
/// [`Error::Description`] with the models or parameters that exist; for a file
/// [`Error::InFile`] with its path, line and column.
pub fn open_drive(text: &str, seed: u64) -> Result<Box<dyn Drive>, Error> {
    let described = match text.strip_prefix('@') {
        Some(path) => description_file::read(path.as_ref())?,
        None => description::Described::parse(text)?,
    };
    Ok(described.build(seed))
}

/// Builds the drive that a parameter file's text describes; `path` is named in
/// errors.
///
/// # Errors
/// [`Error::InFile`] with path, line and column.
pub fn open_described(
    toml: &str,
    path: &std::path::Path,
    seed: u64,
) -> Result<Box<dyn Drive>, Error> {
    Ok(description_file::parse(toml, path)?.build(seed))
}

impl description::Described {
    fn build(self, seed: u64) -> Box<dyn Drive> {
        let seed = self.seed.unwrap_or(seed);
        let mechanism = (self.model.build)(&self.parameters, seed);
        Box::new(Device::new(mechanism, self.model, self.parameters, seed))
    }
}

/// Nanoseconds of `bytes` at a rate in MiB/s.
fn transfer_ns(bytes: u32, mib_per_second: f64) -> u64 {
    (f64::from(bytes) * 1e9 / (mib_per_second * MIB)) as u64
}

/// Bytes of a MiB.
const MIB: f64 = 1_048_576.0;

#[cfg(test)]
mod drive_tests;
#[cfg(test)]
mod stream_tests;
