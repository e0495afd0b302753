//! Whether a thread or child that has not answered wants to run and does not get to.
//!
//! On a host whose CPUs are all taken, or that stands still itself, an answer can be
//! late without anybody having kept it back: whoever waits in the kernel sleeps, and
//! whoever waits for a CPU is runnable.

use std::fs;

/// How many times over an answer is waited for while whoever gives it waits for a CPU.
pub(crate) const TURNS: u32 = 2;

/// Whether the thread or process with this number waits for a CPU, or runs. False
/// where that cannot be seen.
pub(crate) fn wants_cpu(pid: libc::pid_t) -> bool {
    // Threads are there under their numbers, too, though no listing shows them.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    state(&stat) == Some('R')
}

/// The state in a line of `/proc/PID/stat`: after the name, which may hold anything.
fn state(stat: &str) -> Option<char> {
    let (_, after) = stat.rsplit_once(')')?;
    after.trim_start().chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_runs_wants_to_and_whoever_waits_does_not() {
        assert_eq!(state("17 (a) R b) D 1 2"), Some('D'));
        assert_eq!(state(""), None);
        let own = rustix::thread::gettid().as_raw_nonzero().get();
        assert!(wants_cpu(own));
        let mut sleeper = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let pid = libc::pid_t::try_from(sleeper.id()).unwrap();
        // It sleeps once it has been started.
        let asleep = (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            !wants_cpu(pid)
        });
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert!(asleep);
        assert!(!wants_cpu(pid), "it is gone");
    }
}
