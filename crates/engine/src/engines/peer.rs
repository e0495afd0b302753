//! Blocks over a connection whose other end is a workload too, as fio's `net`
//! engine has it: one operation in flight, reads take what the other end
//! writes.
//!
//! A listening end has its port before the load begins. The connection is made
//! when the first operation is queued, outside of its latency. When the other
//! end has ended there is nothing more to do here: that is no failure.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fathom_model::OpKind;
use fathom_model::workload::{Peer, PeerProtocol};

use crate::arena::BufferView;
use crate::engine::{Broken, Capabilities, Completion, ENDED, Engine, Op, Queued};
use crate::net::{
    SocketOptions, bind_udp, connect_tcp, listen_tcp, prepare_tcp, prepare_udp, set_ttl,
};

/// How long an end waits for the other one.
const MEETING: Duration = Duration::from_secs(30);
/// How often it tries.
const RETRY: Duration = Duration::from_millis(5);
/// How long a call waits for data before the worker looks around.
const PATIENCE: Duration = Duration::from_millis(100);
/// Empty datagrams that say goodbye; any may be lost.
const FAREWELLS: u32 = 3;

/// The connection, as far as it has come.
#[derive(Debug)]
enum Link {
    Calling,
    Listening(TcpListener),
    ListeningUnix(UnixListener),
    Tcp(TcpStream),
    Unix(UnixStream),
    /// Where to send to: the peer, or whoever sent last.
    Udp(UdpSocket, Option<SocketAddr>),
}

/// An operation that has been handed over.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    op: Op,
    buffer: u32,
    /// Bytes moved in this direction.
    moved: usize,
    /// The first half of a block that goes and comes back is done.
    returning: bool,
}

/// The engine of one worker.
#[derive(Debug)]
pub(crate) struct PeerEngine {
    peer: Peer,
    port: u16,
    link: Link,
    buffers: BufferView,
    waiting: Option<Waiting>,
    failed: Option<i32>,
    /// A socket file that this engine made.
    made: Option<PathBuf>,
}

impl PeerEngine {
    /// The end of worker `index`. A listening end takes its port here.
    pub(crate) fn new(
        peer: &Peer,
        index: u32,
        reads: bool,
        buffers: BufferView,
    ) -> io::Result<PeerEngine> {
        let port = u32::from(peer.port) + index;
        let port = u16::try_from(port).map_err(|_| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("there is no port {port}"),
            )
        })?;
        let mut engine = PeerEngine {
            peer: peer.clone(),
            port,
            link: Link::Calling,
            buffers,
            waiting: None,
            failed: None,
            made: None,
        };
        engine.link = match peer.protocol {
            PeerProtocol::Tcp if peer.listen => {
                let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
                let listener = listen_tcp(any, &engine.options())?;
                listener.set_nonblocking(true)?;
                Link::Listening(listener)
            }
            PeerProtocol::Unix if peer.listen => {
                let path = Path::new(&peer.host);
                remove_socket(path)?;
                let listener = UnixListener::bind(path)?;
                engine.made = Some(path.to_owned());
                listener.set_nonblocking(true)?;
                Link::ListeningUnix(listener)
            }
            PeerProtocol::Udp => engine.datagrams(reads)?,
            _ => Link::Calling,
        };
        Ok(engine)
    }

    fn options(&self) -> SocketOptions {
        let some = |value: u32| (value > 0).then_some(value);
        SocketOptions {
            nodelay: self.peer.nodelay,
            buffer_bytes: some(self.peer.buffer_bytes),
            mss_bytes: some(self.peer.mss_bytes),
            congestion: None,
        }
    }

    /// The address of the peer.
    fn address(&self) -> io::Result<SocketAddr> {
        // What listens here listens on IPv4.
        let all = fathom_deadline::host_addresses(&self.peer.host, self.port)?;
        let first = all.iter().find(|address| address.is_ipv4()).or(all.first());
        first.copied().ok_or_else(|| {
            let text = format!("'{}' has no address", self.peer.host);
            io::Error::new(io::ErrorKind::NotFound, text)
        })
    }

    /// The socket of an end of datagrams: who reads takes the port and joins
    /// the group, who writes knows where to.
    fn datagrams(&self, reads: bool) -> io::Result<Link> {
        let port = if reads { self.port } else { 0 };
        let socket = bind_udp((Ipv4Addr::UNSPECIFIED, port).into())?;
        prepare_udp(&socket, &self.options())?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        set_ttl(&socket, u32::from(self.peer.ttl.max(1)))?;
        let group = match self.peer.host.as_str() {
            "" => None,
            _ => Some(self.address()?),
        };
        if let (true, Some(IpAddr::V4(group))) = (reads, group.map(|address| address.ip()))
            && group.is_multicast()
        {
            let interface = self.peer.interface.parse().unwrap_or(Ipv4Addr::UNSPECIFIED);
            socket.join_multicast_v4(&group, &interface)?;
        }
        Ok(Link::Udp(socket, if reads { None } else { group }))
    }

    /// Meets the other end.
    fn meet(&mut self) -> io::Result<()> {
        let until = Instant::now() + MEETING;
        loop {
            let met = match &self.link {
                Link::Listening(listener) => listener.accept().map(|(s, _)| Link::Tcp(s)),
                Link::ListeningUnix(listener) => listener.accept().map(|(s, _)| Link::Unix(s)),
                Link::Calling => self.call(),
                _ => return Ok(()),
            };
            match met {
                Ok(link) => {
                    settle(&link, &self.options())?;
                    self.link = link;
                    return Ok(());
                }
                Err(error) if may_come(&error) && Instant::now() < until => {
                    std::thread::sleep(RETRY);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn call(&self) -> io::Result<Link> {
        match self.peer.protocol {
            PeerProtocol::Unix => UnixStream::connect(&self.peer.host).map(Link::Unix),
            _ => {
                let address = self.address()?;
                connect_tcp(address, &self.options(), MEETING).map(Link::Tcp)
            }
        }
    }

    /// Goes on with the operation; its result when it has ended.
    fn go_on(&mut self, waiting: &mut Waiting) -> Option<i32> {
        let length = waiting.op.len as usize;
        // SAFETY: the buffer has at least as many bytes as the operation and
        // belongs to the engine until the operation has been reaped.
        let block =
            unsafe { std::slice::from_raw_parts_mut(self.buffers.at(waiting.buffer), length) };
        let writes = waiting.op.kind == OpKind::Write;
        loop {
            let sends = writes != waiting.returning;
            match self.move_part(block, waiting.moved, sends) {
                Ok(0) => return Some(ENDED),
                Ok(bytes) => waiting.moved += bytes,
                Err(error) if is_pause(&error) => return None,
                Err(error) if has_left(&error) => return Some(ENDED),
                Err(error) => return Some(-error.raw_os_error().unwrap_or(libc::EIO)),
            }
            let whole = waiting.moved >= length || matches!(self.link, Link::Udp(..));
            if !whole {
                continue;
            }
            if !self.peer.ping_pong || waiting.returning || waiting.moved < length {
                return Some(waiting.moved as i32);
            }
            (waiting.returning, waiting.moved) = (true, 0);
        }
    }

    fn move_part(&mut self, block: &mut [u8], moved: usize, sends: bool) -> io::Result<usize> {
        match (&mut self.link, sends) {
            (Link::Tcp(stream), true) => stream.write(&block[moved..]),
            (Link::Tcp(stream), false) => stream.read(&mut block[moved..]),
            (Link::Unix(stream), true) => stream.write(&block[moved..]),
            (Link::Unix(stream), false) => stream.read(&mut block[moved..]),
            (Link::Udp(socket, Some(to)), true) => socket.send_to(block, *to),
            (Link::Udp(socket, to), false) => {
                let (bytes, from) = socket.recv_from(block)?;
                *to = Some(from);
                Ok(bytes)
            }
            _ => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

/// What a new connection is set to.
fn settle(link: &Link, options: &SocketOptions) -> io::Result<()> {
    match link {
        Link::Tcp(stream) => {
            stream.set_nonblocking(false)?;
            prepare_tcp(
                stream,
                &SocketOptions {
                    nodelay: options.nodelay,
                    ..SocketOptions::default()
                },
            )?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))
        }
        Link::Unix(stream) => {
            stream.set_nonblocking(false)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))
        }
        _ => Ok(()),
    }
}

/// Whether the other end may still come.
fn may_come(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::NotFound
            | io::ErrorKind::Interrupted
    )
}

fn is_pause(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

/// Whether the other end has ended.
fn has_left(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
    )
}

/// Removes a socket that an earlier end left behind; nothing else.
fn remove_socket(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if found.file_type().is_socket() => std::fs::remove_file(path),
        Ok(_) => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!("{} is there and is not a socket", path.display()),
        )),
        Err(_) => Ok(()),
    }
}

