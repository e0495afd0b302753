//! Pipes that users hand in as files: what writes into them may come late or never.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::device::tell_of_waiting;

/// How long a pipe may be without a writer once a load is being set up.
const WRITER_PATIENCE: Duration = Duration::from_secs(10);
/// After this time the user learns what is being waited for.
const SILENCE_MAX: Duration = Duration::from_secs(2);
/// How often it is looked whether the user wants the process to end: a signal may
/// be handled by another thread than the one that waits.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// Set when the user wants this process to end.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Lets waiting for the writer of a pipe fail, now and from now on. Only sets a
/// flag, so that a signal handler may call it.
pub fn interrupt_waits() {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Opens a pipe and waits for its first bytes as long as that takes.
///
/// # Errors
/// It cannot be opened, or [`interrupt_waits`] was called.
pub(crate) fn open_waiting(path: &Path) -> io::Result<File> {
    open(path, Duration::MAX)
}

/// Opens a pipe and waits 10 s at most for its first bytes.
///
/// # Errors
/// As for [`open_waiting`]; [`io::ErrorKind::TimedOut`].
pub(crate) fn open_patient(path: &Path) -> io::Result<File> {
    open(path, WRITER_PATIENCE)
}

fn open(path: &Path, patience: Duration) -> io::Result<File> {
    // Opened for good at once, and then waited for: no call is left behind that only
    // a writer would end.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let pipe = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    wait_for_writer(&pipe, patience, &mut || {
        tell_of_waiting(&format!(
            "waiting for what writes to the pipe {}",
            path.display()
        ));
    })?;
    rustix::fs::fcntl_setfl(&pipe, OFlags::RDONLY)?;
    Ok(pipe)
}

/// Waits until there is something to read from a pipe, or its end. `tell` is called
/// once where that takes long.
fn wait_for_writer(pipe: &File, patience: Duration, tell: &mut dyn FnMut()) -> io::Result<()> {
    let begun = Instant::now();
    let mut is_told = false;
    while !INTERRUPTED.load(Ordering::Relaxed) {
        let mut waiting = [PollFd::new(pipe, PollFlags::IN)];
        match poll(&mut waiting, Some(&LOOK)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        if begun.elapsed() >= patience {
            let text = "nothing was written to this pipe for 10 s";
            return Err(io::Error::new(io::ErrorKind::TimedOut, text));
        }
        if begun.elapsed() >= SILENCE_MAX && !is_told {
            is_told = true;
            tell();
        }
    }
    // Not `Interrupted`, after which the standard library reads again.
    let text = "interrupted while waiting for what writes to this pipe";
    Err(io::Error::other(text))
}

/// A pipe whose writer may fall silent for 10 s.
pub(crate) struct Patient(pub(crate) File);

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        wait_for_writer(&self.0, WRITER_PATIENCE, &mut || {})?;
        self.0.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_named_pipe_is_read_from_the_beginning_however_late_its_writer_comes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
        let late = path.clone();
        let writer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            let mut pipe = File::options().write(true).open(late).unwrap();
            pipe.write_all(b"first ").unwrap();
            std::thread::sleep(Duration::from_millis(100));
            pipe.write_all(b"second").unwrap();
        });
        let mut text = String::new();
        let mut pipe = open_waiting(&path).unwrap();
        pipe.read_to_string(&mut text).unwrap();
        writer.join().unwrap();
        assert_eq!(text, "first second");
    }

    #[test]
    fn a_pipe_that_nobody_writes_to_is_spoken_of_and_given_up() {
        let (reader, _writer) = io::pipe().unwrap();
        let reader = File::from(std::os::fd::OwnedFd::from(reader));
        let mut told = 0;
        let patience = SILENCE_MAX + Duration::from_millis(100);
        let error = wait_for_writer(&reader, patience, &mut || told += 1).unwrap_err();
        assert_eq!((error.kind(), told), (io::ErrorKind::TimedOut, 1));
    }
}
