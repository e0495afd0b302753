//! The installed fio: found, and run with a job file.

use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use fathom_compat::results::{
    LARGEST_DOCUMENT_BYTES, ResultError, ResultFile, ResultJob, read_results,
};
use fathom_deadline::{output_of, paths};
use fathom_fleet::Interrupt;
use fathom_model::crosscheck::PeerTool;
use rustix::process::Signal;

/// The first fio that states percentiles of the total latency in JSON.
const OLDEST: (u32, u32) = (3, 16);
/// How long fio may take to say its version.
const VERSION_PATIENCE: Duration = Duration::from_secs(2);
/// fio's messages may be so long; whoever prints more is no fio that can be read.
const MOST_MESSAGES_BYTES: u64 = 1 << 20;
/// Of them so much is read, at their end.
const LAST_BYTES: u64 = 64 << 10;
/// How often a running fio is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// fio's time for its beginning and end, beyond that of the load.
const MARGIN: Duration = Duration::from_secs(120);
/// How long fio may take after an interrupt to write its document; then it is told to
/// end, and killed with all that it started.
const GRACE: Duration = Duration::from_secs(2);
const LAST_WORDS: Duration = Duration::from_millis(500);
/// A fio that is so late is worth a line.
pub(super) const NOTABLE: Duration = Duration::from_secs(5);
/// Lines of fio's messages that are repeated.
const MOST_LINES: usize = 5;

/// Why a program is no fio to compare with.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// Nothing has this name.
    #[error("there is no '{0}'; install fio (apt install fio), or name one with --fio PATH")]
    Missing(String),
    /// It cannot be started.
    #[error("cannot run '{path}': {error}")]
    NotRun {
        /// Where it lies.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// It hangs.
    #[error(
        "'{}' does not say its version within {} s; name another fio with --fio PATH",
        .0,
        VERSION_PATIENCE.as_secs()
    )]
    Silent(String),
    /// It is something else.
    #[error("'{path}' does not say that it is fio; it says '{said}'")]
    NotFio {
        /// Where it lies.
        path: String,
        /// What it says instead.
        said: String,
    },
    /// Agreement with itself would prove nothing.
    #[error("'{0}' is a link to fathom; name the real fio with --fio PATH")]
    Fathom(String),
    /// It does not state what is compared.
    #[error(
        "{} is too old to be compared with; fio {}.{} or newer is needed",
        .0,
        OLDEST.0,
        OLDEST.1
    )]
    TooOld(String),
}

/// Why a call of fio gave no result.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// There is no place for its messages.
    #[error("cannot write {}: {error}", .path.display())]
    Messages {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It cannot be started.
    #[error("cannot run {path}: {error}")]
    NotRun {
        /// Where it lies.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// It did not end well.
    #[error("fio {how}{said}")]
    Ended {
        /// How it ended.
        how: Ending,
        /// The last of its messages.
        said: String,
    },
    /// Its document says nothing.
    #[error("{document}{said}")]
    Document {
        /// What is wrong with it.
        document: DocumentProblem,
        /// The last of its messages.
        said: String,
    },
}

/// How a call of fio ended that did not end well.
#[derive(Debug, thiserror::Error)]
pub enum Ending {
    /// The user wanted to stop.
    #[error("was interrupted")]
    Interrupted,
    /// The user wanted to stop, and it did not.
    #[error("was interrupted and killed")]
    InterruptedAndKilled,
    /// Its load should have ended long ago.
    #[error("did not end in time and was killed")]
    Late,
    /// Its messages had no end.
    #[error("printed without end and was killed")]
    Flood,
    /// By itself.
    #[error("ended with {0}")]
    Status(ExitStatus),
    /// Nobody knows.
    #[error("cannot be waited for: {0}")]
    Unknown(io::Error),
}

/// What is wrong with a document of fio.
#[derive(Debug, thiserror::Error)]
pub enum DocumentProblem {
    /// More than is read.
    #[error("{} is larger than a document of fio may be", .0.display())]
    TooLarge(PathBuf),
    /// It cannot be had.
    #[error("fio's document {} cannot be read: {error}", .path.display())]
    NotRead {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Something else.
    #[error("{} is not a result of fio", .0.display())]
    NoResult(PathBuf),
    /// Not as fio writes it.
    #[error("{}: {error}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: ResultError,
    },
    /// Nothing was measured.
    #[error("{} holds no job", .0.display())]
    NoJob(PathBuf),
    /// What was measured is no result.
    #[error("fio's job ended with error {0}")]
    JobFailed(i64),
}

/// A fio that serves.
pub struct Peer {
    /// Where it lies, and its version.
    pub tool: PeerTool,
}

/// Where one call of fio reads and writes.
pub(super) struct Call<'a> {
    pub(super) job_file: &'a Path,
    /// Its JSON goes here.
    pub(super) document: &'a Path,
    /// Its messages go here.
    pub(super) messages: &'a Path,
    /// Nothing may be written to the target.
    pub(super) read_only: bool,
    /// How long the load takes, where it is bounded in time.
    pub(super) load: Option<Duration>,
}

