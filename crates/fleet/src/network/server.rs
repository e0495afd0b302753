//! The end that serves.

use std::collections::HashMap;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fathom_engine::net::{Connection, SocketOptions, bind_udp, listen_tcp, mtu, prepare_udp};

use super::conversation;
use super::data::accept_datagrams;
use super::error::no_thread;
use super::owner::Owner;
use super::wire::{self, HELLO_BYTES, Hello, ServerAnswer, Token};
use crate::transport::accepting::accept_within;
use crate::transport::unauthenticated::UnauthenticatedConnections;

/// How long a connection may take to say hello.
const HELLO: Duration = Duration::from_secs(5);
/// How often waiting loops look whether they are to end.
const LOOK: Duration = Duration::from_millis(100);
/// Connections that may be saying hello at the same time; half of them from one address,
/// which is as many as a load has streams.
const MOST_GREETINGS: usize = 2048;

/// Data connections of a load that have arrived, with their numbers.
pub(super) type Arrivals = Receiver<(u32, Connection)>;

/// What all conversations of a server share.
pub(super) struct ServerConversations {
    pub(super) owner: Owner,
    pub(super) allowance: Option<Arc<AtomicU64>>,
    pub(super) stop: Arc<AtomicBool>,
    sessions: AtomicU32,
    greetings: UnauthenticatedConnections,
    /// Loads that wait for data connections.
    loads: Mutex<HashMap<Token, Sender<(u32, Connection)>>>,
    /// Sessions whose datagrams are answered.
    welcome: Mutex<HashMap<Token, IpAddr>>,
}

impl ServerConversations {
    /// Data connections with a new token go to the receiver until it is gone.
    pub(super) fn await_load(&self) -> io::Result<(Token, Arrivals)> {
        let token = wire::fresh_token()?;
        let (to, from) = channel();
        lock(&self.loads).insert(token, to);
        Ok((token, from))
    }

    /// No more data connections for a load.
    pub(super) fn end_load(&self, token: Token) {
        lock(&self.loads).remove(&token);
    }

    fn arrived(&self, token: Token, number: u32, connection: Connection) {
        if let Some(load) = lock(&self.loads).get(&token) {
            // A load that has gone meanwhile drops its connections.
            let _ = load.send((number, connection));
        }
    }

