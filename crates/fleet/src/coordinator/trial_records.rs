//! What the coordinator keeps of trials that are under way: for the conductor,
//! and to know which of them have not ended.

use std::collections::HashMap;

use fathom_model::RunState;
use fathom_model::run::TrialRecord;
use fathom_model::seconds;

use crate::protocol::message::{Event, TrialStart};

/// What a conductor may look at.
#[derive(Default)]
pub(crate) struct TrialRecords {
    pub(crate) records: Vec<TrialRecord>,
    /// Places of the trials by their index.
    places: HashMap<u32, usize>,
}

impl TrialRecords {
    pub(crate) fn take_note(&mut self, event: &Event, looks: bool) {
        match event {
            Event::TrialsStarted(starts) => starts.iter().for_each(|start| self.begin(start)),
            Event::Interval(intervals) if looks => {
                for interval in intervals {
                    if let Some(record) = self.record(interval.trial) {
                        record.samples.extend_from_slice(&interval.samples);
                        record
                            .observations
                            .extend_from_slice(&interval.observations);
                    }
                }
            }
            Event::TrialsEnded(endings) => {
                for ending in endings {
                    if let Some(record) = self.record(ending.trial) {
                        record.state = ending.state;
                        record.end = Some(ending.end.clone());
                        if record.spec.workload.recording.interval_ns.is_some() {
                            record.samples = seconds::seconds(&record.samples);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, start: &TrialStart) {
        self.places.insert(start.spec.index, self.records.len());
        self.records.push(TrialRecord {
            spec: start.spec.clone(),
            started_unix_ns: start.started_unix_ns,
            state: RunState::Running,
            samples: Vec::new(),
            observations: Vec::new(),
            target_before: start.target_before.clone(),
            end: None,
        });
    }

    fn record(&mut self, trial: u32) -> Option<&mut TrialRecord> {
        self.records.get_mut(*self.places.get(&trial)?)
    }
}
