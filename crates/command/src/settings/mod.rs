//! The user's settings: options that need not be typed again, and names for what is
//! measured, from one file.
//!
//! An option that is set there counts as typed, unless it is typed or its variable is
//! set: the command line comes first, then the environment, then the section of the
//! command, then `[defaults]`, then what is built in.

mod apply;
mod check;
mod file;
mod names;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::CommandFactory;
use clap::error::ErrorKind;

use crate::cli::Cli;

pub(crate) use apply::{Origin, origin};
pub(crate) use file::{Named, Setting, SettingsFile};

use file::NamedKind;

/// Names another file of settings; empty: none is read.
pub(crate) const FILE_VARIABLE: &str = "FATHOM_CONFIG";

/// Options that a variable sets as well, and its name.
pub(crate) const VARIABLES: [(&str, &str); 5] = [
    ("store", "FATHOM_STORE"),
    ("fleet", "FATHOM_FLEET"),
    ("metrics", "FATHOM_METRICS"),
    ("metrics-push", "FATHOM_METRICS_PUSH"),
    ("color", "NO_COLOR"),
];

/// Options that allow harm are typed each time, by the one who means it.
pub(crate) const ONLY_TYPED: [&str; 4] = ["destructive", "force", "yes", "help"];

/// What is wrong with the settings: where, what, and what to write instead.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{place}: {problem}")]
pub(crate) struct SettingsError {
    /// The file, with line and column where they are known.
    pub(crate) place: String,
    /// What is wrong, and in a second line what to do.
    pub(crate) problem: String,
}

/// Where the settings are; `None` where none are to be read.
pub(crate) fn path() -> Option<PathBuf> {
    match std::env::var_os(FILE_VARIABLE) {
        Some(named) if named.is_empty() => None,
        Some(named) => Some(PathBuf::from(named)),
        None => Some(
            fathom_runs::hosts::configuration()
                .ok()?
                .join("config.toml"),
        ),
    }
}

/// The settings of this user. A file need not be there, except where a variable names it.
pub(crate) fn load() -> Result<Option<SettingsFile>, SettingsError> {
    let Some(path) = path() else { return Ok(None) };
    match file::read(&path)? {
        Some(text) => SettingsFile::parse(path, &text).map(Some),
        None if std::env::var_os(FILE_VARIABLE).is_some() => Err(SettingsError {
            place: path.display().to_string(),
            problem: format!("not found; ${FILE_VARIABLE} names this file"),
        }),
        None => Ok(None),
    }
}

/// The value of a variable that sets an option, where it is set.
pub(crate) fn variable_of(option: &str) -> Option<&'static str> {
    let (_, name) = VARIABLES.iter().find(|(known, _)| *known == option)?;
    std::env::var_os(name).filter(|value| !value.is_empty())?;
    Some(name)
}

/// Commands whose arguments are another tool's, or that are about settings and help.
const WITHOUT: [&str; 10] = [
    "fio",
    "smallfile",
    "gosbench",
    "at_io_iops",
    "at_io_parallel",
    "compat",
    "complete",
    "completions",
    "config",
    "man",
];

/// Options that came from the file of settings.
#[derive(Debug, Default)]
pub(crate) struct Added(Vec<(Setting, String)>);

impl Added {
    /// The mistake, with the place that it comes from where that is the file.
    pub(crate) fn explain(&self, error: clap::Error) -> clap::Error {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        let of =
            |(setting, _): &&(Setting, String)| first.contains(&format!("--{} ", setting.option));
        let Some((_, place)) = self.0.iter().find(of) else {
            return error;
        };
        let first = first.trim_start_matches("error: ");
        let said =
            format!("{place}: {first}\nhelp: `fathom config check` looks at all of the file\n");
        clap::Error::raw(error.kind(), said)
    }
}

/// The arguments with the user's settings and names in place.
///
/// # Errors
/// Where the file cannot be read, or sets or names what there is not.
pub(crate) fn of_user(
    arguments: Vec<OsString>,
) -> Result<(Vec<OsString>, Added), Box<clap::Error>> {
    let named = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let mut words = named.take_while(|word| !word.starts_with('-'));
    let Some(first) = words.next().filter(|first| !WITHOUT.contains(first)) else {
        return Ok((arguments, Added::default()));
    };
    let has_name = arguments
        .iter()
        .any(|word| word.to_string_lossy().contains('@'));
    let file = load().map_err(told)?;
    if file.is_none() && !has_name {
        return Ok((arguments, Added::default()));
    }
    let mut all = Cli::command();
    let Some(command) = all.find_subcommand_mut(first) else {
        return Ok((arguments, Added::default()));
    };
    command.build();
    let mut command: &clap::Command = command;
    let mut path = vec![command.get_name().to_owned()];
    for word in words {
        let Some(below) = command.find_subcommand(word) else {
            break;
        };
        command = below;
        path.push(below.get_name().to_owned());
    }
    let begin = path.len() + 1;
    let (arguments, added) = match &file {
        Some(file) => apply::with_settings(file, &path, command, arguments).map_err(told)?,
        None => (arguments, Vec::new()),
    };
    let arguments = names::with_names(file.as_ref(), command, begin, arguments).map_err(told)?;
    let place = |setting: Setting| {
        let place = file.as_ref().map(|file| file.shown_place(setting.at));
        (setting, place.unwrap_or_default())
    };
    Ok((arguments, Added(added.into_iter().map(place).collect())))
}

fn told(error: SettingsError) -> Box<clap::Error> {
    Box::new(clap::Error::raw(
        ErrorKind::InvalidValue,
        format!("{error}\n"),
    ))
}
