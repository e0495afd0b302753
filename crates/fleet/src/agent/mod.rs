//! The agent of one host: carries out one trial, or one set of trials, at a
//! time.

mod ceiling;
mod conclusion;
mod device_pause;
mod expected_time;
mod fail_if;
mod gate;
mod host_part;
mod load;
mod member;
mod outstanding_operations;
pub(crate) mod preflight;
mod refusal;
mod runner;
mod set;
mod target_facts;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use fathom_deadline::paths;
use fathom_drives::PersistentDrive;
use fathom_engine::FileIdentity;
use fathom_engine::object::{keep_objects_of_run, look_back, remove_objects_of_part};
use fathom_engine::prepare::{
    CreationRefused, Hurry, PrepareHooks, PrepareProgress, Prepared, TestDirectory,
    remove_files_of_run,
};
use fathom_model::idle_gate::IdleGate;
use fathom_model::run::ErrorDetail;
use fathom_model::sample::Phase;
use fathom_model::workload::{MetaWork, ObjectStore};
use fathom_model::{ErrorClass, Job, OpKind, RunState, ScheduledTrial, Target};
use fathom_observe::{Observer, Sysroot};

use crate::admission::policy::Policy;
use crate::agent::ceiling::Ceilings;
use crate::agent::device_pause::WatchedDevices;
use crate::agent::member::Member;
use crate::interrupt::Interrupt;
use crate::network::Network;
use crate::protocol::link::{Command, Link};
use crate::protocol::message::Event;
use crate::settings::Settings;

/// Why a trial did not come to its planned end.
#[derive(Debug, Clone)]
pub(crate) struct EarlyEnd {
    pub(crate) state: RunState,
    pub(crate) reason: String,
}

impl EarlyEnd {
    pub(crate) fn interrupted(reason: impl Into<String>) -> EarlyEnd {
        EarlyEnd {
            state: RunState::Interrupted,
            reason: reason.into(),
        }
    }

    pub(crate) fn failed(reason: impl ToString) -> EarlyEnd {
        EarlyEnd {
            state: RunState::Failed,
            reason: reason.to_string(),
        }
    }
}

/// What a trial asks of this host.
pub(crate) fn job_of(settings: &Settings, spec: &ScheduledTrial) -> Job {
    let prefix = &settings.file_prefix;
    // Each host has test files of its own, also where all see one file
    // system.
    let whose = spec.part.map(|part| part.whose).or(spec.host);
    let prefix = match whose {
        Some(place) => format!("{prefix}-h{place}"),
        None => prefix.clone(),
    };
    let prefix = match spec.file_set {
        0 => prefix,
        set => format!("{prefix}-{set}"),
    };
    Job {
        workload: spec.workload.clone(),
        target: spec.target.clone(),
        seed: spec.seed,
        run_tag: settings.run_tag(),
        destructive: settings.destructive,
        keep_files: settings.keep_files,
        file_prefix: prefix,
    }
}

/// The agent of one host.
pub(crate) struct Agent {
    pub(crate) link: Link,
    pub(crate) settings: Settings,
    pub(crate) interrupt: Interrupt,
    pub(crate) sysroot: Sysroot,
    pub(crate) ceilings: Ceilings,
    /// Directories in which this run may have made test files, and how those
    /// begin.
    pub(crate) directories: BTreeSet<(PathBuf, String)>,
    /// Operations had to be left behind when the user wanted the end.
    pub(crate) left_operations: bool,
    /// A target said nothing any more when a load ended.
    pub(crate) fell_silent: bool,
    /// Those of them in which it has made some, held open.
    pub(crate) made: BTreeMap<(PathBuf, String), TestDirectory>,
    /// Files that this run has created by names that the user chose.
    pub(crate) created: HashSet<FileIdentity>,
    /// Buckets in which this run may have made objects under these names, and how they are
    /// reached.
    pub(crate) buckets: BTreeMap<(String, String), ObjectStore>,
    /// Watches the devices of the latest trials, for the pause after them.
    pub(crate) observer: Option<Observer>,
    /// The wait before the next trials, if there was one.
    pub(crate) gate: Option<IdleGate>,
    /// Whether no trial of this run has begun yet.
    pub(crate) is_fresh: bool,
    /// Simulated drives by name. They live as long as the run.
    pub(crate) drives: HashMap<String, PersistentDrive>,
    /// The drives of the latest trials, if they were simulated.
    pub(crate) rests: Vec<PersistentDrive>,
    /// What the owner of this host allows; `None` in a local run, where user
    /// and owner are one, and where there is nobody to wait for.
    pub(crate) policy: Option<Policy>,
    /// The peers with which the owner allows loads over the network; `None`
    /// allows none, an empty list the networks of the links.
    pub(crate) peers: Option<Vec<Network>>,
}

