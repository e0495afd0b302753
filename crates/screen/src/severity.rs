//! How grave it is what a device does, by the rules and numbers of the verdict.
//!
//! A device is critical where the verdict is YES and names it, and a warning where
//! a rule of the diagnosis is reached. It is fine only where the verdict is NO: no
//! evidence is not good news.

use fathom_diagnose::is_stuck;
use fathom_diagnose::recording::DiskMoment;
use fathom_model::diagnosis::{Answer, Diagnosis};
use fathom_rules::diagnosis::cpu_stolen::THRESHOLD as STOLEN;
use fathom_rules::diagnosis::hung_device::LEAST_SAMPLES;
use fathom_rules::diagnosis::plateau::{
    LEAST_MOMENTS, LEAST_QUEUE, QUIET_QUANTILE, THRESHOLD as INFLATION,
};
use fathom_rules::diagnosis::slow_device::{FEW_PER_SECOND, THRESHOLD as SLOW_MS};
use fathom_rules::diagnosis::slow_flush::{SHARE_OF_TIME, THRESHOLD as SLOW_FLUSH_MS};
use fathom_rules::diagnosis::waits_for_io::THRESHOLD as IO_WAIT;
use fathom_stats::quantile::nearest_rank;
use ratatui::style::{Color, Modifier, Style};

use crate::history::Seen;

/// Readings among which the quiet ones are looked for.
const QUIET_READINGS: usize = 300;

/// From good to bad.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// It did nothing.
    #[default]
    Idle,
    /// It did something, and no rule says how good that is.
    NotJudged,
    /// The verdict is that there is room.
    Fine,
    /// A rule is reached.
    Warning,
    /// The verdict is that this is the bottleneck.
    Critical,
}

impl Severity {
    /// For machines.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Severity::Idle => "idle",
            Severity::NotJudged => "not_judged",
            Severity::Fine => "ok",
            Severity::Warning => "warning",
            Severity::Critical => "critical",
        }
    }

    /// In front of a name: colours alone are not for everybody.
    pub(crate) fn mark(self) -> char {
        match self {
            Severity::Warning => '*',
            Severity::Critical => '!',
            _ => ' ',
        }
    }

    /// Green, yellow or red; without colours bold letters.
    pub(crate) fn style(self, colored: bool) -> Style {
        let style = Style::new();
        match (self, colored) {
            (Severity::Critical, true) => style.fg(Color::Red).add_modifier(Modifier::BOLD),
            (Severity::Warning, true) => style.fg(Color::Yellow),
            (Severity::Fine, true) => style.fg(Color::Green),
            (Severity::Critical | Severity::Warning, false) => style.add_modifier(Modifier::BOLD),
            _ => style,
        }
    }
}

/// How grave the verdict is.
pub(crate) fn of_answer(answer: Answer) -> Severity {
    match answer {
        Answer::Yes => Severity::Critical,
        Answer::NotProven => Severity::Warning,
        Answer::No => Severity::Fine,
    }
}

/// How grave the mean time of a read or write is, in milliseconds.
pub(crate) fn of_wait(wait_ms: f64) -> Severity {
    match wait_ms {
        ms if ms >= SLOW_MS => Severity::Warning,
        _ => Severity::NotJudged,
    }
}

/// How grave a share of the time is in which work waited for I/O.
pub(crate) fn of_waiting(share: f64) -> Severity {
    match share {
        share if share >= IO_WAIT => Severity::Warning,
        _ => Severity::NotJudged,
    }
}

/// How grave a share of the CPU time is that the hypervisor gave to others.
pub(crate) fn of_stolen(share: f64) -> Severity {
    match share {
        share if share >= STOLEN => Severity::Warning,
        _ => Severity::NotJudged,
    }
}

/// How grave it is what a device did in the time of the verdict.
pub(crate) fn of_device(seen: &Seen<'_>, disk: &DiskMoment) -> Severity {
    of_device_and_why(seen, disk).0
}

/// The same, and why, in words that follow the name of the device.
pub(crate) fn of_device_and_why(seen: &Seen<'_>, disk: &DiskMoment) -> (Severity, String) {
    let found = &seen.found;
    let say = |severity, why: &str| (severity, why.to_owned());
    if found.answer == Answer::Yes && names(found, &disk.name) {
        return say(Severity::Critical, "named by the verdict");
    }
    let load = seen.load(&disk.name);
    if hangs(seen, disk) {
        return say(Severity::Warning, "has operations and completes none");
    }
    if load.is_none() && disk.completions() == 0.0 {
        return say(Severity::Idle, "idle");
    }
    let wait = load.and_then(|load| load.wait_ms.filter(|_| load.operations >= FEW_PER_SECOND));
    let has_room = found.answer == Answer::No;
    if wait.is_some_and(|ms| ms >= SLOW_MS) {
        let why = format!("an operation takes {SLOW_MS} ms or more");
        return (Severity::Warning, why);
    }
    if has_slow_flushes(disk) {
        let why = format!("a flush takes {SLOW_FLUSH_MS} ms or more");
        return (Severity::Warning, why);
    }
    match (has_room, queues(seen, disk)) {
        (true, _) => say(Severity::Fine, "not the bottleneck"),
        (false, true) => {
            let why = format!("operations queue and take {INFLATION} times as long or more");
            (Severity::Warning, why)
        }
        (false, false) => say(Severity::NotJudged, "in use"),
    }
}