impl Peer {
    /// Looks whether this is a fio, and new enough.
    ///
    /// # Errors
    /// It is none, or one that does not serve.
    pub fn find(path: &Path) -> Result<Peer, PeerError> {
        let path = &executable(path);
        let shown = || path.display().to_string();
        let program = fathom_deadline::command(path);
        let program = program.map(|program| PathBuf::from(program.get_program()));
        let output =
            program.and_then(|program| output_of(&program, &["--version"], VERSION_PATIENCE));
        let output = output.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => PeerError::Missing(shown()),
            io::ErrorKind::TimedOut => PeerError::Silent(shown()),
            _ => PeerError::NotRun {
                path: shown(),
                error,
            },
        })?;
        let version = output.lines().next().unwrap_or_default().trim().to_owned();
        let number = version_number(&version).ok_or_else(|| PeerError::NotFio {
            path: shown(),
            said: cut(&version),
        })?;
        if version.contains("-fathom-") {
            return Err(PeerError::Fathom(shown()));
        }
        if number < OLDEST {
            return Err(PeerError::TooOld(version));
        }
        Ok(Peer {
            tool: PeerTool {
                path: shown(),
                version,
            },
        })
    }

    /// Runs a job file and returns the last job of its document: earlier ones
    /// lay data down. `look` is called while it runs, with the time so far.
    pub(super) fn run(
        &self,
        call: &Call<'_>,
        interrupt: &Interrupt,
        look: &mut dyn FnMut(Duration),
    ) -> Result<ResultJob, CallError> {
        let unwritten = |error| CallError::Messages {
            path: call.messages.to_owned(),
            error,
        };
        let not_run = |error| CallError::NotRun {
            path: self.tool.path.clone(),
            error,
        };
        let messages = fathom_outputs::append(call.messages).map_err(unwritten)?;
        let again = messages.try_clone().map_err(unwritten)?;
        let mut command = fathom_deadline::command(&self.tool.path).map_err(not_run)?;
        command
            .args(["--output-format=json+", "--eta=never"])
            .arg(format!("--output={}", call.document.display()))
            .args(call.read_only.then_some("--readonly"))
            .arg(call.job_file)
            .env("LC_ALL", "C")
            // fio takes the name of a job for a target where a directory or
            // device of that name lies.
            .current_dir(call.job_file.parent().unwrap_or(Path::new("/")))
            .stdin(Stdio::null())
            .stdout(Stdio::from(messages))
            .stderr(Stdio::from(again))
            // Ctrl-C on the terminal is passed on once, not twice.
            .process_group(0);
        let child = command.spawn().map_err(not_run)?;
        let printed = || paths::metadata(call.messages).map_or(0, |facts| facts.len());
        let outcome = wait(child, call.load, interrupt, look, &printed);
        let said = said(call.messages);
        match outcome {
            Ok(()) => document(call.document).map_err(|document| CallError::Document {
                said: match document {
                    DocumentProblem::TooLarge(_) => String::new(),
                    _ => said,
                },
                document,
            }),
            Err(how) => Err(CallError::Ended { how, said }),
        }
    }
}

/// What is found from any directory. A name alone is looked for on the PATH.
fn executable(path: &Path) -> PathBuf {
    match path.components().count() {
        1 => path.to_owned(),
        _ => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    }
}

