//! What is measured.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is measured, as the user named it.
///
/// The text form is a path, `null:`, `sim:MODEL`, or `s3://BUCKET/PREFIX`. Whether a path is a
/// directory, a file or a device is found out when the trial is prepared.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub enum Target {
    /// A directory (test files are made in it), a file, or a block device.
    Path(#[schemars(with = "String")] PathBuf),
    /// The null target: every operation succeeds at once. It measures fathom.
    Null,
    /// A simulated drive with a virtual clock, by the name of its model.
    Sim(String),
    /// The other end of a connection; the workload says how it is reached.
    Peer(String),
    /// A bucket, with a prefix or without, of a store that the workload says
    /// how to reach. Without the leading `s3://`.
    Bucket(String),
}

/// A text that names no target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is not a target: {reason}", crate::secret::masked(text))]
pub struct TargetError {
    text: String,
    reason: &'static str,
}

impl Target {
    /// The path of a path target.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Target::Path(path) => Some(path),
            Target::Null | Target::Sim(_) | Target::Peer(_) | Target::Bucket(_) => None,
        }
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let error = |reason| {
            Err(TargetError {
                text: text.to_owned(),
                reason,
            })
        };
        match text.split_once(':') {
            _ if text.is_empty() => error("it is empty; name a directory, file or device"),
            Some(("null", "")) => Ok(Target::Null),
            Some(("null", _)) => error("null: takes nothing after the colon"),
            Some(("sim", "")) => error("name a model, for example sim:ssd"),
            Some(("sim", "@")) => error("name a file, for example sim:@drive.toml"),
            Some(("sim", model)) => Ok(Target::Sim(model.to_owned())),
            Some(("peer", "")) => error("name the other end, for example peer:tcp/host/8888"),
            Some(("peer", peer)) => Ok(Target::Peer(peer.to_owned())),
            Some(("s3", rest)) if rest.starts_with("//") => match rest.trim_matches('/') {
                "" => error("name a bucket, for example s3://bucket/prefix"),
                path if path
                    .split('/')
                    .next()
                    .is_some_and(|bucket| bucket.contains('@')) =>
                {
                    error("the name of a bucket has no @, and keys are never part of an address")
                }
                path if path.contains('?') => {
                    error("an address of objects has no query; keys are never part of an address")
                }
                path if path.split('/').any(|part| part == "." || part == "..") => {
                    error("stores take . and .. for names of their own, or for other places")
                }
                bucket => Ok(Target::Bucket(bucket.to_owned())),
            },
            Some((_, rest)) if rest.starts_with("//") => error(
                "this kind of address is not supported; use a path, s3://BUCKET, null: or sim:MODEL",
            ),
            _ => Ok(Target::Path(PathBuf::from(text))),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Path(path) => write!(f, "{}", path.display()),
            Target::Null => write!(f, "null:"),
            Target::Sim(model) => write!(f, "sim:{model}"),
            Target::Peer(peer) => write!(f, "peer:{peer}"),
            Target::Bucket(bucket) => write!(f, "s3://{bucket}"),
        }
    }
}

impl TryFrom<String> for Target {
    type Error = TargetError;

    fn try_from(text: String) -> Result<Self, TargetError> {
        text.parse()
    }
}

impl From<Target> for String {
    fn from(target: Target) -> String {
        target.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_forms_are_read_back_as_written() {
        for text in [
            "/dev/sda",
            ".",
            "null:",
            "sim:ssd",
            "peer:tcp/h/1",
            "a:b",
            "s3://b/p",
        ] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "sim:",
            "peer:",
            "null:x",
            "s3://",
            "s3://b/p?key=1",
            "nfs://host",
        ] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }
}
