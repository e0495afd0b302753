//! Checking that what is read is what was written there, and when.
//!
//! Every 512-byte sector that a verified trial writes carries a stamp (tag of
//! the trial, file, offset, generation, checksum); a table of 32 bits per unit
//! (the largest piece that no access cuts through) holds which generations may
//! be there. That finds wrong, stale, misplaced, torn, foreign and zeroed data.
//!
//! There are no false alarms by construction: a unit that was written while it
//! was read may show the old or the new generation or a mixture, units on which
//! writes overlapped may show any of these, and nothing is asked of a unit that
//! was trimmed or on which a write failed, until the next write has ended.
//!
//! Verified payload is unique in every sector: `duplicate_percent` has no
//! effect, and up to 8 % less compresses.

mod after;
mod check;
mod ledger;
mod mismatch;
mod stamp;
mod state;
mod verifier;

pub use after::{AfterReport, verify_after};
pub use ledger::Ledger;
pub use mismatch::{Mismatch, MismatchKind};
pub use verifier::Verifier;

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
