//! fio's command line: its own switches, options of jobs, and job files.
//!
//! Options before the first `--name` count for all jobs, `--name` starts a job,
//! what follows it belongs to the job. `--opt=value`, `--opt value` and a single
//! dash are the same. Job files right behind a `--client` are that host's.

use std::sync::Arc;

use super::clients::JobFiles;
use super::jobs::{Collector, FioJobs, SectionRules};
use super::lines::{self, RawSection, RawSetting, named, short};
use super::place::{FioPlace, FioProblem, FioProblems};
use super::surroundings::FioSurroundings;
use super::switches::{self, FioAction, FioRun, Switch};
use super::table;

/// A command line of fio as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct FioRequest {
    /// What is asked for.
    pub action: FioAction,
    /// Switches of the whole run.
    pub run: FioRun,
    /// The jobs of the command line and of job files.
    pub jobs: FioJobs,
}

/// More arguments are no command line.
const MAX_ARGUMENTS: usize = 100_000;

/// Reads a command line, without the name of the program, and the job files
/// that it names.
///
/// # Errors
/// Everything that is wrong, each with its place.
pub fn read_fio(
    arguments: &[String],
    surroundings: &dyn FioSurroundings,
) -> Result<FioRequest, FioProblems> {
    let mut line = Line {
        surroundings,
        file: Arc::from("command line"),
        run: FioRun::default(),
        action: FioAction::Run,
        sections: Vec::new(),
        job_files: JobFiles::default(),
        problems: Vec::new(),
    };
    if arguments.len() > MAX_ARGUMENTS {
        return Err(FioProblems::one(FioProblem::nowhere(
            "there are too many arguments",
        )));
    }
    line.read(arguments);
    line.finish()
}

struct Line<'a> {
    surroundings: &'a dyn FioSurroundings,
    file: Arc<str>,
    run: FioRun,
    action: FioAction,
    sections: Vec<RawSection>,
    job_files: JobFiles,
    problems: Vec<FioProblem>,
}

