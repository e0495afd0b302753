//! An agent whose coordinator speaks through its standard input and output: as
//! a launcher starts it.
//!
//! Both directions are polled, so that the connection can be ended while a
//! thread waits for it.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::session::options::AgentOptions;
use crate::session::{self, SessionError};
use crate::transport::Transport;

const LOOK_EVERY: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};

/// A pipe that can be written to takes so much without waiting (`PIPE_BUF`).
const WHOLE_BYTES: usize = 4096;

/// Serves one coordinator on standard input and output.
///
/// # Errors
/// Why it ended, unless the coordinator closed the connection in order.
pub fn serve_stdio(options: &AgentOptions) -> Result<(), SessionError> {
    let closed = Arc::new(AtomicBool::new(false));
    let close = Arc::clone(&closed);
    let transport = Transport {
        input: Box::new(Input {
            input: io::stdin(),
            closed: Arc::clone(&closed),
        }),
        output: Box::new(Output {
            output: io::stdout(),
            closed,
        }),
        close: Arc::new(move || close.store(true, Relaxed)),
        complaint: Arc::new(|| None),
    };
    session::serve(transport, options)
}

struct Input {
    input: io::Stdin,
    closed: Arc<AtomicBool>,
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match wait(self.input.as_fd(), PollFlags::IN, &self.closed)? {
            true => Ok(rustix::io::read(self.input.as_fd(), buffer)?),
            false => Ok(0),
        }
    }
}

struct Output {
    output: io::Stdout,
    closed: Arc<AtomicBool>,
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !wait(self.output.as_fd(), PollFlags::OUT, &self.closed)? {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let some = &bytes[..bytes.len().min(WHOLE_BYTES)];
        Ok(rustix::io::write(self.output.as_fd(), some)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Waits until something can be done; false when the connection was ended.
fn wait(fd: BorrowedFd<'_>, flags: PollFlags, closed: &AtomicBool) -> io::Result<bool> {
    while !closed.load(Relaxed) {
        let mut waiting = [PollFd::from_borrowed_fd(fd, flags)];
        match poll(&mut waiting, Some(&LOOK_EVERY)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(false)
}
