//! From figures to an answer.
//!
//! YES needs a device that is proved to be at its end, and work that waited for
//! it. NO needs room that is proved, or something else that is proved to be
//! short while the device was not at its end. All else is not proven, and then
//! it is said what would decide it. `%util` decides nothing: a device that
//! serves several operations at once has room although there is always one.

use fathom_model::diagnosis::{
    Answer, CeilingUse, CpuLoad, DIAGNOSIS_SCHEMA, Diagnosis, DiskLoad, Shortage,
};
use fathom_model::unit;

use crate::answers_alike;
use crate::ceiling::Ceiling;
use crate::full_path;
use crate::held_back;
use crate::load;
use crate::memory;
use crate::network_mounts;
use crate::plateau::{self, Plateau};
use crate::recording::Recording;
use crate::util_says;
use crate::who;

/// Shares of the time from which something counts as lasting.
const LASTING: f64 = 0.10;
/// A load whose peak stays below this share of the ceiling has room.
const ROOM: f64 = 0.70;
/// CPUs are short from this share of busy time on, or this many runnable tasks
/// (load average, where tasks do not wait for I/O) for each.
const CPU_BUSY: f64 = 0.90;
const CPU_QUEUE: f64 = 1.2;
/// Waiting for I/O that matters: idle CPU time with a task that waits, or time
/// in which some task was stalled.
const IO_WAIT: f64 = 0.05;
/// A device that holds so little in its queue 95 % of the time is hardly used.
const QUIET_QUEUE: f64 = 0.2;
/// Where work waits for less than half of the time, and something is in flight
/// for less than half of it, another device could not make it twice as fast.
const HALF: f64 = 0.5;
/// One operation after the other: usually about one in flight, never two.
const USED_QUEUE: f64 = 0.5;
const ONE_IN_FLIGHT: f64 = 1.2;
/// From here on there is one in flight nearly all the time.
const ALWAYS_ONE: f64 = 0.8;
/// Fewer samples are a glance.
const FEW_SAMPLES: usize = 10;
const STEAL: f64 = 0.10;
const NETWORK_FULL: f64 = 0.90;

/// All that is weighed.
struct Facts<'a> {
    recording: &'a Recording,
    cpu: Option<CpuLoad>,
    disk: Option<&'a DiskLoad>,
    plateau: Option<Plateau>,
    /// That the device answers as fast at higher rates, in words.
    alike: Option<String>,
    ceiling: Option<CeilingUse>,
    /// Wait of the load over that of the test.
    slower_than_test: Option<f64>,
    /// Share of the time in which work waited for I/O, with its name.
    waited: Option<(f64, &'static str)>,
    /// The value that the queue of the device is below for 95 % of the time.
    queue_p95: Option<f64>,
    queue_median: Option<f64>,
}

/// The answer for a recording.
///
/// `ceiling` gives, for a device's name, what its volume can give.
pub fn diagnose(recording: &Recording, ceiling: impl Fn(&str) -> Option<Ceiling>) -> Diagnosis {
    let disks = load::disks(recording);
    let samples = load::by_disk(recording);
    let disk = disks.first();
    let known = disk.and_then(|d| ceiling(&d.name));
    let of_disk = disk.and_then(|d| samples.get(d.name.as_str()));
    let used = match (&known, disk, of_disk) {
        (Some(ceiling), Some(disk), Some(samples)) => Some(ceiling.used(disk, samples)),
        _ => None,
    };
    let queue = |m: &crate::recording::Moment| {
        let name = &disk?.name;
        m.disks.iter().find(|d| d.name == *name)?.in_flight()
    };
    let facts = Facts {
        recording,
        cpu: load::cpu(recording),
        disk,
        plateau: of_disk.and_then(plateau::find),
        alike: disk
            .zip(of_disk)
            .and_then(|(disk, samples)| answers_alike::line(&disk.name, samples)),
        slower_than_test: known
            .as_ref()
            .and_then(|c| Some(disk?.wait_ms? / c.wait_ms.filter(|ms| *ms > 0.0)?)),
        ceiling: used,
        waited: waited(recording),
        queue_p95: load::series(recording, queue).quantile(0.95),
        queue_median: load::series(recording, queue).quantile(0.5),
    };
    let (answer, limiter, mut evidence, settle) = facts.decide();
    who::name(recording, answer, limiter, &mut evidence);
    let mut remarks = recording.remarks.clone();
    remarks.extend(util_says::contradictions(&disks));
    let known = known.as_ref().zip(disk);
    remarks.extend(known.and_then(|(ceiling, disk)| ceiling.doubt(disk)));
    if (1..FEW_SAMPLES).contains(&recording.moments.len()) {
        remarks.push(format!(
            "only {}: what was recorded may not be what is usual; ten minutes are better",
            unit::counted(recording.moments.len() as u64, "sample")
        ));
    }
    Diagnosis {
        schema: DIAGNOSIS_SCHEMA.to_owned(),
        answer,
        limiter,
        evidence,
        settle,
        host: recording
            .host
            .name
            .clone()
            .unwrap_or_else(|| "unknown host".to_owned()),
        sources: vec![recording.source.clone()],
        seconds: recording.moments.iter().filter_map(|m| m.seconds).sum(),
        samples: u32::try_from(recording.moments.len()).unwrap_or(u32::MAX),
        cpu: facts.cpu,
        ceiling: facts.ceiling,
        calibration: None,
        causal: None,
        remarks,
        disks,
    }
}

