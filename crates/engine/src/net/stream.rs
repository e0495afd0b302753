//! Streams: one end sends all the time, the other takes what comes.
//!
//! The sender writes the same block over and over: it stays in the CPU's
//! cache, as with every tool of this kind, so that the network is measured
//! and not memory. `sendfile` has the kernel send the pages themselves.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use fathom_model::network::{LoadKind, SendMethod, TcpState};

use super::guide::{EndRole, EndWork, Guide, gap_ns};
use super::payload;
use super::seconds::Seconds;
use super::socket::{discard, is_timeout, memory_file, sendfile, tcp_state};
use crate::clock::Clock;
use crate::worker::Pace;

/// A connection of bytes.
pub(super) trait Stream: AsFd {
    /// Writes some of `bytes`.
    fn put(&self, bytes: &[u8]) -> io::Result<usize>;
    /// Reads some bytes.
    fn take(&self, bytes: &mut [u8]) -> io::Result<usize>;
    /// Nothing more will be written.
    fn end(&self);
    /// What the kernel knows of it.
    fn state(&self) -> Option<TcpState>;
    /// Whether data can be taken off without copying them.
    const DISCARDS: bool;
}

impl Stream for TcpStream {
    const DISCARDS: bool = true;

    #[inline]
    fn put(&self, bytes: &[u8]) -> io::Result<usize> {
        (&mut &*self).write(bytes)
    }

    #[inline]
    fn take(&self, bytes: &mut [u8]) -> io::Result<usize> {
        (&mut &*self).read(bytes)
    }

    fn end(&self) {
        // The other end may be gone already.
        let _ = self.shutdown(Shutdown::Write);
    }

    fn state(&self) -> Option<TcpState> {
        tcp_state(self)
    }
}

impl Stream for UnixStream {
    const DISCARDS: bool = false;

    #[inline]
    fn put(&self, bytes: &[u8]) -> io::Result<usize> {
        (&mut &*self).write(bytes)
    }

    #[inline]
    fn take(&self, bytes: &mut [u8]) -> io::Result<usize> {
        (&mut &*self).read(bytes)
    }

    fn end(&self) {
        // The other end may be gone already.
        let _ = self.shutdown(Shutdown::Write);
    }

    fn state(&self) -> Option<TcpState> {
        None
    }
}

/// What a sender of streams sends from.
pub(super) struct Sending {
    block: Vec<u8>,
    file: Option<File>,
}

impl Sending {
    /// Makes the data before time starts.
    pub(super) fn prepare(work: &EndWork) -> io::Result<Sending> {
        let mut sending = Sending {
            block: Vec::new(),
            file: None,
        };
        if work.spec.kind == LoadKind::Stream {
            let bytes = work.spec.block_bytes as usize;
            sending.block = payload::block(bytes, 0x66_61_74_68_6f_6d);
            if work.part == EndRole::Active && work.spec.method == SendMethod::Sendfile {
                sending.file = Some(memory_file(&sending.block)?);
            }
        }
        Ok(sending)
    }
}

/// Sends or receives until the load is over.
pub(super) fn move_stream<S: Stream>(
    socket: &S,
    part: EndRole,
    mut sending: Sending,
    guide: &Guide<'_>,
    seconds: &mut Seconds,
) -> io::Result<()> {
    match part {
        EndRole::Active => {
            let done = send(socket, &sending, guide, seconds);
            socket.end();
            done
        }
        EndRole::Passive => receive(socket, &mut sending.block, guide, seconds),
    }
}

fn send<S: Stream>(
    socket: &S,
    sending: &Sending,
    guide: &Guide<'_>,
    seconds: &mut Seconds,
) -> io::Result<()> {
    let spec = &guide.work.spec;
    let end_ns = seconds.end_ns();
    let mut now_ns = guide.clock.now();
    let mut pace = spec.rate_bits.map(|bits| {
        let each = (bits / u64::from(spec.streams)).max(1);
        Pace::constant(now_ns, gap_ns(each, spec.block_bytes))
    });
    while now_ns < end_ns && !guide.stopped() {
        if let Some(pace) = &mut pace {
            let Some(due) = guide.wait_until_due(pace, now_ns, end_ns) else {
                break;
            };
            now_ns = due.now_ns;
        }
        let moved = send_block(socket, sending, guide)?;
        let after_ns = guide.clock.now();
        if seconds.is_over(after_ns) {
            seconds.cut(after_ns, socket.state());
        }
        seconds.block(moved, after_ns.saturating_sub(now_ns));
        if moved < sending.block.len() {
            break;
        }
        now_ns = after_ns;
    }
    Ok(())
}

/// Sends one block, or less when the load was given up meanwhile.
fn send_block<S: Stream>(socket: &S, sending: &Sending, guide: &Guide<'_>) -> io::Result<usize> {
    guide.allow(sending.block.len())?;
    let mut at = 0;
    while at < sending.block.len() {
        let moved = match &sending.file {
            Some(file) => {
                let left = sending.block.len() - at;
                sendfile(socket, file, at as u64, left)
            }
            None => socket.put(&sending.block[at..]),
        };
        match moved {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(moved) => at += moved,
            Err(error) if is_timeout(&error) && guide.gives_up() => return Ok(at),
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(at)
}

fn receive<S: Stream>(
    socket: &S,
    block: &mut [u8],
    guide: &Guide<'_>,
    seconds: &mut Seconds,
) -> io::Result<()> {
    let end_ns = seconds.end_ns();
    let discards = S::DISCARDS && guide.work.spec.discard;
    let mut now_ns = guide.clock.now();
    loop {
        let got = match discards {
            true => discard(socket, block.len()),
            false => socket.take(block),
        };
        let after_ns = guide.clock.now();
        if seconds.is_over(after_ns) {
            seconds.cut(after_ns, socket.state());
        }
        match got {
            Ok(0) => return Ok(()),
            Ok(got) => {
                guide.allow(got)?;
                // What arrives after the time was in flight at its end.
                if after_ns < end_ns {
                    seconds.block(got, after_ns.saturating_sub(now_ns));
                }
            }
            Err(error) if is_timeout(&error) && guide.gives_up() => {
                return match guide.stopped() {
                    true => Ok(()),
                    false => Err(io::Error::other("the sender did not end in time")),
                };
            }
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
        now_ns = after_ns;
    }
}
