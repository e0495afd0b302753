//! What one job asks for: its options by name and type, and what became of
//! each.

use std::collections::BTreeMap;

use crate::fio::request::account::{FioEntry, OptionOutcome};
use crate::fio::request::jobs::{FioJob, FioSetting};
use crate::fio::request::place::FioProblem;
use crate::fio::request::table::{FioFate, FioKind};
use crate::fio::request::value::lists::{self, Three};
use crate::fio::request::value::number::{self, Amount};
use crate::fio::request::value::{Units, words};

/// A job while it is mapped. Values were checked when they were read, so that
/// one that cannot be read counts as not given.
pub(super) struct Asked<'a> {
    pub(super) job: &'a FioJob,
    pub(super) units: Units,
    /// The last setting of each option, with its place among all.
    last: BTreeMap<&'static str, (usize, &'a FioSetting)>,
    /// What became of options where that is not what the table says.
    outcomes: BTreeMap<&'static str, OptionOutcome>,
    pub(super) problems: Vec<FioProblem>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(job: &'a FioJob) -> Asked<'a> {
        let all = job.all().enumerate();
        Asked {
            job,
            units: job.units(),
            last: all.map(|(place, s)| (s.option.name, (place, s))).collect(),
            outcomes: BTreeMap::new(),
            problems: Vec::new(),
        }
    }

    fn setting(&self, name: &str) -> Option<&'a FioSetting> {
        self.last.get(name).map(|(_, setting)| *setting)
    }

    /// The one of two options that is set later.
    pub(super) fn later(&self, one: &'static str, other: &'static str) -> Option<&'static str> {
        let place = |name| self.last.get(name).map(|(place, _)| *place);
        match (place(one), place(other)) {
            (None, None) => None,
            (one_at, other_at) => Some(if one_at > other_at { one } else { other }),
        }
    }

    /// Whether the job or what it inherits says anything of it.
    pub(super) fn has(&self, name: &str) -> bool {
        self.setting(name).is_some()
    }

    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.setting(name)?.value.as_deref()
    }

    /// The word of a choice, or its default.
    pub(super) fn word(&self, name: &str, default: &'static str) -> &'a str {
        self.text(name).map_or(default, str::trim)
    }

    /// A flag or switch; `default` where nothing is said.
    pub(super) fn flag(&self, name: &str, default: bool) -> bool {
        match self.setting(name) {
            None => default,
            Some(setting) => match setting.value.as_deref() {
                None => true,
                Some(text) => words::switch(text).unwrap_or(default),
            },
        }
    }

    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        number::integer(self.text(name)?, self.units).ok()
    }

    /// A number of things; below 0 counts as 0.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        self.integer(name).map(|n| u64::try_from(n).unwrap_or(0))
    }

    pub(super) fn bytes(&self, name: &str) -> Option<u64> {
        number::bytes(self.text(name)?, self.units).ok()
    }

    pub(super) fn amount(&self, name: &str) -> Option<Amount> {
        number::amount(self.text(name)?, self.units).ok()
    }

    pub(super) fn seconds_ns(&self, name: &str) -> Option<u64> {
        number::time_ns(self.text(name)?, number::SECOND_NS).ok()
    }

    pub(super) fn micro_ns(&self, name: &str) -> Option<u64> {
        number::time_ns(self.text(name)?, number::MICROSECOND_NS).ok()
    }

    pub(super) fn three_bytes(&self, name: &str) -> Option<Three<u64>> {
        lists::three(self.text(name)?, |t| number::bytes(t, self.units)).ok()
    }

    pub(super) fn three_integers(&self, name: &str) -> Option<Three<i64>> {
        lists::three(self.text(name)?, |t| number::integer(t, self.units)).ok()
    }

    /// The names of all settings of a list: fio adds those of a job to those
    /// that it inherits.
    pub(super) fn names(&self, name: &str) -> Vec<String> {
        let settings = self.job.settings_of(name);
        let texts = settings.filter_map(|setting| setting.value.as_deref());
        texts
            .filter_map(|text| lists::names(text).ok())
            .flatten()
            .collect()
    }

    /// Says what became of an option.
    pub(super) fn becomes(&mut self, name: &'static str, outcome: OptionOutcome) {
        if self.has(name) {
            self.outcomes.insert(name, outcome);
        }
    }

    pub(super) fn mapped(&mut self, name: &'static str, remark: impl Into<String>) {
        self.becomes(name, OptionOutcome::Mapped(remark.into()));
    }

    pub(super) fn ignored(&mut self, name: &'static str, remark: impl Into<String>) {
        self.becomes(name, OptionOutcome::Ignored(remark.into()));
    }

    pub(super) fn refused(&mut self, name: &'static str, remark: impl Into<String>) {
        self.becomes(name, OptionOutcome::Refused(remark.into()));
    }

    /// A mistake in the job that no single option explains.
    pub(super) fn problem(&mut self, name: &str, message: impl Into<String>) {
        let place = match self.setting(name) {
            Some(setting) => &setting.value_place,
            None => &self.job.place,
        };
        let message = format!("[{}] {}", self.job.name, message.into());
        self.problems.push(FioProblem::at(place, message));
    }

    /// Every option of the job with what became of it; what is refused is a
    /// problem as well.
    pub(super) fn account(mut self) -> (Vec<FioEntry>, Vec<FioProblem>) {
        let mut entries = Vec::new();
        for setting in self.job.all() {
            let outcome = match self.outcomes.get(setting.option.name) {
                Some(outcome) => outcome.clone(),
                None => by_table(setting),
            };
            if let OptionOutcome::Refused(help) = &outcome {
                let name = setting.option.name;
                let message = match &setting.value {
                    Some(value) => {
                        format!(
                            "{name}={} cannot be run",
                            crate::fio::request::lines::short(value)
                        )
                    }
                    None => format!("{name} cannot be run"),
                };
                let problem = FioProblem::at(&setting.place, message).help(help.clone());
                if !self.problems.contains(&problem) {
                    self.problems.push(problem);
                }
            }
            entries.push(FioEntry {
                job: self.job.name.clone(),
                option: setting.option.name.to_owned(),
                value: setting.value.clone(),
                place: Some(setting.place.clone()),
                outcome,
            });
        }
        (entries, self.problems)
    }
}

/// What the table says of an option. A value that is fio's default asks for
/// nothing.
fn by_table(setting: &FioSetting) -> OptionOutcome {
    let option = setting.option;
    let value = setting.value.as_deref().map(str::trim);
    let off = matches!(option.kind, FioKind::Bool | FioKind::Flag) && value == Some("0");
    let default_off = option.default.is_none_or(|default| default == "0");
    let is_default = (value.is_some() && value == option.default) || (off && default_off);
    match &option.fate {
        FioFate::Run(_) => OptionOutcome::Run,
        _ if is_default => OptionOutcome::Run,
        FioFate::Mapped(remark) => OptionOutcome::Mapped((*remark).to_owned()),
        FioFate::Ignored(remark) => OptionOutcome::Ignored((*remark).to_owned()),
        FioFate::Refused(remark) => OptionOutcome::Refused((*remark).to_owned()),
        FioFate::OtherEngine(engine) => {
            OptionOutcome::Ignored(format!("it belongs to the engine {engine}"))
        }
    }
}
