//! `fathom man`: manual pages, of one command or of all.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Command};
use fathom_outputs::Mark;

use crate::exit::{CommandError, Exit};
use crate::present;

/// Print the manual page of fathom or of a command.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom man > fathom.1 && man ./fathom.1
  fathom man runs list
  fathom man --all man1                  A file for each command")]
pub(crate) struct Man {
    /// The command; without one, fathom itself.
    command: Vec<String>,
    /// Write the pages of all commands to this folder.
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    all: Option<PathBuf>,
}

pub(crate) fn run(man: &Man, mut program: Command) -> anyhow::Result<Exit> {
    program.build();
    if let Some(folder) = &man.all {
        fathom_outputs::make_folder(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        let mut pages = Vec::new();
        collect(&program, "fathom", &mut pages);
        for (name, page) in &pages {
            present::write_file(&folder.join(format!("{name}.1")), Mark::Line(FIRST), page)?;
        }
        present::write_stdout(&format!("{} pages in {}\n", pages.len(), folder.display()))?;
        return Ok(Exit::Success);
    }
    let mut name = "fathom".to_owned();
    let mut found = &program;
    for word in &man.command {
        found = found.find_subcommand(word).ok_or_else(|| {
            let names = found.get_subcommands().map(Command::get_name);
            let meant = fathom_model::nearest::did_you_mean(word, names);
            CommandError::Usage(format!(
                "no command '{word}' of {name}{meant}\nhelp: fathom --help"
            ))
        })?;
        name = format!("{name}-{}", found.get_name());
    }
    present::write_stdout(&page(found, &name)?)?;
    Ok(Exit::Success)
}

/// The first line of every page.
const FIRST: &str = ".ie \\n(.g .ds Aq \\(aq";

fn page(command: &Command, name: &str) -> anyhow::Result<String> {
    let mut page = Vec::new();
    let command = command.clone().name(name.to_owned());
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// The pages of a command and those below it.
fn collect(command: &Command, name: &str, pages: &mut Vec<(String, String)>) {
    if let Ok(page) = page(command, name) {
        pages.push((name.to_owned(), page));
    }
    let shown = |sub: &&Command| !sub.is_hide_set() && sub.get_name() != "help";
    for sub in command.get_subcommands().filter(shown) {
        collect(sub, &format!("{name}-{}", sub.get_name()), pages);
    }
}
