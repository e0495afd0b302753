//! Agents that OpenSSH starts, with the user's own configuration: keys, jump
//! hosts, names. Nothing needs to be installed there.
//!
//! The binary is copied once, under the hash of its contents, into the user's
//! cache on the host; the agent then speaks through the connection of ssh,
//! which proves to both sides who they are. It ends with the connection.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ring::digest;

use crate::host_list::HostName;
use crate::token::hex;
use crate::transport::Transport;

/// Time for the connection, the copy and the start of the agent.
const PATIENCE: Duration = Duration::from_secs(120);

/// What may come before the first word of ours: login scripts talk.
const NOISE_BYTES: usize = 64 << 10;

/// What is kept of what ssh and the host complain about.
const COMPLAINT_BYTES: usize = 4 << 10;

const NEED: &str = "fathom-need ";
const HERE: &str = "fathom-here";
const FAILED: &str = "fathom-failed";

/// How agents are started over ssh.
#[derive(Debug, Clone)]
pub struct SshOptions {
    program: PathBuf,
    binary: PathBuf,
    bytes: u64,
    hash: String,
    arguments: Vec<String>,
}

impl SshOptions {
    /// Copies `binary` (this program, or one for the hosts' architecture) and
    /// starts it there as `agent --stdio` with these arguments.
    ///
    /// # Errors
    /// When the binary cannot be read.
    pub fn new(binary: &Path, arguments: Vec<String>) -> Result<SshOptions, String> {
        let cannot = |error: io::Error| format!("cannot read {}: {error}", binary.display());
        let mut file = File::open(binary).map_err(cannot)?;
        let mut context = digest::Context::new(&digest::SHA256);
        let (mut buffer, mut bytes) = (vec![0; 1 << 16], 0u64);
        loop {
            match file.read(&mut buffer).map_err(cannot)? {
                0 => break,
                n => {
                    context.update(&buffer[..n]);
                    bytes += n as u64;
                }
            }
        }
        Ok(SshOptions {
            program: PathBuf::from("ssh"),
            binary: binary.to_owned(),
            bytes,
            hash: hex(&context.finish().as_ref()[..16]),
            arguments,
        })
    }

    /// What the host's shell is told. Any shell understands it: all of it is
    /// one quoted word for `sh`.
    fn remote_command(&self) -> String {
        let (hash, bytes) = (&self.hash, self.bytes);
        let arguments: Vec<String> = self.arguments.iter().map(|word| quoted(word)).collect();
        let script = format!(
            "d=\"${{XDG_CACHE_HOME:-$HOME/.cache}}/fathom\"; f=\"$d/fathom-{hash}\"; \
             if [ ! -x \"$f\" ]; then \
             echo \"{NEED}$(uname -sm)\"; umask 077; t=\"$f.$(uname -n).$$\"; \
             mkdir -p \"$d\" && head -c {bytes} > \"$t\" && \
             [ \"$(wc -c < \"$t\")\" -eq {bytes} ] && chmod 700 \"$t\" && mv -f \"$t\" \"$f\" || \
             {{ rm -f \"$t\"; echo {FAILED}; exit 97; }}; \
             find \"$d\" -name \"fathom-*\" -mtime +30 -exec rm -f \"{{}}\" + ; fi; \
             echo {HERE}; exec \"$f\" agent --stdio {}",
            arguments.join(" ")
        );
        format!("exec sh -c {}", quoted(&script))
    }
}

/// A word that a shell takes as it is.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Starts an agent on a host.
pub(crate) fn launch(host: &HostName, options: &SshOptions) -> Result<Transport, String> {
    let mut command = Command::new(&options.program);
    command.args(["-T", "-oBatchMode=yes", "-oConnectTimeout=15"]);
    // The connection must be noticed to be dead by us, not by the kernel.
    command.args(["-oServerAliveInterval=5", "-oServerAliveCountMax=3"]);
    if let Some(port) = host.port {
        command.arg(format!("-p{port}"));
    }
    command.args(["--", &host.name, &options.remote_command()]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Ctrl-C is for the coordinator, which then ends the agents in order.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", options.program.display()))?;
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(input), Some(output), Some(errors)) = streams else {
        return Err("ssh has no standard streams".to_owned());
    };
    let ssh = Ssh {
        child: Arc::new(Mutex::new(child)),
        complaint: listen_to(errors),
    };
    ssh.started(input, output, options)
}

