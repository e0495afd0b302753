//! The whole line in one place: schedule → fleet → store → analysis → report.
//!
//! No other module of fathom knows more than its neighbours.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Context;
use fathom_analysis::Probing;
use fathom_console::Exit;
use fathom_fleet::{Fleet, Interrupt, Outcome, Settings, StopRules};
use fathom_model::conduct::{Conductor, InOrder};
use fathom_model::fleet::FleetHost;
use fathom_model::run::{RunMeta, RunRecord, RunState};
use fathom_model::secret::masked;
use fathom_model::{JudgedRun, OpKind, Schedule, ScheduledTrial};
use fathom_observe::{Sysroot, unix_now_ns};
use fathom_outputs::Mark;
use fathom_plan::Plan;
use fathom_store::Store;

use crate::digest::Digest;
use crate::error::{EndedByUser, NothingMeasured, RequestError};
use crate::hosts::HostArgs;
use crate::metrics::Exporter;
use crate::output_flags::Output;
use crate::progress::{Progress, Style};
use crate::recorder::{NamedFiles, NotStored, Recorded, Recorder, RunFiles};
use crate::run_identity::{self, run_id};
use crate::{collect, distinct_files, present, signals};

/// Name of test files in a target directory, before their number.
pub const FILE_PREFIX: &str = "fathom-test";

/// How long the generator's ceiling is glanced at before each workload of a
/// new shape; short, because the load is to begin soon.
const CEILING_NS: u64 = 9_000_000;

/// What is to be run and shown.
pub struct Request {
    /// What the user wrote.
    pub plan: Plan,
    /// Its trials.
    pub schedule: Schedule,
    /// What the user calls the run.
    pub label: Option<String>,
    /// Where it is kept and shown.
    pub output: Output,
}

/// What was measured.
pub struct Measured {
    /// The run as it is stored.
    pub record: RunRecord,
    /// It was interrupted before anything was measured, and is not stored.
    pub is_empty: bool,
    /// Why the run is not, or not wholly, in the store.
    pub problem: Option<String>,
    /// What the run made and could not remove, and why.
    pub left_behind: Vec<String>,
}

/// A schedule made one for many hosts.
pub type Spread<'s> = &'s dyn Fn(&Schedule, &[FleetHost]) -> anyhow::Result<Schedule>;

/// One run of a request: on this host and in the order of its schedule, unless
/// something else is chosen.
pub struct Run<'r> {
    request: &'r Request,
    hosts: Option<&'r HostArgs>,
    spread: Spread<'r>,
    conductor: Option<&'r mut dyn Conductor>,
    file_prefix: &'r str,
    id: Option<String>,
    interrupt: Interrupt,
    unlinked: BTreeSet<PathBuf>,
}

