//! How the agents of a run are started: a file for each way to do it, and its
//! line in [`LAUNCHERS`].
//!
//! A run on this host alone needs none of them: its agent is a thread
//! ([`local`]).

pub(crate) mod agent_arguments;
pub(crate) mod agent_binary;
pub(crate) mod call_back;
pub(crate) mod call_back_launch;
mod call_back_port;
mod carrier;
mod error;
pub(crate) mod kubectl;
pub(crate) mod kubernetes;
pub(crate) mod kubernetes_error;
pub(crate) mod local;
mod mpi;
pub(crate) mod pods;
mod program;
mod request;
mod slurm;
mod ssh;
mod static_agents;
mod stderr_tail;

use std::fmt::Debug;
use std::path::PathBuf;

pub use error::LaunchError;
pub use kubernetes_error::KubernetesError;
pub use request::LaunchRequest;

use crate::host_list::HostName;
use crate::interrupt::Interrupt;
use crate::launchers::call_back_launch::CallBackLaunch;
use crate::transport::Transport;

/// All launchers, in the order in which the help lists them; the first is the
/// default.
pub static LAUNCHERS: [&LauncherKind; 5] = [
    &ssh::LAUNCHER,
    &static_agents::LAUNCHER,
    &slurm::LAUNCHER,
    &mpi::LAUNCHER,
    &kubernetes::LAUNCHER,
];

/// Finds hosts where the user names none.
type DefaultHosts = fn() -> Result<Vec<HostName>, LaunchError>;

/// Hosts that are greeted at the same time.
const AT_ONCE: usize = 32;

/// One way to start agents.
#[derive(Debug)]
pub struct LauncherKind {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Whether it starts agents for the purpose, which may then touch what a
    /// plan names.
    pub starts_agents: bool,
    /// The hosts where the user names none.
    default_hosts: Option<DefaultHosts>,
    start: fn(&LaunchRequest) -> Result<Box<dyn Launch>, LaunchError>,
}

impl LauncherKind {
    /// Whether the user need not name hosts.
    pub fn knows_hosts(&self) -> bool {
        self.default_hosts.is_some()
    }

    /// The hosts where the user names none; empty where nothing knows them.
    ///
    /// # Errors
    /// What knows them cannot be asked.
    pub fn default_hosts(&self) -> Result<Vec<HostName>, LaunchError> {
        self.default_hosts.map_or(Ok(Vec::new()), |hosts| hosts())
    }

    /// Makes it ready, and starts what starts all agents at once.
    ///
    /// # Errors
    /// When agents cannot be started in this way here.
    pub fn start(&self, request: &LaunchRequest) -> Result<Launcher, LaunchError> {
        (self.start)(request).map(Launcher)
    }
}

/// A launcher that is ready.
pub(crate) trait Launch: Debug + Send + Sync {
    /// The connection to the agent of a host.
    fn launch(&self, host: &HostName, interrupt: &Interrupt) -> Result<Transport, LaunchError>;

    /// How many hosts are greeted at the same time.
    fn at_once(&self, hosts: usize) -> usize {
        AT_ONCE.min(hosts)
    }

    /// What must stay as long as the agents do.
    fn under_way(&self) -> Option<CallBackLaunch> {
        None
    }
}

/// What starts the agents of a run.
#[derive(Debug)]
pub struct Launcher(Box<dyn Launch>);

impl Launcher {
    /// Agents that run already. `directory` is that of `fathom fleet init`.
    ///
    /// # Errors
    /// When there is no fleet in the directory.
    pub fn joined(directory: PathBuf) -> Result<Launcher, LaunchError> {
        static_agents::LAUNCHER.start(&LaunchRequest {
            keys: directory,
            ..LaunchRequest::default()
        })
    }

    pub(crate) fn launch(
        &self,
        host: &HostName,
        interrupt: &Interrupt,
    ) -> Result<Transport, LaunchError> {
        if interrupt.is_raised() {
            return Err(LaunchError::Interrupted(interrupt.why().to_owned()));
        }
        self.0.launch(host, interrupt)
    }

    pub(crate) fn at_once(&self, hosts: usize) -> usize {
        self.0.at_once(hosts)
    }

    pub(crate) fn under_way(&self) -> Option<CallBackLaunch> {
        self.0.under_way()
    }
}
