//! A program that serves something for as long as a guard lives.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::Error;

/// How long a program may take to come up on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// How long it may take to end before it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// A running program. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Server {
    name: String,
    child: Child,
    /// Reads what it says, so that a talkative server never waits for a reader.
    listener: Option<JoinHandle<String>>,
}

/// What is kept of a server's words.
const MOST_WORDS_BYTES: u64 = 4096;

/// Reads everything, and gives the beginning.
fn listen(mut stderr: ChildStderr) -> String {
    let mut said = Vec::new();
    // Without its words the status still says something.
    let _ = stderr
        .by_ref()
        .take(MOST_WORDS_BYTES)
        .read_to_end(&mut said);
    let _ = std::io::copy(&mut stderr, &mut std::io::sink());
    String::from_utf8_lossy(&said).into_owned()
}

impl Server {
    pub(super) fn start<S: AsRef<OsStr>>(
        program: &Path,
        args: impl IntoIterator<Item = S>,
    ) -> Result<Server, Error> {
        let name = program.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Error::program(&name, error.to_string()))?;
        let listener = child.stderr.take().map(|it| thread::spawn(|| listen(it)));
        Ok(Server {
            name,
            child,
            listener,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// That it still runs.
    ///
    /// # Errors
    /// [`Error::Program`] with its last words.
    pub(super) fn check(&mut self) -> Result<(), Error> {
        let status = self.child.try_wait();
        match status.map_err(|error| Error::program(&self.name, error.to_string()))? {
            None => Ok(()),
            Some(status) => {
                let listener = self.listener.take();
                let said = listener.and_then(|it| it.join().ok()).unwrap_or_default();
                let message = format!("ended with {status}: {}", said.trim());
                Err(Error::program(&self.name, message))
            }
        }
    }

    /// Asks it to end, and waits.
    pub(super) fn stop(&mut self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let (Ok(None), Some(pid)) = (self.child.try_wait(), pid) {
            // Not yet waited for, so that the number is still its own.
            let _ = kill_process(pid, Signal::TERM);
        }
        let start = Instant::now();
        while start.elapsed() < GRACE {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}
