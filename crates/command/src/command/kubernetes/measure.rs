//! A run for each class and mode, then the comparison.

use std::path::PathBuf;
use std::time::Duration;

use clap::FromArgMatches;
use fathom_fleet::{Interrupt, ObjectName, VolumeError, VolumeMode, VolumeRequest, Volumes};
use fathom_observe::unix_now_ns;

use super::Kubernetes;
use super::work::Work;
use crate::command::compare::{self, Compare};
use crate::command::hosts::HostArgs;
use crate::command::run::schedule_on_hosts;
use crate::exit::{CommandError, EndedByUser, Exit};
use crate::pipeline::{self, Request};
use crate::{present, run_identity, signals};

/// What the cluster keeps free of a volume is not known before, so a volume smaller
/// than this would have no room for a measurement.
const VOLUME_BYTES_MIN: u64 = 64 << 20;

/// A run of one class.
struct ClassRun {
    id: String,
    exit: Exit,
    /// The first node on which it ran.
    node: Option<ObjectName>,
}

pub(super) fn run(command: &Kubernetes, all: fn() -> clap::Command) -> anyhow::Result<Exit> {
    if command.size < VOLUME_BYTES_MIN {
        return Err(CommandError::usage("--size must be at least 64MiB").into());
    }
    if let Some((_, class)) = twice(&command.storage_class) {
        return Err(CommandError::Usage(format!("storage class '{class}' is given twice")).into());
    }
    let interrupt = Interrupt::new();
    signals::raise_on_signals(&interrupt)?;
    let mut exit = Exit::Success;
    // Classes are only comparable where they were measured on the same nodes.
    let mut nodes = command.nodes.clone();
    for mode in command.mode.modes() {
        let mut ids = Vec::new();
        for class in &command.storage_class {
            // What is wrong with it is said before anything is made.
            let work = Work::of(
                &command.work,
                &path_of(command, *mode).to_string_lossy(),
                all,
            )?;
            let done = measure(command, class, *mode, &nodes, work, &interrupt)?;
            exit = exit.or_worse(done.exit);
            if done.exit == Exit::Interrupted || interrupt.is_raised() {
                return Ok(exit.or_worse(Exit::Interrupted));
            }
            if nodes.is_empty() && command.storage_class.len() > 1 {
                nodes.extend(done.node);
            }
            ids.push(done.id);
        }
        if ids.len() > 1 {
            exit = exit.or_worse(compared(command, &ids, all)?);
        }
    }
    Ok(exit)
}

fn twice(classes: &[ObjectName]) -> Option<(usize, &ObjectName)> {
    let mut all = classes.iter().enumerate();
    all.find(|(place, class)| classes[..*place].contains(class))
}

/// Makes volumes of a class, runs what is to be run in them, and removes them.
fn measure(
    command: &Kubernetes,
    class: &ObjectName,
    mode: VolumeMode,
    nodes: &[ObjectName],
    mut work: Work,
    interrupt: &Interrupt,
) -> anyhow::Result<ClassRun> {
    let quiet = work.output().quiet;
    let note = |text: &str| {
        if !quiet {
            present::write_stderr(&format!("{text}\n"));
        }
    };
    let kubectl = command.kubectl();
    let request = VolumeRequest {
        class: class.clone(),
        mode,
        bytes: command.size,
        nodes: nodes.to_vec(),
        tolerated: command.tolerate.clone(),
        image: command.image.clone().unwrap_or_default(),
        path: path_of(command, mode),
        patience: Duration::from_secs(u64::from(command.wait)),
        time_limit: Duration::from_secs(u64::from(command.time_limit)),
    };
    note(&format!(
        "storage class {class}, {}: making volumes",
        mode.name().to_lowercase()
    ));
    let volumes = Volumes::make(&kubectl, &request)?;
    let pods = volumes.pods(interrupt, &note).map_err(|error| match error {
        VolumeError::Interrupted => EndedByUser(error.to_string()).into(),
        error => anyhow::Error::from(error),
    });
    let done = pods.and_then(|pods| {
        let node = pods.first().and_then(|pod| ObjectName::of(&pod.node));
        let hosts = HostArgs::in_pods(pods, kubectl)?;
        let mut plan = work.plan(&hosts, command.size)?;
        // The device is this run's own.
        plan.set_destructive(mode == VolumeMode::Block || plan.destructive());
        let (id, exit) = carried_out(&work, &hosts, plan, label(class, mode))?;
        Ok(ClassRun { id, exit, node })
    });
    match (done, volumes.remove()) {
        (Ok(done), Err(left)) => {
            present::complain(&left.to_string());
            let exit = done.exit.or_worse(Exit::Failure);
            Ok(ClassRun { exit, ..done })
        }
        (Err(error), Err(left)) => {
            present::complain(&left.to_string());
            Err(error)
        }
        (done, Ok(())) => done,
    }
}

fn path_of(command: &Kubernetes, mode: VolumeMode) -> PathBuf {
    let usual = match mode {
        VolumeMode::Filesystem => "/data",
        VolumeMode::Block => "/dev/fathom-volume",
    };
    command.at.clone().unwrap_or_else(|| PathBuf::from(usual))
}

fn label(class: &ObjectName, mode: VolumeMode) -> String {
    format!("storage class {class}, {}", mode.name().to_lowercase())
}

fn carried_out(
    work: &Work,
    hosts: &HostArgs,
    plan: fathom_plan::Plan,
    label: String,
) -> anyhow::Result<(String, Exit)> {
    let output = work.output().clone();
    let schedule = schedule_on_hosts(&plan, output.format.color)?;
    let request = Request {
        plan,
        schedule,
        label: Some(label),
        output,
    };
    let id = run_identity::run_id(unix_now_ns())?;
    let run = pipeline::Run::new(&request).hosts(hosts).id(id.clone());
    Ok((id, run.report()?))
}

/// Which side of a comparison is which class.
fn sides(classes: &[ObjectName]) -> String {
    let sides = classes.iter().zip('A'..='Z');
    let named: Vec<String> = sides
        .map(|(class, side)| format!("{side} {class}"))
        .collect();
    format!("\nStorage classes: {}\n", named.join(", "))
}

/// The classes side by side, by `fathom compare`.
fn compared(
    command: &Kubernetes,
    ids: &[String],
    all: fn() -> clap::Command,
) -> anyhow::Result<Exit> {
    let work = Work::of(&command.work, "/data", all)?;
    let output = work.output();
    let mut words = vec!["fathom".to_owned(), "compare".to_owned()];
    words.extend(ids.iter().cloned());
    if let Some(store) = &output.store.store {
        words.push(format!("--store={}", store.display()));
    }
    words.extend(
        output
            .format
            .document
            .is("json")
            .then(|| "--json".to_owned()),
    );
    words.extend(output.format.decimal.then(|| "--decimal".to_owned()));
    let matches = all().try_get_matches_from(words)?;
    let Some((_, matches)) = matches.subcommand() else {
        return Ok(Exit::Failure);
    };
    let compare = Compare::from_arg_matches(matches)?;
    if !compare.is_json() {
        present::write_stdout(&sides(&command.storage_class))?;
    }
    compare::run(&compare)
}