/// A share in percent, also a small one.
fn percent(share: f64) -> String {
    match 100.0 * share {
        percent if percent < 1.0 => format!("{percent:.1}"),
        percent => format!("{percent:.0}"),
    }
}

/// Share of the time in which work waited for I/O: by pressure stall where it
/// was recorded, by idle CPU time with a waiting task else.
fn waited(recording: &Recording) -> Option<(f64, &'static str)> {
    let stalled = load::series(recording, |m| m.io_pressure_some).mean();
    let iowait = load::series(recording, |m| Some(m.cpu?.iowait)).mean();
    match (stalled, iowait) {
        (Some(stalled), _) => Some((stalled, "some task was stalled on I/O")),
        (None, Some(iowait)) => Some((iowait, "CPUs idled while a task waited for I/O")),
        (None, None) => None,
    }
}

type Decision = (Answer, Shortage, Vec<String>, Vec<String>);

impl Facts<'_> {
    fn decide(&self) -> Decision {
        if self.recording.moments.is_empty() {
            return not_proven(vec!["nothing was recorded".to_owned()], vec![]);
        }
        let elsewhere = self.elsewhere();
        if let Some(full) = self.disk_is_full() {
            return match elsewhere {
                // What fills the disk are pages of the memory that is short.
                Some((Shortage::Memory, lines)) if memory::fills(self.recording, self.disk) => {
                    (Answer::No, Shortage::Memory, lines, vec![])
                }
                // Both are short: the disk is not proved to be what matters.
                Some((_, mut lines)) => {
                    let mut evidence = full.1;
                    evidence.append(&mut lines);
                    let advice = "remove the other shortage first, then record again";
                    not_proven(evidence, vec![advice.to_owned()])
                }
                None if self.work_waited() => (Answer::Yes, full.0, full.1, vec![]),
                None => not_proven(full.1, vec![self.whether_work_waits().to_owned()]),
            };
        }
        if let Some((shortage, mut evidence)) = elsewhere {
            evidence.extend(self.room().or_else(|| self.little()));
            return (Answer::No, shortage, evidence, vec![]);
        }
        if let Some((evidence, settle)) = network_mounts::waits(self.recording, self.disk) {
            return not_proven(evidence, settle);
        }
        if let Some(mut evidence) = self.one_by_one() {
            evidence.extend(self.cpu_line());
            return (Answer::No, Shortage::OneByOne, evidence, vec![]);
        }
        let alike = || self.alike.clone();
        if let Some(line) = self.room().or_else(alike).or_else(|| self.little()) {
            let lock = held_back::by_locks(self.recording);
            let shortage = match lock {
                Some(_) => Shortage::Lock,
                None => Shortage::Nothing,
            };
            let evidence = lock.into_iter().chain([line]).chain(self.cpu_line());
            return (Answer::No, shortage, evidence.collect(), vec![]);
        }
        let mut evidence: Vec<String> = self.disk_line().into_iter().collect();
        evidence.extend(self.cpu_line());
        not_proven(evidence, self.what_would_settle())
    }

    fn work_waited(&self) -> bool {
        self.waited.is_some_and(|(share, _)| share >= IO_WAIT)
            || load::series(self.recording, |m| m.blocked).share_from(1.0) >= LASTING
    }

    /// What to record where a device was at its end and no work is known to
    /// have waited for it.
    fn whether_work_waits(&self) -> &'static str {
        match self.waited {
            Some(_) => "a recording while the work is slow: hardly any waited for I/O in this one",
            None => "pressure stall or CPU shares beside it: whether any work waited is not known",
        }
    }

    /// The device at its end, with what shows it.
    fn disk_is_full(&self) -> Option<(Shortage, Vec<String>)> {
        let disk = self.disk?;
        let mut evidence = Vec::new();
        let mut shortage = None;
        let limited = held_back::by_a_limit(self.recording);
        if let Some((_, line)) = limited.filter(|(share, _)| *share >= LASTING) {
            shortage = Some(Shortage::VolumeCap);
            evidence.push(line);
        }
        if let Some(used) = self.ceiling.as_ref().filter(|used| used.comparable)
            && used.time_at_ceiling >= LASTING
        {
            shortage = shortage.or(Some(Shortage::Disk));
            evidence.push(format!(
                "{}: at 90 % of its ceiling of {} and above for {:.0} % of the time ({})",
                disk.name,
                per_second(used.operations),
                100.0 * used.time_at_ceiling,
                used.source
            ));
        }
        if let Some(plateau) = self.plateau.filter(|p| p.time_share >= LASTING) {
            shortage = Some(if plateau.held {
                Shortage::VolumeCap
            } else {
                Shortage::Disk
            });
            let held = if plateau.held {
                ", so evenly that somebody holds it there"
            } else {
                ""
            };
            evidence.push(format!(
                "{}: longer queues (up to {:.1} on average) bring no more than {}{held}",
                disk.name,
                plateau.queue,
                per_second(plateau.operations)
            ));
            evidence.push(format!(
                "{}: an operation then takes {} ms, {:.1} times as long as on the quiet device",
                disk.name,
                three(plateau.wait_ms),
                plateau.inflation
            ));
        }
        if let Some((share, words)) = self.waited {
            evidence.push(format!("{words} for {:.0} % of the time", 100.0 * share));
        }
        shortage.map(|shortage| (shortage, evidence))
    }

    /// What else is short.
    fn elsewhere(&self) -> Option<(Shortage, Vec<String>)> {
        let recording = self.recording;
        if let Some(line) = memory::is_short(recording) {
            return Some((Shortage::Memory, vec![line]));
        }
        if let Some(cpu) = self.cpu {
            if let Some(steal) = cpu.steal.filter(|steal| *steal >= STEAL) {
                let line = format!(
                    "the hypervisor gave {:.0} % of the CPU time to others",
                    100.0 * steal
                );
                return Some((Shortage::Hypervisor, vec![line]));
            }
            if let Some(line) = self.cpu_is_short(cpu) {
                return Some((Shortage::CpuQueue, vec![line]));
            }
        }
        if let Some(line) = who::interrupts(recording) {
            return Some((Shortage::CpuQueue, vec![line]));
        }
        let network = load::series(recording, |m| m.network_use);
        if network.share_from(NETWORK_FULL) >= LASTING {
            let line = "a network interface was at 90 % of its rated speed and above".to_owned();
            return Some((Shortage::Network, vec![line]));
        }
        full_path::full(recording).map(|line| (Shortage::Network, vec![line]))
    }

    /// Load averages count tasks that wait for I/O as well, so that they prove a
    /// queue for CPUs only where hardly any do.
    fn cpu_is_short(&self, cpu: CpuLoad) -> Option<String> {
        let waits = self.waited.is_none_or(|(share, _)| share < IO_WAIT);
        let busy = load::series(self.recording, |m| Some(m.cpu?.busy())).share_from(CPU_BUSY);
        let of_cpus = match cpu.cpus {
            Some(cpus) => format!("{cpus} CPUs"),
            None => "the CPUs".to_owned(),
        };
        if let Some(tasks) = cpu.runnable_per_cpu.filter(|tasks| *tasks >= CPU_QUEUE) {
            let busy = cpu.busy.map(|busy| format!(", {:.0} % busy", 100.0 * busy));
            return Some(format!(
                "CPUs are short: {tasks:.1} runnable tasks for each of {of_cpus}{}",
                busy.unwrap_or_default()
            ));
        }
        // The average of a minute also holds what ended before the recording.
        let load = cpu.load_per_cpu.filter(|_| cpu.runnable_per_cpu.is_none());
        if let Some(load) = load.filter(|load| *load >= CPU_QUEUE && waits) {
            return Some(format!(
                "CPUs are short: a load average of {load:.1} for each of {of_cpus}; above 1, tasks wait \
                 for a CPU"
            ));
        }
        (busy >= 0.5 && waits).then(|| {
            format!(
                "CPUs are short: {of_cpus} were at 90 % and above for {:.0} % of the time",
                100.0 * busy
            )
        })
    }

    /// The volume has room, as its ceiling shows.
    fn room(&self) -> Option<String> {
        let (disk, used) = (self.disk?, self.ceiling.as_ref()?);
        let slow = self.slower_than_test.is_some_and(|ratio| ratio > 3.0);
        (used.comparable && used.peak_share <= ROOM && !slow).then(|| {
            format!(
                "{}: peaks at {} of {} ({} %; {}), {:.0} reads and {:.0} writes per second at most",
                disk.name,
                unit::count(disk.operations_peak),
                per_second(used.operations),
                percent(used.peak_share),
                used.source,
                disk.reads_peak,
                disk.writes_peak,
            )
        })
    }

    /// The devices are hardly used.
    fn little(&self) -> Option<String> {
        let Some(disk) = self.disk else {
            let recorded = self.recording.moments.iter().any(|m| !m.disks.is_empty());
            return recorded.then(|| "no device did anything".to_owned());
        };
        let waited = self.waited.map(|(share, _)| share);
        let below = |queue: f64, wait: f64| {
            let waits = waited.is_some_and(|share| share >= wait);
            self.queue_p95.is_some_and(|p95| p95 < queue) && !waits
        };
        (below(QUIET_QUEUE, IO_WAIT) || waited.is_some() && below(HALF, HALF)).then(|| {
            format!(
                "{}: {} operations in flight 95 % of the time or fewer, {} at most",
                disk.name,
                three(self.queue_p95.unwrap_or(0.0)),
                per_second(disk.operations_peak)
            )
        })
    }

    /// About one operation in flight, hardly ever more: whoever asks waits for
    /// each before the next, and the device could do more at once.
    fn one_by_one(&self) -> Option<Vec<String>> {
        let disk = self.disk?;
        let full = self
            .ceiling
            .as_ref()
            .is_some_and(|used| used.time_at_ceiling > 0.0);
        let least = self.alike.as_ref().map_or(USED_QUEUE, |_| ALWAYS_ONE);
        let usual = self.queue_median.is_some_and(|queue| queue >= least);
        let never = self.queue_p95.is_some_and(|queue| queue <= ONE_IN_FLIGHT);
        (usual && never && !full).then(|| {
            vec![
                format!(
                    "{}: about one operation in flight, {} or fewer 95 % of the time: each waits for the \
                     one before",
                    disk.name,
                    three(self.queue_p95.unwrap_or(0.0))
                ),
                format!(
                    "each takes {} ms: shorter times or more operations at once would help, a device with \
                     more operations per second would not",
                    three(disk.wait_ms.unwrap_or(0.0))
                ),
            ]
        })
    }

    fn disk_line(&self) -> Option<String> {
        let disk = self.disk?;
        let wait = disk
            .wait_ms
            .map_or(String::new(), |ms| format!(", {} ms each", three(ms)));
        let queue = disk
            .queue
            .map_or(String::new(), |q| format!(", {q:.2} in flight"));
        Some(format!(
            "{}: {} on average{wait}{queue}",
            disk.name,
            per_second(disk.operations)
        ))
    }

    fn cpu_line(&self) -> Option<String> {
        let (busy, iowait) = self.cpu.and_then(|cpu| cpu.busy.zip(cpu.iowait))?;
        Some(format!(
            "CPUs {:.0} % busy, {:.0} % waiting for I/O",
            100.0 * busy,
            100.0 * iowait
        ))
    }

    fn what_would_settle(&self) -> Vec<String> {
        let mut settle = Vec::new();
        match &self.ceiling {
            None => settle.push(
                "what the volume can give: --calibrate measures it on the host; or a second recording \
                 under a test load, --ceiling-iops LIMIT, --ceiling with a measurement by `fathom io`"
                    .to_owned(),
            ),
            Some(used) if !used.comparable => settle.push(
                "a test load with blocks and a mix like the load's own: this one's blocks differ \
                 by more than four times, or its share of reads by more than 30 %"
                    .to_owned(),
            ),
            Some(_) => {}
        }
        if self.recording.moments.len() < 30 {
            settle.push(
                "a longer recording: at least ten minutes, under the load that is slow".to_owned(),
            );
        }
        if self
            .recording
            .moments
            .iter()
            .all(|m| m.io_pressure_some.is_none())
        {
            settle.push("pressure stall beside it (sar -A with sysstat 12.3 or newer)".to_owned());
        }
        settle
    }
}

fn not_proven(evidence: Vec<String>, settle: Vec<String>) -> Decision {
    (Answer::NotProven, Shortage::Unknown, evidence, settle)
}

/// `240 operations/s`.
fn per_second(operations: f64) -> String {
    format!("{} operations/s", unit::count(operations))
}

/// Three digits.
fn three(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "other_shortages_tests.rs"]
mod other_shortages_tests;
