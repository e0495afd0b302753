//! What can go wrong before a request is sent, or while a connection is made.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::fault::Fault;

/// An error of the client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An endpoint has no form that is understood.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The name service does not know the host of an endpoint.
    #[error("the endpoint '{endpoint}': {source}")]
    Lookup {
        /// As it was named.
        endpoint: String,
        /// What the name service said.
        source: io::Error,
    },
    /// The host of an endpoint has no address.
    #[error("the endpoint '{0}' has no address")]
    NoAddress(String),
    /// TLS has no settings that work.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    /// There are no certificates to check others against.
    #[error("this system has no certificates of authorities")]
    NoAuthorities,
    /// A file of keys or certificates cannot be used.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was attempted.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Variables with this prefix hold no keys.
    #[error(
        "no keys in the environment: set {prefix}_ACCESS_KEY_ID and {prefix}_SECRET_ACCESS_KEY \
         (and {prefix}_SESSION_TOKEN for temporary ones)"
    )]
    NoVariables {
        /// What the names of the variables begin with.
        prefix: String,
    },
    /// No keys were found in the usual places.
    #[error(
        "no keys for the object store: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write \
         a profile [{profile}] to {}",
        names_of(files)
    )]
    NoKeys {
        /// The profile that was looked for.
        profile: String,
        /// The files that were looked at.
        files: Vec<PathBuf>,
    },
    /// The kernel gives no epoll.
    #[error("epoll cannot be had: {0}")]
    Epoll(io::Error),
    /// A connection cannot be made.
    #[error("no connection to {}: {fault}", endpoints.join(" or "))]
    NoConnection {
        /// The endpoints as they were named.
        endpoints: Vec<String>,
        /// Why not.
        fault: Fault,
    },
    /// The caller did not want to wait.
    #[error("stopped on request")]
    Stopped,
}

impl Error {
    /// An [`Error::File`] from its parts, for `map_err`.
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File {
            action,
            path,
            source,
        }
    }
}

fn names_of(files: &[PathBuf]) -> String {
    let names: Vec<String> = files
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    match names.is_empty() {
        true => "~/.aws/credentials".to_owned(),
        false => names.join(" or "),
    }
}

/// A name of an endpoint that has no form that is understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the endpoint '{endpoint}' {problem}; write for example http://host:9000 or \
     https://s3.eu-central-1.amazonaws.com"
)]
pub struct EndpointError {
    /// As it was named, without a user or password.
    pub endpoint: String,
    /// What is wrong with it.
    pub problem: EndpointProblem,
}

/// What is wrong with the name of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointProblem {
    /// The scheme is another one.
    Scheme,
    /// It holds a user or keys.
    User,
    /// Something follows host and port.
    MoreThanHost,
    /// The port is not a number of 16 bits.
    Port,
    /// It has no host.
    NoHost,
}

impl fmt::Display for EndpointProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EndpointProblem::Scheme => "is neither http nor https",
            EndpointProblem::User => {
                "holds a user or keys; name these in a credentials file, or with AWS_ACCESS_KEY_ID \
                 and AWS_SECRET_ACCESS_KEY"
            }
            EndpointProblem::MoreThanHost => "has more than a host and a port",
            EndpointProblem::Port => "has a port that is not a number",
            EndpointProblem::NoHost => "names no host",
        })
    }
}
