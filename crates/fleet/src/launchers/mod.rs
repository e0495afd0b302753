//! How agents come to life.

pub(crate) mod agent_binary;
pub(crate) mod call_back;
pub(crate) mod call_back_launch;
mod call_back_port;
pub(crate) mod kubernetes;
pub(crate) mod local;
mod mpi;
pub(crate) mod slurm;
pub(crate) mod ssh;
mod starter;
mod stderr_tail;

use std::path::PathBuf;

use crate::credentials::CoordinatorKeys;
use crate::host_list::HostName;
use crate::interrupt::Interrupt;
use crate::launchers::agent_binary::AgentBinary;
use crate::launchers::call_back_launch::Launched;
use crate::launchers::kubernetes::KubernetesOptions;
use crate::launchers::ssh::SshOptions;
use crate::transport::Transport;
use crate::transport::tls;

/// Hosts that are greeted at the same time.
const AT_ONCE: usize = 32;

/// How agents come to life.
#[derive(Debug)]
pub enum Launcher {
    /// They run already, and have joined the fleet of these keys.
    Static(Box<CoordinatorKeys>),
    /// The system's OpenSSH starts them, with the user's configuration.
    Ssh(SshOptions),
    /// Something of the site has been told to start them all.
    Launched(Launched),
}

impl Launcher {
    /// Agents that run already. `directory` is that of `fathom fleet init`.
    ///
    /// # Errors
    /// When there is no fleet in the directory.
    pub fn joined(directory: PathBuf) -> Result<Launcher, String> {
        Ok(Launcher::Static(Box::new(CoordinatorKeys::load(
            &directory,
        )?)))
    }

    /// Agents on nodes of this allocation of Slurm. `call_back` is the name or
    /// address under which this host is reached from there, by default any of
    /// its own.
    ///
    /// # Errors
    /// Outside of an allocation, and when `srun` cannot be started.
    pub fn slurm(
        hosts: &[HostName],
        call_back: Option<&HostName>,
        binary: AgentBinary,
        arguments: &[String],
    ) -> Result<Launcher, String> {
        slurm::launch(hosts, call_back, binary, arguments).map(Launcher::Launched)
    }

    /// Agents that `mpirun` starts: its words are the command of the site, by
    /// default `mpirun` alone.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn mpi(
        hosts: &[HostName],
        call_back: Option<&HostName>,
        mpirun: &[String],
        binary: &AgentBinary,
        arguments: &[String],
    ) -> Result<Launcher, String> {
        mpi::launch(hosts, call_back, mpirun, binary, arguments).map(Launcher::Launched)
    }

    /// Agents as the pods of a Job.
    ///
    /// # Errors
    /// When the manifest cannot be used, or kubectl refuses it.
    pub fn kubernetes(
        hosts: &[HostName],
        call_back: Option<&HostName>,
        options: &KubernetesOptions,
    ) -> Result<Launcher, String> {
        kubernetes::launch(hosts, call_back, options).map(Launcher::Launched)
    }

    pub(crate) fn launch(
        &self,
        host: &HostName,
        interrupt: &Interrupt,
    ) -> Result<Transport, String> {
        if interrupt.is_raised() {
            return Err(interrupt.why().to_owned());
        }
        match self {
            Launcher::Static(keys) => tls::connect(host, keys),
            Launcher::Ssh(options) => ssh::launch(host, options, interrupt),
            Launcher::Launched(launched) => launched.wait_for(host, interrupt),
        }
    }

    /// How many hosts are greeted at the same time: who comes by itself must
    /// not wait behind those that do not.
    pub(crate) fn at_once(&self, hosts: usize) -> usize {
        match self {
            Launcher::Launched(_) => hosts,
            _ => AT_ONCE.min(hosts),
        }
    }

    /// What must stay as long as the agents do.
    pub(crate) fn launched(&self) -> Option<Launched> {
        match self {
            Launcher::Launched(launched) => Some(launched.clone()),
            _ => None,
        }
    }
}
