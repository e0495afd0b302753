//! The whole line in one place: schedule → fleet → store → analysis → report.
//!
//! No other module of fathom knows more than its neighbours.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Context;
use fathom_analysis::Probing;
use fathom_fleet::{Fleet, Interrupt, Outcome, Settings, StopRules};
use fathom_model::conduct::{Conductor, InOrder};
use fathom_model::fleet::FleetHost;
use fathom_model::run::{RunMeta, RunRecord, RunState};
use fathom_model::secret::{masked, masked_arguments};
use fathom_model::{JudgedRun, OpKind, Schedule, ScheduledTrial};
use fathom_observe::{Sysroot, unix_now_ns};
use fathom_outputs::Mark;
use fathom_plan::Plan;
use fathom_store::Store;

use crate::command::collect;
use crate::command::hosts::HostArgs;
use crate::exit::{EndedByUser, Exit, NothingMeasured};
use crate::metrics::Exporter;
use crate::output_flags::Output;
use crate::progress::{Progress, Style};
use crate::recorder::{NamedFiles, Recorded, Recorder};
use crate::run_identity::run_id;
use crate::{distinct_files, present, signals};

/// Name of test files in a target directory, before their number.
pub(crate) const FILE_PREFIX: &str = "fathom-test";

/// How long the generator's ceiling is glanced at before each workload of a
/// new shape; short, because the load is to begin soon.
const CEILING_NS: u64 = 9_000_000;

/// What is to be run and shown.
pub(crate) struct Request {
    pub(crate) plan: Plan,
    pub(crate) schedule: Schedule,
    pub(crate) label: Option<String>,
    pub(crate) output: Output,
}

/// What was measured.
pub(crate) struct Measured {
    pub(crate) record: RunRecord,
    /// It was interrupted before anything was measured, and is not stored.
    pub(crate) is_empty: bool,
    /// Why the run is not, or not wholly, in the store.
    pub(crate) problem: Option<String>,
    /// What the run made and could not remove, and why.
    pub(crate) left_behind: Vec<String>,
}

/// Runs a schedule in order, judges it and shows the result.
pub(crate) fn execute(request: Request) -> anyhow::Result<Exit> {
    let schedule = &request.schedule;
    let awaits = |trial: &ScheduledTrial| {
        let meta = trial.workload.files_work();
        meta.is_some_and(|meta| meta.does(OpKind::AwaitCreate))
    };
    if schedule.trials.iter().any(awaits) {
        present::complain(
            "await_create needs two hosts at least (--hosts): the first one creates the files, the \
             others wait for them",
        );
        return Ok(Exit::Usage);
    }
    if schedule.depth_probe {
        let host = fathom_observe::host_fingerprint(&Sysroot::host());
        let mut probing = Probing::new(schedule, host);
        return conduct(request, &mut probing);
    }
    let mut in_order = InOrder::new(schedule);
    conduct(request, &mut in_order)
}

/// The same on many hosts, in the mode of the schedule.
pub(crate) fn execute_on(hosts: &HostArgs, request: Request) -> anyhow::Result<Exit> {
    execute_spread(hosts, request, &fathom_fleet::on_hosts)
}

/// A schedule made one for many hosts.
pub(crate) type Spread<'s> = &'s dyn Fn(&Schedule, &[FleetHost]) -> Result<Schedule, String>;

/// The same, spread over the hosts in a way of its own.
pub(crate) fn execute_spread(
    hosts: &HostArgs,
    mut request: Request,
    spread: Spread<'_>,
) -> anyhow::Result<Exit> {
    let measured = carry_out_on(hosts, &mut request, FILE_PREFIX, spread)?;
    finish(&request.output, &measured)
}

/// Runs a schedule on many hosts at the same time and keeps what it gives, with
/// test files whose names begin with `file_prefix`.
pub(crate) fn measure_on(
    hosts: &HostArgs,
    mut request: Request,
    file_prefix: &str,
) -> anyhow::Result<Measured> {
    carry_out_on(hosts, &mut request, file_prefix, &fathom_fleet::on_hosts)
}

