//! Who writes a run, and whether that process is still there.
//!
//! A process id alone is reused within hours; together with the start time of
//! the process and the id of the boot it names one process for ever (proc(5),
//! `/proc/[pid]/stat` field 22 and `/proc/sys/kernel/random/boot_id`).

use std::fs;
use std::io::ErrorKind;

/// One process on one boot of one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) pid: u32,
    /// Clock ticks from boot to its start; `None` where `/proc` is missing.
    pub(crate) start_ticks: Option<u64>,
    pub(crate) boot_id: Option<String>,
    /// Process ids mean something only within their namespace.
    pub(crate) pid_namespace: Option<String>,
    pub(crate) host: Option<String>,
}

/// Whether an owner is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Alive,
    Dead,
    /// It lived on another machine or in another container, so that it cannot
    /// be told from here.
    Unknown,
}

impl Owner {
    /// This process.
    pub(crate) fn current() -> Owner {
        let pid = std::process::id();
        let start_ticks = match look_up(pid) {
            Process::Running { start_ticks } => Some(start_ticks),
            Process::Gone | Process::Unreadable => None,
        };
        Owner {
            pid,
            start_ticks,
            boot_id: line("/proc/sys/kernel/random/boot_id"),
            pid_namespace: fs::read_link("/proc/self/ns/pid")
                .ok()
                .map(|link| link.to_string_lossy().into_owned()),
            host: line("/proc/sys/kernel/hostname"),
        }
    }

    /// Whether the process is still there, seen from `here`.
    pub(crate) fn life(&self, here: &Owner) -> Life {
        if self == here {
            return Life::Alive;
        }
        let (Some(boot), Some(current_boot)) = (&self.boot_id, &here.boot_id) else {
            return Life::Unknown;
        };
        if boot != current_boot {
            // Either this machine was started again, or it is another one.
            return if self.host.is_some() && self.host == here.host {
                Life::Dead
            } else {
                Life::Unknown
            };
        }
        if self.pid_namespace != here.pid_namespace {
            return Life::Unknown;
        }
        match (look_up(self.pid), self.start_ticks) {
            (Process::Gone, _) => Life::Dead,
            (Process::Running { start_ticks }, Some(started)) if start_ticks != started => {
                Life::Dead
            }
            (Process::Running { .. }, Some(_)) => Life::Alive,
            (Process::Running { .. } | Process::Unreadable, _) => Life::Unknown,
        }
    }
}

fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

enum Process {
    Running { start_ticks: u64 },
    Gone,
    Unreadable,
}

fn look_up(pid: u32) -> Process {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => parse_stat(&stat),
        // Only a /proc that shows this very process can prove an absence: it
        // may not be mounted, or hide the processes of other users.
        Err(error) if error.kind() == ErrorKind::NotFound && shows_everybody() => Process::Gone,
        Err(_) => Process::Unreadable,
    }
}

/// Whether `/proc` is mounted and hides nobody: process 1 is always somebody
/// else's, or this one.
fn shows_everybody() -> bool {
    fs::metadata("/proc/1/stat").is_ok()
}

/// State and start time are the 3rd and the 22nd field; the 2nd, the name in
/// brackets, may contain spaces and brackets itself.
fn parse_stat(stat: &str) -> Process {
    let Some((_, after_name)) = stat.rsplit_once(')') else {
        return Process::Unreadable;
    };
    let mut fields = after_name.split_ascii_whitespace();
    let state = fields.next();
    let start = fields.nth(18).and_then(|ticks| ticks.parse().ok());
    match (state, start) {
        // A zombie has ended; nobody has collected it yet.
        (Some("Z" | "X"), _) => Process::Gone,
        (Some(_), Some(start_ticks)) => Process::Running { start_ticks },
        _ => Process::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_its_successor_under_the_same_id_is_not_it() {
        let here = Owner::current();
        let mut other = here.clone();
        other.start_ticks = Some(1);
        assert_eq!(here.life(&here), Life::Alive);
        assert_eq!(other.life(&here), Life::Dead);
    }

    #[test]
    fn a_child_is_alive_until_it_is_killed_even_before_it_is_collected() {
        let here = Owner::current();
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let Process::Running { start_ticks } = look_up(child.id()) else {
            panic!("the child is not there");
        };
        let owner = Owner {
            pid: child.id(),
            start_ticks: Some(start_ticks),
            ..here.clone()
        };
        assert_eq!(owner.life(&here), Life::Alive);
        child.kill().unwrap();
        while !matches!(look_up(owner.pid), Process::Gone) {
            std::thread::yield_now();
        }
        assert_eq!(owner.life(&here), Life::Dead, "a zombie");
        child.wait().unwrap();
        assert_eq!(owner.life(&here), Life::Dead);
    }

    #[test]
    fn another_boot_is_death_and_another_machine_or_container_is_doubt() {
        let here = Owner::current();
        let rebooted = Owner {
            boot_id: Some("another".into()),
            ..here.clone()
        };
        assert_eq!(rebooted.life(&here), Life::Dead);
        let elsewhere = Owner {
            host: Some("another".into()),
            ..rebooted
        };
        assert_eq!(elsewhere.life(&here), Life::Unknown);
        let contained = Owner {
            pid_namespace: Some("pid:[1]".into()),
            ..here.clone()
        };
        assert_eq!(contained.life(&here), Life::Unknown);
    }

    #[test]
    fn names_with_brackets_do_not_confuse_the_fields() {
        let numbers: Vec<String> = (4..=52).map(|field| field.to_string()).collect();
        let stat = format!("7 (a) b (c)) S {}\n", numbers.join(" "));
        assert!(matches!(
            parse_stat(&stat),
            Process::Running { start_ticks: 22 }
        ));
        assert!(matches!(parse_stat("7 (x) Z 1 2"), Process::Gone));
        assert!(matches!(parse_stat("nonsense"), Process::Unreadable));
    }
}
