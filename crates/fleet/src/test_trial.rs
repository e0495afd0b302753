//! A trial for tests.

use fathom_model::{ScheduledTrial, Target, Workload};

/// Alone, at once, without a pause.
pub(crate) fn trial(target: Target) -> ScheduledTrial {
    ScheduledTrial {
        seed: 1,
        host: Some(0),
        ..ScheduledTrial::new("trial", target, Workload::example("trial"))
    }
}
