//! Requests and responses of fixed size, one after the other.

use std::io;

use fathom_model::network::LoadKind;

use super::guide::{EndRole, Guide};
use super::payload;
use super::seconds::Seconds;
use super::socket::is_timeout;
use super::stream::Stream;
use crate::clock::Clock;
use crate::worker::Pace;

/// Asks or answers until the load is over.
pub(super) fn exchange<S: Stream>(
    socket: &S,
    part: EndRole,
    guide: &Guide<'_>,
    seconds: &mut Seconds,
) -> io::Result<()> {
    let LoadKind::Requests {
        request_bytes,
        response_bytes,
        every_ns,
    } = guide.work.spec.kind
    else {
        return Err(io::Error::other("a stream has no requests"));
    };
    let mut request = payload::block(request_bytes as usize, 1);
    let mut response = payload::block(response_bytes as usize, 2);
    match part {
        EndRole::Active => {
            let done = ask(socket, &request, &mut response, every_ns, guide, seconds);
            socket.end();
            done
        }
        EndRole::Passive => answer(socket, &mut request, &response, guide, seconds),
    }
}

fn ask<S: Stream>(
    socket: &S,
    request: &[u8],
    response: &mut [u8],
    every_ns: u64,
    guide: &Guide<'_>,
    seconds: &mut Seconds,
) -> io::Result<()> {
    let end_ns = seconds.end_ns();
    let mut now_ns = guide.clock.now();
    let mut pace = (every_ns > 0).then(|| Pace::constant(now_ns, every_ns as f64));
    while now_ns < end_ns && !guide.stopped() {
        if let Some(pace) = &mut pace {
            let Some(due) = guide.wait_until_due(pace, now_ns, end_ns) else {
                break;
            };
            now_ns = due.now_ns;
            seconds.lateness(now_ns.saturating_sub(due.due_ns));
        }
        guide.allow(request.len() + response.len())?;
        if !put_all(socket, request, guide)? || !take_all(socket, response, guide)? {
            break;
        }
        let after_ns = guide.clock.now();
        if seconds.is_over(after_ns) {
            seconds.cut(after_ns, socket.state());
        }
        if after_ns < end_ns {
            let bytes = request.len() + response.len();
            seconds.block(bytes, after_ns.saturating_sub(now_ns));
        }
        now_ns = after_ns;
    }
    Ok(())
}

fn answer<S: Stream>(
    socket: &S,
    request: &mut [u8],
    response: &[u8],
    guide: &Guide<'_>,
    seconds: &mut Seconds,
) -> io::Result<()> {
    let end_ns = seconds.end_ns();
    loop {
        if !take_all(socket, request, guide)? {
            return Ok(());
        }
        let asked_ns = guide.clock.now();
        guide.allow(request.len() + response.len())?;
        if !put_all(socket, response, guide)? {
            return Ok(());
        }
        let after_ns = guide.clock.now();
        if seconds.is_over(after_ns) {
            seconds.cut(after_ns, socket.state());
        }
        if after_ns < end_ns {
            let bytes = request.len() + response.len();
            seconds.block(bytes, after_ns.saturating_sub(asked_ns));
        }
    }
}

/// Writes all of `bytes`; `false` when the load was given up meanwhile.
fn put_all<S: Stream>(socket: &S, bytes: &[u8], guide: &Guide<'_>) -> io::Result<bool> {
    let mut at = 0;
    while at < bytes.len() {
        match socket.put(&bytes[at..]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(moved) => at += moved,
            Err(error) if is_timeout(&error) && guide.gives_up() => return Ok(false),
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Reads all of `bytes`; `false` when the other end has ended between two
/// messages, or the load was given up.
fn take_all<S: Stream>(socket: &S, bytes: &mut [u8], guide: &Guide<'_>) -> io::Result<bool> {
    let mut at = 0;
    while at < bytes.len() {
        match socket.take(&mut bytes[at..]) {
            Ok(0) if at == 0 => return Ok(false),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(moved) => at += moved,
            Err(error) if is_timeout(&error) && guide.gives_up() => return Ok(false),
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
