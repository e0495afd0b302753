//! Where a thing was written, and what is wrong with it.

use std::fmt;
use std::sync::Arc;

/// A place in a job file, or an argument of a command line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FioPlace {
    /// Name of the job file; `command line` for arguments.
    pub file: Arc<str>,
    /// Line from 1; on a command line the number of the argument.
    pub line: u32,
    /// Column in characters from 1; 0 on a command line.
    pub column: u32,
}

impl FioPlace {
    pub(crate) fn new(file: &Arc<str>, line: usize, column: usize) -> FioPlace {
        FioPlace {
            file: Arc::clone(file),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }

    /// The same line, some characters further right.
    pub(crate) fn right(&self, characters: usize) -> FioPlace {
        FioPlace {
            file: Arc::clone(&self.file),
            line: self.line,
            column: match self.column {
                0 => 0,
                from => from.saturating_add(u32::try_from(characters).unwrap_or(u32::MAX)),
            },
        }
    }
}

impl fmt::Display for FioPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            0 => write!(f, "{}, argument {}", self.file, self.line),
            column => write!(f, "{}:{}:{column}", self.file, self.line),
        }
    }
}

/// One thing that is wrong with a job file or command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FioProblem {
    /// Where; `None` for what is missing altogether.
    pub place: Option<FioPlace>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl FioProblem {
    pub(crate) fn at(place: &FioPlace, message: impl Into<String>) -> FioProblem {
        FioProblem {
            place: Some(place.clone()),
            message: message.into(),
            help: None,
        }
    }

    pub(crate) fn nowhere(message: impl Into<String>) -> FioProblem {
        FioProblem {
            place: None,
            message: message.into(),
            help: None,
        }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> FioProblem {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for FioProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

/// Everything that is wrong; never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct FioProblems(pub Vec<FioProblem>);

/// More problems than this help nobody.
const MAX_PROBLEMS: usize = 100;

impl FioProblems {
    pub(crate) fn one(problem: FioProblem) -> FioProblems {
        FioProblems(vec![problem])
    }

    /// `Ok` when nothing was found.
    pub(crate) fn result(mut found: Vec<FioProblem>) -> Result<(), FioProblems> {
        found.truncate(MAX_PROBLEMS);
        match found.is_empty() {
            true => Ok(()),
            false => Err(FioProblems(found)),
        }
    }
}