impl Agent {
    pub(crate) fn new(link: Link, settings: Settings, interrupt: Interrupt) -> Agent {
        let sysroot = settings.sysroot.clone();
        Agent {
            link,
            settings,
            interrupt,
            sysroot,
            ceilings: Ceilings::default(),
            directories: BTreeSet::new(),
            left_operations: false,
            fell_silent: false,
            made: BTreeMap::new(),
            created: HashSet::new(),
            buckets: BTreeMap::new(),
            observer: None,
            gate: None,
            is_fresh: true,
            drives: HashMap::new(),
            rests: Vec::new(),
            policy: None,
            peers: None,
        }
    }

    /// Carries out commands until it is told to finish or the coordinator is
    /// gone.
    pub(crate) fn serve(&mut self) {
        while let Ok(command) = self.link.commands.recv() {
            match command {
                Command::Check(specs) => self.check_planned(specs),
                Command::Set(specs) if specs.is_empty() => {}
                Command::Set(specs) => self.set(specs),
                // The trial that it meant has ended by itself meanwhile.
                Command::EndMeasure { .. } | Command::Open { .. } => continue,
                Command::Pause(pause) => {
                    self.link.send(Event::Pausing {
                        ceiling_ns: pause.ceiling_ns,
                    });
                    for drive in &self.rests {
                        drive.rest(pause.floor_ns);
                    }
                    // Nothing but simulated drives: no device becomes quiet.
                    if self.rests.is_empty() || self.observer.is_some() {
                        let observer = self.observer.as_mut();
                        let watched = observer.map(|observer| observer as &mut dyn WatchedDevices);
                        self.gate = Some(device_pause::between(pause, watched, &self.interrupt));
                    }
                }
                Command::Finish => {
                    self.remove_created();
                    self.link.done();
                    return;
                }
            }
            self.link.done();
        }
        self.remove_created();
    }

    pub(crate) fn job(&self, spec: &ScheduledTrial) -> Job {
        job_of(&self.settings, spec)
    }

    pub(crate) fn phase(&self, trial: Option<u32>, phase: Phase) {
        self.link.send(Event::PhaseStarted {
            trial,
            phase,
            expected_ns: None,
        });
    }

    pub(crate) fn prepare(
        &mut self,
        job: &Job,
        of_another: bool,
        others: &[&Prepared],
    ) -> Result<Prepared, EarlyEnd> {
        if let Some(path) = job.target.path() {
            paths::answers(path).map_err(EarlyEnd::failed)?;
        }
        let directory = job.target.path().filter(|path| paths::is_dir(path));
        if of_another {
            // Whoever made files removes them.
            let seen =
                directory.is_none_or(|place| paths::exists(&list_of(place, &job.file_prefix)));
            if !seen && !awaits(job) {
                return Err(EarlyEnd::failed(host_part::unseen(&job.target)));
            }
        } else if let Some(directory) = directory.filter(|_| !awaits(job)) {
            let place = (directory.to_owned(), job.file_prefix.clone());
            self.directories.insert(place);
        }
        let waits = Patience::Until(&self.interrupt);
        let mut hooks = Hooks::new(&self.link, waits, &mut self.created);
        let prepared = fathom_engine::prepare_beside(job, others, &mut hooks);
        let makes_objects = hooks.makes_objects;
        if let (Ok(prepared), Some(path)) = (&prepared, job.target.path())
            && let Some(directory) = prepared.directory()
        {
            let place = (path.to_owned(), job.file_prefix.clone());
            self.made.insert(place, directory);
        }
        // Where nothing was made there is nothing to remove.
        if let (Target::Bucket(bucket), Some(store), true) =
            (&job.target, job.workload.store(), makes_objects)
            && !of_another
        {
            let place = (bucket.clone(), job.file_prefix.clone());
            self.buckets.insert(place, store.clone());
        }
        match prepared {
            Err(_) if self.interrupt.is_raised() => Err(EarlyEnd::interrupted(format!(
                "{} while the target was being prepared",
                self.interrupt.why()
            ))),
            other => other.map_err(EarlyEnd::failed),
        }
    }

