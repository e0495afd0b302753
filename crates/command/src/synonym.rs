//! Flags that other tools have under another name: what a command calls the one that was
//! typed.

use std::ffi::OsString;

use clap::Command;
use fathom_model::shell::word;

/// Names of one meaning. Those that a command has are its own names for it.
const MEANINGS: [&[&str]; 7] = [
    &[
        "runtime", "for", "seconds", "time", "duration", "secs", "length", "t",
    ],
    &[
        "iodepth",
        "depth",
        "io-depth",
        "queue",
        "outstanding",
        "in-flight",
    ],
    &[
        "numjobs",
        "concurrency",
        "clients",
        "connections",
        "parallel",
        "processes",
        "nproc",
    ],
    &["bs", "block", "io-size", "chunk-size", "request-size"],
    &[
        "rwmixread",
        "read-percent",
        "read-ratio",
        "reads",
        "readpct",
    ],
    &[
        "rw",
        "pattern",
        "random",
        "sequential",
        "rand",
        "seq",
        "workload",
    ],
    &["output", "out", "outfile", "output-file", "save", "o"],
];

/// Names that elsewhere stand before what is measured.
const TARGETS: [&str; 7] = [
    "filename",
    "file",
    "target",
    "device",
    "path",
    "directory",
    "dir",
];

/// The target of a command that takes it without a flag.
pub(crate) fn target(command: &Command, typed: &str, arguments: &[OsString]) -> Option<String> {
    let target = command.get_positionals().next()?;
    let named = target.get_value_names().and_then(|names| names.first());
    let name = named
        .map_or(target.get_id().as_str(), |name| name.as_str())
        .to_uppercase();
    let is_meant = TARGETS.contains(&typed) && name.contains("TARGET");
    is_meant.then(|| {
        let target = value_of(typed, arguments).map(|value| word(&value));
        let target = target.unwrap_or_else(|| format!("<{name}>"));
        format!(
            "the target has no flag: fathom {} {target}",
            command.get_name()
        )
    })
}

/// What was typed behind a flag.
fn value_of(flag: &str, arguments: &[OsString]) -> Option<String> {
    let mut words = arguments.iter().filter_map(|word| word.to_str());
    let after = words.find_map(|word| {
        let rest = word.strip_prefix('-')?;
        let rest = rest.strip_prefix('-').unwrap_or(rest).strip_prefix(flag)?;
        let value = rest.strip_prefix('=');
        (value.is_some() || rest.is_empty()).then_some(value)
    })?;
    let value = after.or_else(|| words.next())?;
    (!value.starts_with('-')).then(|| value.to_owned())
}

/// A long flag of the command that was typed with one dash: `rw` of `-rw=randread`.
pub(crate) fn with_one_dash(command: &Command, arguments: &[OsString]) -> Option<String> {
    let words = arguments.iter().filter_map(|word| word.to_str());
    let names = words.filter_map(|word| {
        let name = word.strip_prefix('-')?.split('=').next()?;
        (name.len() > 1 && !name.starts_with('-')).then_some(name)
    });
    let mut known = names.filter_map(|typed| own_long(command, typed));
    known.next()
}

fn own_long(command: &Command, typed: &str) -> Option<String> {
    let flag = command.get_arguments().find(|flag| {
        let aliases = flag.get_all_aliases().unwrap_or_default();
        flag.get_long() == Some(typed) || aliases.contains(&typed)
    })?;
    flag.get_long().map(str::to_owned)
}

/// All names of the flags of a command, without dashes.
pub(crate) fn names(command: &Command) -> impl Iterator<Item = &str> {
    let shown = command.get_arguments().filter(|flag| !flag.is_hide_set());
    shown.flat_map(|flag| {
        let others = flag.get_visible_aliases().unwrap_or_default();
        flag.get_long().into_iter().chain(others)
    })
}

/// The flags of a command that mean what `typed` means elsewhere, without dashes.
pub(crate) fn own_name(command: &Command, typed: &str) -> Option<String> {
    let meaning = MEANINGS.iter().find(|names| names.contains(&typed))?;
    meaning.iter().find_map(|name| own_long(command, name))
}

/// The command that arguments call, as far as they name one: `fathom runs list`.
pub(crate) fn called<'a>(all: &'a Command, arguments: &[OsString]) -> &'a Command {
    typed(all, arguments).last().unwrap_or(all)
}

/// The commands that were typed, as they are called: `fathom curve depth`.
pub(crate) fn path(all: &Command, arguments: &[OsString]) -> String {
    let commands = [all].into_iter().chain(typed(all, arguments));
    let names: Vec<&str> = commands.map(Command::get_name).collect();
    names.join(" ")
}

/// The commands that were typed after the program, each a member of the one before.
fn typed<'a>(all: &'a Command, arguments: &[OsString]) -> impl Iterator<Item = &'a Command> {
    let words = arguments.iter().skip(1);
    words.scan(all, |group, word| {
        *group = group.find_subcommand(word)?;
        Some(*group)
    })
}
