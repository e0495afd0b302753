//! Tasks that sleep in one call of the kernel for seconds, where no signal
//! reaches them: what waits on a frozen file system, or for an operation that a device
//! never completes, has no counter of its own and may keep no device busy.
//!
//! One that sleeps so (state D, proc(5)) and has not been switched since it was last
//! looked at never woke in between, however short the looks are: two counts of
//! context switches that are the same say more than any number of states. Every thread
//! of a process is looked at: a service whose writers hang has a first thread that only
//! waits for them.

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
/// Threads of processes with several that are looked at in such a frame, in turn as well.
const MOST_THREADS: usize = 2048;
/// Recorded in one frame, those that sleep longest.
const MOST_RECORDED: usize = 8;
/// Shorter sleeps are usual.
const LEAST_SECONDS: u64 = 3;

/// One that sleeps without being reached.
#[derive(Debug)]
struct Asleep {
    pid: u32,
    switches: u64,
    started_ticks: u64,
    since_ns: u64,
    /// Its number, command, and the function of the kernel in which it sleeps.
    name: Arc<str>,
}

#[derive(Debug, Default)]
pub(super) struct StuckTasks {
    /// By the number of the thread.
    asleep: BTreeMap<u32, Asleep>,
    /// The last process that was looked at.
    looked_at: u32,
    /// The last thread beside the first ones that was looked at.
    looked_at_thread: u32,
}

impl StuckTasks {
    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        let known: Vec<(u32, u32)> = self
            .asleep
            .iter()
            .map(|(tid, one)| (one.pid, *tid))
            .collect();
        for (pid, tid) in known {
            self.look(reading, pid, tid);
        }
        if reading.slow() || reading.count == 1 {
            let processes = self.next_processes(reading.sys);
            let threads = self.next_threads(reading.sys, &processes);
            let first = processes.into_iter().map(|pid| (pid, pid));
            for (pid, tid) in first.chain(threads) {
                if !self.asleep.contains_key(&tid) {
                    self.look(reading, pid, tid);
                }
            }
        }
        self.record(reading);
    }

    fn next_processes(&mut self, sys: &Sysroot) -> Vec<u32> {
        let mut pids = numbers(sys, "/proc");
        if pids.len() > MOST_PROCESSES {
            let first = pids.partition_point(|pid| *pid <= self.looked_at);
            pids.rotate_left(first);
            pids.truncate(MOST_PROCESSES);
        }
        self.looked_at = pids.last().copied().unwrap_or(0);
        pids
    }

    /// Threads of these processes beside their first ones, each with its process.
    fn next_threads(&mut self, sys: &Sysroot, pids: &[u32]) -> Vec<(u32, u32)> {
        let of_process = |pid: &u32| {
            let pid = *pid;
            let tids = numbers(sys, &format!("/proc/{pid}/task")).into_iter();
            tids.filter(move |tid| *tid != pid)
                .map(move |tid| (pid, tid))
        };
        let mut threads: Vec<(u32, u32)> = pids.iter().flat_map(of_process).collect();
        if threads.len() > MOST_THREADS {
            threads.sort_unstable_by_key(|(_, tid)| *tid);
            let first = threads.partition_point(|(_, tid)| *tid <= self.looked_at_thread);
            threads.rotate_left(first);
            threads.truncate(MOST_THREADS);
        }
        self.looked_at_thread = threads.last().map_or(0, |(_, tid)| *tid);
        threads
    }

    fn look(&mut self, reading: &Reading<'_>, pid: u32, tid: u32) {
        let folder = format!("/proc/{pid}/task/{tid}");
        let Some((switches, started_ticks, command)) = asleep(reading.sys, &folder) else {
            self.asleep.remove(&tid);
            return;
        };
        let known = self.asleep.get(&tid);
        if known.is_some_and(|k| (k.switches, k.started_ticks) == (switches, started_ticks)) {
            return;
        }
        let sleeps_in = reading.sys.text(format!("{folder}/wchan"));
        let sleeps_in = sleeps_in.filter(|name| !name.trim().is_empty() && name.trim() != "0");
        let name = match sleeps_in {
            Some(function) => format!("{tid} {command} in {}", function.trim()),
            None => format!("{tid} {command}"),
        };
        let asleep = Asleep {
            pid,
            switches,
            started_ticks,
            since_ns: reading.now_ns,
            name: name.into(),
        };
        self.asleep.insert(tid, asleep);
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

/// The numbers among the names in a folder, in order.
fn numbers(sys: &Sysroot, folder: &str) -> Vec<u32> {
    let names = sys.names(folder);
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

/// Context switches, start and command of a thread that sleeps where no signal reaches
/// it, by its folder below `/proc`; `None` for every other one. Threads of the kernel sleep
/// like that when they have nothing to do.
fn asleep(sys: &Sysroot, folder: &str) -> Option<(u64, u64, String)> {
    let stat = sys.text(format!("{folder}/stat"))?;
    let (_, after) = stat.rsplit_once(')')?;
    let is_asleep = after.trim_start().starts_with('D');
    let (counters, command) = parse_stat(&stat).filter(|_| is_asleep)?;
    if counters.of_the_kernel {
        return None;
    }
    let status = sys.text(format!("{folder}/status"))?;
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
        thread(&root.join("proc/7/task/7"), state, switches, flags);
    }

    fn thread(folder: &Path, state: char, switches: u64, flags: u64) {
        fs::create_dir_all(folder).unwrap();
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
    fn a_thread_beside_a_first_one_that_only_waits_is_recorded() {
        let root = tempfile::tempdir().unwrap();
        let sys = Sysroot::at(root.path());
        process(root.path(), 'S', 40, 0);
        thread(&root.path().join("proc/7/task/9"), 'D', 12, 0);
        let (mut buffer, mut rows) = (Vec::new(), Vec::new());
        let mut stuck = StuckTasks::default();
        for count in 0..2 {
            rows.clear();
            stuck.read(&mut Reading {
                sys: &sys,
                buffer: &mut buffer,
                rows: &mut rows,
                now_ns: count * 10_000_000_000,
                count,
            });
        }
        assert_eq!(rows.len(), 1);
        assert_eq!(&*rows[0].name, "9 a (b) c in percpu_rwsem_wait");
    }

    #[test]
    fn threads_of_the_kernel_do_not_count() {
        assert!(looked_twice(('D', 12), ('D', 12), 10, 0x0020_0000).is_empty());
    }
}
