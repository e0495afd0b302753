//! What the parser of arguments says of a mistake, with the help that it lacks and without
//! the one that leads astray.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use fathom_model::nearest::nearest;
use fathom_model::shell;

use crate::cli::Cli;
use crate::synonym;

/// Letters that two names of flags begin with when one may be meant by the other: fewer
/// are chance.
const COMMON_LETTERS: usize = 4;

/// The mistake in `arguments`, with what was meant as far as that can be told.
pub(crate) fn explained(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    suggest_command(&mut error, arguments);
    if error.kind() == ErrorKind::MissingRequiredArgument {
        suggest_example(&mut error, arguments);
    }
    if error.kind() == ErrorKind::InvalidValue {
        suggest_value(&mut error);
    }
    drop_far_suggestion(&mut error);
    if error.kind() == ErrorKind::UnknownArgument {
        // Told that it may be a value, which next to nobody means.
        error.remove(ContextKind::Suggested);
        let typed = text_of(&error, ContextKind::InvalidArg);
        let negative = typed.strip_prefix('-').unwrap_or_default();
        if negative.starts_with(|c: char| c.is_ascii_digit()) {
            suggest(&mut error, "no value here may be negative");
        } else {
            suggest_synonym(&mut error, arguments);
            suggest_other_command(&mut error, arguments);
        }
    }
    let is_repeated = error.kind() == ErrorKind::ArgumentConflict
        && text_of(&error, ContextKind::InvalidArg) == text_of(&error, ContextKind::PriorArg);
    if is_repeated {
        suggest(
            &mut error,
            "another name of the same flag counts as well, as --for does for --runtime",
        );
    }
    error
}

/// All commands. Their flags and members are made when they are built.
fn built() -> clap::Command {
    let mut all = Cli::command();
    all.build();
    all
}

fn suggest(error: &mut clap::Error, tip: &str) {
    let tips = vec![StyledStr::from(tip.to_owned())];
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
}

fn text_of(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    }
}

/// Words for commands that no command has as an alias.
const OTHER_WORDS: [(&str, &str); 4] = [
    ("history", "runs"),
    ("results", "runs"),
    ("status", "watch"),
    ("latency", "ping"),
];

/// Whether a word names something to measure rather than a command.
fn is_target(word: &str) -> bool {
    let is_path = word.contains('/') || word == "." || word == "..";
    is_path
        || ["sim:", "null:", "s3:"]
            .iter()
            .any(|kind| word.starts_with(kind))
}

/// The commands of groups that are called like the unknown one: `fathom runs list` for
/// `fathom list`; else the one with nearly its name.
fn suggest_command(error: &mut clap::Error, arguments: &[OsString]) {
    let word = text_of(error, ContextKind::InvalidSubcommand);
    if word.is_empty() {
        return;
    }
    let all = built();
    let group = synonym::called(&all, arguments);
    if group.get_name() != all.get_name() {
        suggest_member(error, &word, group);
        return;
    }
    let groups = all.get_subcommands();
    let mut meant: Vec<String> = groups
        .filter(|group| word != "help" && group.find_subcommand(&word).is_some())
        .map(|group| format!("{} {word}", group.get_name()))
        .collect();
    if is_target(&word) {
        error.remove(ContextKind::SuggestedSubcommand);
        return suggest(
            error,
            &format!("to measure it: fathom quick {}", shell::word(&word)),
        );
    }
    let other = OTHER_WORDS.iter().find(|(other, _)| *other == word);
    meant.extend(other.map(|(_, own)| (*own).to_owned()));
    if meant.is_empty() {
        // One that is near goes before the list of the parser, which finds `clean` in `explian`.
        let names = all.get_subcommands().map(clap::Command::get_name);
        meant.extend(nearest(&word, names).map(str::to_owned));
    }
    if !meant.is_empty() {
        error.insert(
            ContextKind::SuggestedSubcommand,
            ContextValue::Strings(meant),
        );
    }
}

/// A command of the group that was called, or all that it has.
fn suggest_member(error: &mut clap::Error, word: &str, group: &clap::Command) {
    if error.get(ContextKind::SuggestedSubcommand).is_some() {
        return;
    }
    let members = group
        .get_subcommands()
        .filter(|member| !member.is_hide_set());
    let names: Vec<&str> = members.map(clap::Command::get_name).collect();
    match nearest(word, names.iter().copied()) {
        Some(near) => {
            let near = ContextValue::Strings(vec![near.to_owned()]);
            error.insert(ContextKind::SuggestedSubcommand, near);
        }
        None => suggest(
            error,
            &format!("fathom {} has {}", group.get_name(), names.join(", ")),
        ),
    }
}

