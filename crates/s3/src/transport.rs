//! The bytes of a connection to a store, plain or TLS, that never block.

use std::io::{self, IoSlice, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;

/// A connection's bytes.
pub(crate) struct Transport {
    tcp: TcpStream,
    tls: Option<Box<rustls::ClientConnection>>,
}

/// What became of a step that could not go on.
pub(crate) fn must_wait(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

/// Begins a connection without waiting for it. The stream does not block; it
/// is connected once it can be written to and has no error.
fn begin_tcp(address: SocketAddr) -> io::Result<TcpStream> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    let stream = TcpStream::from(socket);
    stream.set_nodelay(true)?;
    match rustix::net::connect(&stream, &address) {
        Ok(()) | Err(rustix::io::Errno::INPROGRESS) => Ok(stream),
        Err(errno) => Err(errno.into()),
    }
}

impl Transport {
    /// Begins a connection.
    pub(crate) fn begin(
        address: SocketAddr,
        tls: Option<(&Arc<ClientConfig>, &str)>,
    ) -> io::Result<Transport> {
        let tls = match tls {
            None => None,
            Some((config, host)) => {
                let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
                let made = rustls::ClientConnection::new(Arc::clone(config), name);
                Some(Box::new(made.map_err(io::Error::other)?))
            }
        };
        Ok(Transport {
            tcp: begin_tcp(address)?,
            tls,
        })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.tcp.as_fd()
    }

    /// Whether a connection that was begun has been made; call it when the
    /// socket can be written to.
    pub(crate) fn is_connected(&self) -> io::Result<()> {
        match self.tcp.take_error()? {
            Some(error) => Err(error),
            None => self.tcp.peer_addr().map(|_| ()),
        }
    }

    pub(crate) fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Goes on with the handshake. True when it is done.
    pub(crate) fn shake_hands(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else {
            return Ok(true);
        };
        while tls.is_handshaking() {
            if tls.wants_write() {
                match tls.write_tls(&mut self.tcp) {
                    Ok(_) => continue,
                    Err(error) if must_wait(&error) => return Ok(false),
                    Err(error) => return Err(error),
                }
            }
            match tls.read_tls(&mut self.tcp) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {
                    tls.process_new_packets().map_err(io::Error::other)?;
                }
                Err(error) if must_wait(&error) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Sends as much of `pieces` as goes; bytes of them that were taken.
    pub(crate) fn send(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return self.tcp.write_vectored(pieces);
        };
        // What was taken before has to go first.
        while tls.wants_write() {
            tls.write_tls(&mut self.tcp)?;
        }
        let taken = tls.writer().write_vectored(pieces)?;
        while tls.wants_write() {
            match tls.write_tls(&mut self.tcp) {
                Ok(_) => {}
                Err(error) if must_wait(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(taken)
    }

    /// Whether bytes that were taken have not been sent.
    pub(crate) fn holds_back(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    /// Sends what is held back.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            while tls.wants_write() {
                tls.write_tls(&mut self.tcp)?;
            }
        }
        Ok(())
    }

    /// Whether more can be had without waiting for the socket.
    pub(crate) fn has_buffered(&self) -> bool {
        self.has_tls()
    }

    /// Receives into `buffer`; 0 at the end of the connection.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return self.tcp.read(buffer);
        };
        loop {
            match tls.reader().read(buffer) {
                Err(error) if must_wait(&error) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                other => return other,
            }
            match tls.read_tls(&mut self.tcp) {
                Ok(0) => return Ok(0),
                Ok(_) => {
                    tls.process_new_packets().map_err(io::Error::other)?;
                }
                Err(error) => return Err(error),
            }
        }
    }
}