/// The same; `arrange` has the last word on the schedule of all hosts.
pub(crate) fn measure_arranged_on(
    hosts: &HostArgs,
    mut request: Request,
    arrange: impl Fn(&mut Schedule, &[FleetHost]),
) -> anyhow::Result<Measured> {
    let spread = |schedule: &Schedule, hosts: &[FleetHost]| {
        let mut many = fathom_fleet::on_hosts(schedule, hosts)?;
        arrange(&mut many, hosts);
        Ok(many)
    };
    carry_out_on(hosts, &mut request, FILE_PREFIX, &spread)
}

fn carry_out_on(
    hosts: &HostArgs,
    request: &mut Request,
    file_prefix: &str,
    spread: Spread<'_>,
) -> anyhow::Result<Measured> {
    let fleet = hosts.gather(&request.schedule)?;
    for (host, why) in fleet.missing() {
        present::complain(&format!("going on without {host}: {why}"));
    }
    if let Ok(store) = present::store_path(&request.output.store) {
        for said in collect::collect(&fleet, &store) {
            present::write_stderr(&format!("{said}\n"));
        }
    }
    let spread = spread(&request.schedule, &fleet.hosts());
    request.schedule = spread.map_err(anyhow::Error::msg)?;
    let mut conductor = InOrder::new(&request.schedule);
    let id = run_id(unix_now_ns())?;
    let carriers = Carriers {
        file_prefix,
        fleet: Some(fleet),
        unlinked: BTreeSet::new(),
    };
    carry_out(request, carriers, &mut conductor, id, &Interrupt::new())
}

/// Runs the trials that a conductor hands out, judges and shows the result.
pub(crate) fn conduct(request: Request, conductor: &mut dyn Conductor) -> anyhow::Result<Exit> {
    let measured = measure(&request, conductor)?;
    finish(&request.output, &measured)
}

fn finish(output: &Output, measured: &Measured) -> anyhow::Result<Exit> {
    measured.expect_figures()?;
    let judged = fathom_studies::judge(&measured.record);
    show(&judged, output)?;
    measured.complain();
    Ok(
        match (exit_of(&judged, output.strict), &*measured.left_behind) {
            (Exit::Success | Exit::Caveats, [_, ..]) => Exit::Failure,
            (exit, _) => exit,
        },
    )
}

/// Runs the trials that a conductor hands out and keeps what they give.
/// `request.schedule` is what the user is told beforehand: how many trials,
/// how long.
pub(crate) fn measure(
    request: &Request,
    conductor: &mut dyn Conductor,
) -> anyhow::Result<Measured> {
    measure_in_files(request, FILE_PREFIX, conductor)
}

/// As [`measure`], with test files whose names begin with `file_prefix`.
pub(crate) fn measure_in_files(
    request: &Request,
    file_prefix: &str,
    conductor: &mut dyn Conductor,
) -> anyhow::Result<Measured> {
    let id = run_id(unix_now_ns())?;
    carry_out(
        request,
        Carriers::here(file_prefix),
        conductor,
        id,
        &Interrupt::new(),
    )
}

/// As [`measure`], under an id and with an interrupt that the caller knows
/// too.
pub(crate) fn measure_as(
    request: &Request,
    conductor: &mut dyn Conductor,
    id: String,
    interrupt: &Interrupt,
) -> anyhow::Result<Measured> {
    let carriers = Carriers::here(FILE_PREFIX);
    carry_out(request, carriers, conductor, id, interrupt)
}

/// As [`measure_as`]; the caller removes files of these names after the run.
pub(crate) fn measure_unlinking(
    request: &Request,
    conductor: &mut dyn Conductor,
    id: String,
    interrupt: &Interrupt,
    unlinked: BTreeSet<PathBuf>,
) -> anyhow::Result<Measured> {
    let carriers = Carriers {
        unlinked,
        ..Carriers::here(FILE_PREFIX)
    };
    carry_out(request, carriers, conductor, id, interrupt)
}

/// Who carries the load.
struct Carriers<'c> {
    /// What the names of test files begin with.
    file_prefix: &'c str,
    /// Other hosts; `None` is this one.
    fleet: Option<Fleet>,
    /// Files of names that the user chose which do not outlive the run.
    unlinked: BTreeSet<PathBuf>,
}

impl Carriers<'_> {
    fn here(file_prefix: &str) -> Carriers<'_> {
        Carriers {
            file_prefix,
            fleet: None,
            unlinked: BTreeSet::new(),
        }
    }
}

