//! A trial for tests.

use fathom_model::schedule::{Pause, TrialRole};
use fathom_model::{ScheduledTrial, Target, Workload};

/// Alone, at once, without a pause.
pub(crate) fn trial(target: Target) -> ScheduledTrial {
    ScheduledTrial {
        index: 0,
        iteration: 0,
        row: 0,
        label: "trial".to_owned(),
        target,
        workload: Workload::example("trial"),
        seed: 1,
        role: TrialRole::Measure,
        together: None,
        start_delay_ns: 0,
        follows: None,
        ends_others: false,
        file_set: 0,
        host: Some(0),
        spares_others: false,
        part: None,
        pause: Pause {
            floor_ns: 0,
            ceiling_ns: 0,
            until_quiet: false,
        },
    }
}
