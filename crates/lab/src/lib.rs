//! The laboratory: drives whose truth is known.
//!
//! [`SimulatedDrive`] serves a model of `fathom_drives` as a real file through
//! FUSE, in real time, so that any tool can be tried on it; everything that it
//! did is in its [`Truth`]. [`SimulatedLink`] is the same for the network: two
//! interfaces and a wire that delays, loses and limits. [`real`] shapes real components of the system:
//! devices with a set limit, slow and failing ones, throttles, file systems
//! that compress or are nearly full, disturbers.
//!
//! Nothing here judges and nothing here measures fathom's targets: what a
//! drive did is recorded by the drive itself, apart from the tool that is
//! tried out on it.

pub mod application;
mod authority;
mod description;
mod drive;
mod error;
mod link;
mod punctual;
pub mod real;
mod truth;

pub use authority::{ServerIdentity, server_identity};
pub use description::Description;
pub use drive::{Options, SimulatedDrive, Storing};
pub use error::Error;
pub use link::{SimulatedLink, WayTruth, Wire};
pub use truth::{
    HistogramTruth, LaboratoryTruth, OperationTruth, PathTruth, RegionTruth, SecondTruth,
    SpellTruth, Truth,
};
