//! Trials with two ends for those who judge a load by its own figures: the
//! seconds of the end that counts, all connections together.
//!
//! What was sent but never arrived does not count as work: a stream is counted
//! at its receiver, a request at the end that sent it.

use std::collections::BTreeMap;

use fathom_model::network::{End, LoadKind};
use fathom_model::{Phase, RunRecord, Sample, TrialRecord};

/// The run with the seconds of one end; `None` where no trial has two.
pub(crate) fn run_at_one_end(record: &RunRecord) -> Option<RunRecord> {
    let has_two = |trial: &TrialRecord| trial.samples.iter().any(|s| s.connection.is_some());
    record.trials.iter().any(has_two).then(|| RunRecord {
        meta: record.meta.clone(),
        trials: record.trials.iter().map(at_one_end).collect(),
    })
}

fn at_one_end(trial: &TrialRecord) -> TrialRecord {
    let requests = |load: &LoadKind| matches!(load, LoadKind::Requests { .. });
    let kind = trial.spec.workload.pair().map(|load| load.kind);
    let counts = match kind.as_ref().is_some_and(requests) {
        true => End::Sender,
        false => End::Receiver,
    };
    let mut seconds: BTreeMap<(Phase, u32), Sample> = BTreeMap::new();
    let mut others = Vec::new();
    for sample in &trial.samples {
        match &sample.connection {
            None => others.push(sample.clone()),
            Some(state) if state.end == counts => {
                let second = seconds.entry((sample.phase, sample.index));
                second
                    .and_modify(|second| second.merge(sample))
                    .or_insert_with(|| sample.clone());
            }
            Some(_) => {}
        }
    }
    others.extend(seconds.into_values());
    TrialRecord {
        samples: others,
        ..trial.clone()
    }
}
