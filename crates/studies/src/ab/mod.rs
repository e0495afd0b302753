//! Which of two sides is faster, measured in turns?
//!
//! The answer is the comparison of `analysis`, which stored runs of any kind get, too.

mod conductor;
mod plan;

pub use conductor::{TooMany, Turns};
pub use plan::{ControlTarget, Side, Sides, SidesError, as_control, default_control};