impl<'r> Run<'r> {
    /// On this host, in the order of the schedule.
    pub fn new(request: &'r Request) -> Run<'r> {
        Run {
            request,
            hosts: None,
            spread: &on_hosts,
            conductor: None,
            file_prefix: FILE_PREFIX,
            id: None,
            interrupt: Interrupt::new(),
            unlinked: BTreeSet::new(),
        }
    }

    /// These hosts carry the load.
    pub fn hosts(mut self, hosts: &'r HostArgs) -> Run<'r> {
        self.hosts = Some(hosts);
        self
    }

    /// How the schedule becomes one for many hosts, instead of by its own mode.
    pub fn spread(mut self, spread: Spread<'r>) -> Run<'r> {
        self.spread = spread;
        self
    }

    /// What hands out the trials. The schedule of the request then is what the
    /// user is told beforehand: how many trials, how long.
    pub fn conductor(mut self, conductor: &'r mut dyn Conductor) -> Run<'r> {
        self.conductor = Some(conductor);
        self
    }

    /// What the names of test files begin with.
    pub fn file_prefix(mut self, file_prefix: &'r str) -> Run<'r> {
        self.file_prefix = file_prefix;
        self
    }

    /// The id of the run, for callers that know it beforehand.
    pub fn id(mut self, id: String) -> Run<'r> {
        self.id = Some(id);
        self
    }

    /// What ends the run besides a signal.
    pub fn interrupt(mut self, interrupt: &Interrupt) -> Run<'r> {
        self.interrupt = interrupt.clone();
        self
    }

    /// Files of names that the user chose which the caller removes after the run.
    pub fn unlinking(mut self, files: BTreeSet<PathBuf>) -> Run<'r> {
        self.unlinked = files;
        self
    }

    /// Runs it, judges it and shows the result.
    pub fn report(self) -> anyhow::Result<Exit> {
        let output = &self.request.output;
        let measured = self.measure()?;
        measured.expect_figures()?;
        let judged = fathom_studies::judge(&measured.record);
        let shown = show(&judged, output)?;
        if measured.problem.is_none() {
            let store = present::store_path(&output.store)?;
            Digest::of(&judged).keep(&store, &judged.run.id);
        }
        measured.complain();
        let unkept = measured.problem.is_some() && output.store.store.is_some();
        match (measured.exit_of(&judged, output.strict), shown && !unkept) {
            // What was requested by name is missing.
            (Exit::Success | Exit::Caveats, false) => Ok(Exit::Failure),
            (exit, _) => Ok(exit),
        }
    }

    /// Runs it and keeps what it gives.
    pub fn measure(mut self) -> anyhow::Result<Measured> {
        let conductor = self.conductor.take();
        if let Some(hosts) = self.hosts {
            return self.measure_on(hosts, conductor);
        }
        let schedule = &self.request.schedule;
        if let Some(conductor) = conductor {
            return self.carry_out(None, schedule, conductor);
        }
        refuse_to_wait_alone(schedule)?;
        if schedule.depth_probe {
            let host = fathom_observe::host_fingerprint(&Sysroot::host());
            let mut probing = Probing::new(schedule, host);
            return self.carry_out(None, schedule, &mut probing);
        }
        let mut in_order = InOrder::new(schedule);
        self.carry_out(None, schedule, &mut in_order)
    }

    fn measure_on(
        self,
        hosts: &HostArgs,
        conductor: Option<&'r mut dyn Conductor>,
    ) -> anyhow::Result<Measured> {
        let fleet = hosts.gather(&self.request.schedule)?;
        for missing in fleet.missing() {
            present::complain(&format!("going on without {missing}"));
        }
        if let Ok(store) = present::store_path(&self.request.output.store) {
            for said in collect::collect(&fleet, &store) {
                present::write_stderr(&format!("{said}\n"));
            }
        }
        let schedule = (self.spread)(&self.request.schedule, &fleet.hosts())?;
        if let Some(conductor) = conductor {
            return self.carry_out(Some(fleet), &schedule, conductor);
        }
        let mut in_order = InOrder::new(&schedule);
        self.carry_out(Some(fleet), &schedule, &mut in_order)
    }

    /// Runs the trials that a conductor hands out, here or on a fleet.
    fn carry_out(
        self,
        fleet: Option<Fleet>,
        schedule: &Schedule,
        conductor: &mut dyn Conductor,
    ) -> anyhow::Result<Measured> {
        let id = match self.id {
            Some(id) => id,
            None => run_id(unix_now_ns())?,
        };
        let output = &self.request.output;
        if let Some(html) = &output.html {
            present::admit(html, Mark::Page)?;
        }
        if let Some(file) = &output.format.output {
            present::admit(file, present::mark_of(&output.format))?;
        }
        if fleet.is_none() {
            let store = present::store_path(&output.store).ok();
            distinct_files::check(schedule, store.as_deref(), output.html.as_deref())?;
        }
        let interrupt = &self.interrupt;
        signals::raise_on_signals(interrupt).context("cannot install the signal handlers")?;
        let store = open_store(output);
        let hosts = fleet.as_ref().map(Fleet::hosts);
        let meta = meta_of(self.request, schedule, id, hosts.unwrap_or_default());
        let settings = Settings {
            run: meta.id.clone(),
            file_prefix: self.file_prefix.to_owned(),
            destructive: schedule.destructive,
            keep_files: schedule.keep_files,
            ceiling_ns: CEILING_NS,
            sysroot: Sysroot::host(),
        };
        if fleet.is_none() {
            fathom_fleet::preflight(schedule, &settings).map_err(NothingMeasured::from)?;
        }
        let progress = Progress::new(Style::choose(output.quiet), schedule);
        let store_path = present::store_path(&output.store).ok();
        let named = NamedFiles::of(&meta.schedule, store_path.as_deref(), &self.unlinked);
        let files = RunFiles {
            kept: settings.keep_files,
            named,
        };
        let exporter = Exporter::start(&output.metrics, &meta)?;
        let mut recorder = Recorder::begin(store, meta, files, progress, exporter);
        let rules: StopRules<'_> = &fathom_analysis::stop_rule;
        let sink = &mut recorder;
        let outcome = match fleet {
            None => fathom_fleet::run_schedule(conductor, &settings, rules, interrupt, sink),
            Some(fleet) => fathom_fleet::run_on_fleet(
                fleet, schedule, conductor, &settings, rules, interrupt, sink,
            ),
        };
        measured_of(recorder, outcome)
    }
}

/// The schedule on all hosts, in its own mode.
fn on_hosts(schedule: &Schedule, hosts: &[FleetHost]) -> anyhow::Result<Schedule> {
    Ok(fathom_fleet::on_hosts(schedule, hosts)?)
}

/// A host alone cannot wait for files that another one creates.
fn refuse_to_wait_alone(schedule: &Schedule) -> Result<(), RequestError> {
    let awaits = |trial: &ScheduledTrial| {
        let meta = trial.workload.files_work();
        meta.is_some_and(|meta| meta.does(OpKind::AwaitCreate))
    };
    if !schedule.trials.iter().any(awaits) {
        return Ok(());
    }
    Err(RequestError::AwaitsOtherHosts)
}

/// What a run gave, however it ended.
fn measured_of(
    recorder: Recorder,
    outcome: Result<Outcome, fathom_fleet::Error>,
) -> anyhow::Result<Measured> {
    let outcome = outcome.unwrap_or_else(|error| Outcome {
        state: RunState::Failed,
        reason: Some(error.to_string()),
        no_such_target: false,
    });
    let no_such_target = outcome.no_such_target;
    let recorded = recorder.finish(outcome.state, outcome.reason, unix_now_ns());
    // Studies read how far an interrupted run came.
    if recorded.empty && recorded.record.meta.state == RunState::Failed {
        return Err(nothing_measured(&recorded, no_such_target).into());
    }
    Ok(Measured {
        record: recorded.record,
        is_empty: recorded.empty,
        problem: recorded.problem,
        left_behind: recorded.left_behind,
    })
}

/// The error of a run that is neither stored nor shown.
fn nothing_measured(recorded: &Recorded, no_such_target: bool) -> NothingMeasured {
    let reason = recorded.record.meta.reason.clone();
    let cause = reason.unwrap_or_else(|| "nothing was measured".to_owned());
    let mut reason = cause.clone();
    // A list of files that cannot be trusted ends the run and then its removal;
    // the second time its path may be relative.
    let same = |left: &str| cause.ends_with(left.split_once(": ").map_or(left, |(_, why)| why));
    for left in recorded.left_behind.iter().filter(|left| !same(left)) {
        reason += &format!("\nfathom: not all test data is removed: {left}");
    }
    NothingMeasured {
        reason,
        no_such_target,
        is_partial: false,
    }
}

impl Measured {
    /// An error where the run was interrupted before anything was measured: there
    /// is nothing to show, and nothing was stored.
    pub fn expect_figures(&self) -> anyhow::Result<()> {
        if !self.is_empty {
            return Ok(());
        }
        self.complain();
        let cause = self.record.meta.reason.as_deref();
        let cause = cause.unwrap_or("interrupted");
        let reason = format!("{cause}, before anything was measured; nothing was stored");
        Err(EndedByUser(reason).into())
    }

    /// The exit status: what could not be removed makes a failure of a success.
    fn exit_of(&self, judged: &JudgedRun, strict: bool) -> Exit {
        let exit = exit_of(judged, strict);
        if self.left_behind.is_empty() || !matches!(exit, Exit::Success | Exit::Caveats) {
            return exit;
        }
        Exit::Failure
    }

    /// Tells the user what could not be removed, and when the run could not be
    /// stored.
    pub fn complain(&self) {
        for left in &self.left_behind {
            present::complain(&format!("not all test data is removed: {left}"));
        }
        let is_told = |left: &String| left.contains("fathom clean");
        if !self.left_behind.is_empty() && !self.left_behind.iter().any(is_told) {
            present::complain("`fathom clean` lists what is left on this host, --yes removes it");
        }
        if let Some(problem) = &self.problem {
            present::complain(&format!(
                "this run is not, or not wholly, in the store: {problem}"
            ));
        }
    }
}

/// Prints a judged run and writes its HTML report. Returns whether the report is
/// where it was requested, or was not requested by name.
pub fn show(judged: &JudgedRun, output: &Output) -> anyhow::Result<bool> {
    let html = present::write_html(judged, output.html.as_deref(), &output.store);
    let report = match &html {
        Ok(path) => path.display().to_string(),
        Err(_) => "not written; --html FILE names another place".to_owned(),
    };
    present::print(judged, &output.format, Some(report))?;
    if let Err(error) = &html {
        present::complain(&format!("the HTML report was not written: {error:#}"));
    }
    Ok(html.is_ok() || output.html.is_none())
}

/// The exit status that a judged run asks for.
pub fn exit_of(judged: &JudgedRun, strict: bool) -> Exit {
    Exit::of_run(judged.run.state, judged.verdict.validity, strict)
        .with_fitness(judged.verdict.fitness.as_ref())
}

fn open_store(output: &Output) -> Result<Store, NotStored> {
    let path = present::store_path(&output.store).map_err(NotStored::NoPlace)?;
    Ok(Store::open(&path)?)
}

fn meta_of(request: &Request, schedule: &Schedule, id: String, hosts: Vec<FleetHost>) -> RunMeta {
    RunMeta {
        plan_yaml: masked(&request.plan.to_yaml()),
        label: request.label.as_deref().map(masked),
        hosts,
        ..run_identity::begin(id, schedule.clone())
    }
}
