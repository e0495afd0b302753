//! Jobs: sections with the options that they inherit, every option known and
//! every value checked.

use std::sync::Arc;

use super::account::{FioEntry, OptionOutcome};
use super::lines::{RawSection, RawSetting, named, short};
use super::place::{FioPlace, FioProblem};
use super::table::{self, FioFate, FioOption};
use super::value::{self, Units};

/// Jobs of one run. fio's own limit is the same.
pub(crate) const MAX_JOBS: usize = 4096;

/// Settings of all jobs, each with those that it inherits.
const MAX_SETTINGS: usize = 500_000;

/// An option with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct FioSetting {
    /// Which option.
    pub option: &'static FioOption,
    /// The value after substitution; `None` when there was none.
    pub value: Option<String>,
    /// Where the option is.
    pub place: FioPlace,
    /// Where its value is.
    pub value_place: FioPlace,
}

/// A job section, before its clones.
#[derive(Debug, Clone, PartialEq)]
pub struct FioJob {
    /// Name of the section.
    pub name: String,
    /// Where it begins.
    pub place: FioPlace,
    /// What `[global]` sections above it and the command line say.
    pub inherited: Arc<[FioSetting]>,
    /// What it says itself.
    pub settings: Vec<FioSetting>,
    /// First job of a further job file: it waits for the jobs before it.
    pub first_of_file: bool,
}

/// All jobs of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FioJobs {
    /// Options of the command line and all `[global]` sections.
    pub globals: Vec<FioSetting>,
    /// The jobs in order.
    pub jobs: Vec<FioJob>,
    /// Names that fio does not know and that were left out.
    pub unknown: Vec<FioEntry>,
}

impl FioJob {
    /// The last setting of an option: its own before an inherited one.
    pub fn setting(&self, name: &str) -> Option<&FioSetting> {
        let is = |setting: &&FioSetting| setting.option.name == name;
        let own = self.settings.iter().rev().find(is);
        own.or_else(|| self.inherited.iter().rev().find(is))
    }

    /// Every setting of an option, the inherited ones first.
    pub fn settings_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a FioSetting> {
        self.all().filter(move |s| s.option.name == name)
    }

    /// Every setting, the inherited ones first.
    pub fn all(&self) -> impl Iterator<Item = &FioSetting> {
        self.inherited.iter().chain(&self.settings)
    }

    /// The value of an option as text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.setting(name)?.value.as_deref()
    }

    /// A switch; `default` where nothing is said.
    pub fn flag(&self, name: &str, default: bool) -> bool {
        match self.setting(name).map(|setting| setting.value.as_deref()) {
            None => default,
            Some(None) => true,
            Some(Some(text)) => value::words::switch(text).unwrap_or(default),
        }
    }

    /// A number of things; `None` where nothing is said.
    pub fn count(&self, name: &str) -> Option<u64> {
        let number = value::number::integer(self.text(name)?, self.units()).ok()?;
        u64::try_from(number).ok()
    }

    /// A time in nanoseconds; a number without a unit counts `bare_ns`.
    pub fn time_ns(&self, name: &str, bare_ns: u64) -> Option<u64> {
        value::number::time_ns(self.text(name)?, bare_ns).ok()
    }

    /// Numbers between colons.
    pub fn floats(&self, name: &str) -> Option<Vec<f64>> {
        value::lists::floats(self.text(name)?).ok()
    }

    pub(crate) fn units(&self) -> Units {
        units_of(self.inherited.iter().chain(&self.settings))
    }
}

fn units_of<'a>(settings: impl DoubleEndedIterator<Item = &'a FioSetting>) -> Units {
    let base = settings.rev().find(|s| s.option.name == "kb_base");
    Units {
        kb_base: match base.and_then(|s| s.value.as_deref()) {
            Some("1000") => 1000,
            _ => 1024,
        },
    }
}

/// How sections are read.
#[derive(Debug, Clone, Default)]
pub(crate) struct SectionRules<'a> {
    /// Names that fio does not know are left out and told.
    pub(crate) lenient: bool,
    /// Only these jobs; empty is all.
    pub(crate) only: &'a [String],
}

