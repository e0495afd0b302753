//! Which hosts carry out a set of the schedule, and in which order.

use std::collections::VecDeque;
use std::ops::Range;

use fathom_model::host_mode::{HostTurns, growing_numbers};
use fathom_model::rng::derive_seed;
use fathom_model::schedule::{TrialRole, take_set};
use fathom_model::workload::Bounds;
use fathom_model::{Schedule, ScheduledTrial};

/// The numbers of hosts that a schedule runs on.
pub(super) struct Numbers(Vec<usize>);

impl Numbers {
    pub(super) fn of(turns: HostTurns, present: usize) -> Numbers {
        Numbers(match turns {
            HostTurns::Growing => growing_numbers(present),
            HostTurns::Together | HostTurns::OneByOne => vec![present],
        })
    }

    /// These, as far as there are so many hosts.
    pub(super) fn given(numbers: &[usize], present: usize) -> Numbers {
        let possible = numbers.iter().copied();
        let mut numbers: Vec<usize> = possible.filter(|n| (1..=present).contains(n)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        Numbers(numbers)
    }

    pub(super) fn count(&self) -> usize {
        self.0.len().max(1)
    }

    pub(super) fn are_several(&self) -> bool {
        self.0.len() > 1
    }
}

/// A set of the schedule on some of the hosts.
pub(super) struct SpreadStep {
    pub(super) set: Vec<ScheduledTrial>,
    /// Which of those that are present.
    pub(super) hosts: Range<usize>,
    /// Which of the numbers of hosts that is.
    pub(super) number: usize,
    /// The first step of its set.
    pub(super) begins: bool,
}

impl SpreadStep {
    /// A step that only makes the files: each host's own, before anybody reads
    /// those of another one. One operation each, which is no result.
    pub(super) fn layout(&self) -> SpreadStep {
        let of_set = self.set.iter().map(|spec| {
            let mut spec = spec.clone();
            spec.role = TrialRole::Precondition;
            spec.label = format!("{}, files", spec.label);
            spec.workload.warmup_ns = 0;
            spec.workload.until = None;
            spec.workload.slo = None;
            spec.workload.bounds = Bounds {
                ops: Some(1),
                ..Bounds::default()
            };
            spec
        });
        SpreadStep {
            set: of_set.collect(),
            hosts: self.hosts.clone(),
            number: self.number,
            begins: true,
        }
    }
}

fn sets(schedule: &Schedule) -> Vec<Vec<ScheduledTrial>> {
    let mut left: VecDeque<ScheduledTrial> = schedule.trials.iter().cloned().collect();
    let sets = std::iter::repeat_with(|| take_set(&mut left));
    sets.take_while(|set| !set.is_empty()).collect()
}

/// Set by set; where hosts take turns, all turns of a set before the next.
pub(super) fn in_order(
    schedule: &Schedule,
    turns: HostTurns,
    numbers: &Numbers,
) -> Vec<SpreadStep> {
    debug_assert!(numbers.0.is_sorted(), "the last number is the largest");
    let present = numbers.0.last().copied().unwrap_or(0);
    let whole = |set: Vec<ScheduledTrial>| -> Vec<SpreadStep> {
        let step = |hosts: Range<usize>, number| SpreadStep {
            set: set.clone(),
            begins: hosts.start == 0,
            hosts,
            number,
        };
        match turns {
            HostTurns::Together => vec![step(0..present, 0)],
            HostTurns::OneByOne => (0..present).map(|at| step(at..at + 1, 0)).collect(),
            HostTurns::Growing => numbers
                .0
                .iter()
                .zip(0..)
                .map(|(n, at)| step(0..*n, at))
                .collect(),
        }
    };
    sets(schedule).into_iter().flat_map(whole).collect()
}

/// Block by block: in each, every number of hosts once, in an order that
/// follows from the seed; for each number all sets of the schedule in order.
/// So what is measured later was not always measured on more hosts.
pub(super) fn in_blocks(schedule: &Schedule, numbers: &Numbers, blocks: u32) -> Vec<SpreadStep> {
    let sets = sets(schedule);
    let mut steps = Vec::new();
    for block in 0..blocks {
        for at in shuffled(
            numbers.0.len(),
            derive_seed(schedule.seed, u64::from(block)),
        ) {
            let of_block = sets.iter().map(|set| SpreadStep {
                set: set
                    .iter()
                    .map(|spec| ScheduledTrial {
                        iteration: block,
                        seed: derive_seed(spec.seed, u64::from(block)),
                        ..spec.clone()
                    })
                    .collect(),
                hosts: 0..numbers.0[at],
                number: at,
                begins: true,
            });
            steps.extend(of_block);
        }
    }
    steps
}

/// The numbers below `count` in a random order (Fisher and Yates).
fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        let random = derive_seed(seed, last as u64);
        let chosen = (u128::from(random) * (last as u128 + 1)) >> 64;
        order.swap(last, chosen as usize);
    }
    order
}