    /// A place among the conversations; it is given back when dropped.
    fn take_slot(self: &Arc<Self>) -> Option<SessionSlot> {
        let most = self.owner.most_sessions;
        let take = |taken: u32| (taken < most).then_some(taken + 1);
        let taken = &self.sessions;
        taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .ok()?;
        Some(SessionSlot(Arc::clone(self)))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct SessionSlot(Arc<ServerConversations>);

impl Drop for SessionSlot {
    fn drop(&mut self) {
        self.0.sessions.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A server of network measurements.
pub struct Server {
    listener: TcpListener,
    datagrams: UdpSocket,
    shared: Arc<ServerConversations>,
}

impl Server {
    /// Takes the port for TCP and UDP. Raised, `stop` ends [`Server::run`].
    ///
    /// # Errors
    /// When the address cannot be had.
    pub fn bind(address: SocketAddr, owner: Owner, stop: Arc<AtomicBool>) -> io::Result<Server> {
        let listener = listen_tcp(address, &SocketOptions::default())?;
        let datagrams = bind_udp(listener.local_addr()?)?;
        mtu::prepare(&datagrams)?;
        prepare_udp(&datagrams, &SocketOptions::default())?;
        let allowance = owner
            .most_bytes
            .map(|bytes| Arc::new(AtomicU64::new(bytes)));
        Ok(Server {
            listener,
            datagrams,
            shared: Arc::new(ServerConversations {
                owner,
                allowance,
                stop,
                sessions: AtomicU32::new(0),
                greetings: UnauthenticatedConnections::new(MOST_GREETINGS),
                loads: Mutex::default(),
                welcome: Mutex::default(),
            }),
        })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the kernel does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is stopped.
    ///
    /// # Errors
    /// When it cannot begin to wait for connections.
    pub fn run(&self) -> io::Result<()> {
        self.listener.set_nonblocking(true)?;
        self.datagrams.set_read_timeout(Some(LOOK))?;
        std::thread::scope(|scope| {
            let answering = std::thread::Builder::new().name("net-datagrams".to_owned());
            answering
                .spawn_scoped(scope, || self.answer_datagrams())
                .map_err(|error| io::Error::new(error.kind(), no_thread(&error)))?;
            self.accept();
            self.shared.stop.store(true, Ordering::Relaxed);
            Ok(())
        })
    }

    fn accept(&self) {
        while !self.shared.stop.load(Ordering::Relaxed) {
            self.shared.greetings.drop_late(Instant::now());
            if let Some((stream, peer)) = accept_within(&self.listener, LOOK) {
                self.greet(stream, peer);
            }
        }
        self.shared.greetings.drop_all();
    }

    /// Hears what a connection is for, in a thread of its own.
    fn greet(&self, stream: TcpStream, peer: SocketAddr) {
        let Ok(number) = self.shared.greetings.admit(peer.ip(), &stream) else {
            return;
        };
        let shared = Arc::clone(&self.shared);
        let greeting = std::thread::Builder::new().name("net-session".to_owned());
        let started = greeting.spawn(move || {
            let hello = hear_hello(&stream, || shared.greetings.spoke(number));
            if shared.greetings.leave(number) {
                begin(&shared, stream, peer, hello);
            }
        });
        if started.is_err() {
            self.shared.greetings.leave(number);
        }
    }

    /// Answers probes of known sessions, and opens connections of datagrams.
    fn answer_datagrams(&self) {
        let mut datagram = vec![0; 65_536];
        while !self.shared.stop.load(Ordering::Relaxed) {
            let Ok((bytes, peer)) = self.datagrams.recv_from(&mut datagram) else {
                continue;
            };
            let datagram = &datagram[..bytes];
            if let Some(request) = mtu::ProbeRequest::parse(datagram) {
                let known = lock(&self.shared.welcome).get(&request.token) == Some(&peer.ip());
                if known {
                    mtu::answer(&self.datagrams, peer, request);
                }
            } else if let Some((token, number)) = wire::read_datagram_hello(datagram) {
                let awaited = lock(&self.shared.loads).contains_key(&token);
                let allowed = self.shared.owner.check_peer(peer.ip()).is_ok();
                if awaited
                    && allowed
                    && let Ok(socket) = accept_datagrams(&self.datagrams, peer, datagram)
                {
                    self.shared.arrived(token, number, Connection::Udp(socket));
                }
            }
        }
    }
}

/// What a connection is for; `spoke` is called at its first byte.
fn hear_hello(stream: &TcpStream, spoke: impl Fn()) -> io::Result<[u8; HELLO_BYTES]> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(HELLO))?;
    stream.set_write_timeout(Some(HELLO))?;
    let mut bytes = [0; HELLO_BYTES];
    if stream.peek(&mut bytes[..1])? > 0 {
        spoke();
    }
    (&mut &*stream).read_exact(&mut bytes)?;
    Ok(bytes)
}

fn begin(
    shared: &Arc<ServerConversations>,
    mut stream: TcpStream,
    peer: SocketAddr,
    hello: io::Result<[u8; HELLO_BYTES]>,
) {
    let Ok(bytes) = hello else {
        return;
    };
    // Nothing depends on whether a peer hears why it is refused.
    let refuse = |stream: &mut TcpStream, reason: String| {
        let _ = wire::send(stream, &ServerAnswer::Refused(reason));
    };
    if let Err(error) = shared.owner.check_peer(peer.ip()) {
        return refuse(&mut stream, error.to_string());
    }
    match Hello::decode(&bytes) {
        Err(error) => refuse(&mut stream, error.to_string()),
        Ok(Hello::Data(token, number)) => shared.arrived(token, number, Connection::Tcp(stream)),
        Ok(Hello::Control) => {
            let Some(_slot) = shared.take_slot() else {
                return refuse(
                    &mut stream,
                    format!(
                        "it has {} conversations already, which is what its owner allows",
                        shared.owner.most_sessions
                    ),
                );
            };
            let Ok(token) = wire::fresh_token() else {
                return refuse(&mut stream, "it has no random numbers".to_owned());
            };
            lock(&shared.welcome).insert(token, peer.ip());
            // The peer learns of errors by the end of the connection.
            let _ = conversation::converse(shared, &mut stream, token);
            lock(&shared.welcome).remove(&token);
        }
    }
}
