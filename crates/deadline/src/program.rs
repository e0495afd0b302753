//! Programs of others that are asked for what only they can read: found, run to
//! their end within a time, and their output taken. Nothing is given to them.

use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use crate::paths;

const LOOK_EVERY: Duration = Duration::from_millis(5);
/// The profile of a large cluster has some megabytes.
const OUTPUT_BYTES_MAX: u64 = 64 << 20;
/// Where those for root lie when the path of an ordinary user does not name it.
const PLACES: [&str; 3] = ["/usr/sbin", "/usr/local/sbin", "/sbin"];

/// Where a program lies on this host. Folders on mounts that do not answer are
/// passed over.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(PLACES.map(PathBuf::from));
    let mut programs = places.map(|place| place.join(name));
    programs.find(|program| paths::metadata(program).is_ok_and(|facts| facts.is_file()))
}

/// A command of a program that is found as the kernel finds it. Folders of the
/// search path on mounts that do not answer are passed over.
///
/// # Errors
/// There is none ([`io::ErrorKind::NotFound`]), or what it may lie on does not
/// answer ([`io::ErrorKind::TimedOut`]).
pub fn command(name: impl AsRef<Path>) -> io::Result<Command> {
    let name = name.as_ref();
    let mut command = Command::new(located(name)?);
    command.arg0(name);
    Ok(command)
}

fn located(name: &Path) -> io::Result<PathBuf> {
    if name.components().count() != 1 || name.has_root() {
        return match paths::metadata(name) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(error),
            _ => Ok(name.to_owned()),
        };
    }
    let mut why = io::Error::from_raw_os_error(libc::ENOENT);
    let path = std::env::var_os("PATH").unwrap_or_default();
    for place in std::env::split_paths(&path) {
        let place = std::path::absolute(place.join("."))?;
        let program = place.join(name);
        match paths::metadata(&program) {
            Ok(facts) if facts.is_file() && facts.mode() & 0o111 != 0 => return Ok(program),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => why = error,
            _ => {}
        }
    }
    Err(why)
}

/// What a program answered.
#[derive(Debug)]
pub struct ProgramAnswer {
    /// What it wrote to its standard output.
    pub text: String,
    /// How it ended.
    pub status: ExitStatus,
}

/// What it writes to its standard output. The exit status is not looked at.
///
/// # Errors
/// It cannot be started, or does not end within `patience`.
pub fn output_of(program: &Path, arguments: &[&str], patience: Duration) -> io::Result<String> {
    answer_of(program, arguments, patience).map(|answer| answer.text)
}

/// Runs a program to its end, in a process group of its own. One that takes
/// longer than `patience` is killed with its children; one that the kernel holds
/// is left to it.
///
/// # Errors
/// It cannot be started, or does not end within `patience`.
pub fn answer_of(
    program: &Path,
    arguments: &[&str],
    patience: Duration,
) -> io::Result<ProgramAnswer> {
    run(program, arguments, patience, false)
}

/// As [`answer_of`], with what it writes to its standard error in the text.
///
/// # Errors
/// As for [`answer_of`].
pub fn answer_with_errors_of(
    program: &Path,
    arguments: &[&str],
    patience: Duration,
) -> io::Result<ProgramAnswer> {
    run(program, arguments, patience, true)
}

fn run(
    program: &Path,
    arguments: &[&str],
    patience: Duration,
    with_errors: bool,
) -> io::Result<ProgramAnswer> {
    let begun = Instant::now();
    let (output, written) = io::pipe()?;
    let errors = match with_errors {
        true => written.try_clone()?.into(),
        false => Stdio::null(),
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("LC_ALL", "C")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(written)
        .stderr(errors);
    let mut child = command.spawn()?;
    // Its ends of the pipe, so that the reader sees the end.
    drop(command);
    // The pipe is emptied beside, so that a long output does not block.
    let (give, taken) = sync_channel(1);
    let emptying = std::thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        let read = output.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes);
        let text = |_| String::from_utf8_lossy(&bytes).into_owned();
        let _ = give.send(read.map(text));
    });
    if let Err(error) = emptying {
        end_with_children(child);
        let what = format!("no thread could be started to read what it prints: {error}");
        return Err(io::Error::new(error.kind(), what));
    }
    let status = ended(&mut child, patience);
    let left = patience.saturating_sub(begun.elapsed()).max(LOOK_EVERY);
    // A child of the child may hold the pipe for longer.
    let text = taken.recv_timeout(if status.is_some() { left } else { LOOK_EVERY });
    match (status, text) {
        (Some(status), Ok(text)) => text.map(|text| ProgramAnswer { text, status }),
        (Some(_), Err(RecvTimeoutError::Disconnected)) => {
            Err(io::Error::other("its output was lost"))
        }
        (_, _) => {
            end_with_children(child);
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            let seconds = patience.as_secs();
            let what = format!("{name} did not answer within {seconds} s");
            Err(io::Error::new(io::ErrorKind::TimedOut, what))
        }
    }
}

fn end_with_children(mut child: Child) {
    let group = i32::try_from(child.id()).ok();
    if let Some(group) = group.and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    // One that hangs in the kernel ends when its device does. Without a thread
    // nobody waits for it, and it stays in the list of processes until fathom ends.
    let _ = std::thread::Builder::new().spawn(move || child.wait());
}

fn ended(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let begun = Instant::now();
    while begun.elapsed() < patience {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(LOOK_EVERY),
            Ok(Some(status)) => return Some(status),
            Err(_) => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_taken_whole_and_one_that_hangs_is_left() {
        let shell = find_program("sh").unwrap();
        let long = "i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done; exit 3";
        let text = output_of(&shell, &["-c", long], Duration::from_secs(60)).unwrap();
        assert_eq!(text.lines().count(), 20_000);
        let error = output_of(&shell, &["-c", "exec sleep 600"], Duration::from_millis(50));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("did not answer"), "{error}");
        assert_eq!(find_program("no-such-program"), None);
        assert!(
            command("sh")
                .unwrap()
                .arg("-c")
                .arg(":")
                .status()
                .unwrap()
                .success()
        );
        let error = command("no-such-program").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
    }

    #[test]
    fn a_grandchild_with_the_pipe_is_not_waited_for() {
        let shell = find_program("sh").unwrap();
        let patience = Duration::from_millis(300);
        let error = output_of(&shell, &["-c", "sleep 600 & echo x"], patience);
        let error = error.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
