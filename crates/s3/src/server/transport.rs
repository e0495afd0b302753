//! What a connection of the store in memory runs over: TCP, or TLS over it.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The bytes of a connection.
pub(super) enum Transport {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

/// The settings of a server with a certificate and its key.
///
/// # Errors
/// When the two do not fit.
pub(super) fn server_config(chain: Vec<Vec<u8>>, key: Vec<u8>) -> io::Result<Arc<ServerConfig>> {
    let chain = chain.into_iter().map(CertificateDer::from).collect();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(io::Error::other)?;
    Ok(Arc::new(config))
}

impl Transport {
    pub(super) fn over(
        stream: TcpStream,
        tls: Option<&Arc<ServerConfig>>,
    ) -> io::Result<Transport> {
        let Some(config) = tls else {
            return Ok(Transport::Plain(stream));
        };
        let made = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        Ok(Transport::Tls(Box::new(StreamOwned::new(made, stream))))
    }
}

impl Read for Transport {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Transport::Plain(stream) => stream.read(buffer),
            Transport::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Transport {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Transport::Plain(stream) => stream.write(buffer),
            // What rustls took is sent at once: nobody else would do it.
            Transport::Tls(stream) => {
                let taken = stream.write(buffer)?;
                stream.flush()?;
                Ok(taken)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Transport::Plain(stream) => stream.flush(),
            Transport::Tls(stream) => stream.flush(),
        }
    }
}
