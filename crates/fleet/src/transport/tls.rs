//! Connections over TCP with TLS 1.3, on which both sides show a certificate.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use fathom_s3::AnyCertificate;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::version::TLS13;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, Connection, RootCertStore,
    ServerConfig, ServerConnection,
};

use crate::credentials::{CoordinatorKeys, Identity};
use crate::host_list::HostName;
use crate::transport::Transport;
use crate::transport::tls_stream;

/// Where agents listen, unless told otherwise.
pub const PORT: u16 = 7117;

/// Time for a connection, and for each step of its handshake.
const CONNECT: Duration = Duration::from_secs(5);

/// A side that says nothing for so long is gone: both ask or are asked for the
/// time twice a second.
const SILENCE: Duration = Duration::from_secs(12);

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn roots(authority: &CertificateDer<'static>) -> Result<Arc<RootCertStore>, String> {
    let mut roots = RootCertStore::empty();
    roots
        .add(authority.clone())
        .map_err(|error| format!("the authority's certificate is none: {error}"))?;
    Ok(Arc::new(roots))
}

/// Connects to an agent that has joined the fleet.
pub(crate) fn connect(host: &HostName, keys: &CoordinatorKeys) -> Result<Transport, String> {
    let identity = &keys.identity;
    let verifier =
        WebPkiServerVerifier::builder_with_provider(roots(&identity.authority)?, provider());
    let verifier = verifier.build().map_err(|error| error.to_string())?;
    let (connection, socket) = open(host, identity, verifier)?;
    tls_stream::transport(connection, socket).map_err(|error| error.to_string())
}

/// Connects to an agent that waits to join; who it is must be proved on the
/// connection. Returns what only the two ends of it know.
pub(crate) fn connect_to_join(
    host: &HostName,
    keys: &CoordinatorKeys,
) -> Result<(Transport, Binding), String> {
    let verifier = Arc::new(AnyCertificate::new(provider()));
    let (connection, socket) = open(host, &keys.identity, verifier)?;
    let binding = binding(&connection)?;
    let transport = tls_stream::transport(connection, socket);
    Ok((transport.map_err(|error| error.to_string())?, binding))
}

/// The same as an agent that calls its coordinator.
pub(crate) fn call(
    socket: TcpStream,
    name: &str,
    identity: &Identity,
) -> Result<(Transport, Binding), String> {
    let connection = client(name, identity, Arc::new(AnyCertificate::new(provider())))?;
    let (connection, socket) = shake_hands(connection, socket)?;
    let binding = binding(&connection)?;
    let transport = tls_stream::transport(connection, socket);
    Ok((transport.map_err(|error| error.to_string())?, binding))
}

fn open(
    host: &HostName,
    identity: &Identity,
    verifier: Arc<dyn ServerCertVerifier>,
) -> Result<(Connection, TcpStream), String> {
    let connection = client(&host.name, identity, verifier)?;
    let socket = dial(host)?;
    shake_hands(connection, socket)
}

fn client(
    name: &str,
    identity: &Identity,
    verifier: Arc<dyn ServerCertVerifier>,
) -> Result<Connection, String> {
    let config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_client_auth_cert(vec![identity.certificate.clone()], identity.key.clone_key())
        .map_err(|error| error.to_string())?;
    let server = ServerName::try_from(name.to_owned())
        .map_err(|_| format!("'{name}' is no name that a certificate could have"))?;
    let connection = ClientConnection::new(Arc::new(config), server);
    let connection = connection.map_err(|error| error.to_string())?;
    Ok(Connection::Client(connection))
}

fn dial(host: &HostName) -> Result<TcpStream, String> {
    let port = host.port.unwrap_or(PORT);
    let addresses = fathom_deadline::host_addresses(&host.name, port)
        .map_err(|error| format!("its name cannot be resolved: {error}"))?;
    let mut why = "its name has no address".to_owned();
    for address in addresses {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(socket) => return Ok(socket),
            Err(error) => why = format!("no agent answers at {address}: {error}"),
        }
    }
    Err(why)
}

