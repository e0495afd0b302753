use std::collections::VecDeque;
use std::io::{self, IoSlice, Read, Write};

use proptest::prelude::*;

use super::frame;
use super::{Role, Session};

/// Two ends of a connection without a network: each reads what the other wrote,
/// some bytes at a time.
#[derive(Default)]
struct Pipe {
    to_server: VecDeque<u8>,
    to_client: VecDeque<u8>,
    most: usize,
}

struct End<'p> {
    pipe: &'p mut Pipe,
    role: Role,
}

impl Read for End<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let from = match self.role {
            Role::Client => &mut self.pipe.to_client,
            Role::Server => &mut self.pipe.to_server,
        };
        if from.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let most = buffer.len().min(from.len()).min(self.pipe.most);
        for (place, byte) in buffer.iter_mut().zip(from.drain(..most)) {
            *place = byte;
        }
        Ok(most)
    }
}

impl Write for End<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let most = bytes.len().min(self.pipe.most);
        let to = match self.role {
            Role::Client => &mut self.pipe.to_server,
            Role::Server => &mut self.pipe.to_client,
        };
        to.extend(&bytes[..most]);
        Ok(most)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Both {
    client: Session,
    server: Session,
    pipe: Pipe,
}

impl Both {
    fn new(most: usize) -> Both {
        Both {
            client: Session::new(Role::Client, false),
            server: Session::new(Role::Server, false),
            pipe: Pipe {
                most,
                ..Pipe::default()
            },
        }
    }

