//! The probe of the payload: does the content of what is written set the speed?
//!
//! A layer that compresses or removes duplicates is faster with zeros than with
//! random bytes. After the rows, the writes of each row run four more times for
//! a short while in the order random, zeros, zeros, random (ABBA), so that a
//! steady drift of the device hits both contents alike.

use fathom_model::rng::derive_seed;
use fathom_model::schedule::TrialRole;
use fathom_model::workload::{Bounds, Content, FailIf, OpMix, Payload, WorkerBounds};
use fathom_model::{ScheduledTrial, Workload};

/// Measured time of each of the four.
const TIME_NS: u64 = 10_000_000_000;
const WARMUP_NS: u64 = 1_000_000_000;
/// The order of contents: `true` is zeros.
const ORDER: [bool; 4] = [false, true, true, false];

/// Adds the probes of every row that writes after the trials of the plan.
pub(crate) fn append(trials: &mut Vec<ScheduledTrial>) {
    let bases: Vec<ScheduledTrial> = trials
        .iter()
        .filter(|trial| trial.iteration == 0 && trial.workload.mix.modifies())
        .filter(|trial| trial.workload.mix.write_percent > 0)
        .cloned()
        .collect();
    for base in bases {
        for (iteration, zeros) in (0..).zip(ORDER) {
            let index = u32::try_from(trials.len()).unwrap_or(u32::MAX);
            trials.push(probe(&base, index, iteration, zeros));
        }
    }
}

fn probe(base: &ScheduledTrial, index: u32, iteration: u32, zeros: bool) -> ScheduledTrial {
    let (content, name) = match zeros {
        true => (Content::Zeros, "zeros"),
        false => (Content::Random, "random bytes"),
    };
    ScheduledTrial {
        index,
        iteration,
        label: format!("{}, {name}", base.label),
        workload: Workload {
            mix: OpMix::WRITE,
            payload: Payload {
                content,
                compress_percent: 0,
                duplicate_percent: 0,
            },
            bounds: Bounds {
                time_ns: Some(TIME_NS),
                ..Bounds::default()
            },
            warmup_ns: WARMUP_NS,
            until: None,
            rate: None,
            verify: None,
            each_worker: WorkerBounds::default(),
            fail_if: FailIf::default(),
            work: base.workload.work.drawn(),
            trim_first: false,
            ..base.workload.clone()
        },
        seed: derive_seed(base.seed, u64::from(iteration) + 1),
        role: TrialRole::PayloadProbe,
        // It runs alone, also when its row does not.
        together: None,
        start_delay_ns: 0,
        follows: None,
        ends_others: false,
        ..base.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScheduleContext;

    fn schedule(text: &str) -> Vec<ScheduledTrial> {
        let plan = crate::parse("test", text).unwrap_or_else(|e| panic!("{e}"));
        let context = ScheduleContext {
            targets: vec!["/mnt/a".parse().unwrap()],
            ..ScheduleContext::default()
        };
        plan.schedule(&context).unwrap().trials
    }

    #[test]
    fn rows_that_write_get_four_probes_in_abba_order() {
        let trials = schedule(
            "plan: 1\npayload_probe: yes\niterations: 2\ndefaults: {size: 1g, runtime: 5s}\n\
             workloads:\n- rw: randread\n- {rw: randwrite, rate_iops: 100}\n",
        );
        let probes: Vec<&ScheduledTrial> = trials
            .iter()
            .filter(|t| t.role == TrialRole::PayloadProbe)
            .collect();
        assert_eq!((trials.len(), probes.len()), (8, 4));
        let zero: Vec<bool> = probes
            .iter()
            .map(|t| t.workload.payload.content == Content::Zeros)
            .collect();
        assert_eq!(zero, ORDER);
        for (position, probe) in (4..).zip(&probes) {
            assert_eq!((probe.index, probe.row), (position, 1));
            assert_eq!(probe.workload.mix, OpMix::WRITE);
            assert_eq!(probe.workload.rate, None);
            assert_eq!(probe.workload.bounds.time_ns, Some(TIME_NS));
        }
    }

    #[test]
    fn nothing_is_added_unasked() {
        let text = "plan: 1\nworkloads:\n- {rw: write, size: 1g, runtime: 5s}\n";
        assert!(schedule(text).iter().all(|t| t.role == TrialRole::Measure));
    }
}
