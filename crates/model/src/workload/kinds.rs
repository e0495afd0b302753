//! Values that differ between reads, writes and trims.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::OpKind;

/// A value for each kind of operation that has one of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ByKind<T> {
    /// Of reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<T>,
    /// Of writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<T>,
    /// Of trims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<T>,
}

impl<T> Default for ByKind<T> {
    fn default() -> Self {
        ByKind {
            read: None,
            write: None,
            trim: None,
        }
    }
}

impl<T> ByKind<T> {
    /// The value of one kind, if it has one. Flushes have none.
    pub fn get(&self, kind: OpKind) -> Option<&T> {
        match kind {
            OpKind::Read => self.read.as_ref(),
            OpKind::Write => self.write.as_ref(),
            OpKind::Trim => self.trim.as_ref(),
            _ => None,
        }
    }

    /// Whether no kind has a value.
    pub fn is_empty(&self) -> bool {
        self.read.is_none() && self.write.is_none() && self.trim.is_none()
    }

    /// The values that there are.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        [&self.read, &self.write, &self.trim].into_iter().flatten()
    }
}
