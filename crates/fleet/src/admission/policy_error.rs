//! What the owner of a host does not allow.

use std::io;
use std::net::IpAddr;
use std::path::PathBuf;

use fathom_deadline::NotResponding;
use fathom_s3::{EndpointAddress, EndpointError};

/// Why a trial would touch what the owner of this host does not allow.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PolicyError {
    #[error(
        "the owner of this host does not allow --destructive; the agent must be started with \
         --allow-destructive"
    )]
    Destructive,
    /// A relative path means another place in each folder.
    #[error("{} is a relative path; an agent takes absolute ones only", path.display())]
    RelativePath { path: PathBuf },
    #[error(
        "{} is not on the list of what the owner of this host allows ({})",
        path.display(),
        in_words(allowed)
    )]
    Path {
        path: PathBuf,
        /// The list.
        allowed: Vec<PathBuf>,
    },
    /// Whether the path is on the list cannot be found out.
    #[error("whether {} is allowed cannot be found out: {silent}", path.display())]
    Silent {
        path: PathBuf,
        silent: NotResponding,
    },
    #[error(
        "s3://{bucket} is not on the list of what the owner of this host allows; see --allow of \
         fathom agent"
    )]
    Bucket { bucket: String },
    /// A text that is not the address of an endpoint.
    #[error("{0}")]
    MalformedEndpoint(EndpointError),
    #[error(
        "{address} is not among the S3 endpoints that the owner of this host allows; the agent \
         can be started with --allow-endpoint {address}"
    )]
    Endpoint { address: EndpointAddress },
    #[error(
        "the owner of this host allows no load over the network; the agent must be started with \
         --allow-peer"
    )]
    Network,
    #[error("'{host}' has no address: {cause}")]
    UnknownPeer { host: String, cause: io::Error },
    #[error(
        "{address} is not among the peers that the owner of this host allows; the agent can be \
         started with --allow-peer {address}"
    )]
    Peer { address: IpAddr },
}

fn in_words(allowed: &[PathBuf]) -> String {
    if allowed.is_empty() {
        return "nothing; see --allow of fathom agent".to_owned();
    }
    let list: Vec<String> = allowed.iter().map(|p| p.display().to_string()).collect();
    list.join(", ")
}
