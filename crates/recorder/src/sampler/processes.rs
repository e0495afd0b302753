//! Which processes read, write, wait and compute.
//!
//! Looking at every process each second would cost more than all else
//! together. So the first frame with rates looks at all of them; each later one
//! at those that did something lately and at those that are new, and at some of
//! the others in turn. Rates are over the time since a process was last looked
//! at.

use std::collections::HashMap;
use std::sync::Arc;

use fathom_observe::Sysroot;

use super::Reading;
use super::process_files::{Counters, ProcessFiles};
use crate::frame::Row;
use crate::kind::{ABSENT, Kind, process};

/// Processes that did nothing lately and are looked at in one frame.
const IN_TURN: usize = 25;
/// New ones that are looked at in one frame.
const NEW_AT_ONCE: usize = 100;
/// Files stay open for so many.
const KEPT_OPEN: usize = 64;
/// Frames after which a process that does nothing is no longer looked at each time.
const QUIET_FRAMES: u64 = 10;
/// Recorded in one frame, by each of bytes, waiting and CPU.
const MOST_BY_BYTES: usize = 10;
const MOST_BY_OTHER: usize = 5;
/// A CPU share that makes a process worth a look each frame.
const BUSY_CPU: u64 = 20;
/// The list of processes is read each frame as long as it is this short; a
/// longer one in proportion more rarely.
const SHORT_LIST: usize = 500;
/// More are not followed.
const MOST_PROCESSES: usize = 65_536;

/// Generations that end within one interval and are told apart.
const MOST_GENERATIONS: usize = 16;

#[derive(Debug)]
struct Tracked {
    /// Number and command; made when it is first recorded.
    name: Option<Arc<str>>,
    files: Option<ProcessFiles>,
    last: Counters,
    last_ns: u64,
    /// The frame in which it last did something.
    active: Option<u64>,
    /// The list in which it was last seen.
    listed: u64,
}

#[derive(Debug)]
pub(super) struct Processes {
    tracked: HashMap<u32, Tracked>,
    /// What processes that have ended since the last frame had read and written when they
    /// were last looked at, by their nearest ancestor that goes on.
    gone: HashMap<u32, Gone>,
    /// Whom to look at in turn.
    turn: Vec<u32>,
    /// All have been looked at twice: who does I/O is known.
    all_known: bool,
    lists: u64,
    next_list: u64,
    tick_hz: u64,
}

/// Bytes that were told of processes before they ended. The kernel adds what a process did
/// to the counters of who waits for its end (wait_task_zombie in kernel/exit.c), which
/// would look as if that one had done it all at this moment.
#[derive(Debug, Clone, Copy, Default)]
struct Gone {
    read_bytes: u64,
    write_bytes: u64,
}

impl Gone {
    fn add(&mut self, last: &Counters) {
        self.read_bytes = self.read_bytes.saturating_add(last.read_bytes.unwrap_or(0));
        self.write_bytes = self
            .write_bytes
            .saturating_add(last.write_bytes.unwrap_or(0));
    }

    /// The counters from which on a process did something itself. One whose counters did
    /// not grow by as much was given nothing.
    fn taken_from(self, last: Counters, now: &Counters) -> Counters {
        let taken = |last: Option<u64>, now: Option<u64>, gone: u64| {
            let from = last?.saturating_add(gone);
            Some(if now? >= from { from } else { last? })
        };
        Counters {
            read_bytes: taken(last.read_bytes, now.read_bytes, self.read_bytes),
            write_bytes: taken(last.write_bytes, now.write_bytes, self.write_bytes),
            ..last
        }
    }
}

/// By what processes are put in order.
type Measure = fn(&Deed) -> u64;

/// What a process did since it was last looked at.
struct Deed {
    pid: u32,
    values: [u64; 4],
}

