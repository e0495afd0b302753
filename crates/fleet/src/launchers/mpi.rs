//! Agents that `mpirun` starts, as HPC sites start everything: nothing of MPI
//! itself is used.
//!
//! Each host is a program of its own in one command line
//! (`-np 1 --host h1 … : -np 1 --host h2 …`), which Open MPI, MPICH and their
//! kin understand alike. Standard input reaches the first task only, so the
//! binary must be on all hosts; the agents call back.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use fathom_deadline::command;

use crate::host_list::HostName;
use crate::launchers::call_back::CALL_BACK_VARIABLE;
use crate::launchers::call_back_launch::CallBackLaunch;
use crate::launchers::program::Program;
use crate::launchers::{Launch, LaunchError, LaunchRequest, LauncherKind};

/// Time for the start of the agents.
const PATIENCE: Duration = Duration::from_secs(120);

pub(super) static LAUNCHER: LauncherKind = LauncherKind {
    name: "mpi",
    about: "mpirun starts them; nothing else of MPI is used",
    starts_agents: true,
    default_hosts: None,
    start: launch,
};

/// Which of the families an `mpirun` is of: they differ in how they pass on
/// the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    OpenMpi,
    /// MPICH and what is built on it (Hydra): Intel MPI, MVAPICH.
    Hydra,
}

/// Starts an agent on each of the hosts, with `mpirun` or what the user calls
/// it, and the options that the site needs.
fn launch(request: &LaunchRequest) -> Result<Box<dyn Launch>, LaunchError> {
    let (hosts, call_back) = (&request.hosts, request.call_back.as_ref());
    let binary = request.binary()?;
    if hosts.is_empty() {
        return Err(LaunchError::NoHosts);
    }
    let program = request.mpirun.first().map_or("mpirun", String::as_str);
    let options = request.mpirun.get(1..).unwrap_or_default();
    let family = family(program, options)?;
    let launch = CallBackLaunch::begin(call_back, hosts, PATIENCE, |invitation| {
        let mut command = command(program).map_err(unstarted(program))?;
        command.args(options);
        // Open MPI binds each program to one core unless told otherwise.
        if family == Family::OpenMpi {
            command.args(["--bind-to", "none"]);
        }
        command.args(line(family, hosts, binary.path(), &request.arguments));
        // Root is allowed where root asks for it.
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
            command.env(name, "1");
        }
        // An allocation's own limits on processes to a host are not meant.
        command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
        let started = Program::start("mpirun", command, invitation, None)?;
        Ok(Box::new(started))
    })?;
    Ok(Box::new(launch))
}

fn unstarted(program: &str) -> impl FnOnce(io::Error) -> LaunchError {
    let program = program.to_owned();
    move |cause| LaunchError::Start { program, cause }
}

fn family(program: &str, options: &[String]) -> Result<Family, LaunchError> {
    let output = command(program)
        .and_then(|mut command| {
            command.args(options).arg("--version");
            command.stdin(Stdio::null()).output()
        })
        .map_err(unstarted(program))?;
    let text = String::from_utf8_lossy(&output.stdout).to_ascii_lowercase();
    Ok(
        match text.contains("open mpi") || text.contains("openrte") {
            true => Family::OpenMpi,
            false => Family::Hydra,
        },
    )
}

fn line(family: Family, hosts: &[HostName], binary: &Path, arguments: &[String]) -> Vec<OsString> {
    let mut line: Vec<OsString> = Vec::new();
    for (place, host) in hosts.iter().enumerate() {
        if place > 0 {
            line.push(":".into());
        }
        line.extend(["-np", "1", "-host", &host.name].map(OsString::from));
        // Its name only: others see the command line. Hydra passes on all.
        if family == Family::OpenMpi {
            line.extend(["-x", CALL_BACK_VARIABLE].map(OsString::from));
        }
        line.push(binary.into());
        line.extend(["agent", "--call-back", &host.name].map(OsString::from));
        line.extend(arguments.iter().map(OsString::from));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_is_a_program_of_its_own_and_the_secret_stays_out_of_sight() {
        let hosts = crate::host_list::parse_hosts("h1,h2").unwrap();
        let arguments = ["--allow".to_owned(), "/data".to_owned()];
        let words = |family| {
            let line = line(family, &hosts, Path::new("/opt/fathom"), &arguments);
            let line: Vec<String> = line
                .into_iter()
                .map(|word| word.into_string().unwrap())
                .collect();
            line.join(" ")
        };
        assert_eq!(
            words(Family::OpenMpi),
            "-np 1 -host h1 -x FATHOM_CALL_BACK /opt/fathom agent --call-back h1 --allow /data : \
             -np 1 -host h2 -x FATHOM_CALL_BACK /opt/fathom agent --call-back h2 --allow /data"
        );
        assert!(words(Family::Hydra).contains("-np 1 -host h2 /opt/fathom"));
    }
}
