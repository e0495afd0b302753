//! The tests of the SNIA performance test specification.

mod estimate;

pub use estimate::{LEAST_ROUNDS, estimate};