/// Whether the evidence names a device: `sda` and not `sda1`.
fn names(found: &Diagnosis, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '!' | '/');
    let mut words = found.evidence.iter().flat_map(|line| {
        let subject = line.split(": ").next().unwrap_or(line);
        subject.split(|c| !is_part(c))
    });
    words.any(|word| word == name)
}

fn has_slow_flushes(disk: &DiskMoment) -> bool {
    let [flush, _] = disk.others();
    flush.wait_ms.is_some_and(|ms| ms >= SLOW_FLUSH_MS) && flush.in_flight() >= SHARE_OF_TIME
}

/// In the last readings it had operations and completed none.
fn hangs(seen: &Seen<'_>, disk: &DiskMoment) -> bool {
    let last = seen.latest(&disk.name, LEAST_SAMPLES);
    last.len() == LEAST_SAMPLES && last.iter().all(|disk| is_stuck(disk))
}

/// Operations queue, and each takes several times as long as on the quiet device.
fn queues(seen: &Seen<'_>, disk: &DiskMoment) -> bool {
    let load = seen.load(&disk.name);
    let load = load.filter(|load| load.queue.is_some_and(|queue| queue >= LEAST_QUEUE));
    let Some(wait) = load.and_then(|load| load.wait_ms) else {
        return false;
    };
    let readings = seen.latest(&disk.name, QUIET_READINGS);
    let busy = readings
        .iter()
        .filter(|disk| disk.operations() >= FEW_PER_SECOND);
    let waits: Vec<f64> = busy.filter_map(|disk| disk.mean_wait_ms()).collect();
    let quiet = nearest_rank(&waits, QUIET_QUANTILE).filter(|ms| *ms > 0.0);
    waits.len() >= LEAST_MOMENTS && quiet.is_some_and(|ms| wait >= INFLATION * ms)
}

#[cfg(test)]
mod tests {
    use fathom_diagnose::recording::{CpuShares, Moment, RecordedHost};

    use super::*;
    use crate::history::History;

    fn disk(reads: f64, wait_ms: f64) -> DiskMoment {
        DiskMoment {
            name: "sda".to_owned(),
            reads,
            read_wait_ms: Some(wait_ms),
            write_wait_ms: Some(0.0),
            queue: Some(reads * wait_ms / 1000.0),
            outstanding: Some((reads * wait_ms / 1000.0).round()),
            ..DiskMoment::default()
        }
    }

    /// What is said of the disk after these readings, with the answer of the verdict.
    fn said(disks: impl IntoIterator<Item = DiskMoment>) -> (Answer, Severity, String) {
        let mut history = History::new(RecordedHost::default());
        for disk in disks {
            history.push(Moment {
                seconds: Some(1.0),
                cpu: Some(CpuShares {
                    idle: 0.9,
                    user: 0.1,
                    ..CpuShares::default()
                }),
                io_pressure_some: Some(0.0),
                disks: vec![disk],
                ..Moment::default()
            });
        }
        let seen = history.live().unwrap();
        let (severity, why) = of_device_and_why(&seen, &seen.moment.disks[0]);
        (seen.found.answer, severity, why)
    }

    #[test]
    fn only_proved_room_is_fine() {
        let (answer, severity, _) = said((0..12).map(|_| disk(20.0, 0.2)));
        assert_eq!((answer, severity), (Answer::No, Severity::Fine));
        // Too little was seen.
        let (answer, severity, _) = said([disk(20.0, 0.2)]);
        assert_eq!((answer, severity), (Answer::NotProven, Severity::NotJudged));
        let (_, severity, why) = said((0..12).map(|_| disk(0.0, 0.0)));
        assert_eq!((severity, why.as_str()), (Severity::Idle, "idle"));
    }

    #[test]
    fn rules_are_named_that_are_reached() {
        let (_, severity, why) = said((0..12).map(|_| disk(20.0, 150.0)));
        assert_eq!(severity, Severity::Warning);
        assert_eq!(why, "an operation takes 100 ms or more");
        let quiet = (0..20).map(|_| disk(50.0, 2.0));
        let (_, severity, why) = said(quiet.chain((0..30).map(|_| disk(400.0, 20.0))));
        assert_eq!(severity, Severity::Warning, "{why}");
        assert_eq!(why, "operations queue and take 3 times as long or more");
    }

    #[test]
    fn a_device_that_completes_nothing_is_seen_at_once() {
        let hung = || DiskMoment {
            outstanding: Some(4.0),
            ..disk(0.0, 0.0)
        };
        let working = (0..6).map(|_| disk(20.0, 0.2));
        let (_, severity, _) = said(working.chain([hung()]));
        assert_ne!(severity, Severity::Warning, "one reading is no hang");
        let working = (0..6).map(|_| disk(20.0, 0.2));
        let (_, severity, why) = said(working.chain([hung(), hung()]));
        assert_eq!(severity, Severity::Warning);
        assert_eq!(why, "has operations and completes none");
        let working = (0..6).map(|_| disk(20.0, 0.2));
        let (answer, severity, _) = said(working.chain((0..8).map(|_| hung())));
        assert_eq!((answer, severity), (Answer::Yes, Severity::Critical));
    }
}
