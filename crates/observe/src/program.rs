//! Programs of others that are asked for what only they can read: found, run to
//! their end within a time, and their output taken. Nothing is given to them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(5);
const OUTPUT_BYTES_MAX: u64 = 4 << 20;
/// Where those for root lie when the path of an ordinary user does not name it.
const PLACES: [&str; 3] = ["/usr/sbin", "/usr/local/sbin", "/sbin"];

/// Where a program lies on this host.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(PLACES.map(PathBuf::from));
    let mut programs = places.map(|place| place.join(name));
    programs.find(|program| program.is_file())
}

/// What it writes to its standard output. The exit status is not looked at.
pub(crate) fn output_of(
    program: &Path,
    arguments: &[&str],
    patience: Duration,
) -> io::Result<String> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn()?;
    // The pipe is emptied beside, so that a long output does not block.
    let output = child.stdout.take().map(std::os::fd::OwnedFd::from);
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.map(|fd| {
            File::from(fd)
                .take(OUTPUT_BYTES_MAX)
                .read_to_end(&mut bytes)
        });
        let text = |_| String::from_utf8_lossy(&bytes).into_owned();
        read.transpose().map(text)
    });
    if !ended(&mut child, patience) {
        let _ = child.kill();
        // One that hangs in the kernel ends when its device does.
        std::thread::spawn(move || child.wait());
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        let seconds = patience.as_secs();
        let what = format!("{name} did not answer within {seconds} s");
        return Err(io::Error::other(what));
    }
    let lost = |_| io::Error::other("its output was lost");
    reader.join().map_err(lost)?
}

fn ended(child: &mut Child, patience: Duration) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < patience {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(LOOK_EVERY),
            Ok(Some(_)) => return true,
            Err(_) => return false,
        }
    }
    false
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
    }
}