/// Collects sections into jobs.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    jobs: FioJobs,
    /// `globals` as they stand, shared by the jobs that follow.
    snapshot: Option<Arc<[FioSetting]>>,
    /// Settings of all jobs so far, with the inherited ones.
    settings: usize,
}

impl Collector {
    /// Takes a section.
    pub(crate) fn add(
        &mut self,
        section: RawSection,
        reading: &SectionRules<'_>,
        problems: &mut Vec<FioProblem>,
    ) {
        let global = section.is_global();
        // Nobody reads more mistakes than this.
        if problems.len() > 100 {
            return;
        }
        self.settings += section.settings.len() + self.jobs.globals.len();
        if self.settings > MAX_SETTINGS {
            let message = "the jobs have too many options, with those that they inherit";
            problems.push(FioProblem::at(&section.place, message));
            return;
        }
        if !global && !reading.only.is_empty() && !reading.only.contains(&section.name) {
            return;
        }
        let mut settings = Vec::new();
        for raw in section.settings {
            match known(&raw) {
                Ok(option) => settings.push(FioSetting {
                    option,
                    value: raw.value.clone(),
                    place: raw.place.clone(),
                    value_place: raw.value_place.clone(),
                }),
                Err(problem) if reading.lenient => self.jobs.unknown.push(FioEntry {
                    job: section.name.clone(),
                    option: named(&raw.name),
                    value: raw.value.clone(),
                    place: Some(raw.place.clone()),
                    outcome: OptionOutcome::Ignored(match problem.help {
                        Some(help) => format!("fio has no such option; {help}"),
                        None => "fio has no such option".to_owned(),
                    }),
                }),
                Err(problem) => problems.push(problem),
            }
            check(&raw, &settings, &self.jobs.globals, problems);
        }
        if global {
            self.jobs.globals.extend(settings);
            self.snapshot = None;
        } else if self.jobs.jobs.len() >= MAX_JOBS {
            let message = format!("there are more than {MAX_JOBS} jobs");
            problems.push(FioProblem::at(&section.place, message));
        } else {
            let globals = &self.jobs.globals;
            let inherited = self
                .snapshot
                .get_or_insert_with(|| globals.as_slice().into());
            self.jobs.jobs.push(FioJob {
                name: section.name,
                place: section.place,
                inherited: Arc::clone(inherited),
                settings,
                first_of_file: section.first_of_file,
            });
        }
    }

    pub(crate) fn finish(self) -> FioJobs {
        self.jobs
    }
}

/// The option that a setting names.
fn known(raw: &RawSetting) -> Result<&'static FioOption, FioProblem> {
    if let Some(option) = table::fio_option(&raw.name) {
        return Ok(option);
    }
    let message = format!("fio has no option '{}'", named(&raw.name));
    let problem = FioProblem::at(&raw.place, message);
    Err(match table::meant(&raw.name) {
        Some(meant) => problem.help(format!("did you mean '{meant}'?")),
        None => problem,
    })
}

/// Checks the value of the setting that was just taken.
fn check(
    raw: &RawSetting,
    settings: &[FioSetting],
    globals: &[FioSetting],
    problems: &mut Vec<FioProblem>,
) {
    let Some(setting) = settings.last().filter(|s| s.place == raw.place) else {
        return;
    };
    // What an engine means that is not here, only it can tell.
    if matches!(setting.option.fate, FioFate::OtherEngine(_)) && raw.value.is_some() {
        return;
    }
    let units = units_of(globals.iter().chain(settings));
    if let Err(wrong) = value::check(setting.option, raw.value.as_deref(), units) {
        let place = raw.value_place.right(wrong.at);
        let message = format!("{}: {}", setting.option.name, wrong.message);
        let problem = FioProblem::at(&place, message);
        problems.push(match raw.unset.first() {
            Some(variable) => problem.help(format!(
                "the environment variable {} is not set",
                short(variable)
            )),
            None => problem,
        });
    }
}
