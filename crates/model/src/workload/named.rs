//! Files that a workload uses by their names.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Files or devices by name, instead of test files that fathom names itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedFiles {
    /// Where they are; at least one. Where workers share no files, those of
    /// the first worker come first.
    pub paths: Vec<PathBuf>,
    /// What is missing is made, and what is too small is made longer.
    pub create: bool,
    /// Those that are there were made by fathom, or are free for any use:
    /// they may be written to.
    pub ours: bool,
}