impl Processes {
    pub(super) fn open(_: &Sysroot) -> Processes {
        Processes {
            tracked: HashMap::new(),
            gone: HashMap::new(),
            turn: Vec::new(),
            all_known: false,
            lists: 0,
            next_list: 0,
            tick_hz: rustix::param::clock_ticks_per_second().max(1),
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        let mut deeds = Vec::new();
        self.gone.clear();
        if reading.count >= self.next_list {
            self.list(reading, &mut deeds);
        }
        let recently = |t: &Tracked| {
            let quiet = t.active.map(|at| reading.count.saturating_sub(at));
            quiet.is_some_and(|frames| frames <= QUIET_FRAMES)
        };
        let mut wanted: Vec<u32> = Vec::new();
        for (pid, tracked) in &mut self.tracked {
            if recently(tracked) {
                wanted.push(*pid);
            } else {
                tracked.files = None;
            }
        }
        wanted.sort_unstable();
        wanted.extend(self.next_in_turn(reading));
        for pid in wanted {
            if let Some(deed) = self.look(reading, pid) {
                deeds.push(deed);
            }
        }
        self.record(reading, deeds);
    }

    /// Those whose turn it is: all of them in the first frame with rates, or the
    /// busiest would come to light only after as many frames as a round takes.
    fn next_in_turn(&mut self, reading: &Reading<'_>) -> Vec<u32> {
        if !self.all_known {
            // Those that were listed just now have no rates yet.
            self.all_known = self.tracked.values().any(|t| t.last_ns < reading.now_ns);
            return match self.all_known {
                true => self.tracked.keys().copied().collect(),
                false => Vec::new(),
            };
        }
        if self.turn.is_empty() {
            self.turn.extend(self.tracked.keys());
        }
        let more = self.turn.len().min(IN_TURN);
        self.turn.drain(self.turn.len() - more..).collect()
    }

    /// Reads the list of processes: new ones are added, gone ones removed.
    fn list(&mut self, reading: &Reading<'_>, deeds: &mut Vec<Deed>) {
        self.lists += 1;
        let Ok(entries) = std::fs::read_dir(reading.sys.locate("/proc")) else {
            return;
        };
        let mut new = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            match self.tracked.get_mut(&pid) {
                Some(tracked) => tracked.listed = self.lists,
                None => new.push(pid),
            }
        }
        let lists = self.lists;
        self.note_gone();
        self.tracked.retain(|_, tracked| tracked.listed == lists);
        // What was there before the recorder did its deeds before, too.
        let since_start = lists > 1;
        let at_once = if since_start {
            NEW_AT_ONCE
        } else {
            MOST_PROCESSES
        };
        for pid in new.into_iter().take(at_once) {
            if self.tracked.len() >= MOST_PROCESSES {
                break;
            }
            self.add(reading, pid, since_start, deeds);
        }
        let interval = 1 + self.tracked.len() / SHORT_LIST;
        self.next_list = reading.count + interval as u64;
    }

    /// Notes what processes did that have left the list, under their nearest ancestor that
    /// is still in it: the kernel has added it to that one's counters.
    fn note_gone(&mut self) {
        let is_gone = |tracked: &&Tracked| tracked.listed != self.lists;
        for tracked in self.tracked.values().filter(is_gone) {
            let mut heir = tracked.last.parent;
            for _ in 0..MOST_GENERATIONS {
                match self.tracked.get(&heir).filter(is_gone) {
                    Some(parent) => heir = parent.last.parent,
                    None => break,
                }
            }
            self.gone.entry(heir).or_default().add(&tracked.last);
        }
    }

    fn add(&mut self, reading: &Reading<'_>, pid: u32, since_start: bool, deeds: &mut Vec<Deed>) {
        let files = ProcessFiles::open(reading.sys, pid);
        let Some((counters, _)) = files.as_ref().and_then(ProcessFiles::read) else {
            return;
        };
        let tracked = Tracked {
            name: None,
            files: None,
            last: counters,
            last_ns: reading.now_ns,
            active: since_start.then_some(reading.count),
            listed: self.lists,
        };
        self.tracked.insert(pid, tracked);
        if since_start {
            let zero = Counters {
                read_bytes: Some(0),
                write_bytes: Some(0),
                ..Counters::default()
            };
            // It was started since the last list: about an interval ago.
            deeds.extend(self.deed(pid, &zero, &counters, 1.0));
        }
    }

    /// Looks at one process.
    fn look(&mut self, reading: &Reading<'_>, pid: u32) -> Option<Deed> {
        let open = self.tracked.values().filter(|t| t.files.is_some()).count();
        let tracked = self.tracked.get_mut(&pid)?;
        if tracked.last_ns == reading.now_ns {
            return None;
        }
        let opened = match tracked.files.take() {
            Some(files) => Some(files),
            None => ProcessFiles::open(reading.sys, pid),
        };
        let seen = opened.as_ref().and_then(ProcessFiles::read);
        let Some((now, _)) = seen else {
            self.tracked.remove(&pid);
            return None;
        };
        let last = std::mem::replace(&mut tracked.last, now);
        let passed_ns = reading.now_ns.saturating_sub(tracked.last_ns);
        tracked.last_ns = reading.now_ns;
        if last.started_ticks != now.started_ticks {
            // The number was given to another process.
            tracked.name = None;
            return None;
        }
        let gone = self.gone.get(&pid).copied().unwrap_or_default();
        let last = gone.taken_from(last, &now);
        let deed = self.deed(pid, &last, &now, passed_ns as f64 / 1e9);
        let tracked = self.tracked.get_mut(&pid)?;
        if deed.as_ref().is_some_and(Deed::is_much) {
            tracked.active = Some(reading.count);
            if open < KEPT_OPEN {
                tracked.files = opened;
            }
        }
        deed
    }

