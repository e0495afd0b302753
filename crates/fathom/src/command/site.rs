//! Flags for agents that something of the site starts: Slurm, MPI, Kubernetes.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use fathom_fleet::{AgentBinary, HostName, KubernetesOptions, Launcher};

/// How a site's own means start agents.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SiteArgs {
    /// Where agents reach this host: ADDRESS or ADDRESS:PORT (slurm, mpi,
    /// kubernetes). Default: any of its addresses.
    #[arg(long, value_name = "ADDRESS")]
    call_back: Option<CallBack>,
    /// The command of the site with its options (mpi).
    #[arg(long, value_name = "COMMAND", default_value = "mpirun")]
    mpirun: String,
    /// Manifest of the Job that runs the agents (kubernetes); see
    /// examples/kubernetes-job.yaml.
    #[arg(long, value_name = "FILE")]
    job: Option<PathBuf>,
    /// Namespace of that Job. Default: the manifest's, else that of kubectl.
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
}

/// An address as it is typed.
#[derive(Debug, Clone)]
struct CallBack(HostName);

impl FromStr for CallBack {
    type Err = String;

    fn from_str(text: &str) -> Result<CallBack, String> {
        let mut hosts = fathom_fleet::parse_hosts(text)?;
        match (hosts.len(), hosts.pop()) {
            (1, Some(host)) => Ok(CallBack(host)),
            _ => Err("one address is enough".to_owned()),
        }
    }
}

impl SiteArgs {
    fn call_back(&self) -> Option<&HostName> {
        self.call_back.as_ref().map(|given| &given.0)
    }

    pub(crate) fn slurm(
        &self,
        hosts: &[HostName],
        binary: AgentBinary,
        arguments: &[String],
    ) -> Result<Launcher, String> {
        Launcher::slurm(hosts, self.call_back(), binary, arguments)
    }

    pub(crate) fn mpi(
        &self,
        hosts: &[HostName],
        binary: &AgentBinary,
        arguments: &[String],
    ) -> Result<Launcher, String> {
        if hosts.is_empty() {
            return Err("name the hosts with --hosts or --hosts-file".to_owned());
        }
        let words: Vec<String> = self.mpirun.split_whitespace().map(str::to_owned).collect();
        Launcher::mpi(hosts, self.call_back(), &words, binary, arguments)
    }

    pub(crate) fn kubernetes(
        &self,
        hosts: &[HostName],
        arguments: Vec<String>,
    ) -> Result<Launcher, String> {
        let manifest = self.job.clone().ok_or(
            "name the manifest of the agents' Job with --job; examples/kubernetes-job.yaml is one",
        )?;
        let options = KubernetesOptions {
            manifest,
            namespace: self.namespace.clone(),
            arguments,
        };
        Launcher::kubernetes(hosts, self.call_back(), &options)
    }
}
