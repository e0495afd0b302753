//! From figures to an answer.
//!
//! YES needs a device that is proved to be at its end, and work that waited for
//! it. NO needs room that is proved, or something else that is proved to be
//! short while the device was not at its end. All else is not proven, and then
//! it is said what would decide it. `%util` decides nothing: a device that
//! serves several operations at once has room although there is always one.

mod evidence;
mod room;
mod words;

use fathom_model::diagnosis::{
    Answer, CeilingUse, CpuLoad, DIAGNOSIS_SCHEMA, Diagnosis, DiskLoad, Shortage,
};
use fathom_model::unit;
use fathom_rules::diagnosis::cpu_stolen::THRESHOLD as STEAL;
use fathom_rules::diagnosis::network_full::THRESHOLD as NETWORK_FULL;
use fathom_rules::diagnosis::overload::THRESHOLD as LONG_MS;
use fathom_rules::diagnosis::waits_for_io::{FEW_SAMPLES, HALF, LASTING, THRESHOLD as IO_WAIT};
use fathom_rules::method::observed::PEAK_QUANTILE;

use crate::answers_alike;
use crate::asynchronous_reads;
use crate::ceiling::{Ceiling, is_given};
use crate::closed_loop::{self, ClosedLoop};
use crate::cpu_queue;
use crate::flushes::LimitBetween;
use crate::full_path;
use crate::held_back;
use crate::hung_device::{self, Hang};
use crate::load::{self, Samples};
use crate::memory;
use crate::network_mounts;
use crate::overload::{self, Overload};
use crate::plateau::{self, Plateau};
use crate::recording::{Moment, Recording};
use crate::slower_than_quiet::{self, SlowerThanQuiet};
use crate::stalled;
use crate::util_says;
use crate::who;

use words::{per_second, three};

/// All that is weighed.
struct Facts<'a> {
    recording: &'a Recording,
    cpu: Option<CpuLoad>,
    disk: Option<&'a DiskLoad>,
    plateau: Option<Plateau>,
    overload: Option<Overload>,
    closed_loop: Option<ClosedLoop>,
    slower_than_quiet: Option<SlowerThanQuiet>,
    /// That the device answers as fast at higher rates, in words.
    alike: Option<String>,
    ceiling: Option<CeilingUse>,
    /// What a given limit holds, where that depends on whether it counts flushes.
    limit_between: Option<LimitBetween>,
    /// Some sample is at the ceiling with all operations that the kernel counts.
    may_reach_ceiling: bool,
    /// Wait of the load over that of the test.
    slower_than_test: Option<f64>,
    /// Share of the time in which work waited for I/O, with its name.
    waited: Option<(f64, &'static str)>,
    /// The value that the queue of the device is below for 95 % of the time.
    queue_p95: Option<f64>,
    queue_median: Option<f64>,
    /// Devices that completed nothing of what they had, the gravest first.
    hangs: Vec<Hang>,
}

