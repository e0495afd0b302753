//! One connection to a store that never blocks: HTTP/1.1 over its bytes, or
//! HTTP/2 that looks like it.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use rustls::ClientConfig;

use super::http2::{Role, Session};
use super::wire::Wire;
pub(crate) use super::wire::must_wait;

/// How HTTP/2 is named where TLS is set up (ALPN).
pub(crate) const HTTP2: &[u8] = b"h2";

/// A connection.
pub(crate) struct Link {
    wire: Wire,
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
            wire: Wire::begin(address, tls)?,
        })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.wire.fd()
    }

    /// Whether a connection that was begun has been made; call it when the
    /// socket can be written to.
    pub(crate) fn is_connected(&self) -> io::Result<()> {
        self.wire.is_connected()
    }

    pub(crate) fn has_tls(&self) -> bool {
        self.wire.has_tls()
    }

    /// Goes on with the handshake. True when it is done.
    pub(crate) fn shake_hands(&mut self) -> io::Result<bool> {
        let done = self.wire.shake_hands()?;
        let asked = done && self.http2.is_some() && self.wire.has_tls();
        match asked && self.wire.agreed() != Some(HTTP2) {
            true => Err(io::Error::other("the store does not speak HTTP/2")),
            false => Ok(done),
        }
    }

    /// Sends as much of `pieces` as goes; bytes of them that were taken.
    pub(crate) fn send(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        match &mut self.http2 {
            None => self.wire.send(pieces),
            Some(session) => session.send(pieces, &mut self.wire),
        }
    }

    /// Whether bytes that were taken have not been sent.
    pub(crate) fn holds_back(&self) -> bool {
        self.wire.holds_back() || self.http2.as_ref().is_some_and(|s| s.holds_back())
    }

    /// Whether more can be sent only when the store says so.
    pub(crate) fn awaits_window(&self) -> bool {
        !self.wire.holds_back() && self.http2.as_ref().is_some_and(|s| s.awaits_window())
    }

    /// Whether the store takes no more requests on it.
    pub(crate) fn is_leaving(&self) -> bool {
        self.http2.as_ref().is_some_and(|s| s.is_leaving())
    }

    /// Sends what is held back.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if let Some(session) = &mut self.http2 {
            session.flush(&mut self.wire)?;
        }
        self.wire.push()
    }

    /// Receives into `buffer`; 0 at the end of the connection.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.http2 {
            None => self.wire.receive(buffer),
            Some(session) => session.receive(buffer, &mut self.wire),
        }
    }

    /// Whether more can be had without waiting for the socket.
    pub(crate) fn has_buffered(&self) -> bool {
        self.wire.has_tls() || self.http2.is_some()
    }
}
