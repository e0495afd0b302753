//! Why something was not done, as it goes over a connection.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

/// Why the other side did not do something, in its words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(transparent)]
#[error("{0}")]
pub struct Reason(String);

impl Reason {
    /// The words of an error.
    pub(crate) fn of(error: impl Display) -> Reason {
        Reason(error.to_string())
    }
}
