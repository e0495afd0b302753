//! Flags for agents that something of the site starts: Slurm, MPI, Kubernetes.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use fathom_fleet::{HostName, LaunchRequest};

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

/// A text that is no address to call back.
#[derive(Debug, thiserror::Error)]
enum CallBackError {
    #[error("{0}")]
    Host(#[from] fathom_fleet::HostListError),
    #[error("one address is enough")]
    Several,
}

impl FromStr for CallBack {
    type Err = CallBackError;

    fn from_str(text: &str) -> Result<CallBack, CallBackError> {
        let mut hosts = fathom_fleet::parse_hosts(text)?;
        match (hosts.len(), hosts.pop()) {
            (1, Some(host)) => Ok(CallBack(host)),
            _ => Err(CallBackError::Several),
        }
    }
}

impl SiteArgs {
    /// A request with what the user says of the site.
    pub(crate) fn request(&self) -> LaunchRequest {
        LaunchRequest {
            call_back: self.call_back.as_ref().map(|given| given.0.clone()),
            mpirun: self.mpirun.split_whitespace().map(str::to_owned).collect(),
            job: self.job.clone(),
            namespace: self.namespace.clone(),
            ..LaunchRequest::default()
        }
    }
}