    fn deed(&self, pid: u32, last: &Counters, now: &Counters, seconds: f64) -> Option<Deed> {
        if seconds <= 0.0 {
            return None;
        }
        let rate = |now: u64, last: u64, scale: f64| {
            (now.saturating_sub(last) as f64 * scale / seconds).round() as u64
        };
        let bytes = |now: Option<u64>, last: Option<u64>| match (now, last) {
            (Some(now), Some(last)) => rate(now, last, 1.0),
            _ => ABSENT,
        };
        let of_tick = 1000.0 / self.tick_hz as f64;
        let mut values = [0; 4];
        values[process::READ_BYTES] = bytes(now.read_bytes, last.read_bytes);
        values[process::WRITE_BYTES] = bytes(now.write_bytes, last.write_bytes);
        values[process::CPU] = rate(now.cpu_ticks, last.cpu_ticks, of_tick);
        values[process::IO_WAIT] = rate(now.io_wait_ticks, last.io_wait_ticks, of_tick);
        let any = values.iter().any(|value| *value != 0 && *value != ABSENT);
        any.then_some(Deed { pid, values })
    }

    /// Records those who did most.
    fn record(&mut self, reading: &mut Reading<'_>, mut deeds: Vec<Deed>) {
        let mut chosen = vec![false; deeds.len()];
        deeds.sort_by_key(|deed| deed.pid);
        let orders: [(Measure, usize); 3] = [
            (Deed::bytes, MOST_BY_BYTES),
            (|deed| deed.values[process::IO_WAIT], MOST_BY_OTHER),
            (|deed| deed.values[process::CPU], MOST_BY_OTHER),
        ];
        for (measure, most) in orders {
            let mut order: Vec<usize> = (0..deeds.len())
                .filter(|place| measure(&deeds[*place]) > 0)
                .collect();
            order.sort_by_key(|place| std::cmp::Reverse(measure(&deeds[*place])));
            for place in order.into_iter().take(most) {
                chosen[place] = true;
            }
        }
        for (deed, _) in deeds.iter().zip(chosen).filter(|(_, chosen)| *chosen) {
            if let Some(name) = self.name(reading.sys, deed.pid) {
                reading.rows.push(Row {
                    kind: Kind::Process,
                    name,
                    values: deed.values.to_vec(),
                });
            }
        }
    }

    fn name(&mut self, sys: &Sysroot, pid: u32) -> Option<Arc<str>> {
        let tracked = self.tracked.get_mut(&pid)?;
        if tracked.name.is_none() {
            let command = sys.text(format!("/proc/{pid}/comm")).unwrap_or_default();
            // As ps shows it.
            tracked.name = Some(match tracked.last.of_the_kernel {
                true => format!("{pid} [{command}]").into(),
                false => format!("{pid} {command}").into(),
            });
        }
        tracked.name.clone()
    }
}

impl Deed {
    fn bytes(&self) -> u64 {
        let bytes = |place: usize| match self.values[place] {
            ABSENT => 0,
            bytes => bytes,
        };
        bytes(process::READ_BYTES).saturating_add(bytes(process::WRITE_BYTES))
    }

    fn is_much(&self) -> bool {
        let (cpu, wait) = (self.values[process::CPU], self.values[process::IO_WAIT]);
        self.bytes() > 0 || wait > 0 || cpu >= BUSY_CPU
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_ended_child_did_before_is_not_told_again_of_its_parent() {
        let counters = |read: u64| Counters {
            read_bytes: Some(read),
            write_bytes: Some(0),
            ..Counters::default()
        };
        let mut gone = Gone::default();
        gone.add(&counters(1000));
        gone.add(&counters(500));
        // It waited for both: of the 1,700 the last 200 are new.
        let from = gone.taken_from(counters(10), &counters(1710));
        assert_eq!(from.read_bytes, Some(1510));
        // It waited for none of them.
        let from = gone.taken_from(counters(10), &counters(50));
        assert_eq!(from.read_bytes, Some(10));
        let unknown = Counters::default();
        assert_eq!(gone.taken_from(unknown, &counters(9)).read_bytes, None);
    }
}