    /// Everything of `bytes` from one end to the other, as it comes out there.
    fn carry(&mut self, from: Role, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let (mut sent, mut came) = (0, Vec::new());
        let mut quiet = 0;
        while quiet < 3 {
            let before = (sent, came.len());
            if sent < bytes.len() {
                let piece = [IoSlice::new(&bytes[sent..])];
                match self.send(from, &piece) {
                    Ok(taken) => sent += taken,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
            } else {
                self.send(from, &[])?;
            }
            let to = match from {
                Role::Client => Role::Server,
                Role::Server => Role::Client,
            };
            let mut buffer = [0; 5000];
            match self.receive(to, &mut buffer) {
                Ok(got) => came.extend_from_slice(&buffer[..got]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            quiet = match before == (sent, came.len()) {
                true => quiet + 1,
                false => 0,
            };
        }
        assert_eq!(sent, bytes.len(), "everything was taken");
        Ok(came)
    }

    fn send(&mut self, role: Role, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let pipe = &mut self.pipe;
        let end = &mut End { pipe, role };
        match role {
            Role::Client => self.client.send(pieces, end),
            Role::Server => self.server.send(pieces, end),
        }
    }

    fn receive(&mut self, role: Role, buffer: &mut [u8]) -> io::Result<usize> {
        let pipe = &mut self.pipe;
        let end = &mut End { pipe, role };
        match role {
            Role::Client => self.client.receive(buffer, end),
            Role::Server => self.server.receive(buffer, end),
        }
    }

    /// The server says something that no session says.
    fn raw(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let mut out = Vec::new();
        frame::write(kind, flags, stream, payload, &mut out);
        self.pipe.to_client.extend(out);
    }

    fn asked(&mut self) {
        let text = self.carry(Role::Client, b"GET /a HTTP/1.1\r\nhost: h\r\n\r\n");
        assert!(text.unwrap().starts_with(b"GET /a HTTP/1.1\r\n"));
        // The settings of the other end, and their acknowledgement.
        let mut buffer = [0; 64];
        let nothing = self.receive(Role::Client, &mut buffer).unwrap_err();
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
    }

    fn said(&mut self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        let mut buffer = [0; 64];
        loop {
            match self.receive(Role::Client, &mut buffer) {
                Ok(got) => all.extend_from_slice(&buffer[..got]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(all),
                Err(error) => return Err(error),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Bodies beyond every window come whole, in any pieces.
    #[test]
    fn requests_and_answers_come_whole(
        body in prop_oneof![0_usize..3, 16_383_usize..16_386, 60_000_usize..300_000],
        answer in prop_oneof![0_usize..3, 16_383_usize..16_386, 60_000_usize..300_000],
        most in prop_oneof![1_usize..20, 1000_usize..100_000],
    ) {
        let mut both = Both::new(most);
        for round in 0..2_usize {
            let bytes: Vec<u8> = (0..body).map(|n| (n + round) as u8).collect();
            let head = format!("PUT /o HTTP/1.1\r\nhost: h\r\ncontent-length: {body}\r\n\r\n");
            let request = [head.as_bytes(), &bytes].concat();
            prop_assert!(both.carry(Role::Client, &request).unwrap() == request);
            let bytes: Vec<u8> = (0..answer).map(|n| (n * 3 + round) as u8).collect();
            let head = format!("HTTP/1.1 200 -\r\netag: e\r\ncontent-length: {answer}\r\n\r\n");
            let reply = [head.as_bytes(), &bytes].concat();
            prop_assert!(both.carry(Role::Server, &reply).unwrap() == reply);
        }
        prop_assert!(!both.client.is_leaving() && !both.client.awaits_window());
    }

    #[test]
    fn nothing_that_comes_makes_it_fall(bytes: Vec<u8>, kind in 0_u8..11, flags: u8) {
        let mut both = Both::new(1000);
        both.asked();
        both.raw(kind, flags, 1, &bytes);
        both.raw(kind, flags & !frame::PADDED, 0, &bytes);
        let _ = both.said();
        let mut both = Both::new(1000);
        both.asked();
        both.pipe.to_client.extend(bytes);
        let _ = both.said();
    }
}

#[test]
fn answers_of_unknown_length_come_in_pieces() {
    let mut both = Both::new(1000);
    both.asked();
    both.raw(frame::HEADERS, frame::END_HEADERS, 1, &[0x88]);
    both.raw(frame::DATA, 0, 1, b"hello");
    both.raw(frame::DATA, frame::PADDED, 1, b"\x02you..");
    both.raw(frame::DATA, frame::END_STREAM, 1, b"");
    let text = String::from_utf8(both.said().unwrap()).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert_eq!(head, "HTTP/1.1 200 -\r\ntransfer-encoding: chunked");
    assert_eq!(body, "5\r\nhello\r\n3\r\nyou\r\n0\r\n\r\n");
}

#[test]
fn an_answer_without_a_body_has_no_length() {
    let mut both = Both::new(1000);
    both.asked();
    // 404, by the static table.
    both.raw(
        frame::HEADERS,
        frame::END_HEADERS | frame::END_STREAM,
        1,
        &[0x8d],
    );
    let text = both.said().unwrap();
    assert_eq!(text, b"HTTP/1.1 404 -\r\ncontent-length: 0\r\n\r\n");
}

#[test]
fn pings_are_answered_and_unknown_kinds_ignored() {
    let mut both = Both::new(1000);
    both.asked();
    both.pipe.to_server.clear();
    both.raw(frame::PING, 0, 0, b"12345678");
    both.raw(77, 3, 1, b"whatever");
    assert_eq!(both.said().unwrap(), b"");
    let mut wanted = Vec::new();
    frame::write(frame::PING, frame::ACK, 0, b"12345678", &mut wanted);
    assert_eq!(both.pipe.to_server, wanted);
}

#[test]
fn streams_that_are_reset_and_connections_that_end_are_errors() {
    let mut both = Both::new(1000);
    both.asked();
    both.raw(frame::RST_STREAM, 0, 1, &[0, 0, 0, 11]);
    let error = both.said().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    assert!(error.to_string().contains("code 11"), "{error}");

    let mut both = Both::new(1000);
    both.asked();
    // The request is answered still, and is the last one.
    both.raw(frame::GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]);
    assert_eq!(both.said().unwrap(), b"");
    assert!(both.client.is_leaving());
    let mut both = Both::new(1000);
    both.asked();
    both.raw(frame::GOAWAY, 0, 0, &[0; 8]);
    assert_eq!(
        both.said().unwrap_err().kind(),
        io::ErrorKind::ConnectionReset
    );
}

#[test]
fn answers_that_break_the_rules_are_refused() {
    type Said = (u8, u8, &'static [u8]);
    let ends = frame::END_HEADERS;
    let length_of_5: &[u8] = b"\x88\x0f\x0d\x015";
    let wrong: [&[Said]; 6] = [
        &[(frame::DATA, 0, b"early")],
        &[
            (frame::HEADERS, ends, length_of_5),
            (frame::DATA, 0, b"too long"),
        ],
        &[
            (frame::HEADERS, ends, length_of_5),
            (frame::DATA, frame::END_STREAM, b"shor"),
        ],
        &[(frame::HEADERS, 0, b"\x88"), (frame::DATA, 0, b"")],
        &[(frame::PUSH_PROMISE, ends, b"\0\0\0\x02\x88")],
        &[(frame::HEADERS, ends, b"\xff\xff\xff\xff\xff\xff")],
    ];
    for said in wrong {
        let mut both = Both::new(1000);
        both.asked();
        for (kind, flags, payload) in said {
            both.raw(*kind, *flags, 1, payload);
        }
        assert!(both.said().is_err(), "{said:?}");
    }
}

#[test]
fn a_window_that_is_closed_holds_the_body_back() {
    let mut both = Both::new(1 << 20);
    both.raw(frame::SETTINGS, 0, 0, &[]);
    let head = b"PUT /o HTTP/1.1\r\nhost: h\r\ncontent-length: 100000\r\n\r\n";
    let request = [&head[..], &[7; 100_000]].concat();
    let taken = both.send(Role::Client, &[IoSlice::new(&request)]).unwrap();
    // What a connection may carry before anything is said.
    assert_eq!(taken, head.len() + 65_535);
    assert!(both.client.awaits_window());
    let rest = [IoSlice::new(&request[taken..])];
    let error = both.send(Role::Client, &rest).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    for stream in [0, 1] {
        both.raw(frame::WINDOW_UPDATE, 0, stream, &10_u32.to_be_bytes());
    }
    assert_eq!(both.send(Role::Client, &rest).unwrap(), 10);
    // An answer that does not wait for the rest.
    both.raw(
        frame::HEADERS,
        frame::END_HEADERS | frame::END_STREAM,
        1,
        &[0x8d],
    );
    let rest = [IoSlice::new(&request[taken + 10..])];
    let error = both.send(Role::Client, &rest).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    assert!(both.said().unwrap().starts_with(b"HTTP/1.1 404"));
}
