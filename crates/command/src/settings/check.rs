//! Whether all of a file of settings fits the commands there are.

use std::ffi::OsString;

use clap::{Arg, Command};
use fathom_model::Target;

use super::SettingsError;
use super::apply::{argument_of, words};
use super::file::{Named, Section, Setting, SettingsFile};

impl SettingsFile {
    /// Everything that is wrong with it. `all` has every command with its flags.
    pub(crate) fn mistakes(&self, all: &Command) -> Vec<SettingsError> {
        let mut mistakes = Vec::new();
        for section in &self.sections {
            match self.command_of(section, all) {
                Ok(command) => mistakes.extend(self.mistakes_of(section, command, all)),
                Err(mistake) => mistakes.push(mistake),
            }
        }
        mistakes.extend(
            self.names
                .iter()
                .filter_map(|named| self.name_fits(named, all).err()),
        );
        mistakes
    }

    /// Whether what a name stands for can be typed in its place.
    fn name_fits(&self, named: &Named, all: &Command) -> Result<(), SettingsError> {
        for value in &named.values {
            if let Some(other) = value.strip_prefix('@') {
                let problem = format!(
                    "'{}' stands for the name '@{other}', and names are not followed\n\
                     help: write what it stands for",
                    named.name
                );
                return Err(self.error(named.at, problem));
            }
            let fits = match named.kind.option() {
                None => value
                    .parse::<Target>()
                    .map(drop)
                    .map_err(|error| error.to_string()),
                Some(option) => {
                    let owner = with_option(all, option);
                    let arg = owner.and_then(|owner| argument_of(owner, option));
                    let word = format!("--{option}={value}").into();
                    arg.map_or(Ok(()), |arg| takes(arg, vec![word]))
                }
            };
            fits.map_err(|problem| self.error(named.at, problem))?;
        }
        Ok(())
    }

    /// The command that a section is about; all of them for the defaults.
    fn command_of<'c>(
        &self,
        section: &Section,
        all: &'c Command,
    ) -> Result<&'c Command, SettingsError> {
        let mut command = all;
        for word in &section.command {
            let known = |sub: &&Command| sub.get_name() == word && word != "help";
            command = command.get_subcommands().find(known).ok_or_else(|| {
                let names = command.get_subcommands().map(Command::get_name);
                self.unknown_section(section, names)
            })?;
        }
        Ok(command)
    }

    fn mistakes_of(
        &self,
        section: &Section,
        command: &Command,
        all: &Command,
    ) -> Vec<SettingsError> {
        let is_own = !section.command.is_empty();
        let mut mistakes = Vec::new();
        for setting in &section.settings {
            let owner = match is_own {
                true => Some(command),
                false => with_option(all, &setting.option),
            };
            let known = owner.and_then(|owner| argument_of(owner, &setting.option));
            let found = match known {
                Some(arg) => self
                    .check_typed(setting)
                    .and_then(|()| self.value_fits(arg, setting)),
                None => {
                    let mut names = Vec::new();
                    options(command, is_own, &mut names);
                    let names = names.iter().map(String::as_str);
                    Err(self.unknown(setting, &section.command.join(" "), names))
                }
            };
            mistakes.extend(found.err());
        }
        mistakes
    }

    /// Whether the option takes the value.
    fn value_fits(&self, arg: &Arg, setting: &Setting) -> Result<(), SettingsError> {
        let words = words(self, arg, setting)?;
        if setting.value.shown().starts_with('@') {
            return Ok(());
        }
        takes(arg, words).map_err(|problem| self.error(setting.at, problem))
    }
}

/// Whether an option takes these words, and otherwise what is wrong with them.
fn takes(arg: &Arg, words: Vec<OsString>) -> Result<(), String> {
    let mut alone = Arg::new("value")
        .long(arg.get_long().unwrap_or_default().to_owned())
        .action(arg.get_action().clone())
        .value_parser(arg.get_value_parser().clone());
    if let Some(names) = arg.get_value_names() {
        alone = alone.value_names(names.iter().cloned());
    }
    if arg.is_require_equals_set() {
        alone = alone.require_equals(true).num_args(0..=1);
    }
    let probe = Command::new("fathom").no_binary_name(true).arg(alone);
    let Err(error) = probe.try_get_matches_from(words) else {
        return Ok(());
    };
    let text = error.to_string();
    let text = text.trim_start_matches("error: ");
    let problem: Vec<&str> = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage") && !line.starts_with("For more"))
        .filter(|line| !line.is_empty())
        .collect();
    Err(problem.join("\n"))
}

/// A command, at any depth, that has an option.
fn with_option<'c>(command: &'c Command, option: &str) -> Option<&'c Command> {
    if argument_of(command, option).is_some() {
        return Some(command);
    }
    let mut below = command.get_subcommands();
    below.find_map(|sub| with_option(sub, option))
}

/// The names of the options of a command; `alone`: not of those below it.
fn options(command: &Command, alone: bool, names: &mut Vec<String>) {
    let longs = command.get_arguments().filter_map(Arg::get_long);
    names.extend(longs.map(str::to_owned));
    if !alone {
        for sub in command.get_subcommands() {
            options(sub, alone, names);
        }
    }
}
