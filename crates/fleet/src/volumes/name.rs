//! Names of objects in a cluster, as a user or the cluster gives them.

use std::fmt;
use std::str::FromStr;

/// Longest name of an object.
const NAME_CHARS_MAX: usize = 253;

/// A text that names no object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{}' is not a name in Kubernetes: expected lower-case letters, digits, '-' and '.', with a \
     letter or digit at both ends",
    .0.escape_default()
)]
pub struct NameError(String);

/// A name that Kubernetes takes: never an option of kubectl, never a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectName(String);

impl ObjectName {
    /// The name, where the text is one.
    pub fn of(text: &str) -> Option<ObjectName> {
        let fits = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
        let bytes = text.as_bytes();
        let ends = bytes.first().zip(bytes.last());
        let is_name = ends.is_some_and(|(first, last)| fits(*first) && fits(*last))
            && bytes.len() <= NAME_CHARS_MAX
            && bytes.iter().all(|c| fits(*c) || matches!(c, b'-' | b'.'));
        is_name.then(|| ObjectName(text.to_owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ObjectName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<ObjectName, NameError> {
        ObjectName::of(text).ok_or_else(|| NameError(text.to_owned()))
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
