//! Processes that sleep in one call of the kernel for seconds, where no signal
//! reaches them: what waits on a frozen file system, or for an operation that a device
//! never completes, has no counter of its own and may keep no device busy.
//!
//! One that sleeps so (state D, proc(5)) and has not been switched since it was last
//! looked at never woke in between, however short the looks are: two counts of
//! context switches that are the same say more than any number of states.

use std::collections::BTreeMap;
use std::sync::Arc;

use fathom_observe::Sysroot;

use super::Reading;
use super::process_files::parse_stat;
use crate::frame::Row;
use crate::kind::{Kind, stuck};

/// Processes that are looked at in one frame in which all are; on larger hosts some in
/// turn.
const MOST_PROCESSES: usize = 512;
/// Recorded in one frame, those that sleep longest.
const MOST_RECORDED: usize = 8;
/// Shorter sleeps are usual.
const LEAST_SECONDS: u64 = 3;

/// One that sleeps without being reached.
#[derive(Debug)]
struct Asleep {
    switches: u64,
    started_ticks: u64,
    since_ns: u64,
    /// Number, command, and the function of the kernel in which it sleeps.
    name: Arc<str>,
}

#[derive(Debug, Default)]
pub(super) struct StuckTasks {
    asleep: BTreeMap<u32, Asleep>,
    /// The last process that was looked at.
    looked_at: u32,
}

impl StuckTasks {
    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        let known: Vec<u32> = self.asleep.keys().copied().collect();
        for pid in known {
            self.look(reading, pid);
        }
        if reading.slow() || reading.count == 1 {
            for pid in self.next_processes(reading.sys) {
                if !self.asleep.contains_key(&pid) {
                    self.look(reading, pid);
                }
            }
        }
        self.record(reading);
    }

    fn next_processes(&mut self, sys: &Sysroot) -> Vec<u32> {
        let names = sys.names("/proc");
        let mut pids: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
        pids.sort_unstable();
        if pids.len() > MOST_PROCESSES {
            let first = pids.partition_point(|pid| *pid <= self.looked_at);
            pids.rotate_left(first);
            pids.truncate(MOST_PROCESSES);
        }
        self.looked_at = pids.last().copied().unwrap_or(0);
        pids
    }

    fn look(&mut self, reading: &Reading<'_>, pid: u32) {
        let Some((switches, started_ticks, command)) = asleep(reading.sys, pid) else {
            self.asleep.remove(&pid);
            return;
        };
        let known = self.asleep.get(&pid);
        if known.is_some_and(|k| (k.switches, k.started_ticks) == (switches, started_ticks)) {
            return;
        }
        let sleeps_in = reading.sys.text(format!("/proc/{pid}/wchan"));
        let sleeps_in = sleeps_in.filter(|name| !name.trim().is_empty() && name.trim() != "0");
        let name = match sleeps_in {
            Some(function) => format!("{pid} {command} in {}", function.trim()),
            None => format!("{pid} {command}"),
        };
        let asleep = Asleep {
            switches,
            started_ticks,
            since_ns: reading.now_ns,
            name: name.into(),
        };
        self.asleep.insert(pid, asleep);
    }

    fn record(&self, reading: &mut Reading<'_>) {
        let mut found: Vec<(&Asleep, u64)> = self
            .asleep
            .values()
            .map(|one| {
                (
                    one,
                    reading.now_ns.saturating_sub(one.since_ns) / 1_000_000_000,
                )
            })
            .filter(|(_, seconds)| *seconds >= LEAST_SECONDS)
            .collect();
        found.sort_by_key(|(_, seconds)| std::cmp::Reverse(*seconds));
        for (one, seconds) in found.into_iter().take(MOST_RECORDED) {
            let mut row = Row::absent(Kind::Stuck, Arc::clone(&one.name));
            row.values[stuck::SECONDS] = seconds;
            reading.rows.push(row);
        }
    }
}

/// Context switches, start and command of a process that sleeps where no signal reaches
/// it; `None` for every other one. Threads of the kernel sleep like that when they have
/// nothing to do.
fn asleep(sys: &Sysroot, pid: u32) -> Option<(u64, u64, String)> {
    let stat = sys.text(format!("/proc/{pid}/stat"))?;
    let (_, after) = stat.rsplit_once(')')?;
    let is_asleep = after.trim_start().starts_with('D');
    let (counters, command) = parse_stat(&stat).filter(|_| is_asleep)?;
    if counters.of_the_kernel {
        return None;
    }
    let status = sys.text(format!("/proc/{pid}/status"))?;
    let counts = status.lines().filter_map(|line| {
        let (name, count) = line.split_once(':')?;
        let count = count.trim().parse::<u64>().ok()?;
        name.ends_with("_ctxt_switches").then_some(count)
    });
    Some((counts.sum(), counters.started_ticks, command))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn process(root: &Path, state: char, switches: u64, flags: u64) {
        let folder = root.join("proc/7");
        fs::create_dir_all(&folder).unwrap();
        let stat = format!("7 (a (b) c) {state} 1 7 7 0 -1 {flags} 0 0 0 0 3 4 0 0 20 0 1 0 9 0 0");
        fs::write(folder.join("stat"), stat).unwrap();
        let status = format!(
            "Name:\ta\nvoluntary_ctxt_switches:\t{switches}\nnonvoluntary_ctxt_switches:\t1\n"
        );
        fs::write(folder.join("status"), status).unwrap();
        fs::write(folder.join("wchan"), "percpu_rwsem_wait").unwrap();
    }

    /// What is recorded of two looks, so many seconds apart.
    fn looked_twice(first: (char, u64), then: (char, u64), seconds: u64, flags: u64) -> Vec<Row> {
        let root = tempfile::tempdir().unwrap();
        let sys = Sysroot::at(root.path());
        let (mut buffer, mut rows) = (Vec::new(), Vec::new());
        let mut stuck = StuckTasks::default();
        for (count, (state, switches)) in [first, then].into_iter().enumerate() {
            process(root.path(), state, switches, flags);
            rows.clear();
            stuck.read(&mut Reading {
                sys: &sys,
                buffer: &mut buffer,
                rows: &mut rows,
                now_ns: count as u64 * seconds * 1_000_000_000,
                count: count as u64,
            });
        }
        rows
    }

    #[test]
    fn one_that_never_woke_is_recorded_with_where_it_sleeps() {
        let rows = looked_twice(('D', 12), ('D', 12), 10, 0);
        assert_eq!(rows.len(), 1);
        assert_eq!(&*rows[0].name, "7 a (b) c in percpu_rwsem_wait");
        assert_eq!(rows[0].values[stuck::SECONDS], 10);
    }

    #[test]
    fn one_that_woke_in_between_sleeps_anew() {
        assert!(looked_twice(('D', 12), ('D', 13), 10, 0).is_empty());
        assert!(looked_twice(('D', 12), ('S', 12), 10, 0).is_empty());
        assert!(looked_twice(('D', 12), ('D', 12), 2, 0).is_empty());
    }

    #[test]
    fn threads_of_the_kernel_do_not_count() {
        assert!(looked_twice(('D', 12), ('D', 12), 10, 0x0020_0000).is_empty());
    }
}
