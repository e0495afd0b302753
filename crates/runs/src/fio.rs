//! Runs of fio's job files: this machine as they see it, interim results, and
//! the files that are written.

pub mod files;
mod interim;
mod machine;

pub use self::interim::Interim;
pub use self::machine::Machine;