fn carry_out(
    request: &Request,
    carriers: Carriers<'_>,
    conductor: &mut dyn Conductor,
    id: String,
    interrupt: &Interrupt,
) -> anyhow::Result<Measured> {
    let output = &request.output;
    if let Some(html) = &output.html {
        present::admit(html, Mark::Page)?;
    }
    if carriers.fleet.is_none() {
        let store = present::store_path(&output.store).ok();
        distinct_files::check(&request.schedule, store.as_deref(), output.html.as_deref())?;
    }
    signals::raise_on_signals(interrupt).context("cannot install the signal handlers")?;
    let store = open_store(output);
    let hosts = carriers.fleet.as_ref().map(Fleet::hosts);
    let meta = meta_of(request, id, hosts.unwrap_or_default());
    let settings = Settings {
        run: meta.id.clone(),
        file_prefix: carriers.file_prefix.to_owned(),
        destructive: request.schedule.destructive,
        keep_files: request.schedule.keep_files,
        ceiling_ns: CEILING_NS,
        sysroot: Sysroot::host(),
    };
    if carriers.fleet.is_none() {
        fathom_fleet::preflight(&request.schedule, &settings).map_err(NothingMeasured::from)?;
    }
    let progress = Progress::new(Style::choose(output.quiet), &request.schedule);
    let store_path = present::store_path(&output.store).ok();
    let named = NamedFiles::of(&meta.schedule, store_path.as_deref(), &carriers.unlinked);
    let keeping = (settings.keep_files, named);
    let exporter = Exporter::start(&output.metrics, &meta)?;
    let mut recorder = Recorder::begin(store, meta, keeping, (progress, exporter));
    let rules: StopRules<'_> = &fathom_analysis::stop_rule;
    let sink = &mut recorder;
    let outcome = match carriers.fleet {
        None => fathom_fleet::run_schedule(conductor, &settings, rules, interrupt, sink),
        Some(fleet) => {
            let planned = &request.schedule;
            fathom_fleet::run_on_fleet(fleet, planned, conductor, &settings, rules, interrupt, sink)
        }
    };
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
    pub(crate) fn expect_figures(&self) -> anyhow::Result<()> {
        if !self.is_empty {
            return Ok(());
        }
        self.complain();
        let cause = self.record.meta.reason.as_deref();
        let cause = cause.unwrap_or("interrupted");
        let reason = format!("{cause}, before anything was measured; nothing was stored");
        Err(EndedByUser(reason).into())
    }

    /// Tells the user what could not be removed, and when the run could not be
    /// stored.
    pub(crate) fn complain(&self) {
        for left in &self.left_behind {
            present::complain(&format!("not all test data is removed: {left}"));
        }
        if let Some(problem) = &self.problem {
            present::complain(&format!(
                "this run is not, or not wholly, in the store: {problem}"
            ));
        }
    }
}

/// Prints a judged run and writes its HTML report.
pub(crate) fn show(judged: &JudgedRun, output: &Output) -> anyhow::Result<()> {
    let html = present::write_html(judged, output.html.as_deref(), &output.store);
    present::print(judged, &output.format, html.as_ref().ok())?;
    if let Err(error) = html {
        present::complain(&format!("the HTML report was not written: {error:#}"));
    }
    Ok(())
}

/// The exit status that a judged run asks for.
pub(crate) fn exit_of(judged: &JudgedRun, strict: bool) -> Exit {
    Exit::of_run(judged.run.state, judged.verdict.validity, strict)
        .with_fitness(judged.verdict.fitness.as_ref())
}

fn open_store(output: &Output) -> Result<Store, String> {
    let path = present::store_path(&output.store).map_err(|error| format!("{error:#}"))?;
    Store::open(&path).map_err(|error| error.to_string())
}

fn meta_of(request: &Request, id: String, hosts: Vec<FleetHost>) -> RunMeta {
    let started_unix_ns = unix_now_ns();
    RunMeta {
        id,
        started_unix_ns,
        ended_unix_ns: None,
        state: RunState::Running,
        reason: None,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: masked_arguments(
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()),
        ),
        plan_yaml: masked(&request.plan.to_yaml()),
        label: request.label.as_deref().map(masked),
        schedule: request.schedule.clone(),
        host: fathom_observe::host_fingerprint(&Sysroot::host()),
        hosts,
    }
}
