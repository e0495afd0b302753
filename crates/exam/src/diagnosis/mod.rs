//! How often does `fathom diagnose` name what holds a host back?
//!
//! A case sets up a real mechanism on this host: a volume with a cap, programs
//! that want more CPUs than there are, memory that is paged out, a lock. What
//! is short is known by construction, and its parameters are drawn by a seed.
//! While it runs, `fathom diagnose` watches the host in a process of its own, as
//! a user would call it, and its answer is compared with the truth.
//!
//! The worst mistake is a YES for a host whose storage is not what holds it
//! back: it is counted apart and must never happen.

mod case;
mod disturbance;
mod families;
mod figures;
mod page;
mod paper;
mod programs;
mod sitting;
mod stage;

pub use case::{DiagnosisCase, Truth};
pub use disturbance::Disturbance;
pub(crate) use disturbance::{Ticks, family_of, wait_for_quiet};
pub use families::{draw, families};
pub use paper::{CaseGrade, CaseResult, DiagnosisPaper};
pub use sitting::{Attempt, Desk, Programs};
