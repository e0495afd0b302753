//! What a launcher is told.

use std::path::PathBuf;

use crate::host_list::HostName;
use crate::launchers::LaunchError;
use crate::launchers::agent_binary::AgentBinary;
use crate::launchers::kubectl::Kubectl;
use crate::launchers::pods::Pod;

/// Where agents are to be started, and how the user wants it. Each launcher
/// takes from it what it needs.
#[derive(Debug, Clone, Default)]
pub struct LaunchRequest {
    /// The hosts.
    pub hosts: Vec<HostName>,
    /// Arguments of the agents.
    pub arguments: Vec<String>,
    /// The binary of the agents; `None` is this one.
    pub agent_binary: Option<PathBuf>,
    /// Directory of the fleet's keys.
    pub keys: PathBuf,
    /// The name or address under which this host is reached from the others, by
    /// default any of its own.
    pub call_back: Option<HostName>,
    /// The command of the site that starts programs of MPI, word by word.
    pub mpirun: Vec<String>,
    /// Manifest of the Job that runs the agents in a cluster, YAML or JSON.
    pub job: Option<PathBuf>,
    /// Namespace of that Job, where it is not that of kubectl's context.
    pub namespace: Option<String>,
    /// Pods in which agents are to be started.
    pub pods: Vec<Pod>,
    /// How those are reached.
    pub kubectl: Kubectl,
}

impl LaunchRequest {
    /// The binary of the agents.
    pub(super) fn binary(&self) -> Result<AgentBinary, LaunchError> {
        let path = match &self.agent_binary {
            Some(path) => path.clone(),
            None => std::env::current_exe().map_err(LaunchError::OwnBinary)?,
        };
        Ok(AgentBinary::read(&path)?)
    }
}
