//! The coordinator's side of agents that call back: a port, and who has come.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fathom_observe::network::{Interface, interfaces};

use crate::host_list::HostName;
use crate::launchers::LaunchError;
use crate::launchers::call_back::{self, CallBackError, Invitation, MAX_ADDRESSES, Secret};
use crate::protocol::wire::clean;
use crate::thread::spawn;
use crate::transport::Transport;
use crate::transport::accepting::accept_within;
use crate::transport::unauthenticated::{ConnectionId, UnauthenticatedConnections};

/// Connections that are looked at at the same time.
const MAX_CONNECTIONS: usize = 1024;

/// Those among them that have not proved that they belong to the launch.
const MAX_STRANGERS: usize = 512;

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A port at which the agents of one launch are awaited.
pub(crate) struct CallBackPort {
    pub(crate) invitation: Invitation,
    state: Arc<PortState>,
}

struct PortState {
    secret: Secret,
    expected: Vec<String>,
    over: AtomicBool,
    connections: AtomicUsize,
    strangers: UnauthenticatedConnections,
    arrived: Mutex<Arrived>,
    changed: Condvar,
}

#[derive(Default)]
struct Arrived {
    /// Hosts that have been let in, each once.
    admitted: BTreeSet<String>,
    /// Their connections, until somebody takes them.
    waiting: BTreeMap<String, Transport>,
    /// The last one who was turned away, and why.
    refused: Option<String>,
}

impl CallBackPort {
    /// Waits for the hosts. `at` is the name or address by which they reach
    /// this one, where only the user knows it, with a port if it must be one
    /// that a firewall lets through.
    pub(crate) fn listen(
        at: Option<&HostName>,
        hosts: &[HostName],
    ) -> Result<CallBackPort, LaunchError> {
        let port = at.and_then(|at| at.port).unwrap_or(0);
        let found = interfaces();
        let version_6 = match at {
            Some(at) => at.name.parse::<Ipv6Addr>().is_ok(),
            None => !found
                .iter()
                .any(|link| usable(link) && link.address.is_ipv4()),
        };
        let any = match version_6 && found.iter().any(|link| link.address.is_ipv6()) {
            true => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
            false => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        };
        let listener = TcpListener::bind((any, port))
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            .map_err(|cause| LaunchError::Listen { port, cause })?;
        let port = listener.local_addr().map_err(LaunchError::Socket)?.port();
        let addresses = match at {
            Some(at) => vec![
                HostName {
                    port: Some(port),
                    ..at.clone()
                }
                .to_string(),
            ],
            None => own_addresses(&found, any, port),
        };
        let secret = Secret::fresh()?;
        let state = Arc::new(PortState {
            secret: secret.clone(),
            expected: hosts.iter().map(|host| host.name.clone()).collect(),
            over: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
            strangers: UnauthenticatedConnections::new(MAX_STRANGERS),
            arrived: Mutex::default(),
            changed: Condvar::new(),
        });
        let accepting = Arc::clone(&state);
        spawn("fathom-callers", move || accepting.accept(&listener))?;
        Ok(CallBackPort {
            invitation: Invitation { addresses, secret },
            state,
        })
    }

    /// The connection of a host, if it comes in time.
    pub(crate) fn take(&self, host: &str, patience: Duration) -> Option<Transport> {
        let arrived = self.state.arrived();
        let waited = self
            .state
            .changed
            .wait_timeout_while(arrived, patience, |arrived| {
                !arrived.waiting.contains_key(host)
            });
        let (mut arrived, _) = waited.unwrap_or_else(PoisonError::into_inner);
        arrived.waiting.remove(host)
    }

    /// Why somebody was turned away, in the case that one is missing.
    pub(crate) fn refused(&self) -> Option<String> {
        self.state.arrived().refused.clone()
    }
}

impl Drop for CallBackPort {
    fn drop(&mut self) {
        self.state.over.store(true, Relaxed);
    }
}

impl PortState {
    fn arrived(&self) -> MutexGuard<'_, Arrived> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(self: Arc<PortState>, listener: &TcpListener) {
        while !self.over.load(Relaxed) {
            self.strangers.drop_late(Instant::now());
            let Some((socket, from)) = accept_within(listener, LOOK_EVERY) else {
                continue;
            };
            let Ok(number) = self.strangers.admit(from.ip(), &socket) else {
                continue;
            };
            if self.connections.fetch_add(1, Relaxed) >= MAX_CONNECTIONS {
                self.connections.fetch_sub(1, Relaxed);
                self.strangers.leave(number);
                continue;
            }
            let meeting = Arc::clone(&self);
            let spawned = std::thread::Builder::new()
                .name("fathom-caller".to_owned())
                .spawn(move || {
                    meeting.meet(socket, from, number);
                    meeting.strangers.leave(number);
                    meeting.connections.fetch_sub(1, Relaxed);
                });
            if spawned.is_err() {
                self.strangers.leave(number);
                self.connections.fetch_sub(1, Relaxed);
            }
        }
        self.strangers.drop_all();
    }

    fn meet(&self, socket: TcpStream, from: SocketAddr, number: ConnectionId) {
        let _ = socket.set_nonblocking(false);
        match socket.peek(&mut [0]) {
            Ok(1..) => self.strangers.spoke(number),
            _ => return,
        }
        let answered = call_back::answer(socket, &self.secret, |host| {
            match self.strangers.leave(number) {
                true => self.admit(host),
                false => Err(CallBackError::TooLate),
            }
        });
        let mut arrived = self.arrived();
        match answered {
            Ok((host, transport)) => {
                arrived.waiting.insert(host, transport);
            }
            Err(why) => arrived.refused = Some(format!("{from} was turned away: {why}")),
        }
        self.changed.notify_all();
    }

    fn admit(&self, host: &str) -> Result<(), CallBackError> {
        if !self.expected.iter().any(|expected| expected == host) {
            return Err(CallBackError::OtherHost { host: clean(host) });
        }
        if self.arrived().admitted.insert(host.to_owned()) {
            return Ok(());
        }
        Err(CallBackError::SecondCall {
            host: host.to_owned(),
        })
    }
}

fn usable(link: &Interface) -> bool {
    match link.address {
        IpAddr::V4(address) => !address.is_loopback() && !address.is_link_local(),
        IpAddr::V6(address) => !address.is_loopback() && !address.is_unicast_link_local(),
    }
}

/// All addresses of this host of the kind that is listened on. The agents try
/// them all; that of the loop is for agents on this very host.
fn own_addresses(found: &[Interface], any: IpAddr, port: u16) -> Vec<String> {
    let same_kind = found
        .iter()
        .filter(|link| link.address.is_ipv4() == any.is_ipv4());
    let (mut addresses, mut looped) = (Vec::new(), Vec::new());
    for link in same_kind {
        let address = SocketAddr::new(link.address, port).to_string();
        match usable(link) {
            true if addresses.len() + 1 < MAX_ADDRESSES => addresses.push(address),
            false if link.address.is_loopback() => looped.push(address),
            _ => {}
        }
    }
    addresses.extend(looped.into_iter().take(1));
    addresses
}
