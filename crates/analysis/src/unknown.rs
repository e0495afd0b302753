//! Why a figure is not known.

use std::borrow::Cow;
use std::fmt;

/// Why a figure is not known, in words that stand in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unknown(Cow<'static, str>);

impl Unknown {
    /// For this reason.
    pub(crate) fn because(reason: impl Into<Cow<'static, str>>) -> Unknown {
        Unknown(reason.into())
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unknown {}

/// Findings and estimates carry the words.
impl From<Unknown> for String {
    fn from(unknown: Unknown) -> String {
        unknown.0.into_owned()
    }
}
