//! UDP: datagrams with a number and the time at which they were sent.
//!
//! Layout, little endian: number (8 bytes, from 1; the largest ends the load),
//! the sender's clock in nanoseconds (8), padding. A gap in the numbers is
//! loss until the missing one comes late. Jitter is that of RFC 3550, 6.4.1:
//! only differences of transit times count, so the clocks need not agree.

use std::io;
use std::net::UdpSocket;

use super::guide::{Guide, gap_ns};
use super::payload;
use super::seconds::Seconds;
use super::socket::is_timeout;
use crate::clock::Clock;
use crate::worker::Pace;

/// Number of the datagram that says that no more will come.
const LAST: u64 = u64::MAX;
/// Times that it is sent, since it may be lost like any other.
const FAREWELLS: u32 = 10;
/// How long a receiver waits for the farewell once the load's time is over.
const SILENCE_NS: u64 = 500_000_000;

/// Sends until the load is over.
pub(super) fn send(socket: &UdpSocket, guide: &Guide<'_>, seconds: &mut Seconds) -> io::Result<()> {
    let spec = &guide.work.spec;
    let mut datagram = payload::block(spec.block_bytes as usize, 3);
    let end_ns = seconds.end_ns();
    let mut now_ns = guide.clock.now();
    let mut pace = spec.rate_bits.map(|bits| {
        let each = (bits / u64::from(spec.streams)).max(1);
        Pace::constant(now_ns, gap_ns(each, spec.block_bytes))
    });
    let mut number = 0_u64;
    while now_ns < end_ns && !guide.stopped() {
        if let Some(pace) = &mut pace {
            let Some(due) = guide.wait_until_due(pace, now_ns, end_ns) else {
                break;
            };
            now_ns = due.now_ns;
        }
        number += 1;
        stamp(&mut datagram, number, now_ns);
        guide.allow(datagram.len())?;
        let sent = socket.send(&datagram);
        let after_ns = guide.clock.now();
        if seconds.is_over(after_ns) {
            seconds.cut(after_ns, None);
        }
        match sent {
            Ok(bytes) => seconds.block(bytes, after_ns.saturating_sub(now_ns)),
            Err(error) if is_timeout(&error) || is_full(&error) => number -= 1,
            Err(error) => return Err(error),
        }
        now_ns = after_ns;
    }
    for _ in 0..FAREWELLS {
        stamp(&mut datagram, LAST, guide.clock.now());
        // The receiver gives up by itself when none arrives.
        let _ = socket.send(&datagram);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    Ok(())
}

/// The queue of the interface has no room now.
fn is_full(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOBUFS)
}

fn stamp(datagram: &mut [u8], number: u64, now_ns: u64) {
    debug_assert!(number > 0, "numbers begin at 1: 0 is one before the first");
    datagram[..8].copy_from_slice(&number.to_le_bytes());
    datagram[8..16].copy_from_slice(&now_ns.to_le_bytes());
}

/// What a receiver knows of the numbers so far.
#[derive(Debug, Default)]
struct DatagramNumbers {
    next: u64,
    transit_ns: Option<i64>,
    jitter_ns: f64,
}

impl DatagramNumbers {
    /// Takes a number: datagrams lost before it, and whether it comes late.
    fn arrive(&mut self, number: u64) -> (u64, bool) {
        let next = self.next.max(1);
        if number < next {
            return (0, true);
        }
        self.next = number + 1;
        (number - next, false)
    }

    fn transit(&mut self, transit_ns: i64) -> u64 {
        if let Some(last) = self.transit_ns {
            let step = transit_ns.wrapping_sub(last).unsigned_abs() as f64;
            self.jitter_ns += (step - self.jitter_ns) / 16.0;
        }
        self.transit_ns = Some(transit_ns);
        self.jitter_ns as u64
    }
}

/// Receives until the sender says that it was the last, or nothing comes.
pub(super) fn receive(
    socket: &UdpSocket,
    guide: &Guide<'_>,
    seconds: &mut Seconds,
) -> io::Result<()> {
    let mut datagram = vec![0; guide.work.spec.block_bytes as usize];
    let end_ns = seconds.end_ns();
    let mut numbers = DatagramNumbers::default();
    let mut now_ns = guide.clock.now();
    loop {
        let got = socket.recv(&mut datagram);
        let after_ns = guide.clock.now();
        if seconds.is_over(after_ns) {
            seconds.cut(after_ns, None);
        }
        match got {
            Ok(bytes) if bytes >= 16 => {
                let (number, sent_ns) = read_stamp(&datagram);
                if number == LAST {
                    return Ok(());
                }
                guide.allow(bytes)?;
                if after_ns < end_ns {
                    let (lost, late) = numbers.arrive(number);
                    let transit_ns = after_ns.wrapping_sub(sent_ns) as i64;
                    let state = seconds.udp();
                    state.packets += 1;
                    state.lost = (state.lost + lost).saturating_sub(u64::from(late));
                    state.out_of_order += u64::from(late);
                    state.jitter_ns = numbers.transit(transit_ns);
                    seconds.block(bytes, after_ns.saturating_sub(now_ns));
                }
            }
            Ok(_) => {}
            // Somebody's port is closed: of a peer that has ended.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
        if guide.stopped() || after_ns > end_ns + SILENCE_NS {
            return Ok(());
        }
        now_ns = after_ns;
    }
}

fn read_stamp(datagram: &[u8]) -> (u64, u64) {
    let word = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&datagram[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    (word(0), word(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_loss_and_late_ones_are_not() {
        let mut numbers = DatagramNumbers::default();
        assert_eq!(numbers.arrive(1), (0, false));
        assert_eq!(numbers.arrive(4), (2, false));
        assert_eq!(numbers.arrive(3), (0, true));
        assert_eq!(numbers.arrive(5), (0, false));
        let mut first_lost = DatagramNumbers::default();
        assert_eq!(first_lost.arrive(3), (2, false));
    }

    #[test]
    fn clocks_that_differ_make_no_jitter() {
        let mut numbers = DatagramNumbers::default();
        assert_eq!(numbers.transit(-5_000_000_000), 0);
        assert_eq!(numbers.transit(-5_000_000_000), 0);
        assert_eq!(numbers.transit(-4_999_998_400), 100);
    }
}
