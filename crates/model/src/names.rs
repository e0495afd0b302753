//! The words for the values of the verdict, the same in every output.

use crate::run::RunState;
use crate::verdict::FindingStatus;
use crate::{Limiter, Validity};

/// The words for a validity.
pub fn validity(validity: Validity) -> &'static str {
    match validity {
        Validity::Trusted => "trusted",
        Validity::Caveats => "trusted with caveats",
        Validity::NotDetermined => "not determined",
        Validity::NotTrusted => "not trusted",
    }
}

/// Whether a target is held, for people.
pub fn fit(fit: crate::verdict::Fit) -> &'static str {
    use crate::verdict::Fit;
    match fit {
        Fit::Met => "met",
        Fit::NotProven => "not proven",
        Fit::NotMet => "not met",
    }
}

/// The words for a limiter.
pub fn limiter(limiter: Limiter) -> &'static str {
    match limiter {
        Limiter::Device => "device",
        Limiter::QueueDepth => "queue depth",
        Limiter::GeneratorCpu => "generator CPU",
        Limiter::Rate => "the requested rate",
        Limiter::Cap => "a configured limit",
        Limiter::DeviceOrCap => "device or a limit",
        Limiter::Cache => "a cache",
        Limiter::Flush => "flush (durability)",
        Limiter::Filesystem => "file system",
        Limiter::Memory => "memory",
        Limiter::Network => "network",
        Limiter::Thermal => "heat (throttling)",
        Limiter::ForeignLoad => "foreign load",
        Limiter::Unknown => "not determined",
    }
}

/// The word for the outcome of a check.
pub fn status(status: FindingStatus) -> &'static str {
    match status {
        FindingStatus::Pass => "pass",
        FindingStatus::NotMeasured => "not measured",
        FindingStatus::Info => "info",
        FindingStatus::Caveat => "caveat",
        FindingStatus::Invalid => "invalid",
    }
}

/// The word for how far a run or trial came.
pub fn state(state: RunState) -> &'static str {
    match state {
        RunState::Running => "running",
        RunState::Complete => "complete",
        RunState::Interrupted => "interrupted",
        RunState::Failed => "failed",
    }
}

/// The machine word of a validity, as in JSON.
pub fn validity_key(validity: Validity) -> &'static str {
    match validity {
        Validity::Trusted => "trusted",
        Validity::Caveats => "caveats",
        Validity::NotDetermined => "not_determined",
        Validity::NotTrusted => "not_trusted",
    }
}

/// The machine word of a limiter, as in JSON.
pub fn limiter_key(limiter: Limiter) -> &'static str {
    match limiter {
        Limiter::Device => "device",
        Limiter::QueueDepth => "queue_depth",
        Limiter::GeneratorCpu => "generator_cpu",
        Limiter::Rate => "rate",
        Limiter::Cap => "cap",
        Limiter::DeviceOrCap => "device_or_cap",
        Limiter::Cache => "cache",
        Limiter::Flush => "flush",
        Limiter::Filesystem => "filesystem",
        Limiter::Memory => "memory",
        Limiter::Network => "network",
        Limiter::Thermal => "thermal",
        Limiter::ForeignLoad => "foreign_load",
        Limiter::Unknown => "unknown",
    }
}

/// The sign after a number whose row is not fully trusted.
pub fn mark(validity: Validity) -> &'static str {
    match validity {
        Validity::Trusted => "",
        Validity::Caveats => "*",
        Validity::NotDetermined => "?",
        Validity::NotTrusted => "!",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_words_are_those_of_the_schema() {
        for v in [
            Validity::Trusted,
            Validity::Caveats,
            Validity::NotDetermined,
            Validity::NotTrusted,
        ] {
            assert_eq!(serde_json::to_value(v).unwrap(), validity_key(v));
        }
        for l in Limiter::ALL {
            assert_eq!(serde_json::to_value(l).unwrap(), limiter_key(l));
        }
        for s in [
            RunState::Running,
            RunState::Complete,
            RunState::Interrupted,
            RunState::Failed,
        ] {
            assert_eq!(serde_json::to_value(s).unwrap(), state(s));
        }
    }
}
