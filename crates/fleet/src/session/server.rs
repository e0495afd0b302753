//! An agent that listens: it waits to join a fleet, then serves its
//! coordinator, one at a time.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fathom_deadline::addresses_of;

use crate::credentials::join::{JoinError, JoiningAgent};
use crate::credentials::token::JoinToken;
use crate::credentials::{AgentKeys, CredentialsError, Identity};
use crate::session::options::AgentOptions;
use crate::session::{self, SessionError};
use crate::transport::ConnectionError;
use crate::transport::accepting::accept_within;
use crate::transport::tls;
use crate::transport::unauthenticated::{ConnectionId, UnauthenticatedConnections};

/// Connections at the same time, those that are being dropped included.
const MAX_CONNECTIONS: usize = 256;

/// Those among them that have not proved who they are.
const MAX_STRANGERS: usize = 64;

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Time for the coordinator before to leave.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whom an agent tells what it does.
pub type Report = Arc<dyn Fn(&str) + Send + Sync>;

/// Why an agent cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// It has neither keys nor a token.
    #[error(
        "this agent has not joined a fleet (no keys in {}); give it a token from 'fathom fleet \
         token': fathom agent --token …",
        directory.display()
    )]
    NotJoined {
        /// Where its keys would be.
        directory: PathBuf,
    },
    /// The address cannot be had.
    #[error("cannot listen on {address}: {cause}")]
    Listen {
        /// The address.
        address: String,
        /// What happened.
        cause: io::Error,
    },
    /// Its keys.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
}

/// Why a connection was not served to its end.
#[derive(Debug, thiserror::Error)]
enum TalkError {
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    #[error(transparent)]
    Join(#[from] JoinError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("took too long to say who it is")]
    TooLate,
    #[error("refused: busy with {0}")]
    Busy(SocketAddr),
}

/// An agent that listens.
pub struct AgentServer {
    listener: TcpListener,
    state: Arc<SessionsState>,
}

impl std::fmt::Debug for AgentServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentServer").finish_non_exhaustive()
    }
}

struct SessionsState {
    directory: PathBuf,
    options: AgentOptions,
    report: Report,
    /// Until it has joined.
    waiting: Option<JoiningAgent>,
    /// The coordinator that is being served.
    serving: Mutex<Option<SocketAddr>>,
    connections: AtomicUsize,
    strangers: UnauthenticatedConnections,
}

impl AgentServer {
    /// Listens. `directory` holds the keys of this agent; an agent that has
    /// not joined a fleet needs a token.
    ///
    /// # Errors
    /// When the address cannot be had, or there are neither keys nor token.
    pub fn bind(
        address: &str,
        directory: PathBuf,
        token: Option<JoinToken>,
        options: AgentOptions,
        report: Report,
    ) -> Result<AgentServer, BindError> {
        let keys = AgentKeys::at(&directory)?;
        let waiting = match (keys.have_joined(), token) {
            (true, _) => None,
            (false, Some(token)) => Some(JoiningAgent::new(token, keys)),
            (false, None) => {
                return Err(BindError::NotJoined { directory });
            }
        };
        let listener = addresses_of(address)
            .and_then(|addresses| TcpListener::bind(addresses.as_slice()))
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            .map_err(|cause| BindError::Listen {
                address: address.to_owned(),
                cause,
            })?;
        Ok(AgentServer {
            listener,
            state: Arc::new(SessionsState {
                directory,
                options,
                report,
                waiting,
                serving: Mutex::new(None),
                connections: AtomicUsize::new(0),
                strangers: UnauthenticatedConnections::new(MAX_STRANGERS),
            }),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// Whether it waits to join a fleet.
    pub fn waits_to_join(&self) -> bool {
        self.state.waits_to_join()
    }

    /// Serves until its interrupt is raised and what was under way has ended.
    pub fn serve(&self) {
        let mut next = Instant::now() + LOOK_EVERY;
        while !self.state.options.interrupt.is_raised() {
            if Instant::now() >= next {
                self.state.strangers.drop_late(Instant::now());
                next = Instant::now() + LOOK_EVERY;
            }
            if let Some((socket, from)) = accept_within(&self.listener, LOOK_EVERY) {
                self.meet(socket, from);
            }
        }
        while self.state.connections.load(Relaxed) > 0 {
            self.state.strangers.drop_all();
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn meet(&self, socket: TcpStream, from: SocketAddr) {
        let state = Arc::clone(&self.state);
        let Ok(number) = state.strangers.admit(from.ip(), &socket) else {
            return;
        };
        if state.connections.fetch_add(1, Relaxed) >= MAX_CONNECTIONS {
            state.connections.fetch_sub(1, Relaxed);
            state.strangers.leave(number);
            (state.report)(&format!("{from}: too many connections"));
            return;
        }
        let thread = std::thread::Builder::new().name("fathom-session".to_owned());
        let spawned = thread.spawn(move || {
            if let Err(reason) = state.talk(socket, from, number) {
                (state.report)(&format!("{from}: {reason}"));
            }
            state.strangers.leave(number);
            state.connections.fetch_sub(1, Relaxed);
        });
        if spawned.is_err() {
            self.state.strangers.leave(number);
            self.state.connections.fetch_sub(1, Relaxed);
        }
    }
}

impl SessionsState {
    fn waits_to_join(&self) -> bool {
        let joined = || AgentKeys::at(&self.directory).is_ok_and(|keys| keys.have_joined());
        self.waiting.is_some() && !joined()
    }

    fn talk(
        &self,
        socket: TcpStream,
        from: SocketAddr,
        number: ConnectionId,
    ) -> Result<(), TalkError> {
        socket
            .set_nonblocking(false)
            .map_err(ConnectionError::Socket)?;
        // Somebody who says nothing costs a thread that sleeps; who takes too
        // long is dropped by the thread that accepts.
        match socket.peek(&mut [0]) {
            Ok(1..) => self.strangers.spoke(number),
            // There may be thousands of these; nobody wants to read of each.
            _ => return Ok(()),
        }
        if let Some(waiting) = self.waiting.as_ref().filter(|_| self.waits_to_join()) {
            waiting.meet(socket)?;
            (self.report)(&format!("joined the fleet of {from}"));
            return Ok(());
        }
        let identity = Identity::load(&self.directory)?;
        let (transport, _) = tls::accept(socket, &identity, false)?;
        if !self.strangers.leave(number) {
            return Err(TalkError::TooLate);
        }
        if let Some(other) = self.begin_serving(from) {
            session::refuse(transport, &format!("it is busy with a run of {other}"));
            return Err(TalkError::Busy(other));
        }
        (self.report)(&format!("{from}: serving"));
        let ended = session::serve(transport, &self.options);
        *self.serving() = None;
        ended?;
        (self.report)(&format!("{from}: done"));
        Ok(())
    }

    /// Begins to serve a coordinator, unless another one is being served, and
    /// is not about to leave.
    fn begin_serving(&self, from: SocketAddr) -> Option<SocketAddr> {
        let mut waited = Duration::ZERO;
        loop {
            let other = {
                let mut serving = self.serving();
                if serving.is_none() {
                    *serving = Some(from);
                    return None;
                }
                *serving
            };
            if waited >= PATIENCE {
                return other;
            }
            std::thread::sleep(LOOK_EVERY);
            waited += LOOK_EVERY;
        }
    }

    fn serving(&self) -> MutexGuard<'_, Option<SocketAddr>> {
        self.serving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
