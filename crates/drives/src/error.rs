//! Why a drive cannot be built, in words that a user can act on.

use std::fmt;
use std::io;
use std::path::PathBuf;

use fathom_model::nearest::{did_you_mean, nearest};

use super::parameter::{Parameter, Quantity};

/// Why a drive cannot be built from its description.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file with the description cannot be read.
    #[error("cannot read {}, the description of a drive: {source}", path.display())]
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
        f.write_str(&self.what())?;
        match self.help() {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl DescriptionError {
    /// What is wrong.
    fn what(&self) -> String {
        match self {
            DescriptionError::UnknownModel { name, .. } => {
                format!("there is no simulated drive '{name}'")
            }
            DescriptionError::UnknownParameter { model, name, .. } => {
                format!("sim:{model} has no parameter '{name}'")
            }
            DescriptionError::Value {
                model,
                parameter,
                text,
            } => format!(
                "sim:{model} cannot take '{text}' for {}: it is a {} from {} to {}",
                parameter.name,
                match parameter.quantity {
                    Quantity::Bytes => "size in bytes",
                    Quantity::Number => "number",
                },
                parameter.least,
                parameter.most
            ),
            DescriptionError::Seed { model, text } => format!(
                "sim:{model} cannot take '{text}' for seed: it is a whole number from 0 to {}",
                u64::MAX
            ),
            DescriptionError::NoModel => "no model is named".to_owned(),
            DescriptionError::ModelType => "the model is a text, for example \"slc\"".to_owned(),
            DescriptionError::ValueType(name) => {
                format!("{name} is a number, or a text like \"64GiB\"")
            }
            DescriptionError::Syntax(words) => words.clone(),
        }
    }

    /// What to write instead, where that does not follow from what is wrong.
    fn help(&self) -> Option<String> {
        match self {
            DescriptionError::UnknownModel { name, models } => Some(format!(
                "choose one of {}{}",
                models.join(", "),
                did_you_mean(name, models.iter().copied())
            )),
            DescriptionError::UnknownParameter {
                name, parameters, ..
            } => {
                let near = nearest(name, parameters.iter().copied());
                let parameters = parameters.join(", ");
                Some(match near {
                    Some(near) => format!("did you mean '{near}'? It has {parameters}, seed"),
                    None => format!("it has {parameters}, seed"),
                })
            }
            DescriptionError::NoModel => Some("write for example model = \"slc\"".to_owned()),
            _ => None,
        }
    }
}

impl Error {
    /// What is wrong, and on a line of its own what to type instead.
    pub fn in_lines(&self) -> String {
        let (place, fault) = match self {
            Error::Description(fault) => (String::new(), fault),
            Error::InFile {
                path,
                line,
                column,
                fault,
            } => (format!("{}:{line}:{column}: ", path.display()), fault),
            Error::Unreadable { .. } => {
                return format!(
                    "{self}\nhelp: name a file that can be read, as in sim:@drive.toml, or a model, \
                     as in sim:ssd"
                );
            }
            Error::TooLarge { .. } => return self.to_string(),
        };
        let what = format!("{place}{}", fault.what());
        match fault.help() {
            Some(help) => format!("{what}\nhelp: {help}"),
            None => what,
        }
    }

    /// Whether what was typed is wrong, and not the machine: all but a file that is
    /// there and cannot be read.
    pub fn is_wrong_name(&self) -> bool {
        use io::ErrorKind::{InvalidData, IsADirectory, NotADirectory, NotFound};
        match self {
            Error::Unreadable { source, .. } => matches!(
                source.kind(),
                NotFound | NotADirectory | IsADirectory | InvalidData
            ),
            _ => true,
        }
    }
}
