//! Keys from the terminal, and its end.

use std::io::{self, stdin};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

/// What came from the terminal.
pub(super) enum Input {
    Key(KeyEvent),
    /// Its size, or something else that asks for a new picture.
    Change,
    Nothing,
    /// It was closed.
    End,
}

/// Waits for input, at most so long.
pub(super) fn input(most: Duration) -> io::Result<Input> {
    // What reads keys reads a closed terminal without end: it is asked first.
    for wait in [Duration::ZERO, most] {
        if is_closed(wait)? {
            return Ok(Input::End);
        }
        if event::poll(Duration::ZERO)? {
            return Ok(match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => Input::Key(key),
                _ => Input::Change,
            });
        }
    }
    Ok(Input::Nothing)
}

/// Waits until there is something to read, and says whether that is the end.
fn is_closed(wait: Duration) -> io::Result<bool> {
    let input = stdin();
    let mut fds = [PollFd::new(&input, PollFlags::IN)];
    let time = Timespec {
        tv_sec: wait.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: wait.subsec_nanos().into(),
    };
    match rustix::event::poll(&mut fds, Some(&time)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    Ok(fds[0].revents().intersects(gone))
}
