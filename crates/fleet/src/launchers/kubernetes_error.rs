//! Why a cluster starts no agents.

use std::io;
use std::path::PathBuf;

use fathom_deadline::NotResponding;

use crate::credentials::CredentialsError;
use crate::host_list::HostListError;

/// Why agents cannot be started in a cluster.
#[derive(Debug, thiserror::Error)]
pub enum KubernetesError {
    /// The user did not say what a pod of an agent is.
    #[error("name the manifest of the agents' Job with --job; examples/kubernetes-job.yaml is one")]
    NoManifest,
    /// A path that kubectl cannot be told.
    #[error("{} is not UTF-8", .0.display())]
    NotUtf8(PathBuf),
    /// What the manifest lies on does not answer.
    #[error("cannot read {0}: {1}")]
    OutOfReach(String, NotResponding),
    /// The manifest of something else.
    #[error(
        "{path} must hold the manifest of one Job and nothing else; examples/kubernetes-job.yaml \
         is one"
    )]
    NotAJob {
        /// The manifest.
        path: String,
    },
    /// Fields of another type than those of a Job.
    #[error("the manifest of the Job is malformed")]
    MalformedJob,
    /// A Job without one.
    #[error("the Job has no container for the agent")]
    NoContainer,
    /// The environment of the container.
    #[error("the container's env is not a list")]
    MalformedEnvironment,
    /// The cluster has none to offer.
    #[error("no node of the cluster is ready and takes pods; name them with --hosts")]
    NoNodes,
    /// Names of nodes.
    #[error(transparent)]
    Hosts(#[from] HostListError),
    /// The name of the Job and the secret.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// kubectl itself.
    #[error("cannot start kubectl: {0}")]
    Start(io::Error),
    /// What it complains about.
    #[error("kubectl: {0}")]
    Kubectl(String),
    /// What it prints.
    #[error("kubectl printed no JSON: {0}")]
    NoJson(serde_json::Error),
}
