//! What was seen, in words, and what would decide where that is not enough.

use fathom_model::diagnosis::{Answer, Shortage};
use fathom_model::unit;

use super::{Facts, LASTING};
use crate::ceiling::is_given;
use crate::cpu_queue;
use crate::flushes::LimitBetween;
use crate::load;

/// What more of the same would show.
pub(super) const LONGER: &str =
    "a longer recording under the load that is slow: `fathom diagnose --for 10m` on that host";

/// Operations that a limit may count or not.
pub(super) fn between(held: LimitBetween) -> String {
    format!(
        "{:.0} to {:.0} IOPS, by whether the limit counts flushes: one that moves data is in \
         progress all the time, and takes {} ms",
        held.with_data,
        held.all,
        three(held.wait_ms)
    )
}

impl Facts<'_> {
    pub(super) fn disk_line(&self) -> Option<String> {
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

    /// Why a device is at its end beside a queue that is shown as none.
    pub(super) fn unseen_queue(&self, answer: Answer, limiter: Shortage) -> Option<String> {
        let hung = self.hangs.first().map(|hang| hang.name.as_str());
        let hung = hung.filter(|_| limiter == Shortage::HungDevice);
        let disk = match hung {
            Some(name) => self.disk.filter(|disk| disk.name == name),
            None => self.disk,
        };
        let name = hung.or(disk.map(|disk| disk.name.as_str()))?;
        let queue = format!("{:.2}", disk.and_then(|disk| disk.queue).unwrap_or(0.0));
        let is_none = queue.bytes().all(|byte| matches!(byte, b'0' | b'.'));
        let given = self
            .ceiling
            .as_ref()
            .is_some_and(|used| is_given(&used.source));
        let why = match limiter {
            _ if answer != Answer::Yes || !is_none => return None,
            Shortage::HungDevice => {
                "the kernel counts an operation in the queue when it ends, and none did"
            }
            Shortage::VolumeCap if !given => {
                "what the limit holds back waits before the device, and only what is let through \
                 is in its queue"
            }
            _ => {
                "its operations end so soon that hardly one is in flight at a time; it is at its \
                 end by the ceiling that was given: is that the volume's own?"
            }
        };
        Some(format!("{name}: a queue of {queue} beside YES: {why}"))
    }

    pub(super) fn cpu_line(&self) -> Option<String> {
        let cpu = self.cpu?;
        if let Some(line) = cpu_queue::load_alone(cpu, self.waits()) {
            return Some(line);
        }
        let niced = match cpu_queue::niced(self.recording) {
            share if share >= LASTING => format!(" ({:.0} % by niced programs)", 100.0 * share),
            _ => String::new(),
        };
        let (busy, iowait) = cpu.busy.zip(cpu.iowait)?;
        Some(format!(
            "CPUs {:.0} % busy{niced}, {:.0} % waiting for I/O",
            100.0 * busy,
            100.0 * iowait
        ))
    }

    /// CPUs that never idle show no waiting, where blocked tasks do.
    pub(super) fn waited_line(&self) -> Option<String> {
        let blocked = self.blocked_line().filter(|_| self.waits() != Some(true));
        let waited = || {
            let (share, words) = self.waited?;
            Some(format!("{words} for {:.0} % of the time", 100.0 * share))
        };
        blocked.or_else(waited)
    }

    pub(super) fn blocked_line(&self) -> Option<String> {
        let blocked = load::series(self.recording, |m| m.blocked).mean();
        let tasks = blocked.filter(|tasks| *tasks >= 1.0)?;
        Some(format!(
            "{tasks:.0} tasks were blocked on average, most of them for I/O"
        ))
    }

    /// What would decide it, each with the command that gives it.
    pub(super) fn what_would_settle(&self) -> Vec<String> {
        let mut settle = Vec::new();
        if self
            .cpu
            .is_some_and(|cpu| cpu_queue::load_alone(cpu, self.waits()).is_some())
        {
            settle.push("vmstat, or top's %Cpu line, beside it: what tasks wait for".to_owned());
        }
        match &self.ceiling {
            None if self.recording.moments.iter().all(|m| m.disks.is_empty()) => settle.push(
                "the devices over the same time: `fathom record`, or iostat -x -t".to_owned(),
            ),
            None => settle.push(
                "what the volume can give: this command with --calibrate, on the host itself; or \
                 --ceiling-iops LIMIT, --ceiling with a measurement by `fathom io`, or a recording \
                 under a test load"
                    .to_owned(),
            ),
            Some(used) if used.contradicted => settle.push(
                "what this volume can give: the load did more than the ceiling allows (this \
                 command with --calibrate, on the host itself)"
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
            settle.push(LONGER.to_owned());
        }
        if self
            .recording
            .moments
            .iter()
            .all(|m| m.io_pressure_some.is_none())
        {
            settle.push(
                "pressure stall information for the same time (sar -A with sysstat 12.3 or newer)"
                    .to_owned(),
            );
        }
        settle
    }

    /// Why there is nothing to be said of what was recorded.
    pub(super) fn what_is_missing(&self) -> &'static str {
        let mut disks = self.recording.moments.iter().flat_map(|m| &m.disks);
        match disks.next() {
            Some(_) => "no device did anything, and nothing of the CPUs was recorded",
            None => "neither devices nor CPU time were recorded",
        }
    }

    /// What to record where a device was at its end and no work is known to
    /// have waited for it.
    pub(super) fn whether_work_waits(&self) -> &'static str {
        match self.waited {
            Some(_) => "a recording while the work is slow: hardly any waited for I/O in this one",
            None => "pressure stall or CPU shares beside it: whether any work waited is not known",
        }
    }
}

/// `240 IOPS`.
pub(super) fn per_second(operations: f64) -> String {
    format!("{} IOPS", unit::count(operations))
}

/// Three digits.
pub(super) fn three(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}
