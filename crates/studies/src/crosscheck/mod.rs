//! Do fathom and another tool measure the same?
//!
//! Both measure the same workload on the same files in turns.
//! `docs/decisions/0015-crosscheck.md` has the reasons.

mod causes;
mod compare;
mod conductor;
mod decide;
mod figures;
mod judge;
mod peer_side;
mod plan;
mod repeats;
mod row;
mod view;

pub use compare::CrossMargins;
pub use conductor::{CrossBench, PeerTrial, Turns};
pub use judge::{Question, judge};
pub use plan::{CrossPlan, NotComparable, PlannedRow};
pub use view::view;

#[cfg(test)]
mod crosscheck_tests;
