//! Runs that nobody stores: trials are judged as those of any run are, while a
//! conductor decides what comes next.

use fathom_model::fingerprint::Fingerprint;
use fathom_model::run::{RunMeta, RunRecord, RunState};
use fathom_model::schedule::Schedule;

/// A run under way without trials yet.
pub(crate) fn unstored(schedule: Schedule, host: Fingerprint) -> RunRecord {
    RunRecord {
        meta: RunMeta {
            id: String::new(),
            started_unix_ns: 0,
            ended_unix_ns: None,
            state: RunState::Running,
            reason: None,
            tool_version: String::new(),
            command_line: Vec::new(),
            plan_yaml: String::new(),
            label: None,
            schedule,
            host,
            hosts: Vec::new(),
        },
        trials: Vec::new(),
    }
}