fn wait(
    mut child: Child,
    load: Option<Duration>,
    interrupt: &Interrupt,
    look: &mut dyn FnMut(Duration),
    printed: &dyn Fn() -> u64,
) -> Result<(), Ending> {
    let started = Instant::now();
    let mut asked: Option<Instant> = None;
    let mut told = false;
    loop {
        match child.try_wait() {
            Ok(Some(_)) if asked.is_some() => {
                // What it started may not have ended with it.
                signal_group(&child, Signal::KILL);
                return Err(Ending::Interrupted);
            }
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(Ending::Status(status)),
            Ok(None) => {}
            Err(error) => return Err(Ending::Unknown(error)),
        }
        if printed() > MOST_MESSAGES_BYTES {
            kill(&mut child);
            return Err(Ending::Flood);
        }
        let late = load.is_some_and(|load| started.elapsed() > load + MARGIN);
        let waited = asked.map(|at| at.elapsed());
        if !told && waited > Some(GRACE) {
            told = true;
            signal_group(&child, Signal::TERM);
        }
        if late || waited > Some(GRACE + LAST_WORDS) {
            kill(&mut child);
            return Err(match late {
                true => Ending::Late,
                false => Ending::InterruptedAndKilled,
            });
        }
        if interrupt.is_raised() && asked.is_none() {
            asked = Some(Instant::now());
            // It finishes what is in flight and writes its document.
            signal_group(&child, Signal::INT);
        }
        look(started.elapsed());
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Kills fio and all that it started. One that the kernel holds cannot end; it
/// is not waited for.
fn kill(child: &mut Child) {
    signal_group(child, Signal::KILL);
    let until = Instant::now() + LAST_WORDS;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// fio has a process group of its own.
fn signal_group(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok();
    if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
        // It may have ended meanwhile.
        let _ = rustix::process::kill_process_group(pid, signal);
    }
}

/// The last lines of fio's messages, as the end of a sentence.
fn said(path: &Path) -> String {
    let text = end_of(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && *l != super::keep::MESSAGES)
        .collect();
    let last = lines.len().saturating_sub(MOST_LINES);
    match lines.is_empty() {
        true => String::new(),
        false => format!(
            ": {}",
            lines[last..]
                .iter()
                .map(|l| cut(l))
                .collect::<Vec<_>>()
                .join("; ")
        ),
    }
}

/// The end of a file that may be of any length.
fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = std::fs::File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LAST_BYTES)))?;
    let mut text = Vec::new();
    file.take(LAST_BYTES).read_to_end(&mut text)?;
    Ok(text)
}

fn cut(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

/// The last job of a document.
fn document(path: &Path) -> Result<ResultJob, DocumentProblem> {
    let own_path = || path.to_owned();
    let size = paths::metadata(path).map_or(0, |facts| facts.len());
    if size > LARGEST_DOCUMENT_BYTES {
        return Err(DocumentProblem::TooLarge(own_path()));
    }
    let text = std::fs::read_to_string(path).map_err(|error| DocumentProblem::NotRead {
        path: own_path(),
        error,
    })?;
    let results = match read_results(&path.display().to_string(), &text) {
        Ok(ResultFile::Results(results)) => results,
        Ok(_) => return Err(DocumentProblem::NoResult(own_path())),
        Err(error) => {
            return Err(DocumentProblem::Unreadable {
                path: own_path(),
                error,
            });
        }
    };
    let last = results
        .into_iter()
        .next_back()
        .and_then(|mut result| result.jobs.pop());
    let job = last.ok_or_else(|| DocumentProblem::NoJob(own_path()))?;
    match job.error {
        Some(error) if error != 0 => Err(DocumentProblem::JobFailed(error)),
        _ => Ok(job),
    }
}

/// `fio-3.33` or `fio-3.33-12-gabc`: major and minor.
fn version_number(version: &str) -> Option<(u32, u32)> {
    let rest = version.strip_prefix("fio-")?;
    let mut parts = rest.split(['.', '-']);
    let major = parts.next()?.parse().ok()?;
    let minor = parts
        .next()
        .and_then(|minor| minor.parse().ok())
        .unwrap_or(0);
    Some((major, minor))
}

#[cfg(test)]
#[path = "peer_tests.rs"]
mod tests;
