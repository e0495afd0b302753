//! Connections that come to a listener that must not be waited for without end.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Waits for a connection, at most so long, and takes it. A listener that is polled
/// instead of asked over and over costs nothing while nobody comes. The listener must
/// not block: the peer of a connection may be gone before it is taken.
pub(crate) fn accept_within(
    listener: &TcpListener,
    most: Duration,
) -> Option<(TcpStream, SocketAddr)> {
    let timeout = Timespec {
        tv_sec: most.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: most.subsec_nanos().into(),
    };
    let mut waiting = [PollFd::new(listener, PollFlags::IN)];
    let is_there = matches!(poll(&mut waiting, Some(&timeout)), Ok(1..));
    if !is_there {
        return None;
    }
    match listener.accept() {
        Ok(connection) => Some(connection),
        Err(_) => {
            // Out of descriptors: the connection stays, and so would this loop.
            std::thread::sleep(most);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_is_taken_and_nobody_is_not_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        assert!(accept_within(&listener, Duration::from_millis(1)).is_none());
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (_, from) = accept_within(&listener, Duration::from_secs(60)).unwrap();
        assert_eq!(from, client.local_addr().unwrap());
    }
}
