//! A trial's hot loop and what it stands on: targets, offsets, payload,
//! verification.

pub mod access;
pub mod error;
pub mod guard;
pub mod payload;
pub mod prepare;
pub mod sim;
pub mod verify;

pub use error::Error;
