//! What a connection of the store in memory runs over: TCP, or TLS over it; and
//! HTTP/2 as HTTP/1.1 where the client speaks it.

use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::http2::{PREFACE, Role, Session};
use crate::link::HTTP2;

/// The connection.
pub(super) struct Transport {
    bytes: Bytes,
    speaks: Speaks,
}

/// What a client speaks.
enum Speaks {
    /// It has said nothing yet.
    Unknown,
    Http1,
    Http2(Box<Session>),
}

enum Bytes {
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
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(io::Error::other)?;
    config.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

impl Transport {
    pub(super) fn over(
        stream: TcpStream,
        tls: Option<&Arc<ServerConfig>>,
    ) -> io::Result<Transport> {
        let bytes = match tls {
            None => Bytes::Plain(stream),
            Some(config) => {
                let made = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
                Bytes::Tls(Box::new(StreamOwned::new(made, stream)))
            }
        };
        Ok(Transport {
            bytes,
            speaks: Speaks::Unknown,
        })
    }

    /// Waits for what shows what the client speaks.
    fn listen(&mut self) -> io::Result<()> {
        let tls = matches!(self.bytes, Bytes::Tls(_));
        let http2 = match &mut self.bytes {
            Bytes::Plain(stream) => {
                let mut first = [0; 3];
                // No method of HTTP/1.1 begins so.
                while stream.peek(&mut first)? == 1 {
                    std::thread::yield_now();
                }
                PREFACE.starts_with(&first)
            }
            Bytes::Tls(stream) => {
                while stream.conn.is_handshaking() {
                    stream.conn.complete_io(&mut stream.sock)?;
                }
                stream.conn.alpn_protocol() == Some(HTTP2)
            }
        };
        self.speaks = match http2 {
            true => Speaks::Http2(Box::new(Session::new(Role::Server, tls))),
            false => Speaks::Http1,
        };
        Ok(())
    }
}

impl Read for Transport {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if matches!(self.speaks, Speaks::Unknown) {
            self.listen()?;
        }
        match &mut self.speaks {
            Speaks::Http2(session) => session.receive(buffer, &mut self.bytes),
            _ => self.bytes.read(buffer),
        }
    }
}

impl Write for Transport {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match &mut self.speaks {
            Speaks::Http2(session) => session.send(&[IoSlice::new(buffer)], &mut self.bytes),
            _ => self.bytes.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.bytes.flush()
    }
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Bytes::Plain(stream) => stream.read(buffer),
            Bytes::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Bytes {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Bytes::Plain(stream) => stream.write(buffer),
            // What rustls took is sent at once: nobody else would do it.
            Bytes::Tls(stream) => {
                let taken = stream.write(buffer)?;
                stream.flush()?;
                Ok(taken)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Bytes::Plain(stream) => stream.flush(),
            Bytes::Tls(stream) => stream.flush(),
        }
    }
}
