//! Agents that OpenSSH starts, with the user's own configuration: keys, jump
//! hosts, names. Nothing needs to be installed there.
//!
//! The binary is copied once, under the hash of its contents, into the user's
//! cache on the host; the agent then speaks through the connection of ssh,
//! which proves to both sides who they are. It ends with the connection.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::host_list::HostName;
use crate::interrupt::Interrupt;
use crate::launchers::agent_binary::{AgentBinary, BinaryError, FAILED, NEED, quoted};
use crate::launchers::stderr_tail::StderrTail;
use crate::launchers::{Launch, LaunchError, LaunchRequest, LauncherKind};
use crate::thread::ThreadError;
use crate::transport::Transport;

/// Time for the connection, the copy and the start of the agent.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often the user's wish to end is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What may come before the first word of ours: login scripts talk.
const NOISE_BYTES: usize = 64 << 10;

const HERE: &str = "fathom-here";

pub(super) static LAUNCHER: LauncherKind = LauncherKind {
    name: "ssh",
    about: "OpenSSH starts them, with your configuration; nothing is installed",
    starts_agents: true,
    default_hosts: None,
    start: |request: &LaunchRequest| {
        Ok(Box::new(SshLauncher {
            program: PathBuf::from("ssh"),
            binary: request.binary()?,
            arguments: request.arguments.clone(),
        }))
    },
};

/// Copies the binary, and starts it there as `agent --stdio` with these
/// arguments.
#[derive(Debug)]
struct SshLauncher {
    program: PathBuf,
    binary: AgentBinary,
    arguments: Vec<String>,
}

impl Launch for SshLauncher {
    fn launch(&self, host: &HostName, interrupt: &Interrupt) -> Result<Transport, LaunchError> {
        let unstarted = |cause| LaunchError::Start {
            program: self.program.display().to_string(),
            cause,
        };
        let mut command = fathom_deadline::command(&self.program).map_err(unstarted)?;
        command.args(["-T", "-oBatchMode=yes", "-oConnectTimeout=15"]);
        // The connection must be noticed to be dead by us, not by the kernel.
        command.args(["-oServerAliveInterval=5", "-oServerAliveCountMax=3"]);
        if let Some(port) = host.port {
            command.arg(format!("-p{port}"));
        }
        command.args(["--", &host.name, &self.remote_command()]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Ctrl-C is for the coordinator, which then ends the agents in order.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(unstarted)?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = streams else {
            return Err(LaunchError::NoStreams {
                program: "ssh".to_owned(),
            });
        };
        let ssh = Ssh {
            child: Arc::new(Mutex::new(child)),
            complaints: StderrTail::of(errors),
        };
        ssh.started(input, output, &self.binary, interrupt)
    }
}

impl SshLauncher {
    /// What the host's shell is told. Any shell understands it: all of it is
    /// one quoted word for `sh`.
    fn remote_command(&self) -> String {
        let arguments: Vec<String> = self.arguments.iter().map(|word| quoted(word)).collect();
        let script = format!(
            "{}echo {HERE}; exec \"$f\" agent --stdio {}",
            self.binary.kept_copy(),
            arguments.join(" ")
        );
        format!("exec sh -c {}", quoted(&script))
    }
}

/// The ssh client of one host.
#[derive(Clone)]
struct Ssh {
    child: Arc<Mutex<Child>>,
    complaints: StderrTail,
}

impl Ssh {
    /// Waits for the agent, which may need the binary first.
    fn started(
        self,
        mut input: ChildStdin,
        mut output: ChildStdout,
        binary: &AgentBinary,
        interrupt: &Interrupt,
    ) -> Result<Transport, LaunchError> {
        let (done, over) = channel::<()>();
        let (late, ended) = (self.clone(), interrupt.clone());
        let watch = std::thread::Builder::new()
            .name("fathom-ssh".to_owned())
            .spawn(move || {
                let began = Instant::now();
                while over.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                    if began.elapsed() > PATIENCE || ended.is_raised() {
                        return late.end();
                    }
                }
            });
        watch.map_err(ThreadError)?;
        let started = greet(&mut input, &mut output, binary);
        drop(done);
        if interrupt.is_raised() && started.is_err() {
            self.end();
            return Err(LaunchError::Interrupted(interrupt.why().to_owned()));
        }
        if let Err(error) = started {
            let complaint = self.complain();
            self.end();
            return Err(complaint.map_or(error, LaunchError::Program));
        }
        let (closing, asking) = (self.clone(), self);
        Ok(Transport {
            input: Box::new(output),
            output: Box::new(input),
            close: Arc::new(move || closing.end()),
            complaint: Arc::new(move || asking.complain()),
        })
    }

    fn end(&self) {
        let mut child = lock(&self.child);
        let _ = child.kill();
        let _ = child.wait();
    }

    /// The last words of ssh or of the host.
    fn complain(&self) -> Option<String> {
        // They come by another way than the end of the connection.
        std::thread::sleep(Duration::from_millis(100));
        let plain = self.complaints.last(|_| true)?;
        let plain = plain.strip_prefix("ssh: ").unwrap_or(&plain);
        Some(format!("ssh: {plain}"))
    }
}

fn lock(child: &Mutex<Child>) -> MutexGuard<'_, Child> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}

fn greet(
    input: &mut ChildStdin,
    output: &mut ChildStdout,
    binary: &AgentBinary,
) -> Result<(), LaunchError> {
    let mut read = 0;
    loop {
        let line = line(output, &mut read)?;
        if line == HERE {
            return Ok(());
        }
        if line == FAILED {
            return Err(BinaryError::NotStored.into());
        }
        if let Some(system) = line.strip_prefix(NEED) {
            binary.copy_to(system, input)?;
        }
    }
}

/// A line, byte by byte: what follows the last one belongs to the agent.
fn line(output: &mut ChildStdout, read: &mut usize) -> Result<String, LaunchError> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        match output.read(&mut byte) {
            Ok(1) if byte[0] == b'\n' => {
                return Ok(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            Ok(1) => line.push(byte[0]),
            Ok(_) => return Err(LaunchError::EndedEarly),
            Err(error) => return Err(LaunchError::Broken(error)),
        }
        *read += 1;
        if *read > NOISE_BYTES {
            return Err(LaunchError::NoisyLogin);
        }
    }
}
