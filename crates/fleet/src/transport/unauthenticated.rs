//! Connections whose other end has not proved yet who it is.
//!
//! Anybody can open them, so there are never many: each address has a share,
//! who says nothing goes first, and whoever takes too long goes in any case.

use std::collections::BTreeMap;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A share of the connections that one address may have: half of them.
const SHARE: usize = 2;

/// Time until the first byte, and until the other end is recognised.
const FIRST_BYTE: Duration = Duration::from_secs(3);
const RECOGNITION: Duration = Duration::from_secs(8);

/// Those who have not been recognised.
#[derive(Debug)]
pub(crate) struct UnauthenticatedConnections {
    /// Connections at the same time.
    most: usize,
    state: Mutex<WaitingConnections>,
}

#[derive(Debug, Default)]
struct WaitingConnections {
    next: u64,
    /// In the order in which they came.
    all: BTreeMap<u64, UnauthenticatedConnection>,
}

#[derive(Debug)]
struct UnauthenticatedConnection {
    address: IpAddr,
    since: Instant,
    /// Has sent something.
    spoke: bool,
    socket: TcpStream,
}

/// A stranger's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConnectionId(u64);

impl UnauthenticatedConnections {
    /// At most so many at the same time.
    pub(crate) fn new(most: usize) -> UnauthenticatedConnections {
        UnauthenticatedConnections {
            most,
            state: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, WaitingConnections> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody has connected; the one with the least claim goes where there
    /// are too many.
    pub(crate) fn admit(
        &self,
        address: IpAddr,
        socket: &TcpStream,
    ) -> std::io::Result<ConnectionId> {
        let socket = socket.try_clone()?;
        let mut state = self.lock();
        let of_address = |stranger: &UnauthenticatedConnection| stranger.address == address;
        if state.all.values().filter(|s| of_address(s)).count() >= self.most / SHARE {
            state.drop_one(of_address);
        }
        if state.all.len() >= self.most {
            let crowd = state.crowd();
            state.drop_one(|stranger| Some(stranger.address) == crowd);
        }
        let number = state.next;
        state.next += 1;
        let stranger = UnauthenticatedConnection {
            address,
            since: Instant::now(),
            spoke: false,
            socket,
        };
        state.all.insert(number, stranger);
        Ok(ConnectionId(number))
    }

    /// It has sent something.
    pub(crate) fn spoke(&self, number: ConnectionId) {
        if let Some(stranger) = self.lock().all.get_mut(&number.0) {
            stranger.spoke = true;
        }
    }

    /// It is a stranger no more, or gone. False when it had been dropped.
    pub(crate) fn leave(&self, number: ConnectionId) -> bool {
        self.lock().all.remove(&number.0).is_some()
    }

    /// Drops those who have taken too long.
    pub(crate) fn drop_late(&self, now: Instant) {
        let late = |stranger: &UnauthenticatedConnection| {
            let patience = if stranger.spoke {
                RECOGNITION
            } else {
                FIRST_BYTE
            };
            now.saturating_duration_since(stranger.since) > patience
        };
        let mut state = self.lock();
        while state.drop_one(late) {}
    }

    pub(crate) fn drop_all(&self) {
        while self.lock().drop_one(|_| true) {}
    }
}

impl WaitingConnections {
    /// The address with the most connections.
    fn crowd(&self) -> Option<IpAddr> {
        let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for stranger in self.all.values() {
            *counts.entry(stranger.address).or_default() += 1;
        }
        let most = counts.into_iter().max_by_key(|(_, count)| *count);
        most.map(|(address, _)| address)
    }

    /// Drops the oldest of those that are meant, first one that said nothing.
    fn drop_one(&mut self, meant: impl Fn(&UnauthenticatedConnection) -> bool) -> bool {
        let of_them = self.all.iter().filter(|(_, stranger)| meant(stranger));
        let first = of_them.min_by_key(|(number, stranger)| (stranger.spoke, **number));
        let Some(number) = first.map(|(number, _)| *number) else {
            return false;
        };
        if let Some(stranger) = self.all.remove(&number) {
            // Whoever reads from it is told at once.
            let _ = stranger.socket.shutdown(Shutdown::Both);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const MOST: usize = 64;
    const MOST_OF_ADDRESS: usize = MOST / SHARE;

    fn connection(listener: &TcpListener) -> (TcpStream, TcpStream) {
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn one_address_does_not_take_the_place_of_all() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let strangers = UnauthenticatedConnections::new(MOST);
        let honest: IpAddr = "192.0.2.1".parse().unwrap();
        let (_kept, socket) = connection(&listener);
        let first = strangers.admit(honest, &socket).unwrap();
        for other in 0..4u8 {
            let crowd = IpAddr::from([192, 0, 3, other]);
            for _ in 0..2 * MOST_OF_ADDRESS {
                let (_near, socket) = connection(&listener);
                strangers.admit(crowd, &socket).unwrap();
            }
        }
        assert!(strangers.lock().all.len() <= MOST);
        assert!(strangers.leave(first), "it was alone at its address");
    }

    #[test]
    fn who_says_nothing_goes_first_and_who_is_late_in_any_case() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let strangers = UnauthenticatedConnections::new(MOST);
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        let mut near = Vec::new();
        let mut numbers = Vec::new();
        for _ in 0..MOST_OF_ADDRESS {
            let (one, socket) = connection(&listener);
            near.push(one);
            numbers.push(strangers.admit(address, &socket).unwrap());
        }
        strangers.spoke(numbers[0]);
        let (_one, socket) = connection(&listener);
        strangers.admit(address, &socket).unwrap();
        assert!(
            !strangers.leave(numbers[1]),
            "the oldest silent one is dropped"
        );
        strangers.drop_late(Instant::now() + FIRST_BYTE + Duration::from_secs(1));
        assert_eq!(strangers.lock().all.len(), 1);
        strangers.drop_late(Instant::now() + RECOGNITION + Duration::from_secs(1));
        assert!(!strangers.leave(numbers[0]));
    }
}
