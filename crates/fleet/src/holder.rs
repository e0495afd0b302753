//! The first process of a pod whose agents come by `kubectl exec`: it keeps the pod
//! as long as they come, and no longer. A pod that nobody holds would end before the
//! first agent; one that never ends would keep its volume when a coordinator was
//! killed.

use std::path::Path;
use std::time::{Duration, Instant};

use fathom_deadline::paths;

use crate::interrupt::Interrupt;

const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Once agents have been there and are gone.
const IDLE_AFTER: Duration = Duration::from_secs(30);

/// Waits until no other process has run beside this one: for `first` where none has
/// come yet, for half a minute after the last. `proc` is where processes are listed.
pub fn hold(first: Duration, proc: &Path, interrupt: &Interrupt) {
    let own = std::process::id();
    let (mut alone_since, mut patience) = (Instant::now(), first);
    while alone_since.elapsed() < patience && !interrupt.is_raised() {
        if has_others(proc, own) {
            (alone_since, patience) = (Instant::now(), IDLE_AFTER.min(first));
        }
        std::thread::sleep(LOOK_EVERY.min(patience));
    }
}

/// Whether a process but this one is listed. What cannot be read has none.
fn has_others(proc: &Path, own: u32) -> bool {
    let entries = paths::entries(proc).unwrap_or_default();
    let mut pids = entries
        .iter()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.any(|pid: u32| pid != own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_held_for_a_while_and_ends_alone() {
        let proc = tempfile::tempdir().unwrap();
        let own = std::process::id();
        std::fs::create_dir(proc.path().join(own.to_string())).unwrap();
        std::fs::create_dir(proc.path().join("self")).unwrap();
        assert!(!has_others(proc.path(), own));
        hold(Duration::from_millis(20), proc.path(), &Interrupt::new());
        std::fs::create_dir(proc.path().join((own + 1).to_string())).unwrap();
        assert!(has_others(proc.path(), own));
        let interrupt = Interrupt::new();
        interrupt.raise();
        hold(Duration::from_secs(3600), proc.path(), &interrupt);
    }
}
