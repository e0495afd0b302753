//! A host, by the time that a TCP connection to one of its ports takes: one
//! round trip and the host's answer, without anything installed there.

use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use fathom_model::{OpKind, Target};
use rustix::io::Errno;

use crate::error::Error;
use crate::one_by_one::{OneByOneFacts, Single};

/// What a timeout of the library stands for.
const TIMED_OUT: i32 = Errno::TIMEDOUT.raw_os_error();

/// A connection that takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a text names no port of a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// There is no port.
    #[error("'tcp://{0}': a host is pinged at a port: tcp://{0}:22, for example")]
    NoPort(String),
    /// The port is none.
    #[error("'tcp://{0}': a port is 1 to 65535, as in tcp://storage1:22")]
    WrongPort(String),
}

/// `tcp://HOST:PORT` as a target; `address` is what follows `tcp://`.
///
/// # Errors
/// It has no port, or one that is none.
pub fn target(address: &str) -> Result<Target, AddressError> {
    let parts = address.rsplit_once(':');
    let (host, port) = parts.ok_or_else(|| AddressError::NoPort(address.to_owned()))?;
    match port.parse::<u16>() {
        Ok(port) if port > 0 && !host.is_empty() => Ok(Target::Peer(format!("tcp/{host}/{port}"))),
        _ => Err(AddressError::WrongPort(address.to_owned())),
    }
}

/// HOST:PORT of such a target.
pub fn address(target: &Target) -> Option<String> {
    let Target::Peer(peer) = target else {
        return None;
    };
    let (host, port) = peer.strip_prefix("tcp/")?.rsplit_once('/')?;
    Some(format!("{host}:{port}"))
}

/// The address that is connected to, request by request.
pub(crate) struct HostProbe {
    address: SocketAddr,
    opened: Instant,
}

impl HostProbe {
    pub(crate) fn open(target: &Target) -> Result<HostProbe, Error> {
        let name = address(target).unwrap_or_default();
        // Looked up once: the time of a name server is not that of the host.
        let found = fathom_deadline::addresses_of(&name);
        let found = found.map(|addresses| addresses.first().copied());
        match found {
            Ok(Some(address)) => Ok(HostProbe {
                address,
                opened: Instant::now(),
            }),
            Ok(None) => Err(Error::Workload(format!("{name} has no address"))),
            Err(error) => Err(Error::Workload(format!("{name} cannot be found: {error}"))),
        }
    }

    pub(crate) fn facts(&self) -> OneByOneFacts {
        OneByOneFacts::of_store(0)
    }

    pub(crate) fn now_ns(&self) -> u64 {
        self.opened.elapsed().as_nanos() as u64
    }

    pub(crate) fn next(&mut self) -> Single {
        let started_ns = self.now_ns();
        let connected = TcpStream::connect_timeout(&self.address, PATIENCE);
        let ended_ns = self.now_ns();
        Single {
            kind: OpKind::Connect,
            offset: 0,
            bytes: 0,
            started_ns,
            latency_ns: ended_ns.saturating_sub(started_ns).max(1),
            flush_ns: None,
            // A timeout of the library has no number of the system.
            failed: connected
                .err()
                .map(|error| error.raw_os_error().unwrap_or(TIMED_OUT)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_ports() {
        let given = target("storage1:22").expect("it is one");
        assert_eq!(address(&given).as_deref(), Some("storage1:22"));
        let six = target("[::1]:2049").expect("it is one");
        assert_eq!(address(&six).as_deref(), Some("[::1]:2049"));
        for wrong in ["storage1", "storage1:0", ":22", "storage1:70000", ""] {
            assert!(target(wrong).is_err(), "{wrong}");
        }
        assert_eq!(address(&Target::Null), None);
    }

    #[test]
    fn a_port_that_listens_answers_and_one_that_does_not_refuses() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let at = |port: u16| target(&format!("127.0.0.1:{port}")).expect("a target");
        let mut probe = HostProbe::open(&at(port)).expect("it is found");
        let answered = probe.next();
        assert_eq!((answered.kind, answered.failed), (OpKind::Connect, None));
        drop(listener);
        let refused = HostProbe::open(&at(port)).expect("it is found").next();
        assert_eq!(refused.failed, Some(Errno::CONNREFUSED.raw_os_error()));
    }
}
