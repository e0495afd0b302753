//! Intervals shorter than a second, joined to seconds: what is judged and what
//! ends a trial always looks at seconds, however finely it was recorded.

use crate::recording::FULL_INTERVAL_NS;
use crate::run::{RunRecord, TrialRecord};
use crate::sample::Sample;
use crate::stop::{Decision, StopRule};

/// Joins intervals of one phase that follow one another to full seconds.
/// Single operations are left out.
pub fn seconds(samples: &[Sample]) -> Vec<Sample> {
    let mut joined: Vec<Sample> = Vec::new();
    let mut phase_start_ns = 0;
    for sample in samples {
        let next = match joined.last_mut() {
            Some(last) if last.phase == sample.phase => {
                let begun_ns = sample.start_ns.saturating_sub(phase_start_ns);
                let second = u32::try_from(begun_ns / FULL_INTERVAL_NS).unwrap_or(u32::MAX);
                if second == last.index {
                    join(last, sample);
                    continue;
                }
                second
            }
            _ => {
                phase_start_ns = sample.start_ns;
                0
            }
        };
        joined.push(Sample {
            index: next,
            operations: Vec::new(),
            ..sample.clone()
        });
    }
    // Numbers without gaps, as if seconds had been recorded.
    let mut previous = None;
    for sample in &mut joined {
        let phase = sample.phase;
        sample.index = match previous {
            Some((before, index)) if before == phase => index + 1,
            _ => 0,
        };
        previous = Some((phase, sample.index));
    }
    joined
}

/// Adds an interval that follows.
pub fn join(second: &mut Sample, next: &Sample) {
    let duration_ns = second.duration_ns.saturating_add(next.duration_ns);
    let busiest_ns = second.busiest_worker_cpu_ns + next.busiest_worker_cpu_ns;
    let workers = second.workers.max(next.workers);
    debug_assert!(
        next.start_ns >= second.start_ns,
        "the interval at {} does not follow the one at {}",
        next.start_ns,
        second.start_ns
    );
    second.merge(&Sample {
        index: second.index,
        operations: Vec::new(),
        ..next.clone()
    });
    // Unlike the parts of several workers, these lie one behind the other.
    second.duration_ns = duration_ns;
    second.busiest_worker_cpu_ns = busiest_ns;
    second.workers = workers;
}

/// The run in seconds; `None` when it was recorded in seconds.
pub fn run_in_seconds(record: &RunRecord) -> Option<RunRecord> {
    let finer = record.trials.iter().any(is_finer);
    finer.then(|| RunRecord {
        meta: record.meta.clone(),
        trials: record.trials.iter().map(trial_in_seconds).collect(),
    })
}

fn is_finer(trial: &TrialRecord) -> bool {
    trial.spec.workload.recording.interval_ns() < FULL_INTERVAL_NS
}

fn trial_in_seconds(trial: &TrialRecord) -> TrialRecord {
    let samples = if is_finer(trial) {
        seconds(&trial.samples)
    } else {
        trial.samples.clone()
    };
    TrialRecord {
        spec: trial.spec.clone(),
        started_unix_ns: trial.started_unix_ns,
        state: trial.state,
        samples,
        observations: trial.observations.clone(),
        target_before: trial.target_before.clone(),
        end: trial.end.clone(),
    }
}

/// Hands a stop rule seconds, whatever it is given.
pub struct BySecond {
    rule: Box<dyn StopRule>,
    parts: Vec<Sample>,
}

impl BySecond {
    /// Around `rule`.
    pub fn new(rule: Box<dyn StopRule>) -> BySecond {
        BySecond {
            rule,
            parts: Vec::new(),
        }
    }
}

impl StopRule for BySecond {
    fn observe(&mut self, sample: &Sample) -> Decision {
        self.parts.push(Sample {
            operations: Vec::new(),
            ..sample.clone()
        });
        let measured_ns: u64 = self.parts.iter().map(|part| part.duration_ns).sum();
        if measured_ns < FULL_INTERVAL_NS {
            return Decision::Continue;
        }
        let parts = std::mem::take(&mut self.parts);
        let joined = seconds(&parts);
        let stop = joined
            .iter()
            .map(|second| self.rule.observe(second))
            .find(|decision| *decision != Decision::Continue);
        stop.unwrap_or(Decision::Continue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::OpKind;
    use crate::sample::{OpSample, Phase};

    fn part(phase: Phase, index: u32, start_ms: u64, length_ms: u64) -> Sample {
        let mut sample = Sample::new(phase, index, start_ms * 1_000_000);
        sample.duration_ns = length_ms * 1_000_000;
        sample.workers = 2;
        sample.busiest_worker_cpu_ns = 10;
        let mut op = OpSample::new(OpKind::Read, false);
        op.ops = 1;
        op.bytes = 4096;
        op.service.record(1000 + start_ms);
        sample.ops.push(op);
        sample
    }

    #[test]
    fn parts_of_a_second_become_one() {
        let mut parts = vec![
            part(Phase::Warmup, 0, 0, 250),
            part(Phase::Warmup, 1, 250, 150),
        ];
        for i in 0..5 {
            let start_ms = 400 + 500 * u64::from(i);
            parts.push(part(Phase::Measure, i, start_ms, 500));
        }
        let joined = seconds(&parts);
        let shape: Vec<_> = joined
            .iter()
            .map(|s| {
                (
                    s.phase,
                    s.index,
                    s.start_ns / 1_000_000,
                    s.duration_ns / 1_000_000,
                )
            })
            .collect();
        assert_eq!(
            shape,
            [
                (Phase::Warmup, 0, 0, 400),
                (Phase::Measure, 0, 400, 1000),
                (Phase::Measure, 1, 1400, 1000),
                (Phase::Measure, 2, 2400, 500),
            ]
        );
        let second = &joined[1];
        assert_eq!((second.workers, second.data_ops()), (2, 2));
        assert_eq!(
            (second.data_bytes(), second.busiest_worker_cpu_ns),
            (8192, 20)
        );
        assert_eq!(second.ops[0].service.count(), 2);
    }

    #[test]
    fn what_is_in_seconds_stays() {
        let whole: Vec<_> = (0..3)
            .map(|i| part(Phase::Measure, i, u64::from(i) * 1000, 1000))
            .collect();
        assert_eq!(seconds(&whole), whole);
    }

    struct Counting(u32);

    impl StopRule for Counting {
        fn observe(&mut self, sample: &Sample) -> Decision {
            assert_eq!(sample.duration_ns, FULL_INTERVAL_NS);
            self.0 += 1;
            match self.0 {
                2 => Decision::Stop("enough".to_owned()),
                _ => Decision::Continue,
            }
        }
    }

    #[test]
    fn a_rule_sees_seconds() {
        let mut rule = BySecond::new(Box::new(Counting(0)));
        let decisions: Vec<_> = (0..8)
            .map(|i| rule.observe(&part(Phase::Measure, i, u64::from(i) * 250, 250)))
            .collect();
        let stop = Decision::Stop("enough".to_owned());
        assert!(decisions[..7].iter().all(|d| *d == Decision::Continue));
        assert_eq!(decisions[7], stop);
    }
}
