//! Why there is no connection between two hosts of a fleet.

use std::io;
use std::net::SocketAddr;

use rustls::server::VerifierBuilderError;
use rustls::{AlertDescription, CertificateError};

use crate::protocol::frame::FrameError;

/// Why a connection cannot be had, or is not one of this fleet.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// The resolver does not know the name.
    #[error("its name cannot be resolved: {0}")]
    UnknownName(io::Error),
    /// The resolver knows it, and no address.
    #[error("its name has no address")]
    NoAddress,
    /// Nobody listens there.
    #[error("no agent answers at {address}: {cause}")]
    NoAnswer {
        /// The last address that was tried.
        address: SocketAddr,
        /// What happened.
        cause: io::Error,
    },
    /// A name that no certificate can be for.
    #[error("'{0}' is not a name that a certificate could have")]
    MalformedName(String),
    /// The certificate of the own authority.
    #[error("the authority's certificate is none: {0}")]
    NoAuthority(rustls::Error),
    /// TLS with the own keys.
    #[error("{0}")]
    Tls(rustls::Error),
    /// The certificates to be trusted.
    #[error("{0}")]
    Verifier(VerifierBuilderError),
    /// The socket of the connection.
    #[error("{0}")]
    Socket(io::Error),
    /// The agent belongs to another fleet, or to none.
    #[error("its certificate is not of this fleet; has it joined? (fathom fleet join)")]
    OtherFleet,
    /// The agent joined under another name.
    #[error("its certificate is for another name; use the name by which it joined")]
    OtherName,
    /// The agent has nothing to show.
    #[error("it shows no certificate")]
    NoCertificate,
    /// The agent belongs to another coordinator.
    #[error(
        "it does not accept the certificate of this coordinator, which belongs to another fleet"
    )]
    NotAccepted,
    /// Any other fault of TLS.
    #[error("the connection could not be secured: {0}")]
    Insecure(rustls::Error),
    /// It says nothing.
    #[error("it does not answer")]
    Silent,
    /// It ended.
    #[error("the connection broke: {0}")]
    Broken(io::Error),
    /// A coordinator has nothing to show to this agent.
    #[error("refused: it shows no certificate")]
    CoordinatorWithoutCertificate,
    /// A coordinator of another fleet.
    #[error("refused: its certificate is not that of the coordinator of this fleet")]
    NotTheCoordinator,
    /// The coordinator does not want this agent.
    #[error("it does not accept the certificate of this agent")]
    AgentNotAccepted,
    /// What came over it.
    #[error("{0}")]
    Frame(FrameError),
    /// What could not be sent over it.
    #[error("{0}")]
    Unsent(io::Error),
}

impl From<FrameError> for ConnectionError {
    fn from(error: FrameError) -> ConnectionError {
        ConnectionError::Frame(error)
    }
}

impl ConnectionError {
    /// What a failed handshake means to an agent.
    pub(crate) fn of_agent(error: io::Error) -> ConnectionError {
        use rustls::Error as Tls;
        match tls_error(&error) {
            Some(Tls::NoCertificatesPresented) => ConnectionError::CoordinatorWithoutCertificate,
            Some(Tls::InvalidCertificate(_)) => ConnectionError::NotTheCoordinator,
            Some(Tls::AlertReceived(_)) => ConnectionError::AgentNotAccepted,
            _ => ConnectionError::of_coordinator(error),
        }
    }

    /// What a failed handshake means to a coordinator. In TLS 1.3 it hears of its
    /// own refusal only when it reads.
    pub(crate) fn of_coordinator(error: io::Error) -> ConnectionError {
        use rustls::Error as Tls;
        match tls_error(&error) {
            // Authorities have the same name and different keys.
            Some(Tls::InvalidCertificate(
                CertificateError::UnknownIssuer | CertificateError::BadSignature,
            )) => ConnectionError::OtherFleet,
            Some(Tls::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => ConnectionError::OtherName,
            Some(Tls::NoCertificatesPresented) => ConnectionError::NoCertificate,
            Some(Tls::AlertReceived(
                AlertDescription::UnknownCA
                | AlertDescription::BadCertificate
                | AlertDescription::CertificateUnknown
                | AlertDescription::UnsupportedCertificate
                | AlertDescription::CertificateRequired
                | AlertDescription::DecryptError,
            )) => ConnectionError::NotAccepted,
            Some(other) => ConnectionError::Insecure(other.clone()),
            None if matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
            ) =>
            {
                ConnectionError::Silent
            }
            None => ConnectionError::Broken(error),
        }
    }
}

fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>())
}
