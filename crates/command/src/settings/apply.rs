//! Adds the options that the user set to those that were typed.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use fathom_model::nearest::nearest;

use super::file::{DEFAULTS, Section, Setting, SettingValue, SettingsFile};
use super::{ONLY_TYPED, SettingsError, variable_of};

/// Where the value of an option comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    BuiltIn,
    /// The variable of this name.
    Variable(&'static str),
    /// A place of the file of settings.
    File(Setting),
}

/// Where an option of the command at `path` has its value from, where nothing is typed.
pub(crate) fn origin(file: Option<&SettingsFile>, path: &[String], arg: &Arg) -> Origin {
    if let Some(variable) = arg.get_long().and_then(variable_of) {
        return Origin::Variable(variable);
    }
    let set = file.and_then(|file| {
        let mut settings = file.settings_of(path);
        settings.rfind(|setting| is_named(arg, &setting.option))
    });
    set.map_or(Origin::BuiltIn, |setting| Origin::File(setting.clone()))
}

/// The arguments with what the file sets for the command that they call, and how the
/// file named each of the options it added.
///
/// # Errors
/// Where the file sets what the command does not have, or what has to be typed.
pub(crate) fn with_settings(
    file: &SettingsFile,
    path: &[String],
    command: &Command,
    arguments: Vec<OsString>,
) -> Result<(Vec<OsString>, Vec<Setting>), SettingsError> {
    file.check_section(path, command)?;
    let begin = path.len() + 1;
    let typed = typed(command, arguments.get(begin..).unwrap_or_default());
    let mut added: Vec<(&Arg, &Setting)> = Vec::new();
    for setting in file.settings_of(path) {
        let Some(arg) = argument_of(command, &setting.option) else {
            continue;
        };
        let is_set = variable_of(&setting.option).is_some();
        if !is_set && !is_ruled_out(command, arg, &typed) {
            // The section of the command comes after the defaults.
            added.retain(|(known, _)| known.get_id() != arg.get_id());
            added.push((arg, setting));
        }
    }
    let mut all = arguments;
    let tail = all.split_off(begin.min(all.len()));
    for (arg, setting) in &added {
        all.extend(words(file, arg, setting)?);
    }
    all.extend(tail);
    Ok((all, added.into_iter().map(|(_, set)| set.clone()).collect()))
}

impl SettingsFile {
    /// What it sets for a command: the defaults, then its own section.
    pub(crate) fn settings_of<'f>(
        &'f self,
        path: &'f [String],
    ) -> impl DoubleEndedIterator<Item = &'f Setting> {
        let of = |wanted: &'f [String]| {
            let found = self.sections.iter().filter(move |s| s.command == wanted);
            found.flat_map(|section| &section.settings)
        };
        of(&[]).chain(of(path))
    }

    /// Finds options that the command of a section does not have.
    pub(crate) fn check_section(
        &self,
        path: &[String],
        command: &Command,
    ) -> Result<(), SettingsError> {
        let own = |section: &&Section| section.command == path || section.command.is_empty();
        for section in self.sections.iter().filter(own) {
            for setting in &section.settings {
                self.check_typed(setting)?;
                let is_own = !section.command.is_empty();
                if is_own && argument_of(command, &setting.option).is_none() {
                    let known = command.get_arguments().filter_map(Arg::get_long);
                    return Err(self.unknown(setting, &path.join(" "), known));
                }
            }
        }
        Ok(())
    }

    /// Whether an option may be set for good.
    pub(super) fn check_typed(&self, setting: &Setting) -> Result<(), SettingsError> {
        if !ONLY_TYPED.contains(&setting.option.as_str()) {
            return Ok(());
        }
        let problem = format!(
            "'{0}' cannot be set for good\nhelp: type --{0} each time it is meant",
            setting.option
        );
        Err(self.error(setting.at, problem))
    }

    /// An option that there is not.
    pub(crate) fn unknown<'a>(
        &self,
        setting: &Setting,
        command: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> SettingsError {
        let option = &setting.option;
        let mut problem = match command {
            "" => format!("no command has an option '{option}'"),
            command => format!("{command} has no option '{option}'"),
        };
        match nearest(option, known) {
            Some(near) => problem += &format!("\nhelp: did you mean '{near}'?"),
            None if command.is_empty() => {
                problem += "\nhelp: fathom config show lists those that are set";
            }
            None => problem += &format!("\nhelp: fathom {command} --help-all lists its options"),
        }
        self.error(setting.at, problem)
    }

    /// A section that no command has the name of.
    pub(crate) fn unknown_section<'a>(
        &self,
        section: &Section,
        known: impl Iterator<Item = &'a str>,
    ) -> SettingsError {
        let name = section.command.join(".");
        let tables = super::NamedKind::ALL.map(super::NamedKind::table);
        let near = nearest(&name, known.chain(tables).chain([DEFAULTS]));
        let help = match near {
            Some(near) => format!("did you mean [{near}]?"),
            None => "sections are named after commands, such as [io] or [runs.list]".to_owned(),
        };
        self.error(
            section.at,
            format!("no command is called '{name}'\nhelp: {help}"),
        )
    }
}

