//! What goes wrong with the keys of a fleet.

use std::io;
use std::path::PathBuf;

use rustls::pki_types::pem;

/// Why keys or certificates cannot be made, read or kept.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// A second fleet would make the keys of the first one worthless.
    #[error(
        "there is a fleet in {} already; remove the directory to begin anew (all agents must join \
         again)",
        directory.display()
    )]
    FleetExists {
        /// The directory.
        directory: PathBuf,
    },
    /// What the directory lies on does not answer.
    #[error("cannot reach the keys in {}: {cause}", directory.display())]
    OutOfReach {
        /// The directory.
        directory: PathBuf,
        /// What does not answer.
        cause: io::Error,
    },
    /// The directory has no key of an authority.
    #[error("there is no fleet in {} ({cause}); make one with: fathom fleet init", directory.display())]
    NoFleet {
        /// The directory.
        directory: PathBuf,
        /// Why its key cannot be read.
        cause: io::Error,
    },
    /// A file that should hold a key.
    #[error("{} holds no key: {cause}", path.display())]
    NoKey {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: rcgen::Error,
    },
    /// A key or certificate in a file.
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: pem::Error,
    },
    /// The authority's certificate.
    #[error("cannot read the authority: {0}")]
    NoAuthority(io::Error),
    /// A key or certificate that is to be made.
    #[error("cannot {what}: {cause}")]
    Unmade {
        /// What was to be done.
        what: &'static str,
        /// Why it cannot be done.
        cause: rcgen::Error,
    },
    /// What a coordinator signed for an agent.
    #[error("the coordinator sent no certificate: {0}")]
    NoCertificate(pem::Error),
    /// The directory of the keys.
    #[error("cannot make {}: {cause}", path.display())]
    NoDirectory {
        /// The directory.
        path: PathBuf,
        /// What happened.
        cause: io::Error,
    },
    /// A file of the directory.
    #[error("cannot write {}: {cause}", path.display())]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// What happened.
        cause: io::Error,
    },
    /// A token as text.
    #[error("{0}")]
    Encoding(serde_json::Error),
    /// There is no secret without them.
    #[error("the system gives no random numbers")]
    NoRandomNumbers,
}

/// Why the join token of an agent lets nobody in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It has not the form of a token.
    #[error("its join token is none")]
    Malformed,
    /// This fleet has no such token.
    #[error("its join token was used before, or is of another fleet; make a new one")]
    Unknown,
    /// The file of the token cannot be understood.
    #[error("its join token is damaged")]
    Damaged,
    /// Its time has passed.
    #[error("its join token has expired; make a new one")]
    Expired,
    /// Another agent was faster.
    #[error("its join token was used before")]
    Used,
}
