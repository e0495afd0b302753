//! Why a cluster starts no agents.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

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
    #[error("cannot start kubectl: {0}{advice}", advice = advice_without(.0))]
    Start(io::Error),
    /// It hangs, or what it asks for credentials does.
    #[error(
        "kubectl {words}: no answer within {}; try it by hand, since it may wait for a login",
        fathom_model::unit::span(waited.as_nanos() as u64)
    )]
    NoAnswer {
        /// Its arguments.
        words: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The user may not do it.
    #[error(
        "kubectl: {0}\n  docs/how-to/kubernetes.md has the Role that is needed; \
         `kubectl auth can-i --list` shows what you may do"
    )]
    Forbidden(String),
    /// No cluster behind it.
    #[error(
        "kubectl: {0}\n  `kubectl get nodes` must work first: check the context and $KUBECONFIG"
    )]
    NoCluster(String),
    /// What it complains about.
    #[error("kubectl: {0}")]
    Kubectl(String),
    /// What it prints.
    #[error("kubectl printed no JSON: {0}")]
    NoJson(serde_json::Error),
}

/// What kubectl says where nothing answers for a cluster.
const NO_CLUSTER: [&str; 5] = [
    "Unable to connect to the server",
    "The connection to the server",
    "You must be logged in to the server",
    "no configuration has been provided",
    "does not exist for context",
];

impl KubernetesError {
    /// The error that the last line of kubectl stands for.
    pub(crate) fn of_complaint(line: &str) -> KubernetesError {
        let is_no_context = line.contains("context \"") && line.contains("does not exist");
        if line.contains("(Forbidden)") || line.contains(" is forbidden: ") {
            return KubernetesError::Forbidden(line.to_owned());
        }
        match is_no_context || NO_CLUSTER.iter().any(|said| line.contains(said)) {
            true => KubernetesError::NoCluster(line.to_owned()),
            false => KubernetesError::Kubectl(line.to_owned()),
        }
    }
}

fn advice_without(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::NotFound => {
            "; install it, or put its folder into $PATH (https://kubernetes.io/docs/tasks/tools)"
        }
        _ => "",
    }
}