/// The first example of the command.
fn suggest_example(error: &mut clap::Error, arguments: &[OsString]) {
    let all = built();
    let command = synonym::called(&all, arguments);
    let examples = command.get_after_help().map(ToString::to_string);
    let examples = examples.unwrap_or_default();
    let mut lines = examples.lines().filter_map(|line| line.strip_prefix("  "));
    if let Some(first) = lines.find(|line| line.starts_with("fathom ")) {
        let typed = first.split("  ").next().unwrap_or(first);
        suggest(error, &format!("for example {typed}"));
    }
}

/// What a flag takes that stands without its value.
fn suggest_value(error: &mut clap::Error) {
    let typed = text_of(error, ContextKind::InvalidArg);
    if !text_of(error, ContextKind::InvalidValue).is_empty() {
        return;
    }
    let example = [("<TIME>", "30s"), ("<SIZE>", "1G")];
    let example = example.iter().find(|(kind, _)| typed.ends_with(kind));
    if let Some((_, value)) = example {
        let flag = typed.split(' ').next().unwrap_or(&typed);
        suggest(error, &format!("for example {flag} {value}"));
    }
}

/// A flag of another name helps nobody: the parser finds `--metric` near `--strict`.
fn drop_far_suggestion(error: &mut clap::Error) {
    let typed = text_of(error, ContextKind::InvalidArg);
    let offered = text_of(error, ContextKind::SuggestedArg);
    let (typed, offered) = (name_of(&typed), name_of(&offered));
    if offered.is_empty() || nearest(typed, [offered]).is_some() {
        return;
    }
    let common = typed.bytes().zip(offered.bytes());
    let common = common.take_while(|(a, b)| a == b).count();
    if common < COMMON_LETTERS.min(typed.len()) {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
    }
}

/// What the command calls a flag that other tools have, in place of one of a near name.
fn suggest_synonym(error: &mut clap::Error, arguments: &[OsString]) {
    let typed = text_of(error, ContextKind::InvalidArg);
    let all = built();
    let command = synonym::called(&all, arguments);
    let name = name_of(&typed);
    let of_one_dash = || match typed.starts_with("--") {
        true => None,
        false => synonym::with_one_dash(command, arguments),
    };
    if let Some(target) = synonym::target(command, name, arguments) {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
        suggest(error, &target);
    } else if let Some(own) = synonym::own_name(command, name).or_else(of_one_dash) {
        let own = ContextValue::String(format!("--{own}"));
        error.insert(ContextKind::SuggestedArg, own);
        error.remove(ContextKind::Usage);
    } else if FORMATS.contains(&name) && own_flag(command, "format") {
        suggest(error, &format!("--format {name}, or -o FILE.{name}"));
    } else if error.get(ContextKind::SuggestedArg).is_none() && typed.starts_with("--") {
        // The parser does not look at the other names of a flag.
        let near = nearest(name, synonym::names(command));
        let near = near.map(|near| ContextValue::String(format!("--{near}")));
        near.map(|near| error.insert(ContextKind::SuggestedArg, near));
    }
}

/// Formats that some commands have a flag for, and the others a value of --format.
const FORMATS: [&str; 4] = ["html", "json", "csv", "markdown"];

fn own_flag(command: &clap::Command, name: &str) -> bool {
    command
        .get_arguments()
        .any(|flag| flag.get_long() == Some(name))
}

/// Commands that take a number of names which users take to be larger, and where the
/// others go.
const SURPLUS: [(&str, &str); 2] = [
    (
        "ab",
        "two sides take turns; `fathom compare` takes any number of runs that were measured",
    ),
    (
        "quick",
        "one target at a time; `fathom disks` takes several",
    ),
];

/// The command that takes what this one does not: `fathom io` a flag of a workload, another
/// one a further target.
fn suggest_other_command(error: &mut clap::Error, arguments: &[OsString]) {
    if error.get(ContextKind::Suggested).is_some() || error.get(ContextKind::SuggestedArg).is_some()
    {
        return;
    }
    let typed = text_of(error, ContextKind::InvalidArg);
    let all = built();
    let called = synonym::called(&all, arguments).get_name().to_owned();
    if !typed.starts_with('-') {
        if let Some((_, tip)) = SURPLUS.iter().find(|(name, _)| *name == called) {
            suggest(error, tip);
        }
        return;
    }
    let workload = all.find_subcommand("io").filter(|_| called == "quick");
    let mut flags = workload.into_iter().flat_map(clap::Command::get_arguments);
    let name = name_of(&typed);
    if flags.any(|flag| flag.get_long() == Some(name)) {
        suggest(
            error,
            &format!("`fathom quick` chooses its workloads; `fathom io` takes --{name}"),
        );
    }
}

/// `metric` of `--metric <METRIC>`.
fn name_of(flag: &str) -> &str {
    let name = flag.trim_start_matches('-');
    name.split([' ', '=']).next().unwrap_or(name)
}