impl Line<'_> {
    fn read(&mut self, arguments: &[String]) {
        let mut rest = arguments.iter().zip(1..).peekable();
        while let Some((argument, number)) = rest.next() {
            let place = FioPlace::new(&self.file, number, 0);
            let name = argument
                .strip_prefix("--")
                .or_else(|| argument.strip_prefix('-'));
            let Some(name) = name.filter(|name| !name.is_empty()) else {
                self.job_files.add(argument, place);
                continue;
            };
            self.job_files.another_option();
            let (name, joined) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (name, None),
            };
            let mut following = |wanted: Wanted| match (&joined, wanted) {
                (Some(value), _) => Some(value.clone()),
                (None, Wanted::Never) => None,
                (None, Wanted::Always) => rest.next().map(|(value, _)| value.clone()),
                (None, Wanted::Unless) => rest
                    .next_if(|(next, _)| !next.starts_with('-'))
                    .map(|(value, _)| value.clone()),
            };
            if let Some(switch) = switches::lookup(name) {
                let value = following(if switch.needs_value {
                    Wanted::Always
                } else {
                    Wanted::Never
                });
                self.switch(switch, value, &place);
            } else {
                let wanted = match table::fio_option(name).map(|option| &option.kind) {
                    Some(table::FioKind::Flag) => Wanted::Never,
                    Some(table::FioKind::Name | table::FioKind::Gone) => Wanted::Unless,
                    Some(_) => Wanted::Always,
                    // What is meant can only be guessed.
                    None => Wanted::Never,
                };
                let value = following(wanted);
                self.option(name, value, place);
            }
        }
    }

    fn switch(&mut self, switch: &'static Switch, value: Option<String>, place: &FioPlace) {
        if switch.needs_value && value.as_deref().is_none_or(str::is_empty) {
            let message = format!("--{} needs a value", switch.name);
            self.problems.push(FioProblem::at(place, message));
            return;
        }
        if switch.name == "client" {
            let client = value.as_deref().unwrap_or_default();
            self.job_files.client(client, place.clone());
        }
        if let Err(problem) = switches::apply(switch, value, &mut self.run, &mut self.action) {
            let message = format!("--{}: {}", switch.name, problem.0);
            let wrong = FioProblem::at(place, message);
            self.problems.push(match problem.1 {
                Some(help) => wrong.help(help),
                None => wrong,
            });
        }
    }

    fn option(&mut self, name: &str, value: Option<String>, place: FioPlace) {
        let is_name = name == "name";
        if is_name && value.as_deref().is_none_or(str::is_empty) {
            self.problems
                .push(FioProblem::at(&place, "--name needs a value"));
            return;
        }
        if self.sections.is_empty() && !is_name {
            self.sections.push(section("global", &place));
        }
        if let Some(value) = value.as_ref().filter(|_| is_name) {
            self.sections.push(section(value, &place));
        }
        // The shell has put in its variables; fio's keywords are ours.
        let text = match &value {
            Some(value) => format!("{name}={value}"),
            None => name.to_owned(),
        };
        match lines::setting(&text, place.clone(), self.surroundings) {
            Ok(setting) => self.keep(RawSetting {
                name: name.to_owned(),
                ..setting
            }),
            Err(error) => {
                let problem = FioProblem::at(&place, error.to_string());
                self.problems.push(problem);
            }
        }
    }

    fn keep(&mut self, setting: RawSetting) {
        if table::fio_option(&setting.name).is_none()
            && let Some(switch) = switches::nearest(&setting.name)
            && table::meant(&setting.name).is_none()
        {
            let message = format!("fio has no option '{}'", named(&setting.name));
            let problem = FioProblem::at(&setting.place, message);
            self.problems
                .push(problem.help(format!("did you mean '--{switch}'?")));
            return;
        }
        if let Some(section) = self.sections.last_mut() {
            section.settings.push(setting);
        }
    }

    fn finish(mut self) -> Result<FioRequest, FioProblems> {
        let mut collector = Collector::default();
        let only = self.run.sections.clone();
        let reading = SectionRules {
            lenient: self.run.lenient,
            only: &only,
        };
        for section in std::mem::take(&mut self.sections) {
            collector.add(section, &reading, &mut self.problems);
        }
        let job_files = std::mem::take(&mut self.job_files);
        let job_files = job_files.of_all_hosts().unwrap_or_else(|problem| {
            self.problems.push(problem);
            Vec::new()
        });
        for (number, (path, place)) in job_files.into_iter().enumerate() {
            let text = match self.surroundings.read(&path) {
                Ok(text) => text,
                Err(why) => {
                    let message = format!("cannot read the job file '{}': {why}", short(&path));
                    self.problems.push(FioProblem::at(&place, message));
                    continue;
                }
            };
            let mut sections = lines::read(&path, &text, self.surroundings, &mut self.problems);
            if let Some(first) = sections.iter_mut().find(|s| !s.is_global()) {
                first.first_of_file = number > 0;
            }
            for section in sections {
                collector.add(section, &reading, &mut self.problems);
            }
        }
        let jobs = collector.finish();
        if jobs.jobs.is_empty() && self.problems.is_empty() && self.action.needs_jobs() {
            let problem = FioProblem::nowhere("there is no job");
            let help = match only.is_empty() {
                true => "name a job file, or start one with --name=NAME".to_owned(),
                false => format!("no section is called {}", only.join(" or ")),
            };
            self.problems.push(problem.help(help));
        }
        FioProblems::result(self.problems)?;
        Ok(FioRequest {
            action: self.action,
            run: self.run,
            jobs,
        })
    }
}

/// Whether an option takes the next argument as its value.
#[derive(Clone, Copy)]
enum Wanted {
    Always,
    Never,
    /// Unless it looks like another option.
    Unless,
}

fn section(name: &str, place: &FioPlace) -> RawSection {
    RawSection {
        name: name.to_owned(),
        place: place.clone(),
        first_of_file: false,
        settings: Vec::new(),
    }
}
