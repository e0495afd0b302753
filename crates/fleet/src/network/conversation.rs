//! One conversation, from the end that serves.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fathom_model::network::{LoadSpec, PairPlan, PairReport};
use fathom_observe::unix_now_ns;

use super::data::{self, DataConnections, LoadControl};
use super::error::{NetError, no_thread};
use super::owner::OwnerError;
use super::pair::{measure_pair, own_counters, own_facts};
use super::server::{Arrivals, ServerConversations};
use super::wire::{self, REQUEST_LIMIT_BYTES, ServerAnswer, ServerRequest, Token};
use crate::protocol::reason::Reason;

/// How long a peer may be silent between two questions.
const SILENCE: Duration = Duration::from_secs(120);
/// How long the data connections of a load may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);
/// How often a running load looks whether its peer is still there.
const LOOK: Duration = Duration::from_millis(100);

/// Answers until the peer has no more questions.
pub(super) fn converse(
    shared: &Arc<ServerConversations>,
    control: &mut TcpStream,
    token: Token,
) -> io::Result<()> {
    control.set_nodelay(true)?;
    control.set_read_timeout(Some(SILENCE))?;
    let address = control.local_addr()?.ip();
    let welcome = ServerAnswer::Welcome {
        fathom: env!("CARGO_PKG_VERSION").to_owned(),
        token,
    };
    wire::send(control, &welcome)?;
    loop {
        let request: ServerRequest = wire::receive(control, REQUEST_LIMIT_BYTES)?;
        if shared.stop.load(Ordering::Relaxed) {
            return wire::send(
                control,
                &ServerAnswer::Refused("it is being stopped".to_owned()),
            );
        }
        match request {
            ServerRequest::Describe => {
                wire::send(control, &ServerAnswer::Facts(Box::new(own_facts(address))))?;
            }
            ServerRequest::Clock => wire::send(control, &ServerAnswer::Clock(unix_now_ns()))?,
            ServerRequest::Counters => {
                let counters = own_counters(&own_facts(address));
                wire::send(control, &ServerAnswer::Counters(counters))?;
            }
            ServerRequest::Load(spec) => match shared.owner.check_load(&spec) {
                Ok(()) => load(shared, control, &spec)?,
                Err(error) => wire::send(control, &ServerAnswer::Refused(error.to_string()))?,
            },
            ServerRequest::Go => {
                let reason = "there is no load to begin".to_owned();
                wire::send(control, &ServerAnswer::Refused(reason))?;
            }
            ServerRequest::Measure {
                peer,
                plan,
                start_unix_ns,
            } => {
                let report = while_there(control, &shared.stop, |stop| {
                    measure(shared, &peer, &plan, start_unix_ns, stop)
                })?;
                let report = report.map(Box::new).map_err(Reason::of);
                wire::send(control, &ServerAnswer::Measured(report))?;
            }
        }
    }
}

/// A load, from the agreement to the report.
fn load(
    shared: &Arc<ServerConversations>,
    control: &mut TcpStream,
    spec: &LoadSpec,
) -> io::Result<()> {
    let (token, arrivals) = shared.await_load()?;
    wire::send(control, &ServerAnswer::Ready(token))?;
    let ways = gather(&arrivals, spec, &shared.stop);
    shared.end_load(token);
    let ways = match ways {
        Ok(ways) => ways,
        Err(error) => return wire::send(control, &ServerAnswer::Refused(error.to_string())),
    };
    wire::send(control, &ServerAnswer::Connected)?;
    let ServerRequest::Go = wire::receive(control, REQUEST_LIMIT_BYTES)? else {
        let reason = "the load was to begin".to_owned();
        return wire::send(control, &ServerAnswer::Refused(reason));
    };
    wire::send(control, &ServerAnswer::Going)?;
    control.flush()?;
    let (forward, reverse) = while_there(control, &shared.stop, |stop| {
        data::run(ways, spec, false, &load_control(shared, stop))
    })?;
    let (forward, reverse) = (forward.map(Box::new), reverse.map(Box::new));
    wire::send(control, &ServerAnswer::Done { forward, reverse })
}

/// Data connections of a load that did not come.
#[derive(Debug, thiserror::Error)]
#[error("only {arrived} of {awaited} data connections arrived")]
struct MissingConnections {
    arrived: usize,
    awaited: u32,
}

