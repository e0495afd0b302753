//! Data connections of a load, at both of its ends.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use fathom_engine::net::{
    Connection, EndRole, EndWork, SocketOptions, bind_udp, carry_out, connect_tcp, prepare_udp,
};
use fathom_model::network::{ConnectionReport, EndReport, LoadKind, LoadSpec, Protocol};
use fathom_observe::Sysroot;
use fathom_observe::network::HostUseWatch;

use super::error::no_thread;
use super::wire::{self, Hello, Token};

/// How long a data connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);
/// Tries to open a connection of datagrams, and how long each waits.
const DATAGRAM_TRIES: u32 = 10;
const DATAGRAM_PATIENCE: Duration = Duration::from_millis(200);

/// What holds loads back at this end.
#[derive(Debug, Clone, Default)]
pub struct LoadControl {
    /// Ends them early when raised.
    pub stop: Arc<AtomicBool>,
    /// Bytes that they may still move; `None` sets no bound.
    pub allowance: Option<Arc<AtomicU64>>,
    /// Hears of a server that is not responding.
    pub waiting: Option<fn(&str)>,
}

/// Connections of a load, by the way their data flow.
#[derive(Debug, Default)]
pub(super) struct DataConnections {
    pub(super) forward: Vec<Connection>,
    pub(super) reverse: Vec<Connection>,
}

/// Connections of each way, forward ones first.
pub(super) fn counts(spec: &LoadSpec) -> (u32, u32) {
    let requests = spec.kind != LoadKind::Stream;
    let forward = requests || spec.direction.forward();
    let reverse = !requests && spec.direction.reverse();
    (
        if forward { spec.streams } else { 0 },
        if reverse { spec.streams } else { 0 },
    )
}

/// Makes the data connections to a server.
pub(super) fn connect(
    server: SocketAddr,
    spec: &LoadSpec,
    token: Token,
    stop: &AtomicBool,
) -> io::Result<DataConnections> {
    let options = SocketOptions::of(spec);
    let (forward, reverse) = counts(spec);
    let mut ways = DataConnections::default();
    for number in 0..forward + reverse {
        if stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("interrupted"));
        }
        let connection = match spec.protocol {
            Protocol::Tcp => {
                let mut stream = connect_tcp(server, &options, CONNECT)?;
                stream.set_nodelay(true)?;
                stream.write_all(&Hello::Data(token, number).encode())?;
                stream.set_nodelay(options.nodelay)?;
                Connection::Tcp(stream)
            }
            Protocol::Udp => Connection::Udp(open_datagrams(server, &options, token, number)?),
        };
        match number < forward {
            true => ways.forward.push(connection),
            false => ways.reverse.push(connection),
        }
    }
    Ok(ways)
}

/// An unused local address of the family of `peer`.
pub(super) fn any_address(peer: SocketAddr) -> SocketAddr {
    match peer.ip() {
        IpAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        IpAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

/// Says hello until the server's own socket for this connection answers.
fn open_datagrams(
    server: SocketAddr,
    options: &SocketOptions,
    token: Token,
    number: u32,
) -> io::Result<UdpSocket> {
    let socket = bind_udp(any_address(server))?;
    prepare_udp(&socket, options)?;
    socket.connect(server)?;
    socket.set_read_timeout(Some(DATAGRAM_PATIENCE))?;
    let hello = wire::datagram_hello(token, number);
    let mut answer = [0; 64];
    for _ in 0..DATAGRAM_TRIES {
        socket.send(&hello)?;
        if let Ok(bytes) = socket.recv(&mut answer)
            && answer[..bytes] == hello
        {
            return Ok(socket);
        }
    }
    Err(io::Error::new(
        io::ErrorKind::TimedOut,
        "no datagram is answered: let UDP of the same port through the firewall",
    ))
}

/// The server's end of a connection of datagrams: a socket of its own on the
/// same port, which hears only this peer.
pub(super) fn accept_datagrams(
    listening: &UdpSocket,
    peer: SocketAddr,
    hello: &[u8],
) -> io::Result<UdpSocket> {
    let socket = bind_udp(listening.local_addr()?)?;
    prepare_udp(&socket, &SocketOptions::default())?;
    socket.connect(peer)?;
    socket.send(hello)?;
    Ok(socket)
}

/// The report of a load for which there is no thread.
fn unstarted(error: &io::Error) -> EndReport {
    EndReport {
        connections: vec![ConnectionReport {
            error: Some(no_thread(error)),
            ..ConnectionReport::default()
        }],
        host: None,
        congestion: None,
    }
}

/// Carries out a load at one end: both ways at the same time.
pub(super) fn run(
    ways: DataConnections,
    spec: &LoadSpec,
    asked: bool,
    load_control: &LoadControl,
) -> (Option<EndReport>, Option<EndReport>) {
    let watch = HostUseWatch::start(&Sysroot::host());
    let work = |part| EndWork {
        spec: spec.clone(),
        part,
        stop: Arc::clone(&load_control.stop),
        allowance: load_control.allowance.clone(),
    };
    // Whoever asked for the load sends forward and receives what comes back.
    let (ours, theirs) = match asked {
        true => (EndRole::Active, EndRole::Passive),
        false => (EndRole::Passive, EndRole::Active),
    };
    let (forward, reverse) = std::thread::scope(|scope| {
        let back = (!ways.reverse.is_empty()).then(|| {
            let (connections, work) = (ways.reverse, work(theirs));
            std::thread::Builder::new().spawn_scoped(scope, move || carry_out(connections, &work))
        });
        let back = match back.transpose() {
            Ok(back) => back,
            // One way alone would be another load.
            Err(error) => {
                load_control.stop.store(true, Ordering::Relaxed);
                return (None, Some(unstarted(&error)));
            }
        };
        let forward = (!ways.forward.is_empty()).then(|| carry_out(ways.forward, &work(ours)));
        (forward, back.and_then(|back| back.join().ok()))
    });
    let host = watch.and_then(|watch| watch.since_start());
    let with_host = |end: EndReport| EndReport { host, ..end };
    (forward.map(with_host), reverse.map(with_host))
}