/// A mistake as the parser of arguments tells it, in the form of all errors.
pub(crate) fn in_one_form(text: &str, arguments: &[OsString]) -> String {
    let path = synonym::path(&built(), arguments);
    let mut out = String::new();
    for line in text.lines() {
        let line = line.trim_end();
        match line.trim_start().strip_prefix("tip: ") {
            Some(tip) => out += &format!("help: {tip}\n"),
            None if line.starts_with("For more information, try ") => {
                out += &format!("help: {path} --help\n");
            }
            None if line.is_empty() => {}
            None => out += &format!("{line}\n"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(arguments: &[&str]) -> String {
        let error = Cli::command().try_get_matches_from(arguments).unwrap_err();
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        in_one_form(&explained(error, &arguments).to_string(), &arguments)
    }

    #[test]
    fn names_of_other_tools_lead_to_the_one_of_the_command() {
        for (arguments, own) in [
            (["meta", "/data", "--duration", "5"], "'--runtime'"),
            (["io", "/data", "--time", "5"], "'--runtime'"),
            (["io", "/data", "--depth", "5"], "'--iodepth'"),
            (["io", "/data", "-t", "5"], "'--runtime'"),
            (["net", "node1", "--duration", "5"], "'--for'"),
            (["io", "/data", "-rw=read", "--direct"], "'--rw'"),
        ] {
            let words: Vec<&str> = ["fathom"].into_iter().chain(arguments).collect();
            let text = told(&words);
            let help = format!("help: a similar argument exists: {own}");
            assert!(text.contains(&help), "{text}");
        }
        let target = told(&["fathom", "io", "--filename=/data", "--rw=read"]);
        let help = "help: the target has no flag: fathom io /data";
        assert!(target.contains(help), "{target}");
        assert!(!target.contains("--files"), "{target}");
    }

    #[test]
    fn a_group_without_a_command_says_what_it_has() {
        let curve = told(&["fathom", "curve", "sim:hdd"]);
        assert!(
            curve.contains("help: fathom curve has depth, load"),
            "{curve}"
        );
        assert!(curve.contains("help: fathom curve --help"), "{curve}");
        let config = told(&["fathom", "config", "set", "a", "b"]);
        assert!(!config.contains("'net'"), "{config}");
        let delete = told(&["fathom", "runs", "shwo", "latest"]);
        assert!(delete.contains("'show'"), "{delete}");
    }

    #[test]
    fn what_is_missing_is_shown_by_an_example() {
        let io = told(&["fathom", "io"]);
        assert!(io.contains("help: for example fathom io "), "{io}");
        assert!(io.contains("help: fathom io --help"), "{io}");
    }

    #[test]
    fn what_another_command_takes_leads_there() {
        let flag = told(&["fathom", "quick", "/data", "--rw", "read"]);
        assert!(flag.contains("`fathom io` takes --rw"), "{flag}");
        let third = told(&["fathom", "ab", "/a", "/b", "/c"]);
        assert!(
            third.contains("`fathom compare` takes any number"),
            "{third}"
        );
        let unknown = told(&["fathom", "quick", "/data", "--nonsense"]);
        assert!(!unknown.contains("fathom io"), "{unknown}");
    }

    #[test]
    fn what_is_no_command_leads_to_one() {
        for (arguments, help) in [
            (
                &["fathom", "/mnt/my data"][..],
                "to measure it: fathom quick '/mnt/my data'",
            ),
            (&["fathom", "history"], "'runs'"),
            (&["fathom", "list"], "'runs list'"),
            (
                &["fathom", "runs", "show", "--html"],
                "--format html, or -o FILE.html",
            ),
            (
                &["fathom", "runs", "show", "--nonsense"],
                "help: fathom runs show --help",
            ),
            (&["fathom", "quick", "--fro", "3s"], "'--for'"),
        ] {
            let text = told(arguments);
            assert!(text.contains(help), "{text}");
        }
        let bare = Cli::command().try_get_matches_from(["fathom", "runs", "--since", "7d"]);
        assert!(bare.is_ok(), "{bare:?}");
    }

    #[test]
    fn near_names_are_offered_and_far_ones_are_not() {
        assert!(told(&["fathom", "oi"]).contains("'io'"));
        let far = told(&["fathom", "compare", "--strict", "a", "b"]);
        assert!(!far.contains("--metric"), "{far}");
        let near = told(&["fathom", "io", "/data", "--iodpeth", "3"]);
        assert!(near.contains("--iodepth"), "{near}");
        let short = told(&["fathom", "record", "--out", "x"]);
        assert!(short.contains("--output"), "{short}");
    }

    #[test]
    fn what_is_no_value_is_not_offered_as_one() {
        let flag = told(&["fathom", "compare", "--unknown", "a", "b"]);
        assert!(!flag.contains("-- --unknown"), "{flag}");
        let negative = told(&["fathom", "io", "/data", "--runtime", "-5s"]);
        assert!(
            negative.contains("help: no value here may be negative"),
            "{negative}"
        );
        let twice = told(&["fathom", "io", "/data", "--runtime", "2s", "--for", "3s"]);
        assert!(
            twice.contains("help: another name of the same flag"),
            "{twice}"
        );
    }
}
