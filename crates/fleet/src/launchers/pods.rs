//! Agents in pods that run already, started by `kubectl exec`: they speak through
//! its streams and end with it.

use std::io::{Cursor, Read};
use std::time::Duration;

use crate::host_list::HostName;
use crate::interrupt::Interrupt;
use crate::launchers::carrier::Carrier;
use crate::launchers::kubectl::Kubectl;
use crate::launchers::{Launch, LaunchError, LaunchRequest, LauncherKind};
use crate::transport::Transport;

/// The container of a pod in which agents are started.
pub(crate) const CONTAINER: &str = "fathom";

/// Time for kubectl to be let in.
const PATIENCE: Duration = Duration::from_secs(60);

/// A pod in which an agent is to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pod {
    /// The node on which it runs: the name of the host in reports.
    pub node: String,
    /// Its name.
    pub name: String,
}

/// Chosen by commands that make pods, not by a user.
pub static POD_LAUNCHER: LauncherKind = LauncherKind {
    name: "pods",
    about: "kubectl starts them in pods that run already",
    starts_agents: true,
    default_hosts: None,
    start: |request: &LaunchRequest| {
        Ok(Box::new(PodLauncher {
            kubectl: request.kubectl.clone(),
            pods: request.pods.clone(),
            arguments: request.arguments.clone(),
        }))
    },
};

#[derive(Debug)]
struct PodLauncher {
    kubectl: Kubectl,
    pods: Vec<Pod>,
    arguments: Vec<String>,
}

impl Launch for PodLauncher {
    fn launch(&self, host: &HostName, interrupt: &Interrupt) -> Result<Transport, LaunchError> {
        let pod = self.pods.iter().find(|pod| pod.node == host.name);
        let pod = pod.ok_or(LaunchError::EndedEarly)?;
        let mut command = self.kubectl.command()?;
        command.args(["exec", "--stdin", &pod.name, "--container", CONTAINER, "--"]);
        command
            .args(["/fathom", "agent", "--stdio"])
            .args(&self.arguments);
        let (carrier, input, mut output) = Carrier::start("kubectl", &mut command)?;
        // An agent speaks first. Without a word, kubectl says why.
        let mut first = [0];
        carrier.within(PATIENCE, interrupt, || match output.read(&mut first) {
            Ok(1) => Ok(()),
            Ok(_) => Err(LaunchError::EndedEarly),
            Err(error) => Err(LaunchError::Broken(error)),
        })?;
        Ok(carrier.transport(Box::new(Cursor::new(first).chain(output)), Box::new(input)))
    }
}
