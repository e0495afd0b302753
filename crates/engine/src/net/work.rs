//! One end of a load: a thread for each connection.

use std::io;
use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, ScopedJoinHandle};
use std::time::Duration;

use fathom_model::network::{ConnectionReport, EndReport, LoadKind};

use super::guide::{EndRole, EndWork, Guide};
use super::seconds::Seconds;
use super::{datagrams, requests, socket, stream};
use crate::clock::{Clock, HostClock};
use crate::group::gate::Gate;

/// How long a blocking call takes before it looks whether it is to go on.
const PATIENCE: Duration = Duration::from_millis(200);
/// How long an end waits for the other one after the load's time.
const GRACE_NS: u64 = 5_000_000_000;

/// A connection that both ends have agreed on.
#[derive(Debug)]
pub enum Connection {
    /// TCP.
    Tcp(TcpStream),
    /// A local socket.
    Unix(UnixStream),
    /// Datagrams, connected to the other end.
    Udp(UdpSocket),
}

/// Moves data over `connections` until the load's time is over, and reports
/// each second of each.
///
/// The first block is sent when all threads are ready; time starts then.
/// Failures end a connection and stand in its report. A load of which one thread
/// cannot be had is not begun: it would be another load.
pub fn carry_out(connections: Vec<Connection>, work: &EndWork) -> EndReport {
    let congestion = connections.first().and_then(|connection| match connection {
        Connection::Tcp(stream) => socket::congestion_of(stream),
        _ => None,
    });
    EndReport {
        connections: all(connections, work, |connection, start| {
            one(connection, work, start)
        }),
        host: None,
        congestion,
    }
}

/// Where the threads of a load wait for one another.
struct Start<'s> {
    gate: &'s Gate,
    /// Threads that are not ready yet. The last one opens the gate: nobody else
    /// has to be woken for it.
    unready: &'s AtomicUsize,
    /// Time 0: when the first one came through.
    origin_ns: &'s OnceLock<u64>,
}

impl Start<'_> {
    /// Waits until all are ready; time 0, or `None` if there will be no load.
    fn pass(&self, clock: &HostClock) -> Option<u64> {
        if self.unready.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.gate.open(0);
        }
        self.gate.pass()?;
        Some(*self.origin_ns.get_or_init(|| clock.now()))
    }
}

/// Carries out `each` in a thread for each connection.
fn all<C: Send>(
    connections: Vec<C>,
    work: &EndWork,
    each: impl Fn(C, Start<'_>) -> ConnectionReport + Sync,
) -> Vec<ConnectionReport> {
    let count = connections.len();
    let (gate, unready, origin_ns) = (Gate::new(), AtomicUsize::new(count), OnceLock::new());
    let mut missing: Option<String> = None;
    let mut reports: Vec<ConnectionReport> = std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(count);
        for connection in connections {
            let start = Start {
                gate: &gate,
                unready: &unready,
                origin_ns: &origin_ns,
            };
            let each = &each;
            let thread = Builder::new().name("fathom-net".to_owned());
            match thread.spawn_scoped(scope, move || each(connection, start)) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    missing = Some(format!(
                        "no thread could be started for connection {} of {count}: {error}; use \
                         fewer connections, or raise the limit of processes (ulimit -u, the \
                         pids limit of the container)",
                        threads.len() + 1
                    ));
                    break;
                }
            }
        }
        if missing.is_some() {
            gate.cancel();
            work.stop.store(true, Ordering::Relaxed);
        }
        let join = |thread: ScopedJoinHandle<'_, ConnectionReport>| {
            let done = thread.join();
            done.unwrap_or_else(|_| failed("its thread failed".to_owned()))
        };
        threads.into_iter().map(join).collect()
    });
    // The reason comes first.
    if let Some(missing) = missing {
        reports.insert(0, failed(missing));
    }
    reports
}

fn failed(error: String) -> ConnectionReport {
    ConnectionReport {
        error: Some(error),
        ..ConnectionReport::default()
    }
}

fn one(connection: Connection, work: &EndWork, start: Start<'_>) -> ConnectionReport {
    let clock = HostClock::new();
    let (local, remote) = addresses(&connection);
    let patience = set_patience(&connection);
    let prepared = stream::Sending::prepare(work);
    let Some(origin_ns) = start.pass(&clock) else {
        return failed("another connection of this load could not be started".to_owned());
    };
    let mut seconds = Seconds::start(origin_ns, &work.spec);
    let guide = Guide {
        work,
        clock,
        hard_end_ns: seconds.end_ns().saturating_add(GRACE_NS),
    };
    let done = patience
        .and(prepared)
        .and_then(|sending| move_data(&connection, sending, &guide, &mut seconds));
    let state = match &connection {
        Connection::Tcp(stream) => socket::tcp_state(stream),
        _ => None,
    };
    ConnectionReport {
        local,
        remote,
        seconds: seconds.finish(clock.now(), state),
        error: done.err().map(|error| error.to_string()),
    }
}

fn move_data(
    connection: &Connection,
    sending: stream::Sending,
    guide: &Guide<'_>,
    seconds: &mut Seconds,
) -> io::Result<()> {
    let kind = guide.work.spec.kind;
    match (connection, guide.work.part, kind) {
        (Connection::Udp(socket), EndRole::Active, _) => datagrams::send(socket, guide, seconds),
        (Connection::Udp(socket), EndRole::Passive, _) => {
            datagrams::receive(socket, guide, seconds)
        }
        (Connection::Tcp(socket), part, LoadKind::Stream) => {
            stream::move_stream(socket, part, sending, guide, seconds)
        }
        (Connection::Unix(socket), part, LoadKind::Stream) => {
            stream::move_stream(socket, part, sending, guide, seconds)
        }
        (Connection::Tcp(socket), part, _) => requests::exchange(socket, part, guide, seconds),
        (Connection::Unix(socket), part, _) => requests::exchange(socket, part, guide, seconds),
    }
}

fn set_patience(connection: &Connection) -> io::Result<()> {
    match connection {
        Connection::Tcp(socket) => {
            socket.set_read_timeout(Some(PATIENCE))?;
            socket.set_write_timeout(Some(PATIENCE))
        }
        Connection::Unix(socket) => {
            socket.set_read_timeout(Some(PATIENCE))?;
            socket.set_write_timeout(Some(PATIENCE))
        }
        Connection::Udp(socket) => {
            socket.set_read_timeout(Some(PATIENCE))?;
            socket.set_write_timeout(Some(PATIENCE))
        }
    }
}

fn addresses(connection: &Connection) -> (String, String) {
    let (local, remote) = match connection {
        Connection::Tcp(socket) => (socket.local_addr(), socket.peer_addr()),
        Connection::Udp(socket) => (socket.local_addr(), socket.peer_addr()),
        Connection::Unix(_) => return ("unix".to_owned(), "unix".to_owned()),
    };
    let text = |address: io::Result<std::net::SocketAddr>| {
        address.map_or_else(|_| "gone".to_owned(), |address| address.to_string())
    };
    (text(local), text(remote))
}

#[cfg(test)]
#[path = "work_tests.rs"]
mod tests;