    /// Reads back what a trial has written, where that was asked for.
    pub(crate) fn verify(&mut self, member: &mut Member) -> Result<(), EarlyEnd> {
        let Some(prepared) = &member.prepared else {
            return Ok(());
        };
        let (job, end) = (&member.job, &mut member.end);
        if !job.workload.verify.is_some_and(|verify| verify.after) {
            return Ok(());
        }
        self.phase(Some(member.spec.index), Phase::Settle);
        let waits = Patience::Until(&self.interrupt);
        let mut hooks = Hooks::new(&self.link, waits, &mut self.created);
        let outcome = fathom_engine::verify::verify_after(job, prepared, &mut hooks);
        let outcome = outcome.map_err(EarlyEnd::failed)?;
        end.data.verified_bytes += outcome.checked_bytes;
        end.engine
            .errors
            .extend(outcome.first.iter().map(|mismatch| ErrorDetail {
                class: ErrorClass::Verify,
                message: match prepared.layout.files.get(mismatch.file as usize) {
                    Some(file) => format!("{}: {mismatch}", file.path.display()),
                    None => mismatch.to_string(),
                },
                at_ns: 0,
            }));
        if outcome.mismatches > 0 {
            return Err(EarlyEnd::failed(format!(
                "verification found {} blocks that do not hold what was written",
                outcome.mismatches
            )));
        }
        Ok(())
    }

    /// Looks whether a store has kept what a load put.
    pub(crate) fn look_at_objects(&mut self, member: &mut Member) {
        if let Some(prepared) = &member.prepared {
            let waits = Patience::Until(&self.interrupt);
            let hooks = Hooks::new(&self.link, waits, &mut self.created);
            member.end.data.kept = look_back(prepared, &hooks);
        }
    }

    /// Removes what the run created.
    fn remove_created(&mut self) {
        let directories = std::mem::take(&mut self.directories);
        let buckets = std::mem::take(&mut self.buckets);
        if self.settings.keep_files {
            return self.note_kept(&buckets);
        }
        if directories.is_empty() && buckets.is_empty() {
            return;
        }
        self.phase(None, Phase::Cleanup);
        let mut made = std::mem::take(&mut self.made);
        let waits = Patience::UntilAgain(&self.interrupt, self.interrupt.wishes());
        let mut hooks = Hooks::new(&self.link, waits, &mut self.created);
        hooks.left_operations = self.left_operations;
        hooks.fell_silent = self.fell_silent;
        let run_tag = self.settings.run_tag();
        // What other hosts of the run have made there is theirs to remove.
        for ((bucket, prefix), store) in buckets {
            let removed = remove_objects_of_part(&store, &bucket, run_tag, &prefix, &mut hooks);
            match removed {
                Ok(removal) => {
                    for note in removal.notes {
                        self.link.send(Event::Note(note));
                    }
                }
                Err(error) => {
                    self.link.send(Event::LeftBehind(error.to_string()));
                }
            }
        }
        hooks.waits = Patience::ToTheEnd;
        for place in directories {
            if let Err(silent) = paths::accept_changes(&place.0) {
                self.link.send(Event::LeftBehind(format!(
                    "test files are left in {}: {silent}; remove them with `fathom clean --yes`",
                    place.0.display()
                )));
                continue;
            }
            let removed = match made.remove(&place) {
                Some(directory) => directory.remove_files_of_run(run_tag, &mut hooks),
                None => remove_files_of_run(&place.0, &place.1, run_tag, &mut hooks),
            };
            let left = match removed {
                Ok(removal) => {
                    // What is gone need not be removed by anybody.
                    for path in &removal.missing {
                        self.link.send(Event::FileRemoved(path.clone()));
                    }
                    removal.remarks()
                }
                Err(error) => vec![error.to_string()],
            };
            for text in left {
                self.link.send(Event::LeftBehind(text));
            }
        }
    }

