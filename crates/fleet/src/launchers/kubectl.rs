//! Calls of the user's `kubectl`, each with an end: what it prints as JSON, or
//! what it complains about.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use fathom_deadline::command;
use serde_json::Value;

use crate::launchers::kubernetes_error::KubernetesError;
use crate::protocol::json::message_of;
use crate::protocol::wire::clean;

/// For each question, should the API server not answer.
const ASK_SECONDS: &str = "--request-timeout=20s";

/// For each call, should kubectl itself or a program that it asks for
/// credentials not come back.
const PATIENCE: Duration = Duration::from_secs(60);

/// Longer than any answer of a cluster to what is asked here.
const ANSWER_BYTES_MAX: u64 = 256 << 20;

/// kubectl, and the place in the cluster that it speaks about.
#[derive(Debug, Clone, Default)]
pub struct Kubectl {
    /// A namespace, where it is not that of kubectl's context.
    pub namespace: Option<String>,
    /// A context, where it is not the current one.
    pub context: Option<String>,
}

impl Kubectl {
    /// What it prints as JSON.
    ///
    /// # Errors
    /// What it complains about, or why it cannot be asked.
    pub fn ask(&self, words: &[&str], input: Option<&Value>) -> Result<Value, KubernetesError> {
        let answer = self.call(words, input)?;
        message_of(&answer).map_err(KubernetesError::NoJson)
    }

    /// As [`Kubectl::ask`], for what prints none.
    ///
    /// # Errors
    /// As for [`Kubectl::ask`].
    pub fn tell(&self, words: &[&str]) -> Result<(), KubernetesError> {
        self.call(words, None).map(drop)
    }

    /// The command with the words that say where.
    pub(crate) fn command(&self) -> Result<Command, KubernetesError> {
        let mut command = command("kubectl").map_err(KubernetesError::Start)?;
        for (flag, value) in [("namespace", &self.namespace), ("context", &self.context)] {
            if let Some(value) = value {
                command.arg(format!("--{flag}={value}"));
            }
        }
        // Ctrl-C is for the coordinator, which then removes what was made.
        command.process_group(0);
        Ok(command)
    }

    fn call(&self, words: &[&str], input: Option<&Value>) -> Result<Vec<u8>, KubernetesError> {
        let mut command = self.command()?;
        command.args(words).arg(ASK_SECONDS);
        command
            .stdin(match input {
                Some(_) => Stdio::piped(),
                None => Stdio::null(),
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(KubernetesError::Start)?;
        if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
            // If it does not read, it says why.
            let _ = stdin.write_all(input.to_string().as_bytes());
        }
        let Some((output, errors)) = answered(&mut child) else {
            let _ = child.kill();
            let _ = child.wait();
            return Err(KubernetesError::NoAnswer {
                words: words.join(" "),
                waited: PATIENCE,
            });
        };
        let status = child.wait().map_err(KubernetesError::Start)?;
        match status.success() {
            true => Ok(output),
            false => Err(KubernetesError::of_complaint(&last_line(&errors))),
        }
    }
}

/// What it wrote to both streams, once it has ended.
fn answered(child: &mut Child) -> Option<(Vec<u8>, Vec<u8>)> {
    let (output, errors) = (child.stdout.take()?, child.stderr.take()?);
    let (give, taken) = sync_channel(1);
    let (give_errors, errors_taken) = sync_channel(1);
    let read = |from: Box<dyn Read + Send>, give: std::sync::mpsc::SyncSender<Vec<u8>>| {
        std::thread::Builder::new()
            .name("fathom-kubectl".to_owned())
            .spawn(move || {
                let mut bytes = Vec::new();
                let _ = from.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes);
                let _ = give.send(bytes);
            })
    };
    read(Box::new(output), give).ok()?;
    read(Box::new(errors), give_errors).ok()?;
    let output = taken.recv_timeout(PATIENCE).ok()?;
    Some((output, errors_taken.recv_timeout(PATIENCE).ok()?))
}

fn last_line(errors: &[u8]) -> String {
    let said = String::from_utf8_lossy(errors);
    let last = said.lines().rfind(|line| !line.trim().is_empty());
    clean(last.unwrap_or("it failed"))
}
