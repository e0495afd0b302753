//! Agents that Slurm starts inside an allocation, with one `srun`.
//!
//! A task of a step has no input and output of its own, so the agents call
//! back ([`crate::launchers::call_back`]). Each runs this very binary where the nodes
//! share it, else a copy in its user's cache; a node that has none yet says so
//! and is given one by a step of its own, whose standard input it is. (`srun`
//! can give its input to all tasks, but loses most of it when one does not
//! read; `sbcast` overwrites what runs.)

use std::io;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fathom_model::shell;

use crate::host_list::{HostName, parse_hosts};
use crate::launchers::agent_binary::{AgentBinary, BinaryError};
use crate::launchers::call_back_launch::CallBackLaunch;
use crate::launchers::program::Program;
use crate::launchers::{Launch, LaunchError, LaunchRequest, LauncherKind};
use crate::protocol::wire::clean;

/// Time for the step, the copy and the start of the agents.
const PATIENCE: Duration = Duration::from_secs(120);

/// The nodes of an allocation, in the words of Slurm.
const NODES_VARIABLE: &str = "SLURM_JOB_NODELIST";

pub(super) static LAUNCHER: LauncherKind = LauncherKind {
    name: "slurm",
    about: "srun starts them, inside an allocation; its nodes are the default",
    starts_agents: true,
    default_hosts: Some(slurm_nodes),
    start: launch,
};

/// The nodes of the allocation that this process is in.
///
/// # Errors
/// When it is in none.
fn slurm_nodes() -> Result<Vec<HostName>, LaunchError> {
    match std::env::var(NODES_VARIABLE) {
        Ok(list) if !list.is_empty() => {
            parse_hosts(&list).map_err(|cause| LaunchError::Allocation {
                variable: NODES_VARIABLE,
                list,
                cause,
            })
        }
        _ => Err(LaunchError::NoAllocation {
            variable: NODES_VARIABLE,
        }),
    }
}

/// Starts an agent on each of the hosts, which must be of the allocation.
fn launch(request: &LaunchRequest) -> Result<Box<dyn Launch>, LaunchError> {
    let (hosts, call_back) = (&request.hosts, request.call_back.as_ref());
    let binary = request.binary()?;
    let nodes = slurm_nodes()?;
    let others = hosts.iter().filter(|host| !nodes.contains(host));
    let others: Vec<String> = others.map(|host| host.name.clone()).collect();
    if !others.is_empty() {
        return Err(LaunchError::NotAllocated { hosts: others });
    }
    let script = script(&binary, &request.arguments)?;
    let launch = CallBackLaunch::begin(call_back, hosts, PATIENCE, |invitation| {
        let mut command = step(hosts)?;
        command.args(["sh", "-c", &script]);
        // One after the other: with a shared home the first is enough.
        let turns = Mutex::new(());
        let bring = move |need: &str| {
            let _turn = turns.lock().unwrap_or_else(PoisonError::into_inner);
            copy(&binary, need)
        };
        let started = Program::start("srun", command, invitation, Some(Box::new(bring)))?;
        Ok(Box::new(started))
    })?;
    Ok(Box::new(launch))
}

/// Brings a node the copy that it waits for. `need` is its system and name.
fn copy(binary: &AgentBinary, need: &str) -> Result<(), LaunchError> {
    let (system, node) = need.rsplit_once(' ').unwrap_or((need, ""));
    let on_host = |cause: LaunchError| LaunchError::OnHost {
        host: node.to_owned(),
        cause: Box::new(cause),
    };
    let wrong = |error: BinaryError| on_host(error.into());
    binary.check(system).map_err(wrong)?;
    let node = parse_hosts(node)?;
    let input = fathom_deadline::paths::open(binary.path());
    let input = input.map_err(|error| wrong(BinaryError::Unopened(error)))?;
    let output = step(&node)
        .map_err(&on_host)?
        .args(["sh", "-c", &binary.kept_copy()])
        .stdin(Stdio::from(input))
        .output()
        .map_err(|cause| on_host(unstarted(cause)))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().last().unwrap_or_default().to_owned();
    Err(wrong(BinaryError::CopyProgram(clean(&last))))
}

/// A step with one task on each of the hosts.
fn step(hosts: &[HostName]) -> Result<Command, LaunchError> {
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    let count = names.len();
    let mut command = fathom_deadline::command("srun").map_err(unstarted)?;
    command.args([
        &format!("--nodes={count}-{count}"),
        &format!("--ntasks={count}"),
        "--ntasks-per-node=1",
        &format!("--nodelist={}", names.join(",")),
        // Beside what the allocation's own steps use, and with all CPUs.
        "--overlap",
        "--cpu-bind=none",
        "--mpi=none",
        "--export=ALL",
        "--chdir=/",
        // The loss of one is no reason to end the others.
        "--kill-on-bad-exit=0",
        "--no-kill",
        "--wait=0",
        "--quiet",
        "--job-name=fathom",
    ]);
    Ok(command)
}

fn unstarted(cause: io::Error) -> LaunchError {
    LaunchError::Start {
        program: "srun".to_owned(),
        cause,
    }
}

fn script(binary: &AgentBinary, arguments: &[String]) -> Result<String, BinaryError> {
    let arguments: Vec<String> = arguments.iter().map(|word| shell::word(word)).collect();
    Ok(format!(
        "{}exec \"$f\" agent --call-back \"$SLURMD_NODENAME\" {}",
        binary.awaited_copy("$SLURMD_NODENAME")?,
        arguments.join(" ")
    ))
}
