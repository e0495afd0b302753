//! A device that hangs, and what a NO needs: the less was seen, the weaker the
//! answer.

use fathom_model::diagnosis::{Answer, Shortage};
use fathom_rules::diagnosis;

use super::words::LONGER;
use super::{Decision, Facts, IO_WAIT, LASTING, not_proven, per_second};
use crate::hung_device::Hang;
use crate::little;
use crate::load;
use crate::plateau;
use crate::silent_mounts;
use crate::slow_operations;
use crate::standstills;
use crate::stuck_tasks;
use crate::unseen_stall;

/// More devices are not named.
const MOST_NAMED: usize = 2;

impl Facts<'_> {
    /// The decision, after what forbids good news.
    pub(super) fn weighed(&self) -> Decision {
        let held = self.of_a_hang().or_else(|| self.of_standstills());
        if let Some(decision) = held.or_else(|| self.of_stuck_tasks()) {
            return decision;
        }
        let (answer, limiter, mut evidence, mut settle) = self.decide();
        let doubt = match answer {
            Answer::Yes => None,
            Answer::No => self
                .unexplained()
                .or_else(|| self.another_at_its_end(limiter))
                .or_else(|| self.contradicts_itself())
                .or_else(|| self.takes_long(limiter))
                .or_else(|| self.too_short()),
            Answer::NotProven => self.unexplained(),
        };
        let Some((line, advice)) = doubt else {
            return (answer, limiter, evidence, settle);
        };
        evidence.insert(0, line);
        settle.retain(|other| *other != advice);
        settle.insert(0, advice);
        not_proven(evidence, settle)
    }

    /// A short hang, a mount that does not answer, or tasks that wait for what no device has, with what would
    /// show more.
    fn unexplained(&self) -> Option<(String, String)> {
        if let Some(hang) = self.hangs.first() {
            let advice = "a longer recording while this lasts (`fathom diagnose --for 1m`): does the device complete \
                          anything?";
            return Some((hang.line(), advice.to_owned()));
        }
        if let Some(line) = silent_mounts::lasting(self.recording, LASTING) {
            let advice =
                "whether the work that is slow touches it; the server or process behind it";
            return Some((line, advice.to_owned()));
        }
        if let Some(stuck) = stuck_tasks::find(self.recording) {
            let advice = "what these processes wait for, on the host: `cat /proc/PID/stack`, the kernel's \
                          log (blocked for more than 120 seconds)";
            return Some((stuck.line, advice.to_owned()));
        }
        let advice = "the network mounts and tasks in state D of the host: `fathom use`, `ps -eo \
                      pid,stat,wchan:32,cmd` there; and a recording of all its devices";
        Some((unseen_stall::line(self.recording)?, advice.to_owned()))
    }

    /// A device that has operations and completes none.
    fn of_a_hang(&self) -> Option<Decision> {
        let proved = |hang: &&Hang| hang.is_proved() && (hang.lasts || hang.share >= LASTING);
        let hangs: Vec<&Hang> = self.hangs.iter().filter(proved).collect();
        let first = hangs.first()?;
        let mut evidence: Vec<String> = hangs
            .iter()
            .take(MOST_NAMED)
            .map(|hang| hang.line())
            .collect();
        if !first.worked_before && self.nobody_waits() {
            let line = "no task is counted as waiting for it, as with programs that take \
                        completions later (`fathom ping` on the host shows whether it answers)";
            evidence.push(line.to_owned());
        }
        // Programs that take completions later wait in a way that is not counted.
        evidence.extend(self.waited_line().filter(|_| self.waits() == Some(true)));
        Some((Answer::Yes, Shortage::HungDevice, evidence, vec![]))
    }

    /// A device that stands still again and again while work waits.
    fn of_standstills(&self) -> Option<Decision> {
        let line = standstills::line(self.recording).filter(|_| self.waits() != Some(false))?;
        let mut evidence = vec![line];
        evidence.extend(self.disk_line());
        evidence.extend(self.waited_line());
        Some((Answer::Yes, Shortage::HungDevice, evidence, vec![]))
    }

    /// Processes that wait for storage and are not reached any more, where no server is
    /// silent.
    fn of_stuck_tasks(&self) -> Option<Decision> {
        if silent_mounts::lasting(self.recording, LASTING).is_some() {
            return None;
        }
        let stuck = stuck_tasks::find(self.recording).filter(|stuck| stuck.is_storage)?;
        let mut evidence = vec![stuck.line];
        evidence.extend(self.disk_line());
        Some((Answer::Yes, Shortage::HungDevice, evidence, vec![]))
    }

    /// A device beside the one with the longest queue that gives no more, with what
    /// would show whether it matters. One that swapping fills is no other cause.
    fn another_at_its_end(&self, limiter: Shortage) -> Option<(String, String)> {
        let first = self.disk.filter(|_| limiter != Shortage::Memory)?;
        let all = load::by_disk(self.recording);
        let others = all.iter().filter(|(name, _)| **name != first.name);
        let full = others.filter_map(|(name, samples)| {
            let plateau = plateau::find(samples)?;
            (plateau.time_share >= LASTING).then_some((name, plateau))
        });
        let (name, plateau) = full.max_by(|a, b| a.1.queue.total_cmp(&b.1.queue))?;
        let line = format!(
            "{name}: longer queues (up to {:.1} on average) bring no more than {}, whatever {} does",
            plateau.queue,
            per_second(plateau.operations),
            first.name
        );
        let advice = format!("the same for that device alone: `fathom diagnose … --disk {name}`");
        Some((line, advice))
    }

    /// Operations that take so long that a quiet queue proves nothing.
    fn takes_long(&self, limiter: Shortage) -> Option<(String, String)> {
        let advice = "whether what is slow waits for those operations; on the host, how long they take \
                      when nothing else runs (`fathom ping`), and the device's health (`fathom alarms`)";
        let line = slow_operations::line(self.recording, limiter)?;
        Some((line, advice.to_owned()))
    }

    /// A queue that is shorter than rate and time of the operations make it.
    fn contradicts_itself(&self) -> Option<(String, String)> {
        let advice = "another recording of the devices, by another tool (`fathom record`): one of \
                      these figures is false";
        Some((little::contradiction(self.recording)?, advice.to_owned()))
    }

    /// Waiting for I/O was recorded, in whichever way, and there was none.
    fn nobody_waits(&self) -> bool {
        let recording = self.recording;
        let stalled = load::series(recording, |m| m.io_pressure_some).mean();
        let blocked = load::series(recording, |m| m.blocked).mean();
        // CPUs that are never idle show no waiting.
        let idle = self.cpu.and_then(|cpu| cpu.iowait.zip(cpu.busy));
        let iowait = idle.filter(|(_, busy)| *busy < 0.5).map(|(wait, _)| wait);
        let known = stalled.is_some() || blocked.is_some() || iowait.is_some();
        let waits = [stalled, iowait].into_iter().flatten();
        let waits = waits.fold(0.0, f64::max) >= IO_WAIT || blocked.is_some_and(|b| b >= IO_WAIT);
        known && !waits
    }

    /// Too few samples to answer NO, with what to do.
    fn too_short(&self) -> Option<(String, String)> {
        let moments = &self.recording.moments;
        let with_disks = moments.iter().filter(|m| !m.disks.is_empty()).count();
        let samples = match with_disks {
            0 => moments.len(),
            with => with,
        };
        let line = match samples {
            1 => "there is only one sample, which shows no more than a glance".to_owned(),
            _ => format!("there are only {samples} samples, which show no more than a glance"),
        };
        let advice = LONGER;
        let few = (samples as f64) < diagnosis::least_evidence::THRESHOLD;
        few.then(|| (line, advice.to_owned()))
    }
}
