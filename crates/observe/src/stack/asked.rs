//! A command of the system, asked with patience that ends.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What it may print.
const OUTPUT_BYTES_MAX: u64 = 4 << 20;
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// What the command printed.
///
/// # Errors
/// Why there is no answer, in words.
pub(super) fn asked(program: &str, arguments: &[&str]) -> Result<String, String> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let pipe = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // What came before an error is an answer cut short, and is parsed so.
            let _ = pipe.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let begun = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if begun.elapsed() < PATIENCE => std::thread::sleep(LOOK_EVERY),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
        }
    };
    match status {
        None => Err(format!("{program} did not answer within 5 s")),
        Some(status) if status.success() => Ok(reader.join().unwrap_or_default()),
        Some(status) => Err(format!("{program} ended with {status}; are you root?")),
    }
}

#[cfg(test)]
mod tests {
    use super::asked;

    #[test]
    fn answers_and_refusals_are_told_apart() {
        assert_eq!(asked("echo", &["hello"]).as_deref(), Ok("hello\n"));
        assert!(asked("false", &[]).is_err());
        assert!(asked("no-such-command-anywhere", &[]).is_err());
    }
}
