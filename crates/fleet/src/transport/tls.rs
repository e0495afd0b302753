//! Connections over TCP with TLS 1.3, on which both sides show a certificate.

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
    ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection,
};

use crate::credentials::{CoordinatorKeys, Identity};
use crate::host_list::HostName;
use crate::transport::tls_stream;
use crate::transport::{ConnectionError, Transport};

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

fn roots(authority: &CertificateDer<'static>) -> Result<Arc<RootCertStore>, ConnectionError> {
    let mut roots = RootCertStore::empty();
    roots
        .add(authority.clone())
        .map_err(ConnectionError::NoAuthority)?;
    Ok(Arc::new(roots))
}

/// Connects to an agent that has joined the fleet.
pub(crate) fn connect(
    host: &HostName,
    keys: &CoordinatorKeys,
) -> Result<Transport, ConnectionError> {
    let identity = &keys.identity;
    let verifier =
        WebPkiServerVerifier::builder_with_provider(roots(&identity.authority)?, provider());
    let verifier = verifier.build().map_err(ConnectionError::Verifier)?;
    let (connection, socket) = open(host, identity, verifier)?;
    tls_stream::transport(connection, socket).map_err(ConnectionError::Socket)
}

/// Connects to an agent that waits to join; who it is must be proved on the
/// connection. Returns what only the two ends of it know.
pub(crate) fn connect_to_join(
    host: &HostName,
    keys: &CoordinatorKeys,
) -> Result<(Transport, Binding), ConnectionError> {
    let verifier = Arc::new(AnyCertificate::new(provider()));
    let (connection, socket) = open(host, &keys.identity, verifier)?;
    let binding = binding(&connection)?;
    let transport = tls_stream::transport(connection, socket);
    Ok((transport.map_err(ConnectionError::Socket)?, binding))
}

/// The same as an agent that calls its coordinator.
pub(crate) fn call(
    socket: TcpStream,
    name: &str,
    identity: &Identity,
) -> Result<(Transport, Binding), ConnectionError> {
    let connection = client(name, identity, Arc::new(AnyCertificate::new(provider())))?;
    let (connection, socket) = shake_hands(connection, socket)?;
    let binding = binding(&connection)?;
    let transport = tls_stream::transport(connection, socket);
    Ok((transport.map_err(ConnectionError::Socket)?, binding))
}

fn open(
    host: &HostName,
    identity: &Identity,
    verifier: Arc<dyn ServerCertVerifier>,
) -> Result<(Connection, TcpStream), ConnectionError> {
    let connection = client(&host.name, identity, verifier)?;
    let socket = dial(host)?;
    shake_hands(connection, socket)
}

fn client(
    name: &str,
    identity: &Identity,
    verifier: Arc<dyn ServerCertVerifier>,
) -> Result<Connection, ConnectionError> {
    let config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(ConnectionError::Tls)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_client_auth_cert(vec![identity.certificate.clone()], identity.key.clone_key())
        .map_err(ConnectionError::Tls)?;
    let server = ServerName::try_from(name.to_owned())
        .map_err(|_| ConnectionError::MalformedName(name.to_owned()))?;
    let connection = ClientConnection::new(Arc::new(config), server);
    let connection = connection.map_err(ConnectionError::Tls)?;
    Ok(Connection::Client(connection))
}

fn dial(host: &HostName) -> Result<TcpStream, ConnectionError> {
    let port = host.port.unwrap_or(PORT);
    let addresses =
        fathom_deadline::host_addresses(&host.name, port).map_err(ConnectionError::UnknownName)?;
    let mut why = ConnectionError::NoAddress;
    for address in addresses {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(socket) => return Ok(socket),
            Err(cause) => why = ConnectionError::NoAnswer { address, cause },
        }
    }
    Err(why)
}

/// The side of the agent: with an authority only its coordinator gets in.
pub(crate) fn accept(
    socket: TcpStream,
    identity: &Identity,
    anybody: bool,
) -> Result<(Transport, Binding), ConnectionError> {
    let config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(ConnectionError::Tls)?;
    let config = match anybody {
        true => config.with_no_client_auth(),
        false => {
            let roots = roots(&identity.authority)?;
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider());
            config.with_client_cert_verifier(verifier.build().map_err(ConnectionError::Verifier)?)
        }
    };
    let config = config
        .with_single_cert(vec![identity.certificate.clone()], identity.key.clone_key())
        .map_err(ConnectionError::Tls)?;
    let connection = ServerConnection::new(Arc::new(config)).map_err(ConnectionError::Tls)?;
    let (connection, socket) = shake_hands(Connection::Server(connection), socket)?;
    let binding = binding(&connection)?;
    let transport = tls_stream::transport(connection, socket);
    Ok((transport.map_err(ConnectionError::Socket)?, binding))
}

fn shake_hands(
    mut connection: Connection,
    mut socket: TcpStream,
) -> Result<(Connection, TcpStream), ConnectionError> {
    let set = |socket: &TcpStream, timeout| {
        socket.set_nodelay(true)?;
        socket.set_write_timeout(Some(timeout))?;
        socket.set_read_timeout(Some(timeout))
    };
    set(&socket, CONNECT).map_err(ConnectionError::Socket)?;
    while connection.is_handshaking() {
        if let Err(error) = connection.complete_io(&mut socket) {
            return Err(match connection {
                Connection::Client(_) => ConnectionError::of_coordinator(error),
                Connection::Server(_) => ConnectionError::of_agent(error),
            });
        }
    }
    set(&socket, SILENCE).map_err(ConnectionError::Socket)?;
    Ok((connection, socket))
}

/// A secret of one connection: a proof that holds it is worth nothing on any
/// other (RFC 9266).
pub(crate) type Binding = [u8; 32];

fn binding(connection: &Connection) -> Result<Binding, ConnectionError> {
    connection
        .export_keying_material([0; 32], b"EXPORTER-Channel-Binding", None)
        .map_err(ConnectionError::Tls)
}
