//! Why agents cannot be started.

use std::io;
use std::time::Duration;

use crate::credentials::CredentialsError;
use crate::host_list::HostListError;
use crate::launchers::agent_binary::BinaryError;
use crate::launchers::kubernetes_error::KubernetesError;
use crate::thread::ThreadError;
use crate::transport::ConnectionError;

/// Why there is no agent on a host, or on any of them.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The run was ended before, and why.
    #[error("{0}")]
    Interrupted(String),
    /// Keys, certificates or secrets.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The connection to an agent.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// No thread here.
    #[error(transparent)]
    Thread(#[from] ThreadError),
    /// Names of hosts.
    #[error(transparent)]
    Hosts(#[from] HostListError),
    /// The binary of the agents.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// This very binary.
    #[error("cannot find the own binary: {0}")]
    OwnBinary(io::Error),
    /// A launcher that needs names.
    #[error("name the hosts with --hosts or --hosts-file")]
    NoHosts,
    /// A program of this host that starts agents.
    #[error("cannot start {program}: {cause}")]
    Start {
        /// The program.
        program: String,
        /// What happened.
        cause: io::Error,
    },
    /// A program that cannot be heard.
    #[error("{program} has no standard streams")]
    NoStreams {
        /// The program.
        program: String,
    },
    /// A program that starts agents, in its words.
    #[error("{0}")]
    Program(String),
    /// Something on one of the hosts.
    #[error("{host}: {cause}")]
    OnHost {
        /// The host.
        host: String,
        /// What is wrong with it.
        cause: Box<LaunchError>,
    },
    /// The host ended what was started on it.
    #[error("it ended before the agent was there")]
    EndedEarly,
    /// The connection of the launcher to a host.
    #[error("the connection broke: {0}")]
    Broken(io::Error),
    /// What the shell of a host says before the agent.
    #[error("its login scripts print too much")]
    NoisyLogin,
    /// The port at which agents call back.
    #[error("cannot wait for agents on port {port}: {cause}")]
    Listen {
        /// The port; 0 is any.
        port: u16,
        /// What happened.
        cause: io::Error,
    },
    /// What that port is.
    #[error("{0}")]
    Socket(io::Error),
    /// An agent that was started and does not come.
    #[error(
        "it has not called back within {}{}; it must reach {}, else name another address with \
         --call-back",
        fathom_model::unit::span(waited.as_nanos() as u64),
        in_brackets(turned_away.as_deref()),
        addresses.join(" or ")
    )]
    NoCall {
        /// How long it was waited for.
        waited: Duration,
        /// Who called and was turned away, and why.
        turned_away: Option<String>,
        /// Where it should have called.
        addresses: Vec<String>,
    },
    /// Slurm runs programs in allocations only.
    #[error(
        "there is no allocation of Slurm here (${variable} is not set); begin one with salloc or \
         sbatch: salloc -N 4 fathom io …"
    )]
    NoAllocation {
        /// What would name its nodes.
        variable: &'static str,
    },
    /// Nodes in words that are not understood.
    #[error("${variable} ({list}): {cause}")]
    Allocation {
        /// What names them.
        variable: &'static str,
        /// The words.
        list: String,
        /// What is wrong with them.
        cause: HostListError,
    },
    /// Hosts outside of the allocation.
    #[error("not in this allocation of Slurm: {}", hosts.join(", "))]
    NotAllocated {
        /// These hosts.
        hosts: Vec<String>,
    },
    /// A cluster.
    #[error(transparent)]
    Kubernetes(#[from] KubernetesError),
}

fn in_brackets(text: Option<&str>) -> String {
    text.map(|text| format!(" ({text})")).unwrap_or_default()
}