/// The answer for a recording.
///
/// `ceiling` gives, for a device's name, what its volume can give.
pub fn diagnose(recording: &Recording, ceiling: impl Fn(&str) -> Option<Ceiling>) -> Diagnosis {
    let disks = load::disks(recording);
    let samples = load::by_disk(recording);
    let disk = overload::worst(recording, &disks, &samples).or(disks.first());
    let known = disk.and_then(|d| ceiling(&d.name));
    let of_disk = disk.and_then(|d| samples.get(d.name.as_str()));
    let facts = Facts::of(recording, disk, of_disk, known.as_ref());
    let (answer, limiter, mut evidence, settle) = facts.weighed();
    who::name(recording, answer, limiter, &mut evidence);
    let mut remarks = recording.remarks.clone();
    remarks.extend(crate::silent_mounts::remarks(recording));
    remarks.extend(util_says::contradictions(&disks, &facts.hangs));
    remarks.extend(facts.unseen_queue(answer, limiter));
    if let (Some(ceiling), Some(disk), Some(samples)) = (&known, disk, of_disk) {
        remarks.extend(ceiling.doubt(disk, samples));
    }
    remarks.extend(held_back::contradicted_limits(recording));
    let little_room = |cpu| cpu_queue::little_room(cpu, limiter, &evidence);
    remarks.extend(facts.cpu.and_then(little_room));
    if (1..FEW_SAMPLES).contains(&recording.moments.len()) {
        remarks.push(format!(
            "only {}, which may not be typical: record ten minutes",
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
        // The sum of no number at all is -0.
        seconds: 0.0
            + recording
                .moments
                .iter()
                .filter_map(|m| m.seconds)
                .sum::<f64>(),
        samples: u32::try_from(recording.moments.len()).unwrap_or(u32::MAX),
        cpu: facts.cpu,
        ceiling: facts.ceiling,
        calibration: None,
        causal: None,
        remarks,
        disks,
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

impl<'a> Facts<'a> {
    /// Those of a recording, whose busiest device is `disk` with these samples and
    /// this ceiling.
    fn of(
        recording: &'a Recording,
        disk: Option<&'a DiskLoad>,
        samples: Option<&Samples<'_>>,
        ceiling: Option<&Ceiling>,
    ) -> Facts<'a> {
        let both = disk.zip(samples);
        let limited = ceiling.zip(samples);
        let queue = |m: &Moment| {
            let name = &disk?.name;
            m.disks.iter().find(|d| d.name == *name)?.in_flight()
        };
        let queues = load::series(recording, queue);
        Facts {
            recording,
            cpu: load::cpu(recording),
            disk,
            plateau: samples.and_then(plateau::find),
            overload: both
                .and_then(|(disk, samples)| overload::find(recording, &disk.name, samples)),
            closed_loop: disk.and_then(|disk| closed_loop::find(recording, &disk.name)),
            slower_than_quiet: disk.and_then(|disk| slower_than_quiet::find(recording, &disk.name)),
            alike: both.and_then(|(disk, samples)| answers_alike::line(&disk.name, samples)),
            slower_than_test: ceiling
                .and_then(|c| Some(disk?.wait_ms? / c.wait_ms.filter(|ms| *ms > 0.0)?)),
            ceiling: ceiling
                .zip(both)
                .map(|(ceiling, (disk, samples))| ceiling.used(disk, samples)),
            limit_between: limited.and_then(|(ceiling, samples)| ceiling.between(samples)),
            may_reach_ceiling: limited
                .is_some_and(|(ceiling, samples)| ceiling.may_be_reached(samples)),
            waited: waited(recording),
            queue_p95: queues.quantile(PEAK_QUANTILE),
            queue_median: queues.quantile(0.5),
            hangs: hung_device::find(recording),
        }
    }

    fn decide(&self) -> Decision {
        if self.recording.moments.is_empty() {
            return not_proven(vec!["nothing was recorded".to_owned()], vec![]);
        }
        let elsewhere = self.elsewhere();
        if let Some(full) = self.disk_is_full() {
            return self.of_a_full_disk(full, elsewhere);
        }
        if let Some((shortage, evidence)) = elsewhere {
            return self.of_another_shortage(shortage, evidence);
        }
        if let Some((evidence, settle)) = network_mounts::waits(self.recording, self.disk) {
            return not_proven(evidence, settle);
        }
        if let Some(line) = self.slow_flushes() {
            let evidence = [Some(line), self.disk_line(), self.cpu_line()];
            let evidence = evidence.into_iter().flatten().collect();
            return (Answer::Yes, Shortage::OneByOne, evidence, vec![]);
        }
        if let Some(mut evidence) = self.one_by_one() {
            evidence.extend(self.cpu_line());
            return (Answer::No, Shortage::OneByOne, evidence, vec![]);
        }
        if let Some(line) = self.room_in_words() {
            let lock = held_back::by_locks(self.recording);
            let quota = held_back::by_a_quota(self.recording);
            let (shortage, held) = match (lock, quota) {
                (Some(lock), _) => (Shortage::Lock, Some(lock)),
                (None, Some(quota)) => (Shortage::CpuQueue, Some(quota)),
                (None, None) => (Shortage::Nothing, None),
            };
            let evidence = held.into_iter().chain([line]).chain(self.cpu_line());
            return (Answer::No, shortage, evidence.collect(), vec![]);
        }
        let mut evidence: Vec<String> = self.disk_line().into_iter().collect();
        evidence.extend(held_back::by_a_quota(self.recording));
        evidence.extend(self.cpu_line());
        if evidence.is_empty() {
            evidence.push(self.what_is_missing().to_owned());
        }
        not_proven(evidence, self.what_would_settle())
    }

    /// Something is short, and no device is proved to be at its end.
    fn of_another_shortage(&self, shortage: Shortage, mut evidence: Vec<String>) -> Decision {
        if shortage == Shortage::Memory && memory::fills(self.recording, self.disk) {
            return (Answer::No, shortage, evidence, vec![]);
        }
        if let Some(line) = self.not_at_its_end(shortage) {
            evidence.push(line);
            return (Answer::No, shortage, evidence, vec![]);
        }
        evidence.extend(self.disk_line());
        evidence.extend(self.blocked_line());
        not_proven(evidence, self.what_would_settle())
    }

    /// A device is proved to be at its end: is it what matters?
    fn of_a_full_disk(
        &self,
        (shortage, mut evidence): (Shortage, Vec<String>),
        elsewhere: Option<(Shortage, Vec<String>)>,
    ) -> Decision {
        match (elsewhere, self.room()) {
            // What fills the disk are pages of the memory that is short.
            (Some((Shortage::Memory, lines)), _) if memory::fills(self.recording, self.disk) => {
                (Answer::No, Shortage::Memory, lines, vec![])
            }
            // Both are short: the disk is not proved to be what matters.
            (Some((_, lines)), _) => {
                evidence.truncate(2);
                evidence.extend(lines);
                let advice = "remove the other shortage first, then record again";
                not_proven(evidence, vec![advice.to_owned()])
            }
            (None, Some(room)) if self.only_its_plateau() => {
                evidence.truncate(1);
                evidence.push(room);
                let advice = "what the volume gives to this load now (--calibrate): it cannot have room and \
                              be at its end; another limit (bytes per second), another volume or a \
                              neighbour may hold it";
                not_proven(evidence, vec![advice.to_owned()])
            }
            (None, _) if self.work_waited() => (Answer::Yes, shortage, evidence, vec![]),
            (None, _) => not_proven(evidence, vec![self.whether_work_waits().to_owned()]),
        }
    }

    /// Nothing but the samples shows that the device is at its end: neither a
    /// limit nor a ceiling.
    fn only_its_plateau(&self) -> bool {
        let limited = held_back::by_a_limit(self.recording);
        limited.is_none_or(|(share, _)| share < LASTING) && !self.is_at_its_ceiling()
    }

    fn is_at_its_ceiling(&self) -> bool {
        let used = self.ceiling.as_ref().filter(|used| used.comparable);
        used.is_some_and(|used| used.time_at_ceiling >= LASTING)
    }

    fn reads_queue_at_its_ceiling(&self) -> bool {
        let disk = self.disk.filter(|_| self.is_at_its_ceiling());
        disk.is_some_and(|disk| asynchronous_reads::queue_at(self.recording, &disk.name))
    }

    /// Whether work waits for I/O, where that is known.
    fn waits(&self) -> Option<bool> {
        self.waited.map(|(share, _)| share >= IO_WAIT)
    }

    fn work_waited(&self) -> bool {
        let plateau = self.plateau.filter(|_| self.only_its_plateau());
        if let Some(stalled) = plateau.and_then(|plateau| self.stalled_at(plateau)) {
            return stalled >= HALF;
        }
        // Where it is overloaded or in a closed loop, that is part of the proof.
        self.overload.is_some()
            || self.closed_loop.is_some()
            || self.slower_than_quiet.is_some()
            || held_back::fills_a_limit(self.recording)
            || self.reads_queue_at_its_ceiling()
            || self.waited.is_some_and(|(share, _)| share >= IO_WAIT)
            || load::series(self.recording, |m| m.blocked).share_from(1.0) >= LASTING
    }

    /// Share of the time at its plateau in which some task was stalled, where
    /// that was recorded. Work that waits for a full device does so all the time.
    fn stalled_at(&self, plateau: Plateau) -> Option<f64> {
        let name = &self.disk?.name;
        let stalled = load::series(self.recording, |m| {
            let disk = m.disks.iter().find(|disk| disk.name == *name)?;
            let stalled = m.io_pressure_some?;
            let reads = stalled::by_reads(m, disk).unwrap_or(0.0);
            plateau.holds(disk).then_some(stalled.max(reads))
        });
        stalled.mean()
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
        if let Some(used) = self.ceiling.as_ref().filter(|_| self.is_at_its_ceiling()) {
            // A volume at the limit that it was sold with is held there.
            let held = match is_given(&used.source) {
                true => Shortage::VolumeCap,
                false => Shortage::Disk,
            };
            shortage = shortage.or(Some(held));
            evidence.push(format!(
                "{}: at 90 % of its ceiling of {} and above for {:.0} % of the time ({})",
                disk.name,
                per_second(used.operations),
                100.0 * used.time_at_ceiling,
                used.source
            ));
            evidence.extend(self.limit_between.map(words::between));
        }
        let by_itself = self.at_its_plateau(disk).or_else(|| self.overloaded(disk));
        let by_itself = by_itself
            .or_else(|| self.in_a_closed_loop(disk))
            .or_else(|| self.slower_than_when_quiet(disk));
        if let Some((found, lines)) = by_itself {
            let is_named = shortage == Some(Shortage::VolumeCap) && found == Shortage::Disk;
            shortage = if is_named { shortage } else { Some(found) };
            evidence.extend(lines);
        }
        // One task that keeps a queue is not counted among those that are stalled.
        let counted = self.closed_loop.is_none() || self.waits() == Some(true);
        match self.reads_queue_at_its_ceiling() && self.waits() != Some(true) {
            true => evidence.push(
                "reads queue there all the time; no task is counted as waiting, as is usual with \
                 asynchronous I/O"
                    .to_owned(),
            ),
            false => evidence.extend(self.waited_line().filter(|_| counted)),
        }
        shortage.map(|shortage| (shortage, evidence))
    }

    /// Longer queues bring no more.
    fn at_its_plateau(&self, disk: &DiskLoad) -> Option<(Shortage, Vec<String>)> {
        let plateau = self.plateau.filter(|p| p.time_share >= LASTING)?;
        let (shortage, held) = held_or_not(plateau.held);
        let lines = vec![
            format!(
                "{}: longer queues (up to {:.1} on average) bring no more than {}{held}",
                disk.name,
                plateau.queue,
                per_second(plateau.operations)
            ),
            format!(
                "{}: an operation then takes {} ms, {:.1} times as long as on the quiet device",
                disk.name,
                three(plateau.wait_ms),
                plateau.inflation
            ),
        ];
        Some((shortage, lines))
    }

    /// More is in flight than it can do, all the time.
    fn overloaded(&self, disk: &DiskLoad) -> Option<(Shortage, Vec<String>)> {
        let overload = self.overload?;
        let (shortage, held) = held_or_not(overload.held);
        let line = format!(
            "{}: {:.1} operations in flight all the time, and each takes {} ms: it gives {}{held}, and \
             whatever has room needs less than {LONG_MS:.0} ms",
            disk.name,
            overload.queue,
            three(overload.wait_ms),
            per_second(overload.operations)
        );
        let waited = format!(
            "work waited for I/O for {:.0} % of that time",
            100.0 * overload.stalled
        );
        Some((shortage, vec![line, waited]))
    }

    /// A fixed number of workers waits for it all the time.
    fn in_a_closed_loop(&self, disk: &DiskLoad) -> Option<(Shortage, Vec<String>)> {
        let found = self.closed_loop?;
        let (shortage, held) = held_or_not(found.held);
        let line = format!(
            "{}: {:.1} operations are in flight all the time, and each takes {} ms: it completes {}{held}, and \
             what waits for one sends the next at once",
            disk.name,
            found.queue,
            three(found.wait_ms),
            per_second(found.operations)
        );
        Some((shortage, vec![line]))
    }

    /// Operations in flight wait for one another, held against its own quiet part.
    fn slower_than_when_quiet(&self, disk: &DiskLoad) -> Option<(Shortage, Vec<String>)> {
        let found = self.slower_than_quiet?;
        let (shortage, held) = held_or_not(found.held);
        let line = format!(
            "{}: {:.1} operations are in flight, and each takes {} ms in place of {} ms on the quiet \
             device: it completes {}{held}",
            disk.name,
            found.queue,
            three(found.wait_ms),
            three(found.quiet_ms),
            per_second(found.operations)
        );
        Some((shortage, vec![line]))
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
            if let Some(line) = cpu_queue::is_short(recording, cpu, self.waits()) {
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
}

/// Who sets the end of a device, and the words for it.
fn held_or_not(held: bool) -> (Shortage, &'static str) {
    match held {
        true => (
            Shortage::VolumeCap,
            ", so evenly that somebody holds it there",
        ),
        false => (Shortage::Disk, ""),
    }
}

fn not_proven(evidence: Vec<String>, settle: Vec<String>) -> Decision {
    (Answer::NotProven, Shortage::Unknown, evidence, settle)
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "other_shortages_tests.rs"]
mod other_shortages_tests;

#[cfg(test)]
#[path = "known_truth_tests.rs"]
mod known_truth_tests;
