//! What is wrong with a command line or a YAML file of smallfile.

use std::io;

use super::MAX_WORDS;
use super::operation::OperationError;

/// What is wrong with a command line, or with the file that it names.
#[derive(Debug, thiserror::Error)]
pub enum SmallfileError {
    /// More words than are read.
    #[error("at most {MAX_WORDS} arguments")]
    TooManyWords,
    /// A word that is no option.
    #[error("'{0}' is not an option; smallfile takes options only, such as --operation read")]
    NotAnOption(String),
    /// An option at the end of the line.
    #[error("--{0} takes a value")]
    NoValue(&'static str),
    /// A name that is unknown.
    #[error("{0}")]
    Name(#[from] NameError),
    /// The value of an option.
    #[error("--{option}: {error}")]
    Value {
        /// The option.
        option: &'static str,
        /// What is wrong with it.
        error: ValueError,
    },
    /// The file cannot be read.
    #[error("cannot read {name}: {error}")]
    Unreadable {
        /// Its name.
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// The file is not one of keys with values.
    #[error("{name}: {problem}")]
    File {
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A line of the file.
    #[error("{name}:{line}: {error}")]
    Line {
        /// Its name.
        name: String,
        /// From 1.
        line: usize,
        /// What is wrong with it.
        error: LineError,
    },
    /// The record is larger than the file.
    #[error("record size cannot exceed file size")]
    RecordSize,
    /// No directory is named.
    #[error("--top names no directory")]
    NoTop,
    /// Hashed names cannot be listed.
    #[error("cannot do readdir test with --hash-into-dirs option")]
    HashedListing,
}

/// What is wrong with a line of a YAML file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// It names a file.
    #[error("a file cannot name another")]
    NamesFile,
    /// Its key.
    #[error("{0}")]
    Name(#[from] NameError),
    /// A key without a value.
    #[error("{0}: expected a value")]
    NoValue(String),
    /// The value of its key.
    #[error("{key}: {error}")]
    Value {
        /// The key.
        key: String,
        /// What is wrong with it.
        error: ValueError,
    },
}

/// A name that is no option or key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// No option has it.
    #[error("--{name} is not an option of smallfile{}", meant(nearest, "--"))]
    NoOption {
        /// The name.
        name: String,
        /// The option that may be meant.
        nearest: Option<&'static str>,
    },
    /// Several options begin with it.
    #[error("--{name} could be {}", either(options))]
    Ambiguous {
        /// The name.
        name: String,
        /// The options.
        options: Vec<&'static str>,
    },
    /// It belongs on the command line.
    #[error("{0} can only be said on the command line")]
    OnlyOnLine(String),
    /// No key has it.
    #[error("{name} is not a key of smallfile{}", meant(nearest, ""))]
    NoKey {
        /// The name.
        name: String,
        /// The key that may be meant.
        nearest: Option<&'static str>,
    },
}

fn meant(nearest: &Option<&'static str>, before: &str) -> String {
    nearest.map_or(String::new(), |word| {
        format!("; did you mean {before}{word}?")
    })
}

fn either(options: &[&str]) -> String {
    let options: Vec<String> = options.iter().map(|name| format!("--{name}")).collect();
    options.join(" or ")
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Longer than any value.
    #[error("this value is too long")]
    TooLong,
    /// No distribution of sizes.
    #[error("'{0}' must be fixed or exponential")]
    NotDistribution(String),
    /// Meant for other parts of smallfile.
    #[error("this is one part of smallfile talking to another; hosts are started by fathom itself")]
    Internal,
    /// Neither yes nor no.
    #[error("'{0}' must be y|yes|t|true|n|no|f|false")]
    NotSwitch(String),
    /// Less than the option takes.
    #[error("{number} must be at least {least}")]
    TooSmall {
        /// What was given.
        number: u64,
        /// What it takes.
        least: u64,
    },
    /// No whole number, or too large.
    #[error("'{text}' is not a whole number from {least} to 2^40")]
    NotWhole {
        /// What was given.
        text: String,
        /// The least that it takes.
        least: u64,
    },
    /// No operation.
    #[error("{0}")]
    Operation(#[from] OperationError),
}
