//! What one operation is, and how it can fail.

mod error_class;
mod kind;

pub use error_class::{ErrorClass, ErrorCounts};
pub use kind::OpKind;
