//! `/proc/PID/stat` and `/proc/PID/io` (proc(5)).

use std::fs::File;
use std::os::unix::fs::FileExt;

use fathom_observe::Sysroot;

/// `/proc/PID/stat` is shorter, even with the longest names.
const FILE_BYTES: usize = 2048;

/// What a process has done since it was started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counters {
    /// In ticks, user and system.
    pub(super) cpu_ticks: u64,
    /// Ticks in which it waited for a device; 0 without delay accounting.
    pub(super) io_wait_ticks: u64,
    /// From and to storage; absent without the right to look.
    pub(super) read_bytes: Option<u64>,
    pub(super) write_bytes: Option<u64>,
    /// Who started it, or took it over.
    pub(super) parent: u32,
    /// When it was started, in ticks since the host was.
    pub(super) started_ticks: u64,
    /// It is a thread of the kernel. Its command line would say so as well, but reading
    /// that waits for the memory map of the process, which one in a page fault on a dead
    /// mount holds.
    pub(super) of_the_kernel: bool,
}

/// `PF_KTHREAD` (include/linux/sched.h).
const OF_THE_KERNEL: u64 = 0x0020_0000;

/// The two files of a process.
#[derive(Debug)]
pub(super) struct ProcessFiles {
    stat: File,
    io: Option<File>,
}

impl ProcessFiles {
    pub(super) fn open(sys: &Sysroot, pid: u32) -> Option<ProcessFiles> {
        let file = |name: &str| File::open(sys.locate(format!("/proc/{pid}/{name}")));
        Some(ProcessFiles {
            stat: file("stat").ok()?,
            io: file("io").ok(),
        })
    }

    /// The counters now, and the command.
    pub(super) fn read(&self) -> Option<(Counters, String)> {
        let mut buffer = [0_u8; FILE_BYTES];
        let length = self.stat.read_at(&mut buffer, 0).ok()?;
        let text = String::from_utf8_lossy(&buffer[..length]);
        let (mut counters, command) = parse_stat(&text)?;
        if let Some(file) = &self.io
            && let Ok(length) = file.read_at(&mut buffer, 0)
        {
            let io = fathom_observe::parse_process_io(&String::from_utf8_lossy(&buffer[..length]));
            counters.read_bytes = io.map(|io| io.read);
            counters.write_bytes = io.map(|io| io.written);
        }
        Some((counters, command))
    }
}

/// Commands may hold spaces and brackets: the last one ends the name.
pub(super) fn parse_stat(text: &str) -> Option<(Counters, String)> {
    let (before, after) = text.rsplit_once(')')?;
    let (_, command) = before.split_once('(')?;
    let fields: Vec<&str> = after.split_ascii_whitespace().collect();
    // The first field behind the name is the third of the file.
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let counters = Counters {
        cpu_ticks: field(14)?.saturating_add(field(15)?),
        io_wait_ticks: field(42).unwrap_or(0),
        parent: field(4).and_then(|pid| u32::try_from(pid).ok())?,
        started_ticks: field(22)?,
        of_the_kernel: field(9).is_some_and(|flags| flags & OF_THE_KERNEL != 0),
        ..Counters::default()
    };
    Some((counters, command.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_brackets_are_read_to_their_end() {
        let mut fields: Vec<String> = (3..=52).map(|n| n.to_string()).collect();
        fields[0] = "S".to_owned();
        let text = format!("77 (a (b) c) {}", fields.join(" "));
        let (counters, command) = parse_stat(&text).unwrap();
        assert_eq!(command, "a (b) c");
        assert_eq!((counters.parent, counters.cpu_ticks), (4, 14 + 15));
        assert_eq!((counters.io_wait_ticks, counters.started_ticks), (42, 22));
        assert!(!counters.of_the_kernel);
        fields[6] = "2129984".to_owned();
        let text = format!("12 (kworker/0:1) {}", fields.join(" "));
        assert!(parse_stat(&text).is_some_and(|(found, _)| found.of_the_kernel));
        assert_eq!(parse_stat("77 (x"), None);
        assert_eq!(parse_stat("77 (x) S 1"), None);
    }
}