/// The side of the agent: with an authority only its coordinator gets in.
pub(crate) fn accept(
    socket: TcpStream,
    identity: &Identity,
    anybody: bool,
) -> Result<(Transport, Binding), String> {
    let config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| error.to_string())?;
    let config = match anybody {
        true => config.with_no_client_auth(),
        false => {
            let roots = roots(&identity.authority)?;
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider());
            config.with_client_cert_verifier(verifier.build().map_err(|e| e.to_string())?)
        }
    };
    let config = config
        .with_single_cert(vec![identity.certificate.clone()], identity.key.clone_key())
        .map_err(|error| error.to_string())?;
    let connection = ServerConnection::new(Arc::new(config)).map_err(|e| e.to_string())?;
    let (connection, socket) = shake_hands(Connection::Server(connection), socket)?;
    let binding = binding(&connection)?;
    let transport = tls_stream::transport(connection, socket);
    Ok((transport.map_err(|error| error.to_string())?, binding))
}

fn shake_hands(
    mut connection: Connection,
    mut socket: TcpStream,
) -> Result<(Connection, TcpStream), String> {
    let set = |socket: &TcpStream, timeout| {
        socket.set_nodelay(true)?;
        socket.set_write_timeout(Some(timeout))?;
        socket.set_read_timeout(Some(timeout))
    };
    set(&socket, CONNECT).map_err(|error| error.to_string())?;
    while connection.is_handshaking() {
        if let Err(error) = connection.complete_io(&mut socket) {
            return Err(match connection {
                Connection::Client(_) => in_words(&error),
                Connection::Server(_) => in_words_of_agent(&error),
            });
        }
    }
    set(&socket, SILENCE).map_err(|error| error.to_string())?;
    Ok((connection, socket))
}

/// What a failed handshake means to an agent.
fn in_words_of_agent(error: &io::Error) -> String {
    use rustls::Error as Tls;
    let tls = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Tls>());
    match tls {
        Some(Tls::NoCertificatesPresented) => "refused: it shows no certificate".to_owned(),
        Some(Tls::InvalidCertificate(_)) => {
            "refused: its certificate is not that of the coordinator of this fleet".to_owned()
        }
        Some(Tls::AlertReceived(_)) => {
            "it does not accept the certificate of this agent".to_owned()
        }
        _ => in_words(error),
    }
}

const REFUSED: &str =
    "it does not accept the certificate of this coordinator, which belongs to another fleet";

/// What a failed handshake means to a coordinator. In TLS 1.3 it hears of its
/// own refusal only when it reads.
pub(crate) fn in_words(error: &io::Error) -> String {
    use rustls::Error as Tls;
    let tls = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Tls>());
    match tls {
        // Authorities have the same name and different keys.
        Some(Tls::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        )) => "its certificate is not of this fleet; has it joined? (fathom fleet join)".to_owned(),
        Some(Tls::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => "its certificate is for another name; use the name by which it joined".to_owned(),
        Some(Tls::NoCertificatesPresented) => "it shows no certificate".to_owned(),
        Some(Tls::AlertReceived(
            AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRequired
            | AlertDescription::DecryptError,
        )) => REFUSED.to_owned(),
        Some(other) => format!("the connection could not be secured: {other}"),
        None if matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
        ) =>
        {
            "it does not answer".to_owned()
        }
        None => format!("the connection broke: {error}"),
    }
}

/// A secret of one connection: a proof that holds it is worth nothing on any
/// other (RFC 9266).
pub(crate) type Binding = [u8; 32];

fn binding(connection: &Connection) -> Result<Binding, String> {
    connection
        .export_keying_material([0; 32], b"EXPORTER-Channel-Binding", None)
        .map_err(|error| error.to_string())
}
