//! Which packets pass: datagrams that no router may split, of growing size.
//!
//! A probe of N bytes of payload makes the same packet as `ping -M do -s N`:
//! UDP and ICMP echo both have 8 bytes of header. It asks for an answer of a
//! given size, so that both directions are found out with one server. A
//! router that cannot forward says so, and is named; one that just drops is
//! found by its silence.

use std::io;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use fathom_model::network::MtuProbe;

use super::socket::{forbid_fragments, is_timeout, next_complaint};

/// Starts every probe and answer.
const MAGIC: [u8; 6] = *b"FNPB\x01\x00";
/// Bytes of a probe before its padding.
pub const HEADER_BYTES: usize = 32;
/// The payload that fills a packet of 9,000 bytes over IPv4.
pub const JUMBO_PAYLOAD_BYTES: u32 = 8972;
/// That of a packet of 1,500 bytes.
pub const USUAL_PAYLOAD_BYTES: u32 = 1472;
/// Tries for each size.
const TRIES: u32 = 3;

/// A session's name, known to both ends only.
pub type Token = [u8; 16];

/// A probe as it was understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeRequest {
    /// The session that it belongs to.
    pub token: Token,
    /// Its number.
    pub number: u32,
    /// Bytes of payload that the answer is to have.
    pub answer_bytes: u32,
}

impl ProbeRequest {
    fn write(&self, datagram: &mut [u8]) {
        datagram[..6].copy_from_slice(&MAGIC);
        datagram[6..8].fill(0);
        datagram[8..24].copy_from_slice(&self.token);
        datagram[24..28].copy_from_slice(&self.number.to_le_bytes());
        datagram[28..32].copy_from_slice(&self.answer_bytes.to_le_bytes());
    }

    /// The probe in a datagram, if it is one.
    pub fn parse(datagram: &[u8]) -> Option<ProbeRequest> {
        let header = datagram.get(..HEADER_BYTES)?;
        let word = |at: usize| {
            let bytes: [u8; 4] = header.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_le_bytes(bytes))
        };
        (header[..6] == MAGIC).then_some(ProbeRequest {
            token: header[8..24].try_into().ok()?,
            number: word(24)?,
            answer_bytes: word(28)?,
        })
    }
}

/// Makes a socket fit for probes and answers.
///
/// # Errors
/// When the kernel refuses.
pub fn prepare(socket: &UdpSocket) -> io::Result<()> {
    forbid_fragments(socket)
}

/// Answers a probe that was let in: `socket` is connected, or the datagram goes
/// to `to`. What is too large for our own link is not sent.
pub fn answer(socket: &UdpSocket, to: std::net::SocketAddr, request: ProbeRequest) {
    let most = JUMBO_PAYLOAD_BYTES.max(HEADER_BYTES as u32);
    let bytes = request.answer_bytes.clamp(HEADER_BYTES as u32, most);
    let mut datagram = vec![0; bytes as usize];
    request.write(&mut datagram);
    // Silence tells the other end that it does not fit.
    let _ = socket.send_to(&datagram, to);
}

/// Which way a probe is large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeDirection {
    /// The probe itself.
    Forward,
    /// Its answer.
    Reverse,
}

/// Probes over one socket.
pub struct Prober<'a> {
    socket: &'a UdpSocket,
    token: Token,
    number: u32,
    patience: Duration,
    refused_by: Option<(String, u32)>,
    silent: bool,
}

impl<'a> Prober<'a> {
    /// Probes over `socket`, which is connected to the server's port;
    /// `round_trip` is what an answer usually takes.
    ///
    /// # Errors
    /// When the kernel does not let packets go unsplit.
    pub fn new(socket: &'a UdpSocket, token: Token, round_trip: Duration) -> io::Result<Self> {
        forbid_fragments(socket)?;
        let patience = (round_trip * 4).clamp(Duration::from_millis(60), Duration::from_secs(2));
        socket.set_read_timeout(Some(patience))?;
        Ok(Prober {
            socket,
            token,
            number: 0,
            patience,
            refused_by: None,
            silent: false,
        })
    }

