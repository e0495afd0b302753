//! What to do about the answer. Commands that look at a host are named as such where
//! the answer is about a recording: its reader may be at another one.

use fathom_model::diagnosis::{Answer, Diagnosis, Shortage};

/// What was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Source {
    /// The host that fathom runs on.
    #[default]
    ThisHost,
    /// Recordings: their names as arguments for a shell.
    Recording(String),
}

/// The step that helps where nothing is left to settle, as a sentence.
pub(super) fn next_step(diagnosis: &Diagnosis, source: &Source) -> Option<String> {
    let (answer, limiter) = (diagnosis.answer, diagnosis.limiter);
    diagnosis.settle.is_empty().then(|| match source {
        Source::ThisHost => here(answer, limiter).to_owned(),
        Source::Recording(files) => elsewhere(answer, limiter, files),
    })
}

/// A quicker device is the first advice only where this one is slow.
fn one_by_one(answer: Answer) -> &'static str {
    match answer {
        Answer::Yes => "Keep more operations in flight, or take a device with a shorter latency.",
        Answer::No | Answer::NotProven => {
            "Keep more operations in flight; a device with more IOPS would not help."
        }
    }
}

fn here(answer: Answer, shortage: Shortage) -> &'static str {
    match shortage {
        Shortage::Disk => {
            "Take load off the device (`fathom watch` shows who uses it) or move it to a faster one."
        }
        Shortage::HungDevice => "Look at `dmesg` and at the health of the device.",
        Shortage::VolumeCap => "Raise the limit of the volume, or take load off it.",
        Shortage::OneByOne => one_by_one(answer),
        Shortage::CpuQueue | Shortage::Hypervisor | Shortage::Memory | Shortage::Network => {
            "Look at what is short with `fathom use`."
        }
        Shortage::Lock => "Look at what holds the lock: `fathom watch` names the tasks.",
        Shortage::Nothing | Shortage::Unknown => "Record while it is slow: `fathom record`.",
    }
}

fn elsewhere(answer: Answer, shortage: Shortage, files: &str) -> String {
    match shortage {
        Shortage::Disk => {
            "Take load off the device (on that host `fathom watch` shows who uses it) or \
                           move it to a faster one."
                .to_owned()
        }
        Shortage::HungDevice => {
            "Look at `dmesg` and at the health of the device on that host.".to_owned()
        }
        Shortage::VolumeCap | Shortage::OneByOne => here(answer, shortage).to_owned(),
        Shortage::CpuQueue | Shortage::Hypervisor | Shortage::Memory | Shortage::Network => {
            format!(
                "`fathom use {files}` shows what was short; on that host `fathom watch` shows who."
            )
        }
        Shortage::Lock => {
            "Look at what holds the lock: on that host `fathom watch` names the tasks.".to_owned()
        }
        Shortage::Nothing | Shortage::Unknown => {
            "Record on that host while it is slow: `fathom record`.".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_looked_at_by_its_name_and_its_host_on_that_host() {
        let all = [
            Shortage::Disk,
            Shortage::HungDevice,
            Shortage::VolumeCap,
            Shortage::OneByOne,
            Shortage::CpuQueue,
            Shortage::Hypervisor,
            Shortage::Memory,
            Shortage::Network,
            Shortage::Lock,
            Shortage::Nothing,
            Shortage::Unknown,
        ];
        for shortage in all {
            let step = elsewhere(Answer::Yes, shortage, "'my ticket.json'");
            let looks = ["`fathom watch`", "`fathom record`", "`dmesg`"];
            let is_of_a_host = looks.iter().any(|command| step.contains(command));
            assert!(!is_of_a_host || step.contains("on that host"), "{step}");
            assert!(!step.contains("`fathom use`"), "{step}");
        }
        let step = elsewhere(Answer::No, Shortage::CpuQueue, "'my ticket.json'");
        assert!(
            step.starts_with("`fathom use 'my ticket.json'` shows"),
            "{step}"
        );
    }
}
