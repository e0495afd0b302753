//! The agent of one host: carries out one trial at a time.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use fathom_engine::Group;
use fathom_engine::access::TargetKind;
use fathom_engine::prepare::{PrepareHooks, PrepareProgress, Prepared, remove_files_of_run};
use fathom_engine::sim::KeptDrive;
use fathom_model::run::{ErrorDetail, TrialEnd};
use fathom_model::sample::Phase;
use fathom_model::{ErrorClass, Job, RunState, ScheduledTrial, Target};
use fathom_observe::{HostWatch, Observer, Sysroot};

use crate::ceiling::Ceilings;
use crate::coordinator::Settings;
use crate::interrupt::Interrupt;
use crate::load::Load;
use crate::local::{Command, Link};
use crate::message::{Event, TrialStart};
use crate::quiet;

/// Why a trial did not come to its planned end.
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
    link: Link,
    settings: Settings,
    interrupt: Interrupt,
    sysroot: Sysroot,
    ceilings: Ceilings,
    /// Directories in which this run may have made test files.
    directories: BTreeSet<PathBuf>,
    /// Watches the devices of the latest trial, for the pause after it.
    observer: Option<Observer>,
    /// Simulated drives by name. They live as long as the run.
    drives: HashMap<String, KeptDrive>,
    /// The drive of the latest trial, if it was simulated.
    rests: Option<KeptDrive>,
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
            observer: None,
            drives: HashMap::new(),
            rests: None,
        }
    }

    /// Carries out commands until it is told to finish or the coordinator is
    /// gone.
    pub(crate) fn serve(&mut self) {
        while let Ok(command) = self.link.commands.recv() {
            match command {
                Command::Trial(spec) => self.trial(*spec),
                // The trial that it meant has ended by itself meanwhile.
                Command::EndMeasure(_) => continue,
                Command::Pause(pause) => {
                    self.link.send(Event::Pausing {
                        ceiling_ns: pause.ceiling_ns,
                    });
                    match &self.rests {
                        Some(drive) => drive.rest(pause.floor_ns),
                        None => quiet::pause(pause, self.observer.as_mut(), &self.interrupt),
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

    fn trial(&mut self, spec: ScheduledTrial) {
        let target_before = spec
            .target
            .path()
            .map(|path| fathom_observe::target_fingerprint(&self.sysroot, path));
        self.link.send(Event::TrialStarted(Box::new(TrialStart {
            spec: spec.clone(),
            started_unix_ns: unix_now_ns(),
            target_before,
        })));
        let mut end = TrialEnd::default();
        let state = match self.phases(&spec, &mut end) {
            Ok(()) => RunState::Complete,
            Err(early) => {
                end.reason = Some(early.reason);
                early.state
            }
        };
        end.target_after = spec
            .target
            .path()
            .map(|path| fathom_observe::target_fingerprint(&self.sysroot, path));
        self.link.send(Event::TrialEnded {
            state,
            end: Box::new(end),
        });
    }

    fn phases(&mut self, spec: &ScheduledTrial, end: &mut TrialEnd) -> Result<(), Early> {
        let job = self.job(spec);
        end.engine.requested = Some(job.workload.engine);
        self.phase(Phase::Prepare, None);
        let mut prepared = self.prepare(&job)?;
        self.keep_drive(&job, &mut prepared);
        self.load_and_verify(&job, &prepared, end)
    }

    fn load_and_verify(
        &mut self,
        job: &Job,
        prepared: &Prepared,
        end: &mut TrialEnd,
    ) -> Result<(), Early> {
        end.data = prepared.data.clone();
        for note in &prepared.notes {
            self.link.send(Event::Note(note.clone()));
        }
        self.look_at_data(job, prepared, end);
        end.ceiling = self.ceilings.of(job, self.settings.ceiling_ns);
        if self.interrupt.is_raised() {
            return Err(Early::interrupted(
                "ended by the user before the load began",
            ));
        }
        let group = Group::start(job, prepared).map_err(Early::failed)?;
        // Fingerprinted again: the files that exist now tell the devices.
        let (observer, host) = self.observer_of(job, prepared).unzip();
        let load = Load {
            link: &self.link,
            interrupt: &self.interrupt,
            job,
            observer,
            host,
            measured: (0, 0),
            fault: None,
        };
        let loaded = load.run(group, end);
        self.observer = loaded.observer;
        let glance_ns = self.settings.ceiling_ns;
        end.ceiling = self
            .ceilings
            .refined(job, glance_ns, end.ceiling, loaded.ops_per_second);
        loaded.result?;
        self.verify(job, prepared, end)
    }

    fn job(&self, spec: &ScheduledTrial) -> Job {
        Job {
            workload: spec.workload.clone(),
            target: spec.target.clone(),
            seed: spec.seed,
            run_tag: self.settings.run_tag,
            destructive: self.settings.destructive,
            keep_files: self.settings.keep_files,
            file_prefix: self.settings.file_prefix.clone(),
        }
    }

    fn phase(&self, phase: Phase, expected_ns: Option<u64>) {
        self.link.send(Event::PhaseStarted { phase, expected_ns });
    }

    fn prepare(&mut self, job: &Job) -> Result<Prepared, Early> {
        if let Some(directory) = job.target.path().filter(|path| path.is_dir()) {
            self.directories.insert(directory.to_owned());
        }
        let mut hooks = Hooks {
            link: &self.link,
            interrupt: Some(&self.interrupt),
        };
        let prepared = fathom_engine::prepare(job, &mut hooks);
        match prepared {
            Err(_) if self.interrupt.is_raised() => Err(Early::interrupted(
                "ended by the user while the target was being prepared",
            )),
            other => other.map_err(Early::failed),
        }
    }

    /// A simulated drive is the same one throughout a run.
    fn keep_drive(&mut self, job: &Job, prepared: &mut Prepared) {
        self.rests = prepared.drive.take().map(|fresh| {
            let name = job.target.to_string();
            self.drives.entry(name).or_insert(fresh).clone()
        });
        prepared.drive = self.rests.clone();
    }

    /// Takes the state of page cache and extents right before the load.
    fn look_at_data(&self, job: &Job, prepared: &Prepared, end: &mut TrialEnd) {
        let paths = paths_of(prepared);
        if paths.is_empty() {
            return;
        }
        if job.workload.drop_cache {
            let dropped = fathom_observe::drop_page_cache(&paths, false);
            for failure in dropped.failures {
                self.link.send(Event::Note(failure));
            }
        }
        let range = prepared
            .layout
            .files
            .first()
            .map(|file| file.start_bytes..file.start_bytes.saturating_add(file.span_bytes));
        // What was never written the preparation may have had to find out.
        if end.data.unwritten_share.is_some() {
            let (share, method) = fathom_observe::cached_share(&paths, range);
            end.data.cached_share = share;
            end.data.cached_method = Some(method);
        } else {
            fathom_observe::data_state(&paths, range).enter(&mut end.data);
        }
    }

    /// Real hosts are observed; a simulated drive has no host and no real time.
    fn observer_of(&self, job: &Job, prepared: &Prepared) -> Option<(Observer, HostWatch)> {
        let place = match &job.target {
            Target::Sim(_) => return None,
            Target::Null => None,
            Target::Path(path) => Some(
                paths_of(prepared)
                    .into_iter()
                    .next()
                    .unwrap_or(path.clone()),
            ),
        };
        let fingerprint = place
            .map(|path| fathom_observe::target_fingerprint(&self.sysroot, &path))
            .unwrap_or_default();
        let host = HostWatch::new(&self.sysroot, &fingerprint);
        Some((Observer::new(&self.sysroot, &fingerprint), host))
    }

    fn verify(&mut self, job: &Job, prepared: &Prepared, end: &mut TrialEnd) -> Result<(), Early> {
        if !job.workload.verify.is_some_and(|verify| verify.after) {
            return Ok(());
        }
        self.phase(Phase::Settle, None);
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
        if self.settings.keep_files || directories.is_empty() {
            return;
        }
        self.phase(Phase::Cleanup, None);
        let mut hooks = Hooks {
            link: &self.link,
            interrupt: None,
        };
        let Settings {
            file_prefix,
            run_tag,
            ..
        } = &self.settings;
        for directory in directories {
            let removed = remove_files_of_run(&directory, file_prefix, *run_tag, &mut hooks);
            if let Err(error) = removed {
                self.link.send(Event::Note(error.to_string()));
            }
        }
    }
}

/// The real files of a trial; none for targets that are no real I/O.
fn paths_of(prepared: &Prepared) -> Vec<PathBuf> {
    match prepared.layout.kind {
        TargetKind::Null | TargetKind::Sim | TargetKind::Stream => Vec::new(),
        TargetKind::Directory | TargetKind::File | TargetKind::Device => prepared
            .layout
            .files
            .iter()
            .map(|file| file.path.clone())
            .collect(),
    }
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

fn unix_now_ns() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
