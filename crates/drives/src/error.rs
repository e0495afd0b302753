//! Why a drive cannot be built, in words that a user can act on.

use std::fmt;
use std::io;
use std::path::PathBuf;

use fathom_model::nearest::did_you_mean;

use super::parameter::{Parameter, Quantity};

/// Why a drive cannot be built from its description.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file with the description cannot be read.
    #[error("cannot read the drive's description {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is too large for a description.
    #[error(
        "{}: a drive's description has at most {most_bytes} bytes, this file has {bytes}",
        path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
        /// The length that a description may have.
        most_bytes: u64,
    },
    /// The description is at fault.
    #[error(transparent)]
    Description(#[from] DescriptionError),
    /// A place in a file with a description is at fault.
    #[error("{}:{line}:{column}: {fault}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong there.
        fault: DescriptionError,
    },
}

/// What is wrong with a description.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum DescriptionError {
    /// No model has this name.
    UnknownModel {
        /// The name.
        name: String,
        /// The models that exist.
        models: Vec<&'static str>,
    },
    /// The model has no parameter of this name.
    UnknownParameter {
        /// The model.
        model: &'static str,
        /// The name.
        name: String,
        /// The parameters that it has.
        parameters: Vec<&'static str>,
    },
    /// A parameter cannot take a value.
    Value {
        /// The model.
        model: &'static str,
        /// The parameter.
        parameter: &'static Parameter,
        /// The value as it was written.
        text: String,
    },
    /// The seed is not a whole number.
    Seed {
        /// The model.
        model: &'static str,
        /// The seed as it was written.
        text: String,
    },
    /// A file names no model.
    NoModel,
    /// The model in a file is not a text.
    ModelType,
    /// The value of this parameter in a file is neither number nor text.
    ValueType(String),
    /// A file is not TOML; the parser's words.
    Syntax(String),
}

impl std::error::Error for DescriptionError {}

impl fmt::Display for DescriptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DescriptionError::UnknownModel { name, models } => write!(
                f,
                "there is no simulated drive '{name}'; choose one of {}{}",
                models.join(", "),
                did_you_mean(name, models.iter().copied())
            ),
            DescriptionError::UnknownParameter {
                model,
                name,
                parameters,
            } => write!(
                f,
                "sim:{model} has no parameter '{name}'; it has {}, seed{}",
                parameters.join(", "),
                did_you_mean(name, parameters.iter().copied())
            ),
            DescriptionError::Value {
                model,
                parameter,
                text,
            } => write!(
                f,
                "sim:{model} cannot take '{text}' for {}: it is a {} from {} to {}",
                parameter.name,
                match parameter.quantity {
                    Quantity::Bytes => "size in bytes",
                    Quantity::Number => "number",
                },
                parameter.least,
                parameter.most
            ),
            DescriptionError::Seed { model, text } => write!(
                f,
                "sim:{model} cannot take '{text}' for seed: it is a whole number from 0 to {}",
                u64::MAX
            ),
            DescriptionError::NoModel => {
                write!(f, "no model is named; write for example model = \"slc\"")
            }
            DescriptionError::ModelType => write!(f, "the model is a text, for example \"slc\""),
            DescriptionError::ValueType(name) => {
                write!(f, "{name} is a number, or a text like \"64GiB\"")
            }
            DescriptionError::Syntax(words) => write!(f, "{words}"),
        }
    }
}
