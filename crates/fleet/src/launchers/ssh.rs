//! Agents that OpenSSH starts, with the user's own configuration: keys, jump
//! hosts, names. Nothing needs to be installed there.
//!
//! The binary is copied once, under the hash of its contents, into the user's
//! cache on the host; the agent then speaks through the connection of ssh,
//! which proves to both sides who they are. It ends with the connection.

use std::io::Read;
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout};
use std::time::Duration;

use fathom_model::shell;

use crate::host_list::HostName;
use crate::interrupt::Interrupt;
use crate::launchers::agent_binary::{AgentBinary, BinaryError, FAILED, NEED};
use crate::launchers::carrier::Carrier;
use crate::launchers::{Launch, LaunchError, LaunchRequest, LauncherKind};
use crate::transport::Transport;

/// Time for the connection, the copy and the start of the agent.
const PATIENCE: Duration = Duration::from_secs(120);

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
        let (ssh, mut input, mut output) = Carrier::start("ssh", &mut command)?;
        ssh.within(PATIENCE, interrupt, || {
            greet(&mut input, &mut output, &self.binary)
        })?;
        Ok(ssh.transport(Box::new(output), Box::new(input)))
    }
}

impl SshLauncher {
    /// What the host's shell is told. Any shell understands it: all of it is
    /// one quoted word for `sh`.
    fn remote_command(&self) -> String {
        let arguments: Vec<String> = self
            .arguments
            .iter()
            .map(|word| shell::word(word))
            .collect();
        let script = format!(
            "{}echo {HERE}; exec \"$f\" agent --stdio {}",
            self.binary.kept_copy(),
            arguments.join(" ")
        );
        format!("exec sh -c {}", shell::word(&script))
    }
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
