//! Agents that Slurm starts inside of an allocation, with one `srun`.
//!
//! A task of a step has no input and output of its own, so the agents call
//! back ([`crate::launchers::call_back`]). Each runs this very binary where the nodes
//! share it, else a copy in its user's cache; a node that has none yet says so
//! and is given one by a step of its own, whose standard input it is. (`srun`
//! can give its input to all tasks, but loses most of it when one does not
//! read; `sbcast` overwrites what runs.)

use std::fs::File;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::host_list::{HostName, parse_hosts};
use crate::launchers::agent_binary::{AgentBinary, quoted};
use crate::launchers::call_back_launch::Launched;
use crate::launchers::starter::Program;
use crate::protocol::wire::clean;

/// Time for the step, the copy and the start of the agents.
const PATIENCE: Duration = Duration::from_secs(120);

/// The nodes of an allocation, in the words of Slurm.
const NODES_VARIABLE: &str = "SLURM_JOB_NODELIST";

/// The nodes of the allocation that this process is in.
///
/// # Errors
/// When it is in none.
pub fn slurm_nodes() -> Result<Vec<HostName>, String> {
    match std::env::var(NODES_VARIABLE) {
        Ok(list) if !list.is_empty() => {
            parse_hosts(&list).map_err(|why| format!("${NODES_VARIABLE} ({list}): {why}"))
        }
        _ => Err(format!(
            "there is no allocation of Slurm here (${NODES_VARIABLE} is not set); begin one with \
             salloc or sbatch: salloc -N 4 fathom io …"
        )),
    }
}

/// Starts an agent on each of the hosts, which must be of the allocation.
pub(crate) fn launch(
    hosts: &[HostName],
    call_back: Option<&HostName>,
    binary: AgentBinary,
    arguments: &[String],
) -> Result<Launched, String> {
    let nodes = slurm_nodes()?;
    let strangers: Vec<&str> = hosts
        .iter()
        .filter(|host| !nodes.contains(host))
        .map(|host| host.name.as_str())
        .collect();
    if !strangers.is_empty() {
        return Err(format!(
            "not in this allocation of Slurm: {}",
            strangers.join(", ")
        ));
    }
    let script = script(&binary, arguments)?;
    Launched::begin(call_back, hosts, PATIENCE, |invitation| {
        let mut command = step(hosts);
        command.args(["sh", "-c", &script]);
        // One after the other: with a shared home the first is enough.
        let turns = Mutex::new(());
        let bring = move |need: &str| {
            let _turn = turns.lock().unwrap_or_else(PoisonError::into_inner);
            copy(&binary, need)
        };
        let started = Program::start("srun", command, invitation, Some(Box::new(bring)))?;
        Ok(Box::new(started))
    })
}

/// Brings a node the copy that it waits for. `need` is its system and name.
fn copy(binary: &AgentBinary, need: &str) -> Result<(), String> {
    let (system, node) = need.rsplit_once(' ').unwrap_or((need, ""));
    let failed = |why: String| format!("{node}: {why}");
    binary.check(system).map_err(failed)?;
    let node = parse_hosts(node)?;
    let input = File::open(binary.path()).map_err(|error| failed(error.to_string()))?;
    let output = step(&node)
        .args(["sh", "-c", &binary.kept_copy()])
        .stdin(Stdio::from(input))
        .output()
        .map_err(|error| failed(format!("cannot start srun: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().last().unwrap_or_default().to_owned();
    Err(failed(format!(
        "the binary could not be copied: {}",
        clean(&last)
    )))
}

/// A step with one task on each of the hosts.
fn step(hosts: &[HostName]) -> Command {
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    let count = names.len();
    let mut command = Command::new("srun");
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
    command
}

fn script(binary: &AgentBinary, arguments: &[String]) -> Result<String, String> {
    let arguments: Vec<String> = arguments.iter().map(|word| quoted(word)).collect();
    Ok(format!(
        "{}exec \"$f\" agent --call-back \"$SLURMD_NODENAME\" {}",
        binary.awaited_copy("$SLURMD_NODENAME")?,
        arguments.join(" ")
    ))
}