/// The ssh client of one host.
#[derive(Clone)]
struct Ssh {
    child: Arc<Mutex<Child>>,
    complaint: Arc<Mutex<Vec<u8>>>,
}

impl Ssh {
    /// Waits for the agent, which may need the binary first.
    fn started(
        self,
        mut input: ChildStdin,
        mut output: ChildStdout,
        options: &SshOptions,
    ) -> Result<Transport, String> {
        let (done, deadline) = channel::<()>();
        let late = self.clone();
        let watch = std::thread::Builder::new()
            .name("fathom-ssh".to_owned())
            .spawn(move || {
                if deadline.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    late.end();
                }
            });
        watch.map_err(|error| format!("cannot start a thread: {error}"))?;
        let started = greet(&mut input, &mut output, options);
        drop(done);
        if let Err(why) = started {
            let complaint = self.complain();
            self.end();
            return Err(complaint.unwrap_or(why));
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
        let text = String::from_utf8_lossy(&lock(&self.complaint)).into_owned();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let last = lines.next_back()?;
        let plain: String = last.chars().filter(|c| !c.is_control()).take(300).collect();
        let plain = plain.strip_prefix("ssh: ").unwrap_or(&plain);
        Some(format!("ssh: {plain}"))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the last of what comes.
fn listen_to(mut errors: impl Read + Send + 'static) -> Arc<Mutex<Vec<u8>>> {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&kept);
    let listen = move || {
        let mut buffer = [0; 1024];
        while let Ok(n @ 1..) = errors.read(&mut buffer) {
            let mut kept = lock(&keep);
            kept.extend_from_slice(&buffer[..n]);
            let over = kept.len().saturating_sub(COMPLAINT_BYTES);
            kept.drain(..over);
        }
    };
    // Without a thread to spare there are no words, and no error either.
    let _ = std::thread::Builder::new()
        .name("fathom-ssh".to_owned())
        .stack_size(128 << 10)
        .spawn(listen);
    kept
}

fn greet(
    input: &mut ChildStdin,
    output: &mut ChildStdout,
    options: &SshOptions,
) -> Result<(), String> {
    let mut read = 0;
    loop {
        let line = line(output, &mut read)?;
        if line == HERE {
            return Ok(());
        }
        if line == FAILED {
            return Err("the binary could not be stored in the cache of the host".to_owned());
        }
        if let Some(system) = line.strip_prefix(NEED) {
            let ours = format!("Linux {}", std::env::consts::ARCH);
            if system != ours {
                return Err(format!(
                    "it is '{system}', this binary is for {ours}; give one for it with \
                     --agent-binary"
                ));
            }
            let copied = File::open(&options.binary)
                .and_then(|mut file| io::copy(&mut file, input))
                .and_then(|_| input.flush());
            copied.map_err(|error| format!("the binary could not be copied: {error}"))?;
        }
    }
}

/// A line, byte by byte: what follows the last one belongs to the agent.
fn line(output: &mut ChildStdout, read: &mut usize) -> Result<String, String> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        match output.read(&mut byte) {
            Ok(1) if byte[0] == b'\n' => {
                return Ok(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            Ok(1) => line.push(byte[0]),
            Ok(_) => return Err("it ended before the agent was there".to_owned()),
            Err(error) => return Err(format!("the connection broke: {error}")),
        }
        *read += 1;
        if *read > NOISE_BYTES {
            return Err("its login scripts print too much".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_other_shell_as_they_are() {
        for word in ["/data", "it's", "a b$(reboot)`x`\\", "'", ""] {
            let inner = format!("printf %s {}", quoted(word));
            let outer = format!("sh -c {}", quoted(&inner));
            let output = Command::new("sh").args(["-c", &outer]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
    }
}