/// The option of a command that has this long name.
pub(crate) fn argument_of<'c>(command: &'c Command, option: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|arg| is_named(arg, option))
}

fn is_named(arg: &Arg, option: &str) -> bool {
    let others = arg.get_all_aliases().unwrap_or_default();
    arg.get_long() == Some(option) || others.contains(&option)
}

/// What was typed after the words of the command, as far as it can be read: what is
/// wrong with it is told later, with everything in place.
fn typed(command: &Command, rest: &[OsString]) -> ArgMatches {
    let probe = command.clone().ignore_errors(true).no_binary_name(true);
    probe.try_get_matches_from(rest).unwrap_or_default()
}

/// Whether an option was typed itself, or one that cannot stand beside it.
fn is_ruled_out(command: &Command, arg: &Arg, typed: &ArgMatches) -> bool {
    let is_typed = |id: &clap::Id| {
        let known = typed.try_contains_id(id.as_str()).unwrap_or(false);
        known && typed.value_source(id.as_str()) == Some(ValueSource::CommandLine)
    };
    let beside = command.get_groups().filter(|group| {
        !(*group).clone().is_multiple() && group.get_args().any(|id| id == arg.get_id())
    });
    let against = |other: &Arg| {
        let conflicts = command.get_arg_conflicts_with(other);
        conflicts.iter().any(|found| found.get_id() == arg.get_id())
    };
    is_typed(arg.get_id())
        || beside.flat_map(clap::ArgGroup::get_args).any(is_typed)
        || command
            .get_arg_conflicts_with(arg)
            .iter()
            .any(|other| is_typed(other.get_id()))
        || command
            .get_arguments()
            .any(|other| is_typed(other.get_id()) && against(other))
}

/// The words that set an option.
pub(super) fn words(
    file: &SettingsFile,
    arg: &Arg,
    setting: &Setting,
) -> Result<Vec<OsString>, SettingsError> {
    let name = arg.get_long().unwrap_or(&setting.option);
    let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    match &setting.value {
        SettingValue::Switch(on) if !takes_value => match on {
            true => Ok(vec![format!("--{name}").into()]),
            false => Ok(Vec::new()),
        },
        value if !takes_value => {
            let problem = format!(
                "'{}' is on or off, not '{}'\nhelp: write true or false",
                setting.option,
                value.shown()
            );
            Err(file.error(setting.at, problem))
        }
        SettingValue::List(values) if matches!(arg.get_action(), ArgAction::Append) => {
            let word = |value: &String| OsString::from(format!("--{name}={value}"));
            Ok(values.iter().map(word).collect())
        }
        value => Ok(vec![format!("--{name}={}", value.shown()).into()]),
    }
}
