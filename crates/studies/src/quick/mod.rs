//! What does this storage do, in a grid that people know how to read?

mod objects;
mod plan;

pub use plan::{QuickOptions, quick};
