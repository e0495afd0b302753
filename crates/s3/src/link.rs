//! One connection to a store that never blocks: HTTP/1.1 over its bytes, or
//! HTTP/2 that looks like it.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use rustls::ClientConfig;

use super::http2::{Role, Session};
use super::transport::Transport;
pub(crate) use super::transport::must_wait;

/// How HTTP/2 is named where TLS is set up (ALPN).
pub(crate) const HTTP2: &[u8] = b"h2";

/// A connection.
pub(crate) struct Link {
    transport: Transport,
    http2: Option<Box<Session>>,
}

impl Link {
    /// Begins a connection.
    pub(crate) fn begin(
        address: SocketAddr,
        tls: Option<(&Arc<ClientConfig>, &str)>,
        http2: bool,
    ) -> io::Result<Link> {
        let session = || Box::new(Session::new(Role::Client, tls.is_some()));
        Ok(Link {
            http2: http2.then(session),
            transport: Transport::begin(address, tls)?,
        })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.transport.fd()
    }

    /// Whether a connection that was begun has been made; call it when the
    /// socket can be written to.
    pub(crate) fn is_connected(&self) -> io::Result<()> {
        self.transport.is_connected()
    }

    pub(crate) fn has_tls(&self) -> bool {
        self.transport.has_tls()
    }

    /// Goes on with the handshake. True when it is done.
    pub(crate) fn shake_hands(&mut self) -> io::Result<bool> {
        let done = self.transport.shake_hands()?;
        let asked = done && self.http2.is_some() && self.transport.has_tls();
        match asked && self.transport.agreed() != Some(HTTP2) {
            true => Err(io::Error::other("the store does not speak HTTP/2")),
            false => Ok(done),
        }
    }

    /// Sends as much of `pieces` as goes; bytes of them that were taken.
    pub(crate) fn send(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        match &mut self.http2 {
            None => self.transport.send(pieces),
            Some(session) => session.send(pieces, &mut self.transport),
        }
    }

    /// Whether bytes that were taken have not been sent.
    pub(crate) fn holds_back(&self) -> bool {
        self.transport.holds_back() || self.http2.as_ref().is_some_and(|s| s.holds_back())
    }

    /// Whether more can be sent only when the store says so.
    pub(crate) fn awaits_window(&self) -> bool {
        !self.transport.holds_back() && self.http2.as_ref().is_some_and(|s| s.awaits_window())
    }

    /// Whether the store takes no more requests on it.
    pub(crate) fn is_leaving(&self) -> bool {
        self.http2.as_ref().is_some_and(|s| s.is_leaving())
    }

    /// Sends what is held back.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if let Some(session) = &mut self.http2 {
            session.flush(&mut self.transport)?;
        }
        self.transport.push()
    }

    /// Receives into `buffer`; 0 at the end of the connection.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.http2 {
            None => self.transport.receive(buffer),
            Some(session) => session.receive(buffer, &mut self.transport),
        }
    }

    /// Whether more can be had without waiting for the socket.
    pub(crate) fn has_buffered(&self) -> bool {
        self.transport.has_tls() || self.http2.is_some()
    }
}