impl Engine for PeerEngine {
    const ABANDONS: bool = true;

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            max_depth: 1,
            trim: false,
            timed_reap: true,
        }
    }

    fn queue(&mut self, op: &Op, buffer: u32) -> Queued {
        if self.waiting.is_some() {
            return Queued::Busy;
        }
        if let Err(error) = self.meet() {
            self.failed = Some(error.raw_os_error().unwrap_or(libc::EHOSTUNREACH));
        }
        self.waiting = Some(Waiting {
            op: *op,
            buffer,
            moved: 0,
            returning: false,
        });
        Queued::Yes
    }

    fn submit(&mut self) -> Result<(), Broken> {
        Ok(())
    }

    fn reap(
        &mut self,
        min: u32,
        _timeout_ns: Option<u64>,
        out: &mut Vec<Completion>,
    ) -> Result<(), Broken> {
        let Some(mut waiting) = self.waiting.take_if(|_| min > 0) else {
            return Ok(());
        };
        let result = match (self.failed, waiting.op.kind) {
            (Some(errno), _) => Some(-errno),
            (None, OpKind::Read | OpKind::Write) => self.go_on(&mut waiting),
            // There is nothing to flush or to discard.
            (None, _) => Some(0),
        };
        match result {
            Some(result) => out.push(Completion {
                slot: waiting.op.slot,
                result,
            }),
            None => self.waiting = Some(waiting),
        }
        Ok(())
    }

    fn abandon(&mut self, out: &mut Vec<Completion>) {
        if let Some(waiting) = self.waiting.take() {
            out.push(Completion {
                slot: waiting.op.slot,
                result: ENDED,
            });
        }
    }

    fn close(&mut self) {
        if let Link::Udp(socket, Some(to)) = &self.link {
            for _ in 0..FAREWELLS {
                // A reader that is gone already needs no goodbye.
                let _ = socket.send_to(&[], *to);
            }
        }
        self.link = Link::Calling;
        if let Some(path) = self.made.take() {
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(test)]
#[path = "peer_tests.rs"]
mod tests;
