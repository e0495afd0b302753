//! Is the storage the bottleneck: the answer as text, Markdown, JSON and a page.

mod graph;
mod html;
mod markdown;
mod text;

use fathom_model::diagnosis::{Answer, Diagnosis, Shortage};

pub use self::html::html;
pub use self::markdown::markdown;
pub use self::text::{devices, text};

/// The answer as JSON.
///
/// # Errors
/// A figure that is not finite.
pub fn json(diagnosis: &Diagnosis) -> crate::Result<String> {
    Ok(serde_json::to_string_pretty(diagnosis)? + "\n")
}

/// The answer in one line: `NO: the storage has room, …`.
pub fn headline(diagnosis: &Diagnosis) -> String {
    format!("{}: {}", word(diagnosis.answer), meaning(diagnosis))
}

fn word(answer: Answer) -> &'static str {
    match answer {
        Answer::Yes => "YES",
        Answer::No => "NO",
        Answer::NotProven => "NOT PROVEN",
    }
}

/// What it is, as the end of a sentence.
fn meaning(diagnosis: &Diagnosis) -> &'static str {
    match (diagnosis.answer, diagnosis.limiter) {
        (Answer::Yes, Shortage::VolumeCap) => {
            "the storage is the bottleneck: somebody holds the volume at this rate"
        }
        (Answer::Yes, _) => "the storage is the bottleneck: the device gives no more",
        (_, Shortage::CpuQueue) => "the storage is not the bottleneck; CPUs are",
        (_, Shortage::Hypervisor) => "the storage is not the bottleneck; the hypervisor's CPUs are",
        (_, Shortage::Memory) => "the storage is not the bottleneck; memory is",
        (_, Shortage::Network) => "the storage is not the bottleneck; the network is",
        (_, Shortage::OneByOne) => {
            "the storage has room; somebody waits for each operation before the next"
        }
        (_, Shortage::Lock) => "the storage is not the bottleneck; tasks wait for a lock",
        (Answer::No, _) => {
            "the storage has room, and nothing else was short while this was recorded"
        }
        (Answer::NotProven, _) => "what was recorded does not decide it",
    }
}
