//! Replaces `@NAME` by what the user named so.

use std::ffi::OsString;

use clap::{Arg, Command};
use fathom_model::nearest::nearest;

use super::SettingsError;
use super::apply::argument_of;
use super::file::{Named, NamedKind, SettingsFile};
use crate::help::pairs_with_value;

/// Arguments without a flag that can be names, and of what kind.
const POSITIONS: [(&str, NamedKind); 8] = [
    ("TARGET", NamedKind::Target),
    ("A", NamedKind::Target),
    ("B", NamedKind::Target),
    ("BUCKET", NamedKind::Target),
    ("DIRECTORY", NamedKind::Target),
    ("DISKS", NamedKind::Target),
    ("PATH", NamedKind::Target),
    ("HOST", NamedKind::Hosts),
];

/// The arguments of a command, the words of which end at `begin`, with names replaced.
///
/// # Errors
/// Where nothing has such a name.
pub(crate) fn with_names(
    file: Option<&SettingsFile>,
    command: &Command,
    begin: usize,
    arguments: Vec<OsString>,
) -> Result<Vec<OsString>, SettingsError> {
    let position = command.get_positionals().find_map(kind_of_position);
    let mut all: Vec<OsString> = Vec::with_capacity(arguments.len());
    // The flag whose value is the next word.
    let mut waiting: Option<String> = None;
    for (place, word) in arguments.into_iter().enumerate() {
        let Some(text) = word.to_str().filter(|_| place >= begin) else {
            all.push(word);
            waiting = None;
            continue;
        };
        let flag = waiting.take();
        let place = match (
            &flag,
            text.strip_prefix("--")
                .and_then(|rest| rest.split_once('=')),
        ) {
            (Some(flag), _) => kind_of(flag).map(|kind| (kind, None, text)),
            (None, Some((flag, value))) => kind_of(flag).map(|kind| (kind, Some(flag), value)),
            (None, None) => position.map(|kind| (kind, None, text)),
        };
        let is_value = flag.is_some() || text.starts_with("--");
        if flag.is_none() {
            waiting = takes_next(command, text);
        }
        match place.and_then(|(kind, flag, value)| Some((kind, flag, value.strip_prefix('@')?))) {
            Some((kind, flag, name)) => {
                let named = found(file, kind, name)?;
                all.extend(replaced(flag, named, is_value));
            }
            None => all.push(word),
        }
    }
    Ok(all)
}

/// The flag of a word, where its value is the next word.
fn takes_next(command: &Command, text: &str) -> Option<String> {
    let short = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    if let Some(letter) = short.and_then(|rest| rest.chars().last()) {
        let arg = command
            .get_arguments()
            .find(|arg| arg.get_short() == Some(letter))?;
        return pairs_with_value(arg).then(|| arg.get_id().to_string());
    }
    let flag = text.strip_prefix("--").filter(|flag| !flag.contains('='))?;
    let arg = argument_of(command, flag)?;
    pairs_with_value(arg).then(|| arg.get_long().unwrap_or(flag).to_owned())
}

/// The kind of name that an option takes.
fn kind_of(flag: &str) -> Option<NamedKind> {
    let mut kinds = NamedKind::ALL.into_iter();
    kinds.find(|kind| kind.option() == Some(flag))
}

fn kind_of_position(arg: &Arg) -> Option<NamedKind> {
    let names = arg.get_value_names().unwrap_or_default();
    let known = |name: &str| POSITIONS.iter().find(|(known, _)| *known == name);
    let found = names.iter().find_map(|name| known(name));
    found.map(|(_, kind)| *kind)
}

fn found<'f>(
    file: Option<&'f SettingsFile>,
    kind: NamedKind,
    name: &str,
) -> Result<&'f Named, SettingsError> {
    let of_kind = |named: &&Named| named.kind == kind;
    let known: Vec<&Named> = file
        .iter()
        .flat_map(|file| &file.names)
        .filter(of_kind)
        .collect();
    if let Some(named) = known.iter().find(|named| named.name == name) {
        return Ok(named);
    }
    let path = file.map(|file| file.path.clone()).or_else(super::path);
    let table = kind.table();
    let mut problem = format!("nothing is named '@{name}' below [{table}]");
    match nearest(name, known.iter().map(|named| named.name.as_str())) {
        Some(near) => problem += &format!("\nhelp: did you mean '@{near}'?"),
        None if kind == NamedKind::Target => {
            problem += &format!("\nhelp: a file of this name is './@{name}'");
        }
        None => problem += "\nhelp: fathom config show lists the names there are",
    }
    Err(SettingsError {
        place: path.map_or_else(|| "settings".to_owned(), |path| path.display().to_string()),
        problem,
    })
}

/// The words in place of a name: one each where no flag takes them, else one list.
fn replaced(flag: Option<&str>, named: &Named, is_value: bool) -> Vec<OsString> {
    if !is_value {
        return named.values.iter().map(OsString::from).collect();
    }
    let list = match named.kind {
        NamedKind::Slo => named.values.join(" and "),
        _ => named.values.join(","),
    };
    vec![match flag {
        Some(flag) => format!("--{flag}={list}").into(),
        None => list.into(),
    }]
}
