//! A program that carries the connection to one agent on its standard streams:
//! `ssh`, `kubectl exec`.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::interrupt::Interrupt;
use crate::launchers::LaunchError;
use crate::launchers::stderr_tail::StderrTail;
use crate::thread::ThreadError;
use crate::transport::Transport;

/// How often the user's wish to end is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The program of one host.
#[derive(Clone)]
pub(crate) struct Carrier {
    name: &'static str,
    child: Arc<Mutex<Child>>,
    complaints: StderrTail,
}

impl Carrier {
    /// Starts it, in a process group of its own: Ctrl-C is for the coordinator,
    /// which then ends the agents in order.
    pub(crate) fn start(
        name: &'static str,
        command: &mut Command,
    ) -> Result<(Carrier, ChildStdin, ChildStdout), LaunchError> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let program = command.get_program().to_string_lossy().into_owned();
        let started = command.spawn();
        let mut child = started.map_err(|cause| LaunchError::Start { program, cause })?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = streams else {
            return Err(LaunchError::NoStreams {
                program: name.to_owned(),
            });
        };
        let carrier = Carrier {
            name,
            child: Arc::new(Mutex::new(child)),
            complaints: StderrTail::of(errors),
        };
        Ok((carrier, input, output))
    }

    /// Does what has to be done before the agent is there. The program is ended
    /// when that takes too long, fails, or the user wishes it.
    pub(crate) fn within(
        &self,
        patience: Duration,
        interrupt: &Interrupt,
        greet: impl FnOnce() -> Result<(), LaunchError>,
    ) -> Result<(), LaunchError> {
        let (done, over) = channel::<()>();
        let (late, ended) = (self.clone(), interrupt.clone());
        let watch = std::thread::Builder::new()
            .name(format!("fathom-{}", self.name))
            .spawn(move || {
                let began = Instant::now();
                while over.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                    if began.elapsed() > patience || ended.is_raised() {
                        return late.end();
                    }
                }
            });
        watch.map_err(ThreadError)?;
        let started = greet();
        drop(done);
        let Err(error) = started else {
            return Ok(());
        };
        if interrupt.is_raised() {
            self.end();
            return Err(LaunchError::Interrupted(interrupt.why().to_owned()));
        }
        let complaint = self.complain();
        self.end();
        Err(complaint.map_or(error, LaunchError::Program))
    }

    /// The connection.
    pub(crate) fn transport(
        self,
        input: Box<dyn Read + Send>,
        output: Box<dyn Write + Send>,
    ) -> Transport {
        let (closing, asking) = (self.clone(), self);
        Transport {
            input,
            output,
            close: Arc::new(move || closing.end()),
            complaint: Arc::new(move || asking.complain()),
        }
    }

    fn end(&self) {
        let mut child = lock(&self.child);
        let _ = child.kill();
        let _ = child.wait();
    }

    /// The last words of the program or of the host.
    fn complain(&self) -> Option<String> {
        // They come by another way than the end of the connection.
        std::thread::sleep(Duration::from_millis(100));
        let plain = self.complaints.last(|_| true)?;
        let own = format!("{}: ", self.name);
        let plain = plain.strip_prefix(&own).unwrap_or(&plain);
        Some(format!("{own}{plain}"))
    }
}

fn lock(child: &Mutex<Child>) -> MutexGuard<'_, Child> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}
