//! Programs of a site that start agents on its hosts: `srun`, `mpirun`.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::launchers::LaunchError;
use crate::launchers::agent_binary::NEED;
use crate::launchers::call_back::{CALL_BACK_VARIABLE, Invitation};
use crate::launchers::stderr_tail::StderrTail;
use crate::thread::ThreadError;

/// Time for the agents to end, and then for who started them.
const PATIENCE: Duration = Duration::from_secs(10);
const LAST_PATIENCE: Duration = Duration::from_secs(2);

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Longest line of a program that is read.
const LINE_BYTES: u64 = 4096;

/// What has started agents and stays until they have ended.
pub(crate) trait Starter: Send {
    /// Why no further agent will come, once that is so.
    fn ended(&mut self) -> Option<String>;

    /// What is known of a host whose agent has not come.
    fn about(&mut self, host: &str) -> Option<String>;
}

/// Brings the binary to a task that said what it is.
pub(crate) type Bring = Box<dyn Fn(&str) -> Result<(), LaunchError> + Send + Sync>;

/// A program that runs as long as the agents that it has started.
pub(crate) struct Program {
    name: &'static str,
    child: Child,
    complaints: StderrTail,
    /// What went wrong with the copy of the binary.
    failures: Receiver<String>,
}

impl Program {
    /// Starts it. What its tasks print that begins with [`NEED`] is said to
    /// `bring`, which brings them the binary.
    pub(crate) fn start(
        name: &'static str,
        mut command: Command,
        invitation: &Invitation,
        bring: Option<Bring>,
    ) -> Result<Program, LaunchError> {
        command.env(CALL_BACK_VARIABLE, invitation.reveal());
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C is for the coordinator, which then ends the agents in order.
        command.process_group(0);
        let mut child = command.spawn().map_err(|cause| LaunchError::Start {
            program: name.to_owned(),
            cause,
        })?;
        let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(LaunchError::NoStreams {
                program: name.to_owned(),
            });
        };
        let (sender, failures) = channel();
        let listening = std::thread::Builder::new()
            .name(format!("fathom-{name}"))
            .spawn(move || listen(output, bring.as_ref(), &sender));
        if let Err(error) = listening {
            let _ = child.kill();
            let _ = child.wait();
            return Err(ThreadError(error).into());
        }
        Ok(Program {
            name,
            child,
            complaints: StderrTail::of(errors),
            failures,
        })
    }

    fn wait(&mut self, patience: Duration) -> bool {
        let began = Instant::now();
        while began.elapsed() < patience {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(LOOK_EVERY),
                Ok(Some(_)) | Err(_) => return true,
            }
        }
        false
    }
}

impl Starter for Program {
    fn ended(&mut self) -> Option<String> {
        if let Ok(why) = self.failures.try_recv() {
            return Some(why);
        }
        let status = self.child.try_wait().ok()??;
        // Its words come by another way than its end.
        std::thread::sleep(Duration::from_millis(100));
        let prefix = format!("{}: ", self.name);
        let words = self.complaints.first(|line| !is_noise(line));
        Some(match words {
            Some(words) => format!("{prefix}{}", words.strip_prefix(&prefix).unwrap_or(&words)),
            None => format!(
                "{} ended before the agents were there ({status})",
                self.name
            ),
        })
    }

    fn about(&mut self, host: &str) -> Option<String> {
        // `srun: error: node7: task 3: Exited with exit code 97`
        let marks = [format!("error: {host}:"), format!("[{host}:")];
        self.complaints
            .last(|line| marks.iter().any(|mark| line.contains(mark.as_str())))
    }
}

/// Whether a line is the decoration that Open MPI puts around its messages, or
/// says what is no fault.
fn is_noise(line: &str) -> bool {
    line.chars().all(|c| c == '-' || c == '=') || line.contains("lacks support for cpu binding")
}

impl Drop for Program {
    fn drop(&mut self) {
        if self.wait(PATIENCE) {
            return;
        }
        if let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) {
            let _ = kill_process(pid, Signal::TERM);
        }
        if !self.wait(LAST_PATIENCE) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Reads what the tasks say, to the end, so that none of them blocks.
fn listen(output: impl Read, bring: Option<&Bring>, failed: &Sender<String>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    std::thread::scope(|scope| {
        loop {
            line.clear();
            let limited = output
                .by_ref()
                .take(LINE_BYTES)
                .read_until(b'\n', &mut line);
            if !matches!(limited, Ok(1..)) {
                return;
            }
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            let (Some(need), Some(bring)) = (text.strip_prefix(NEED), bring) else {
                continue;
            };
            let need = need.to_owned();
            let begun = std::thread::Builder::new().spawn_scoped(scope, move || {
                if let Err(error) = bring(&need) {
                    let _ = failed.send(error.to_string());
                }
            });
            if let Err(error) = begun {
                let _ = failed.send(format!("no thread could be started: {error}"));
            }
        }
    });
}