/// Why one server does not measure against another.
#[derive(Debug, thiserror::Error)]
enum MeasureError {
    #[error("'{peer}' is not an address")]
    NoAddress { peer: String },
    #[error(transparent)]
    Forbidden(#[from] OwnerError),
    #[error(transparent)]
    Network(#[from] NetError),
}

/// Waits for all data connections of a load.
fn gather(
    arrivals: &Arrivals,
    spec: &LoadSpec,
    stop: &AtomicBool,
) -> Result<DataConnections, MissingConnections> {
    let (forward, reverse) = data::counts(spec);
    let mut found = Vec::new();
    let until = Instant::now() + ARRIVAL;
    while found.len() < (forward + reverse) as usize {
        match arrivals.recv_timeout(LOOK) {
            Ok((number, _)) if number >= forward + reverse => {}
            // A hello that came twice opened two sockets; the first one counts.
            Ok((number, _)) if found.iter().any(|(known, _)| *known == number) => {}
            Ok(arrival) => found.push(arrival),
            Err(_) if Instant::now() > until || stop.load(Ordering::Relaxed) => {
                return Err(MissingConnections {
                    arrived: found.len(),
                    awaited: forward + reverse,
                });
            }
            Err(_) => {}
        }
    }
    found.sort_by_key(|(number, _)| *number);
    let mut ways = DataConnections::default();
    for (number, connection) in found {
        match number < forward {
            true => ways.forward.push(connection),
            false => ways.reverse.push(connection),
        }
    }
    Ok(ways)
}

/// Does something that takes long, and ends it when the peer or the server
/// goes away meanwhile.
fn while_there<T: Send>(
    control: &TcpStream,
    server_stop: &AtomicBool,
    work: impl FnOnce(&Arc<AtomicBool>) -> T + Send,
) -> io::Result<T> {
    let stop = Arc::new(AtomicBool::new(false));
    control.set_read_timeout(Some(LOOK))?;
    let done = std::thread::scope(|scope| {
        let working = std::thread::Builder::new()
            .spawn_scoped(scope, || work(&stop))
            .map_err(|error| io::Error::new(error.kind(), no_thread(&error)))?;
        while !working.is_finished() {
            let mut byte = [0];
            let gone = match control.peek(&mut byte) {
                Ok(0) => true,
                Ok(_) => {
                    std::thread::sleep(LOOK);
                    false
                }
                Err(error) => !matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ),
            };
            if gone || server_stop.load(Ordering::Relaxed) {
                stop.store(true, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        working
            .join()
            .map_err(|_| io::Error::other("a measurement failed"))
    });
    control.set_read_timeout(Some(SILENCE))?;
    done
}

/// What the owner allows, for one load.
fn load_control(shared: &ServerConversations, stop: &Arc<AtomicBool>) -> LoadControl {
    LoadControl {
        stop: Arc::clone(stop),
        allowance: shared.allowance.clone(),
        waiting: None,
    }
}

/// Measures against another server, if the owner allows it as a peer.
fn measure(
    shared: &ServerConversations,
    peer: &str,
    plan: &PairPlan,
    start_unix_ns: u64,
    stop: &Arc<AtomicBool>,
) -> Result<PairReport, MeasureError> {
    let address: SocketAddr = peer.parse().map_err(|_| MeasureError::NoAddress {
        peer: peer.to_owned(),
    })?;
    shared.owner.check_peer(address.ip())?;
    for load in &plan.loads {
        shared.owner.check_load(&load.spec)?;
    }
    let ahead = start_unix_ns.saturating_sub(unix_now_ns());
    let most = shared.owner.most_time;
    if Duration::from_nanos(plan.total_ns()) > most || Duration::from_nanos(ahead) > most {
        return Err(OwnerError::TooLongTogether { most }.into());
    }
    let load_control = load_control(shared, stop);
    let report = measure_pair(address, plan, start_unix_ns, &load_control, &mut |_| {})?;
    match stop.load(Ordering::Relaxed) {
        // Half a measurement would look like a slow way.
        true => Err(NetError::Interrupted.into()),
        false => Ok(report),
    }
}