    /// Says in buckets that what is there is to be kept.
    fn note_kept(&self, buckets: &BTreeMap<(String, String), ObjectStore>) {
        let wishes = self.interrupt.wishes();
        let mut created = HashSet::new();
        let waits = Patience::UntilAgain(&self.interrupt, wishes);
        let mut hooks = Hooks::new(&self.link, waits, &mut created);
        hooks.left_operations = self.left_operations;
        hooks.fell_silent = self.fell_silent;
        for ((bucket, _), store) in buckets {
            let noted = keep_objects_of_run(store, bucket, self.settings.run_tag(), &hooks);
            if let Err(error) = noted {
                self.link.send(Event::Note(error.to_string()));
            }
        }
    }
}

/// Whether a job waits for files that somebody else makes.
fn awaits(job: &Job) -> bool {
    let meta = job.workload.files_work();
    meta.and_then(MetaWork::phase) == Some(OpKind::AwaitCreate)
}

/// The list of the test files of a directory.
fn list_of(directory: &Path, file_prefix: &str) -> PathBuf {
    directory.join(format!("{file_prefix}.manifest"))
}

/// How long somebody waits for the end of what is being done.
enum Patience<'a> {
    /// However long it takes: the user's wish to end must not leave things half
    /// done.
    ToTheEnd,
    /// Until the run is to end.
    Until(&'a Interrupt),
    /// Until the user, who may have asked so often before, asks once more.
    UntilAgain(&'a Interrupt, u8),
}

/// Passes what happens in the prepare phase on to the coordinator.
struct Hooks<'a> {
    link: &'a Link,
    waits: Patience<'a>,
    /// Objects may have been made.
    makes_objects: bool,
    /// Operations of the load did not end in time.
    left_operations: bool,
    /// The target said nothing any more when the load ended.
    fell_silent: bool,
    /// Files that this run has created by names that the user chose.
    created: &'a mut HashSet<FileIdentity>,
}

impl<'a> Hooks<'a> {
    fn new(
        link: &'a Link,
        waits: Patience<'a>,
        created: &'a mut HashSet<FileIdentity>,
    ) -> Hooks<'a> {
        Hooks {
            link,
            waits,
            makes_objects: false,
            left_operations: false,
            fell_silent: false,
            created,
        }
    }
}

impl PrepareHooks for Hooks<'_> {
    fn progress(&mut self, progress: PrepareProgress<'_>) {
        self.link.send(Event::Progress {
            what: progress.what.to_owned(),
            done_bytes: progress.done_bytes,
            total_bytes: progress.total_bytes,
        });
    }

    fn creating(&mut self, path: &Path) -> Result<(), CreationRefused> {
        let handled = self
            .link
            .send_and_wait(Event::FileCreating(path.to_owned()));
        handled.map_err(|reason| CreationRefused::NotNoted(reason.to_string()))
    }

    fn created(&mut self, path: &Path, identity: &FileIdentity) -> Result<(), CreationRefused> {
        self.created.insert(*identity);
        let handled = self.link.send_and_wait(Event::FileCreated {
            path: path.to_owned(),
            identity: *identity,
        });
        handled.map_err(|reason| CreationRefused::NotNoted(reason.to_string()))
    }

    fn is_ours(&mut self, path: &Path, identity: &FileIdentity) -> bool {
        let found = || Event::FileFound {
            path: path.to_owned(),
            identity: *identity,
        };
        self.created.contains(identity) || self.link.send_and_wait(found()).is_ok()
    }

    fn removed(&mut self, path: &Path) {
        self.link.send(Event::FileRemoved(path.to_owned()));
    }

    fn making_objects(&mut self) {
        self.makes_objects = true;
    }

    fn waiting(&self, text: &str) {
        self.link.send(Event::Waiting(text.to_owned()));
    }

    fn stop_requested(&self) -> bool {
        match self.waits {
            Patience::ToTheEnd => false,
            Patience::Until(interrupt) => interrupt.is_raised(),
            Patience::UntilAgain(interrupt, wishes) => interrupt.wishes() > wishes,
        }
    }

    fn hurries(&self) -> Hurry {
        match self.waits {
            Patience::UntilAgain(interrupt, _) if interrupt.is_raised() => {
                match self.left_operations {
                    true => Hurry::LastTry,
                    false => Hurry::Awaited,
                }
            }
            Patience::UntilAgain(..) if self.fell_silent => Hurry::Awaited,
            _ => Hurry::No,
        }
    }
}
