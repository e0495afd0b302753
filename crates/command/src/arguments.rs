//! Accepts links named after another tool, and common spellings of switches,
//! before the arguments are parsed.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

use clap::{Command, CommandFactory};

/// Words that a switch takes as its value.
const SWITCH_VALUES: [&str; 8] = ["0", "1", "true", "false", "yes", "no", "on", "off"];

/// Commands that are also run by a link of their name.
const LINK_NAMES: [&str; 2] = ["at_io_iops", "at_io_parallel"];

/// The command that a link of its name calls: it can take the place of a tool
/// that scripts call.
pub(crate) fn command_of_link(arguments: &[OsString]) -> Option<&'static str> {
    let called = arguments.first().map(std::path::Path::new);
    let called = called.and_then(|path| path.file_name()?.to_str())?;
    // The original is a shell script.
    let called = called.strip_suffix(".sh").unwrap_or(called);
    LINK_NAMES.into_iter().find(|name| *name == called)
}

/// What kubectl calls for `kubectl fathom`.
const KUBECTL_PLUGIN: &str = "kubectl-fathom";

/// Words of `kubectl fathom` that are about the program.
const ABOUT_PROGRAM: [&str; 3] = ["help", "--version", "-V"];

/// The arguments with the command that `kubectl fathom` stands for.
pub(crate) fn of_kubectl(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let called = arguments.first().map(std::path::Path::new);
    if called.and_then(std::path::Path::file_name) != Some(OsStr::new(KUBECTL_PLUGIN)) {
        return arguments;
    }
    let word = arguments.get(1).and_then(|word| word.to_str());
    if !word.is_some_and(|word| ABOUT_PROGRAM.contains(&word)) {
        // Help and usage then show a command that can be typed anywhere.
        arguments.splice(..1, ["fathom", "kubernetes"].map(OsString::from));
    }
    arguments
}

/// Words that people type for a command of a group.
const SHORT_NAMES: [(&str, &[&str]); 3] = [
    ("list", &["runs", "list"]),
    ("ls", &["runs", "list"]),
    ("version", &["--version"]),
];

/// The arguments with the words of the command in place of a short name for it.
pub(crate) fn in_full(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let at = match arguments.get(1).and_then(|word| word.to_str()) {
        Some("help") => 2,
        _ => 1,
    };
    let word = arguments.get(at).and_then(|word| word.to_str());
    let known = SHORT_NAMES.iter().find(|(name, _)| word == Some(name));
    if let Some((_, words)) = known {
        arguments.splice(at..=at, words.iter().map(OsString::from));
    }
    arguments
}

/// Joins `--direct 1` to `--direct=1`.
///
/// Switches take their value after `=`, so that `--direct /data` leaves the
/// target alone. A lone `0` or `yes` after a switch can only be its value.
pub(crate) fn join_switch_values(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut known: Option<BTreeSet<String>> = None;
    let mut joined: Vec<OsString> = Vec::new();
    for argument in arguments {
        let value = argument
            .to_str()
            .filter(|text| SWITCH_VALUES.contains(text));
        let after_switch = joined
            .last()
            .and_then(|last| last.to_str())
            .is_some_and(|last| {
                let name = last.strip_prefix("--").filter(|_| value.is_some());
                name.is_some_and(|name| {
                    let command = joined.get(1).and_then(|word| word.to_str());
                    let switches = known.get_or_insert_with(|| switches_of(command));
                    switches.contains(name)
                })
            });
        match (value, joined.last_mut()) {
            (Some(value), Some(last)) if after_switch => {
                last.push("=");
                last.push(value);
            }
            _ => joined.push(argument),
        }
    }
    joined
}

/// Those of a command, which are made for the first value that needs them.
fn switches_of(command: Option<&str>) -> BTreeSet<String> {
    let mut all = crate::cli::Cli::command();
    let Some(command) = command.and_then(|name| all.find_subcommand_mut(name)) else {
        return BTreeSet::new();
    };
    command.build();
    switches(command)
}

/// Names of the flags that take an optional value after `=`.
fn switches(command: &Command) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let optional = |arg: &&clap::Arg| arg.is_require_equals_set();
    for arg in command.get_arguments().filter(optional) {
        names.extend(arg.get_long().map(str::to_owned));
        names.extend(
            arg.get_all_aliases()
                .into_iter()
                .flatten()
                .map(str::to_owned),
        );
    }
    for sub in command.get_subcommands() {
        names.extend(switches(sub));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(line: &str) -> String {
        let arguments = line.split(' ').map(OsString::from);
        let joined = join_switch_values(arguments);
        joined
            .iter()
            .map(|a| a.to_string_lossy())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn a_link_names_its_command() {
        let of = |line: &str| {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            command_of_link(&arguments)
        };
        assert_eq!(of("/opt/at_io_iops -a"), Some("at_io_iops"));
        assert_eq!(of("at_io_parallel.sh 10.0.0.1"), Some("at_io_parallel"));
        assert_eq!(of("/opt/fathom io ."), None);
        assert_eq!(command_of_link(&[]), None);
    }

    #[test]
    fn a_plugin_of_kubectl_is_a_command() {
        let of = |line: &str| {
            let arguments = of_kubectl(line.split(' ').map(OsString::from).collect());
            let words: Vec<_> = arguments
                .iter()
                .map(|word| word.to_string_lossy())
                .collect();
            words.join(" ")
        };
        assert_eq!(
            of("/usr/bin/kubectl-fathom --cleanup"),
            "fathom kubernetes --cleanup"
        );
        assert_eq!(of("kubectl-fathom"), "fathom kubernetes");
        assert_eq!(of("kubectl-fathom --version"), "kubectl-fathom --version");
        assert_eq!(of("fathom --cleanup"), "fathom --cleanup");
    }

    #[test]
    fn a_switch_takes_the_value_that_follows_it_and_never_a_target() {
        assert_eq!(joined("fathom io --direct 1 ."), "fathom io --direct=1 .");
        assert_eq!(
            joined("fathom io --direct . --bs 1"),
            "fathom io --direct . --bs 1"
        );
        assert_eq!(joined("fathom io . --iodepth 1"), "fathom io . --iodepth 1");
        assert_eq!(
            joined("fathom io . --time_based 1"),
            "fathom io . --time_based=1"
        );
    }
}
