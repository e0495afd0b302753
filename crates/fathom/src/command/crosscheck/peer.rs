//! The installed fio: found, and run with a job file.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use fathom_compat::results::ResultJob;
use fathom_compat::results::{LARGEST_DOCUMENT_BYTES, ResultFile, read_results};
use fathom_fleet::Interrupt;
use fathom_model::crosscheck::PeerTool;

/// The first fio that states percentiles of the total latency in JSON.
const OLDEST: (u32, u32) = (3, 16);
/// How often a running fio is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// fio's time for its beginning and end, beyond that of the load.
const MARGIN: Duration = Duration::from_secs(120);
/// After an interrupt fio gets so long to write its document.
const GRACE: Duration = Duration::from_secs(10);
/// Lines of fio's messages that are repeated.
const MOST_LINES: usize = 5;

/// A fio that serves.
pub(super) struct Peer {
    pub(super) tool: PeerTool,
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
    pub(super) fn find(path: &Path) -> Result<Peer, String> {
        let path = &executable(path);
        let shown = path.display();
        let program = fathom_deadline::command(path);
        let output = program.and_then(|mut program| program.arg("--version").output());
        let output = output.map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => format!(
                "there is no '{shown}'; install fio (apt install fio), or name one with --fio PATH"
            ),
            _ => format!("cannot run '{shown}': {error}"),
        })?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.lines().next().unwrap_or_default().trim().to_owned();
        let number = version_number(&version).ok_or_else(|| {
            format!(
                "'{shown}' does not say that it is fio; it says '{}'",
                cut(&version)
            )
        })?;
        // Agreement with itself would prove nothing.
        if version.contains("-fathom-") {
            return Err(format!(
                "'{shown}' is a link to fathom; name the real fio with --fio PATH"
            ));
        }
        if number < OLDEST {
            let (major, minor) = OLDEST;
            return Err(format!(
                "{version} is too old to be compared with; fio {major}.{minor} or newer is needed"
            ));
        }
        Ok(Peer {
            tool: PeerTool {
                path: shown.to_string(),
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
    ) -> Result<ResultJob, String> {
        let messages = fathom_outputs::append(call.messages)
            .map_err(|e| format!("cannot write {}: {e}", call.messages.display()))?;
        let again = messages
            .try_clone()
            .map_err(|e| format!("cannot write {}: {e}", call.messages.display()))?;
        let mut command = fathom_deadline::command(&self.tool.path)
            .map_err(|error| format!("cannot run {}: {error}", self.tool.path))?;
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
        let child = command
            .spawn()
            .map_err(|error| format!("cannot run {}: {error}", self.tool.path))?;
        let outcome = wait(child, call.load, interrupt, look);
        let said = said(call.messages);
        match outcome {
            Ended::Well => document(call.document, &said),
            Ended::Badly(how) => Err(format!("fio {how}{said}")),
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

enum Ended {
    Well,
    Badly(String),
}

fn wait(
    mut child: Child,
    load: Option<Duration>,
    interrupt: &Interrupt,
    look: &mut dyn FnMut(Duration),
) -> Ended {
    let started = Instant::now();
    let mut asked: Option<Instant> = None;
    loop {
        match child.try_wait() {
            Ok(Some(_)) if asked.is_some() => return Ended::Badly("was interrupted".to_owned()),
            Ok(Some(status)) if status.success() => return Ended::Well,
            Ok(Some(status)) => return Ended::Badly(format!("ended with {status}")),
            Ok(None) => {}
            Err(error) => return Ended::Badly(format!("cannot be waited for: {error}")),
        }
        let late = load.is_some_and(|load| started.elapsed() > load + MARGIN);
        if late || asked.is_some_and(|at| at.elapsed() > GRACE) {
            // Best effort: it may have ended meanwhile.
            let _ = child.kill();
            let _ = child.wait();
            return Ended::Badly(match late {
                true => "did not end in time and was killed".to_owned(),
                false => "was interrupted and killed".to_owned(),
            });
        }
        if interrupt.is_raised() && asked.is_none() {
            asked = Some(Instant::now());
            stop(&child);
        }
        look(started.elapsed());
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Asks fio to end: it finishes what is in flight and writes its document.
fn stop(child: &Child) {
    let pid = i32::try_from(child.id()).ok();
    if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
        // It may have ended meanwhile.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
    }
}

/// The last lines of fio's messages, as the end of a sentence.
fn said(path: &Path) -> String {
    let text = std::fs::read(path).unwrap_or_default();
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

fn cut(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

/// The last job of a document.
fn document(path: &Path, said: &str) -> Result<ResultJob, String> {
    let size = std::fs::metadata(path).map_or(0, |m| m.len());
    if size > LARGEST_DOCUMENT_BYTES {
        return Err(format!(
            "{} is larger than a document of fio may be",
            path.display()
        ));
    }
    let text = std::fs::read_to_string(path).map_err(|error| {
        format!(
            "fio's document {} cannot be read: {error}{said}",
            path.display()
        )
    })?;
    let name = path.display().to_string();
    let results = match read_results(&name, &text) {
        Ok(ResultFile::Results(results)) => results,
        Ok(_) => return Err(format!("{name} is no result of fio{said}")),
        Err(error) => return Err(format!("{name}: {error}{said}")),
    };
    let last = results
        .into_iter()
        .next_back()
        .and_then(|mut result| result.jobs.pop());
    let job = last.ok_or_else(|| format!("{name} holds no job{said}"))?;
    match job.error {
        Some(error) if error != 0 => Err(format!("fio's job ended with error {error}{said}")),
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

/// A name that can be a file name.
pub(super) fn file_name(label: &str) -> PathBuf {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '.' {
            c
        } else {
            '-'
        }
    };
    let name: String = label.chars().map(plain).take(60).collect();
    PathBuf::from(name.trim_matches(['-', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(version_number("fio-3.33"), Some((3, 33)));
        assert_eq!(version_number("fio-3.42-135-gf5344"), Some((3, 42)));
        assert_eq!(version_number("fio-2.1.10"), Some((2, 1)));
        assert_eq!(version_number("3.33"), None);
        assert_eq!(version_number("fio-x"), None);
    }

    #[test]
    fn what_is_no_fio_is_told() {
        let missing = Peer::find(Path::new("/nonexistent/fio")).err().unwrap();
        assert!(missing.contains("install fio"), "{missing}");
        let other = Peer::find(Path::new("/bin/echo")).err().unwrap();
        assert!(other.contains("does not say that it is fio"), "{other}");
    }

    #[test]
    fn labels_become_file_names() {
        assert_eq!(
            file_name("randread-4k q1 on /a/../b"),
            PathBuf::from("randread-4k-q1-on--a-..-b")
        );
        assert_eq!(file_name("../x"), PathBuf::from("x"));
    }
}
