//! Help in three lengths: `-h` fits one screen, `--help` teaches, `--help-all`
//! has every flag. All of it comes from the doc comments of the commands.

mod book;
mod flags;
pub(crate) mod glossary;
mod groups;
mod long;
mod short;
mod topics;

use std::ffi::OsString;

use clap::{Command, CommandFactory};

use crate::cli::Cli;

pub(crate) use book::words as topics_of_the_book;
pub(crate) use flags::{default_of, of as options_of, pairs_with_value};

/// The flag that asks for every flag.
const EVERYTHING: &str = "--help-all";

/// How much help is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Short,
    Long,
    Everything,
}

/// The page that `fathom help WORD…` or `--help-all` asks for, before anything is
/// parsed. `None` where the arguments ask for none, or for one that is unknown.
pub(crate) fn asked_for(arguments: &[OsString]) -> Option<String> {
    let words = words(arguments);
    if words.first() == Some(&"help") {
        if let Some(page) = words.get(1).and_then(|topic| topics::page(topic)) {
            return Some(page);
        }
        let length = match words.last() {
            Some(&"all" | &EVERYTHING) => Length::Everything,
            _ => Length::Long,
        };
        let path: Vec<&str> = words[1..]
            .iter()
            .filter(|word| **word != "all" && !word.starts_with('-'))
            .copied()
            .collect();
        // A command of that name comes first; its page points to the other one.
        return page(&path, length, true)
            .or_else(|| words.get(1).and_then(|tool| topics::page_of_tool(tool)));
    }
    let own = words.iter().take_while(|word| **word != "--");
    let asked = own.into_iter().any(|word| *word == EVERYTHING);
    // What follows `fio` is fio's.
    let foreign = words.iter().take(2).any(|word| *word == "fio");
    let path: Vec<&str> = commands(&words).collect();
    (asked && !foreign).then(|| page(&path, Length::Everything, false))?
}

/// What is wrong with `fathom help WORD` where the word names nothing.
pub(crate) fn unknown_word(arguments: &[OsString]) -> Option<String> {
    let words = words(arguments);
    let (_, rest) = words.split_first().filter(|(first, _)| **first == "help")?;
    let word = rest.iter().find(|word| !word.starts_with('-'))?;
    let mut all = Cli::command();
    all.build();
    let commands: Vec<&str> = all.get_subcommands().map(Command::get_name).collect();
    (!commands.contains(word)).then(|| book::unknown(word, &commands))
}

/// The page in place of the one that the parser made for the same arguments.
pub(crate) fn in_place_of_parser(arguments: &[OsString]) -> Option<String> {
    let words = words(arguments);
    let length = match words.contains(&"--help") {
        true => Length::Long,
        false => Length::Short,
    };
    page(&commands(&words).collect::<Vec<_>>(), length, false)
}

/// The readable arguments without the program's name.
fn words(arguments: &[OsString]) -> Vec<&str> {
    let rest = arguments.iter().skip(1);
    rest.filter_map(|argument| argument.to_str()).collect()
}

/// Those that may name a command.
fn commands<'w>(words: &'w [&'w str]) -> impl Iterator<Item = &'w str> {
    words.iter().copied().filter(|word| !word.starts_with('-'))
}

/// The page of the command at `path`. `exact`: each word has to name a command;
/// else the rest are arguments.
fn page(path: &[&str], length: Length, exact: bool) -> Option<String> {
    let mut all = Cli::command();
    all.build();
    let mut found = &all;
    let mut depth = 0;
    for word in path {
        match found
            .find_subcommand(word)
            .filter(|sub| sub.get_name() != "help")
        {
            Some(sub) => (found, depth) = (sub, depth + 1),
            None if exact => return None,
            None => break,
        }
    }
    let found = found.clone();
    Some(match (depth, length) {
        (0, Length::Short) => groups::page(&all, false),
        (0, _) => groups::page(&all, true),
        (_, Length::Short) => short::page(&found),
        (_, Length::Long) => long::page(found),
        (_, Length::Everything) => everything(found),
    })
}

/// Every flag with its whole description, as the parser lays it out.
fn everything(command: Command) -> String {
    styled(command.max_term_width(100).render_long_help())
}

/// With colour where standard output takes it.
fn styled(text: clap::builder::StyledStr) -> String {
    use crate::output_flags::Color;
    match crate::present::use_color(Color::Auto, &std::io::stdout()) {
        true => text.ansi().to_string(),
        false => text.to_string(),
    }
}