    /// Finds the largest payload that passes one way, up to the jumbo one.
    ///
    /// # Errors
    /// When not even a small probe is answered.
    pub fn largest(&mut self, way: ProbeDirection) -> io::Result<MtuProbe> {
        (self.refused_by, self.silent) = (None, false);
        if !self.passes(way, 512)? {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "no datagram is answered: let UDP of the same port through the firewall",
            ));
        }
        let mut low = 512;
        let mut high = JUMBO_PAYLOAD_BYTES + 1;
        for likely in [
            JUMBO_PAYLOAD_BYTES,
            USUAL_PAYLOAD_BYTES,
            USUAL_PAYLOAD_BYTES + 1,
        ] {
            if likely > low && likely < high {
                match self.passes(way, likely)? {
                    true => low = likely,
                    false => high = likely,
                }
            }
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match self.passes(way, middle)? {
                true => low = middle,
                false => high = middle,
            }
        }
        Ok(MtuProbe {
            largest_payload_bytes: low,
            jumbo_passes: low >= JUMBO_PAYLOAD_BYTES,
            silent: self.silent && self.refused_by.is_none(),
            refused_by: self.refused_by.take(),
        })
    }

    /// Whether a payload of `bytes` passes.
    fn passes(&mut self, way: ProbeDirection, bytes: u32) -> io::Result<bool> {
        let (probe, answer) = match way {
            ProbeDirection::Forward => (bytes as usize, HEADER_BYTES as u32),
            ProbeDirection::Reverse => (HEADER_BYTES, bytes),
        };
        let mut datagram = vec![0; probe];
        for _ in 0..TRIES {
            self.number += 1;
            let request = ProbeRequest {
                token: self.token,
                number: self.number,
                answer_bytes: answer,
            };
            request.write(&mut datagram);
            match self.socket.send(&datagram) {
                Ok(_) => {}
                Err(error) if error.raw_os_error() == Some(libc::EMSGSIZE) => {
                    self.note_complaints();
                    return Ok(false);
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(error),
            }
            match self.wait_for(request)? {
                Heard::Answer => return Ok(true),
                Heard::Complaint => return Ok(false),
                Heard::Nothing => {}
            }
        }
        self.silent = true;
        Ok(false)
    }

    fn wait_for(&mut self, request: ProbeRequest) -> io::Result<Heard> {
        let until = Instant::now() + self.patience;
        let mut answer = vec![0; JUMBO_PAYLOAD_BYTES as usize + 1];
        while Instant::now() < until {
            match self.socket.recv(&mut answer) {
                Ok(bytes) => {
                    let heard = ProbeRequest::parse(&answer[..bytes]);
                    let whole = bytes >= request.answer_bytes as usize;
                    if heard.is_some_and(|h| h.number == request.number) && whole {
                        return Ok(Heard::Answer);
                    }
                }
                Err(error) if is_timeout(&error) => return Ok(self.complaint_or_nothing()),
                Err(error) if error.raw_os_error() == Some(libc::EMSGSIZE) => {
                    self.note_complaints();
                    return Ok(Heard::Complaint);
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.complaint_or_nothing())
    }

    fn complaint_or_nothing(&mut self) -> Heard {
        match self.note_complaints() {
            true => Heard::Complaint,
            false => Heard::Nothing,
        }
    }

    /// Reads what routers (or our own link) said; whether there was anything.
    fn note_complaints(&mut self) -> bool {
        let mut any = false;
        while let Some((from, fits)) = next_complaint(self.socket) {
            any = true;
            let ours = || self.socket.local_addr().map(|address| address.ip()).ok();
            let from = from
                .or_else(ours)
                .map_or_else(String::new, |ip| ip.to_string());
            self.refused_by = Some((from, fits));
        }
        any
    }
}

enum Heard {
    Answer,
    Complaint,
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_read_back_and_noise_is_not() {
        let request = ProbeRequest {
            token: [7; 16],
            number: 9,
            answer_bytes: 8972,
        };
        let mut datagram = vec![0; 100];
        request.write(&mut datagram);
        assert_eq!(ProbeRequest::parse(&datagram), Some(request));
        assert_eq!(ProbeRequest::parse(&datagram[..31]), None);
        datagram[0] = b'X';
        assert_eq!(ProbeRequest::parse(&datagram), None);
    }

    #[test]
    fn on_the_loopback_jumbo_packets_pass_both_ways() {
        let server = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        prepare(&server).unwrap();
        server
            .set_read_timeout(Some(Duration::from_secs(1)))
            .unwrap();
        let answering = std::thread::spawn(move || {
            let mut datagram = vec![0; 10_000];
            while let Ok((bytes, from)) = server.recv_from(&mut datagram) {
                if let Some(request) = ProbeRequest::parse(&datagram[..bytes]) {
                    answer(&server, from, request);
                }
            }
        });
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(address).unwrap();
        let mut prober = Prober::new(&socket, [1; 16], Duration::from_millis(50)).unwrap();
        for way in [ProbeDirection::Forward, ProbeDirection::Reverse] {
            let found = prober.largest(way).unwrap();
            assert!(found.jumbo_passes && !found.silent, "{found:?}");
        }
        drop(socket);
        answering.join().unwrap();
    }
}
