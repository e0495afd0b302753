//! The `fathom` command: flags in, calls of the rooms below, text out.
//!
//! The binary in `crates/fathom` only calls [`main`]. It is a package of its own
//! because the optimizer of a linked program follows the settings of its last
//! package: that one is compiled for speed, the commands for size.

mod arguments;
mod cli;
mod command;
mod document_formats;
mod exit;
mod help;
mod mistake;
mod settings;
mod synonym;
mod typed_command;
mod version;
mod whole_seconds;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};
use fathom_runs::{
    changed_limits, distinct_files, metrics, output_flags, pipeline, present, run_identity, shown,
    signals, surroundings,
};

use crate::cli::Cli;
use crate::command::Command;
use crate::exit::Exit;
use crate::output_flags::Color;

/// Does what the arguments of this process ask for.
pub fn main() -> ExitCode {
    fathom_console::share_one_arena_under_a_limit();
    fathom_console::with_enough_stack(work)
}

fn work() -> ExitCode {
    if let Err(error) = fathom_console::has_room() {
        present::complain(&error.to_string());
        return Exit::Failure.into();
    }
    if let Err(error) = signals::survive_file_limits() {
        present::complain(&format!("cannot install the signal handlers: {error}"));
    }
    let arguments = arguments::of_kubectl(std::env::args_os().collect());
    let arguments = arguments::in_full(arguments);
    let has_own_name = arguments::command_of_link(&arguments).is_none() && !is_fio(&arguments);
    let page = || version::asked_for(&arguments).or_else(|| help::asked_for(&arguments));
    if let Some(page) = has_own_name.then(page).flatten() {
        return shown(&page);
    }
    if let Some(problem) = has_own_name
        .then(|| help::unknown_word(&arguments))
        .flatten()
    {
        let error = exit::CommandError::Usage(problem).into();
        exit::tell(&error);
        return exit::of_error(&error).into();
    }
    let command = match command(arguments.iter().cloned()) {
        Ok(command) => command,
        Err(error) => match page_of(&error, &arguments).filter(|_| has_own_name) {
            Some(page) if !error.use_stderr() => return shown(&page),
            Some(page) => {
                present::write_styled_stderr(&page);
                return Exit::Usage.into();
            }
            None => return told(&error),
        },
    };
    if !matches!(command, Command::Agent(_)) {
        fathom_deadline::tell_when_waiting(present::complain);
    }
    let shows_silence = command.shows_silence();
    let exit = command.run(Cli::command).unwrap_or_else(|error| {
        exit::tell(&error);
        exit::of_error(&error)
    });
    for silent in fathom_deadline::not_responding() {
        if !shows_silence && !present::has_complained_about(&silent.what) {
            present::complain(&silent.to_string());
        }
    }
    exit.into()
}

/// Whether this program was called by the name of fio.
fn is_fio(arguments: &[OsString]) -> bool {
    let program = arguments.first().map(Path::new);
    program.and_then(Path::file_name) == Some(OsStr::new("fio"))
}

/// The page of help in place of the one that the parser of arguments made.
fn page_of(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            help::in_place_of_parser(arguments)
        }
        _ => None,
    }
}

/// What is asked for: by the name of the program where it is a link named
/// after another tool, else by its arguments.
fn command(arguments: impl Iterator<Item = OsString>) -> Result<Command, Box<clap::Error>> {
    let arguments: Vec<OsString> = arguments.collect();
    if is_fio(&arguments) {
        return Ok(Command::Fio(command::fio::Fio {
            arguments: arguments.into_iter().skip(1).collect(),
            as_fio: true,
        }));
    }
    let arguments = arguments::join_switch_values(arguments);
    let mut all = Cli::command();
    let link = arguments::command_of_link(&arguments);
    let word = link.or_else(|| arguments.get(1).and_then(|word| word.to_str()));
    // Its own flags are made when it is the one; those of a group of commands are
    // made with what each of them is for.
    let one = |name: &str| match all.find_subcommand(name) {
        Some(found) => name != "help" && !found.has_subcommands(),
        None => name == "--version",
    };
    if !word.is_some_and(one) {
        all.build();
    }
    let mut arguments = arguments;
    let mut added = settings::Added::default();
    if let Some(name) = link {
        // Help and usage then show the name that was typed.
        all = all.bin_name("");
        arguments.insert(1, name.into());
    } else {
        (arguments, added) = settings::of_user(arguments)?;
    }
    let typed = arguments.clone();
    let matches = all
        .try_get_matches_from(arguments)
        .map_err(|error| Box::new(mistake::explained(added.explain(error), &typed)))?;
    match Cli::from_arg_matches(&matches) {
        Ok(cli) => {
            if cli.force {
                present::allow_overwriting();
            }
            Ok(cli.command)
        }
        Err(error) => Err(Box::new(error.format(&mut Cli::command()))),
    }
}

/// Writes a page of help.
fn shown(page: &str) -> ExitCode {
    match present::write_stdout(page) {
        Ok(()) => Exit::Success.into(),
        Err(error) => {
            exit::tell(&error);
            exit::of_error(&error).into()
        }
    }
}

/// Shows what the parser of arguments says: help on standard output, a mistake
/// on standard error, without the secrets that it may repeat.
fn told(error: &clap::Error) -> ExitCode {
    let text = error.render();
    if !error.use_stderr() {
        return shown(&match present::use_color(Color::Auto, &std::io::stdout()) {
            true => text.ansi().to_string(),
            false => text.to_string(),
        });
    }
    let color = present::use_color(Color::Auto, &std::io::stderr());
    let arguments: Vec<OsString> = std::env::args_os().collect();
    present::fail(&mistake::in_one_form(&text.to_string(), &arguments), color);
    Exit::Usage.into()
}
