//! Simulated drives: `sim:MODEL` or `sim:MODEL?parameter=value,…`.
//!
//! A drive is asked what happens to an operation that is submitted at a virtual
//! time, and answers at once when it will end. Nothing sleeps, so that hours of
//! drive time pass in milliseconds, and the same seed gives the same trial.
//!
//! | model | what it is |
//! |---|---|
//! | `ideal` | a fixed latency, some operations at once |
//! | `hdd` | one head: seek curve, rotation, zones |
//! | `ssd` | parallel units behind a link, log-normal tail |
//! | `slc` | the same with a fast write cache that fills |
//! | `cloud` | a volume with caps on operations and bytes |
//! | `flaky` | `ideal` with errors |
//!
//! Every model also takes the parameters of [`script`]: errors, short and
//! stuck operations, stalls.

mod cloud;
mod flash;
mod hdd;
mod ideal;
mod kept;
mod parameter;
mod script;
mod tail;

use fathom_model::OpKind;

use self::cloud::Cloud;
use self::flash::Flash;
use self::hdd::Hdd;
use self::ideal::Ideal;
use self::parameter::{Known, Parameters};
use self::script::Scripted;
use crate::Error;

pub use self::kept::KeptDrive;

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
    /// When, in virtual nanoseconds; `u64::MAX` is never.
    pub at_ns: u64,
    /// Bytes moved, or the errno.
    pub result: Result<u32, i32>,
}

/// A simulated drive.
pub trait Drive: Send {
    /// Takes an operation at virtual time `now_ns`, which never decreases from
    /// call to call, and says how and when it ends (never before `now_ns`).
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimEnd;

    /// Size of the drive.
    fn capacity_bytes(&self) -> u64;
}

/// A model: its name, its parameters, and how a drive is made from them.
struct Model {
    name: &'static str,
    parameters: &'static [Known],
    build: fn(&Parameters, u64) -> Box<dyn Drive>,
}

const MODELS: [Model; 6] = [
    Model {
        name: "ideal",
        parameters: ideal::PARAMETERS,
        build: |p, _| Box::new(Ideal::new(p)),
    },
    Model {
        name: "hdd",
        parameters: hdd::PARAMETERS,
        build: |p, _| Box::new(Hdd::new(p)),
    },
    Model {
        name: "ssd",
        parameters: flash::SSD_PARAMETERS,
        build: |p, seed| Box::new(Flash::new(p, seed)),
    },
    Model {
        name: "slc",
        parameters: flash::SLC_PARAMETERS,
        build: |p, seed| Box::new(Flash::new(p, seed)),
    },
    Model {
        name: "cloud",
        parameters: cloud::PARAMETERS,
        build: |p, seed| Box::new(Cloud::new(p, seed)),
    },
    Model {
        name: "flaky",
        parameters: ideal::FLAKY_PARAMETERS,
        build: |p, _| Box::new(Ideal::new(p)),
    },
];

/// Builds the drive that `text` names (what follows `sim:`).
///
/// # Errors
/// [`Error::Sim`] with the models or parameters that exist.
pub fn open_drive(text: &str, seed: u64) -> Result<Box<dyn Drive>, Error> {
    let (name, settings) = text.split_once('?').unwrap_or((text, ""));
    let model = MODELS
        .iter()
        .find(|model| model.name == name)
        .ok_or_else(|| {
            let names: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
            Error::Sim(format!(
                "there is no simulated drive '{name}'; choose one of {}",
                names.join(", ")
            ))
        })?;
    let parameters = Parameters::parse(name, model.parameters, settings)?;
    let drive = (model.build)(&parameters, seed);
    Ok(Box::new(Scripted::new(drive, &parameters)))
}

/// Nanoseconds of `bytes` at a rate in MiB/s.
fn transfer_ns(bytes: u32, mib_per_second: f64) -> u64 {
    (f64::from(bytes) * 1e9 / (mib_per_second * 1_048_576.0)) as u64
}

#[cfg(test)]
#[path = "sim_tests.rs"]
mod tests;
