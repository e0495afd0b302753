//! The agent of one host: carries out one trial, or one set of trials, at a
//! time.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use fathom_engine::object::{keep_objects_of_run, remove_objects_of_part};
use fathom_engine::prepare::{PrepareHooks, PrepareProgress, Prepared, remove_files_of_run};
use fathom_engine::sim::KeptDrive;
use fathom_model::run::ErrorDetail;
use fathom_model::sample::Phase;
use fathom_model::workload::{MetaWork, ObjectStore};
use fathom_model::{ErrorClass, Job, OpKind, RunState, ScheduledTrial, Target};
use fathom_observe::{Observer, Sysroot};

use crate::ceiling::Ceilings;
use crate::coordinator::Settings;
use crate::interrupt::Interrupt;
use crate::link::{Command, Link};
use crate::member::Member;
use crate::message::Event;
use crate::part;
use crate::policy::Policy;
use crate::quiet;

/// Why a trial did not come to its planned end.
#[derive(Debug, Clone)]
pub(crate) struct Early {
    pub(crate) state: RunState,
    pub(crate) reason: String,
}

impl Early {
    pub(crate) fn interrupted(reason: impl Into<String>) -> Early {
        Early {
            state: RunState::Interrupted,
            reason: reason.into(),
        }
    }

    pub(crate) fn failed(reason: impl ToString) -> Early {
        Early {
            state: RunState::Failed,
            reason: reason.to_string(),
        }
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
    /// Buckets in which this run may have made objects under these names, and how they are
    /// reached.
    pub(crate) buckets: BTreeMap<(String, String), ObjectStore>,
    /// Watches the devices of the latest trials, for the pause after them.
    pub(crate) observer: Option<Observer>,
    /// Simulated drives by name. They live as long as the run.
    pub(crate) drives: HashMap<String, KeptDrive>,
    /// The drives of the latest trials, if they were simulated.
    pub(crate) rests: Vec<KeptDrive>,
    /// What the owner of this host allows; `None` in a local run, where user
    /// and owner are one, and where there is nobody to wait for.
    pub(crate) policy: Option<Policy>,
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
            buckets: BTreeMap::new(),
            observer: None,
            drives: HashMap::new(),
            rests: Vec::new(),
            policy: None,
        }
    }

    /// Carries out commands until it is told to finish or the coordinator is
    /// gone.
    pub(crate) fn serve(&mut self) {
        while let Ok(command) = self.link.commands.recv() {
            match command {
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
                        quiet::pause(pause, self.observer.as_mut(), &self.interrupt);
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
        let prefix = &self.settings.file_prefix;
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
            run_tag: self.settings.run_tag,
            destructive: self.settings.destructive,
            keep_files: self.settings.keep_files,
            file_prefix: prefix,
        }
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
    ) -> Result<Prepared, Early> {
        let directory = job.target.path().filter(|path| path.is_dir());
        if of_another {
            // Whoever made files removes them.
            let seen = directory.is_none_or(|place| list_of(place, &job.file_prefix).exists());
            if !seen && !awaits(job) {
                return Err(Early::failed(part::unseen(&job.target)));
            }
        } else if let Some(directory) = directory.filter(|_| !awaits(job)) {
            let place = (directory.to_owned(), job.file_prefix.clone());
            self.directories.insert(place);
        }
        if let (Target::Bucket(bucket), Some(store), Some(_)) =
            (&job.target, &job.workload.store, &job.workload.object)
            && !of_another
        {
            let place = (bucket.clone(), job.file_prefix.clone());
            self.buckets.insert(place, (**store).clone());
        }
        let mut hooks = Hooks {
            link: &self.link,
            interrupt: Some(&self.interrupt),
        };
        let prepared = fathom_engine::prepare_beside(job, others, &mut hooks);
        match prepared {
            Err(_) if self.interrupt.is_raised() => Err(Early::interrupted(format!(
                "{} while the target was being prepared",
                self.interrupt.why()
            ))),
            other => other.map_err(Early::failed),
        }
    }

    /// Reads back what a trial has written, where that was asked for.
    pub(crate) fn verify(&mut self, member: &mut Member) -> Result<(), Early> {
        let Some(prepared) = &member.prepared else {
            return Ok(());
        };
        let (job, end) = (&member.job, &mut member.end);
        if !job.workload.verify.is_some_and(|verify| verify.after) {
            return Ok(());
        }
        self.phase(Some(member.spec.index), Phase::Settle);
        let mut hooks = Hooks {
            link: &self.link,
            interrupt: Some(&self.interrupt),
        };
        let outcome = fathom_engine::verify::verify_after(job, prepared, &mut hooks);
        let outcome = outcome.map_err(Early::failed)?;
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
            return Err(Early::failed(format!(
                "verification found {} blocks that do not hold what was written",
                outcome.mismatches
            )));
        }
        Ok(())
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
        let mut hooks = Hooks {
            link: &self.link,
            interrupt: None,
        };
        let run_tag = self.settings.run_tag;
        // What other hosts of the run have made there is theirs to remove.
        for ((bucket, prefix), store) in buckets {
            let removed = remove_objects_of_part(&store, &bucket, (run_tag, &prefix), &mut hooks);
            if let Err(error) = removed {
                self.link.send(Event::LeftBehind(error.to_string()));
            }
        }
        for (directory, prefix) in directories {
            let removed = remove_files_of_run(&directory, &prefix, run_tag, &mut hooks);
            if let Err(error) = removed {
                self.link.send(Event::LeftBehind(error.to_string()));
            }
        }
    }

    /// Says in buckets that what is there is to be kept.
    fn note_kept(&self, buckets: &BTreeMap<(String, String), ObjectStore>) {
        for ((bucket, _), store) in buckets {
            let noted = keep_objects_of_run(store, bucket, self.settings.run_tag);
            if let Err(error) = noted {
                self.link.send(Event::Note(error.to_string()));
            }
        }
    }
}

/// Whether a job waits for files that somebody else makes.
fn awaits(job: &Job) -> bool {
    let meta = job.workload.meta.as_deref();
    meta.and_then(MetaWork::phase) == Some(OpKind::AwaitCreate)
}

/// The list of the test files of a directory.
fn list_of(directory: &Path, file_prefix: &str) -> PathBuf {
    directory.join(format!("{file_prefix}.manifest"))
}

/// Passes what happens in the prepare phase on to the coordinator.
struct Hooks<'a> {
    link: &'a Link,
    /// None where the user's wish to end must not leave things half done.
    interrupt: Option<&'a Interrupt>,
}

impl PrepareHooks for Hooks<'_> {
    fn progress(&mut self, progress: PrepareProgress<'_>) {
        self.link.send(Event::Progress {
            what: progress.what.to_owned(),
            done_bytes: progress.done_bytes,
            total_bytes: progress.total_bytes,
        });
    }

    fn creating(&mut self, path: &Path) -> Result<(), String> {
        self.link
            .send_and_wait(Event::FileCreating(path.to_owned()))
    }

    fn removed(&mut self, path: &Path) {
        self.link.send(Event::FileRemoved(path.to_owned()));
    }

    fn stop_requested(&self) -> bool {
        self.interrupt.is_some_and(Interrupt::is_raised)
    }
}
