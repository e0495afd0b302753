//! Which jobs run at the same time, who waits for whom, and reporting groups.

use std::collections::BTreeMap;

use fathom_model::ScheduledTrial;

use super::asked::Asked;
use crate::fio::request::jobs::FioJob;

/// Follows the jobs of a run in their order.
pub(super) struct Stages {
    /// Names of all jobs, for mistakes in `wait_for`.
    names: Vec<String>,
    stage: u32,
    group: u32,
    /// Jobs of the group so far.
    in_group: u32,
    /// Last trial of each job, with its stage.
    last: BTreeMap<String, (u32, u32)>,
    /// Trial whose end the current job waits for.
    follows: Option<u32>,
    jobs: u32,
}

impl Stages {
    pub(super) fn new(jobs: &[FioJob]) -> Stages {
        Stages {
            names: jobs.iter().map(|job| job.name.clone()).collect(),
            stage: 0,
            group: 0,
            in_group: 0,
            last: BTreeMap::new(),
            follows: None,
            jobs: 0,
        }
    }

    /// The next job begins.
    pub(super) fn begin(&mut self, asked: &mut Asked<'_>) {
        let walled = asked.flag("stonewall", false) || asked.job.first_of_file;
        if walled && self.jobs > 0 {
            self.stage += 1;
        }
        if (walled || asked.flag("new_group", false)) && self.in_group > 0 {
            self.group += 1;
            self.in_group = 0;
        }
        self.in_group += 1;
        self.jobs += 1;
        self.follows = None;
        if let Some(name) = asked.text("wait_for") {
            match self.last.get(name) {
                Some((trial, stage)) if *stage == self.stage => self.follows = Some(*trial),
                // It has ended before this stage began.
                Some(_) => {}
                None => self.explain_wait(asked, name),
            }
        }
        if asked.has("exitall") && asked.word("exit_what", "group") == "all" {
            asked.mapped(
                "exit_what",
                "the jobs that run at the same time end; later ones still run",
            );
        }
    }

    /// Why a job cannot be waited for. One that came before and could not be
    /// run has its own explanation.
    fn explain_wait(&self, asked: &mut Asked<'_>, name: &str) {
        let place = self.names.iter().position(|other| other == name);
        let before = usize::try_from(self.jobs.saturating_sub(1)).unwrap_or(0);
        let why = match place {
            Some(place) if place < before => return,
            Some(_) => "it does not come before this one",
            None => "there is no such job",
        };
        asked.problem("wait_for", format!("cannot wait for '{name}': {why}"));
    }

    /// The trials of the job have been added.
    pub(super) fn end(&mut self, asked: &mut Asked<'_>, trials: &mut [ScheduledTrial]) {
        if let Some(last) = trials.last() {
            let name = asked.job.name.clone();
            self.last.insert(name, (last.index, self.stage));
        }
    }

    pub(super) fn stage(&self) -> u32 {
        self.stage
    }

    pub(super) fn group(&self) -> u32 {
        self.group
    }

    pub(super) fn follows(&self) -> Option<u32> {
        self.follows
    }
}

/// A set of one needs no set.
pub(super) fn alone(trials: &mut [ScheduledTrial]) {
    let mut members: BTreeMap<u32, u32> = BTreeMap::new();
    for trial in trials.iter() {
        if let Some(set) = trial.together {
            *members.entry(set).or_default() += 1;
        }
    }
    for trial in trials {
        let single = trial.together.and_then(|set| members.get(&set)) == Some(&1);
        if single {
            trial.together = None;
        }
    }
}
