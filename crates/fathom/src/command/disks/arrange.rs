//! The schedule: for each workload every disk alone, then all at once.

use fathom_model::schedule::Purpose;
use fathom_model::{Schedule, ScheduledTrial, Target};
use fathom_plan::{Diagnostics, DiskWorkload, Plan, ScheduleContext, disk_plan};

use super::chosen::Disk;
use crate::surroundings;

/// What a trial takes besides its phases.
const OVERHEAD_NS: u64 = 1_000_000_000;

/// Which parts are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Each,
    Together,
    Both,
}

/// What was asked for.
pub(super) struct Wanted {
    pub(super) order: Order,
    pub(super) workloads: Vec<DiskWorkload>,
    pub(super) seconds: u32,
    pub(super) iterations: u32,
    pub(super) seed: u64,
    pub(super) destructive: bool,
}

/// A schedule and the plan that it is stored with.
pub(super) struct Arranged {
    pub(super) plan: Plan,
    pub(super) schedule: Schedule,
}

/// Arranges the trials.
///
/// # Errors
/// A disk has no room, or a value is out of its bounds.
pub(super) fn arrange(disks: &[Disk], wanted: &Wanted) -> Result<Arranged, Diagnostics> {
    let mut of_disks: Vec<Vec<ScheduledTrial>> = Vec::new();
    for disk in disks {
        let targets = [disk.target.clone()];
        let plan = disk_plan(&targets, &disk.load, &wanted.workloads, wanted.seconds)?;
        let context = ScheduleContext {
            seed: wanted.seed,
            ..surroundings::of(&plan)
        };
        of_disks.push(plan.schedule(&context)?.trials);
    }
    let targets: Vec<Target> = disks.iter().map(|disk| disk.target.clone()).collect();
    // Disks of another kind are loaded otherwise; the schedule says how.
    let load = disks.first().map(|disk| disk.load);
    let load = load.unwrap_or(fathom_plan::DiskLoad {
        workers: 1,
        depth: 1,
        size_bytes: 1 << 20,
        cut: false,
    });
    let mut plan = disk_plan(&targets, &load, &wanted.workloads, wanted.seconds)?;
    plan.set_seed(wanted.seed);
    plan.set_iterations(wanted.iterations);
    plan.set_destructive(wanted.destructive);
    Ok(Arranged {
        schedule: Schedule {
            seed: wanted.seed,
            destructive: wanted.destructive,
            purpose: Purpose::Disks,
            ..Schedule::new(plan.name(), in_order(&of_disks, wanted))
        },
        plan,
    })
}

fn in_order(of_disks: &[Vec<ScheduledTrial>], wanted: &Wanted) -> Vec<ScheduledTrial> {
    let mut trials: Vec<ScheduledTrial> = Vec::new();
    let (disks, mut set) = (of_disks.len(), 0);
    for iteration in 0..wanted.iterations {
        for (at, workload) in wanted.workloads.iter().enumerate() {
            let of_workload = of_disks.iter().filter_map(|trials| trials.get(at));
            let rows = 2 * at * disks;
            if wanted.order != Order::Together {
                for (disk, trial) in of_workload.clone().enumerate() {
                    let label = format!("{} {}", workload.name(), trial.target);
                    trials.push(numbered(trial, iteration, rows + disk, label));
                }
            }
            if wanted.order != Order::Each {
                for (disk, trial) in of_workload.enumerate() {
                    let label = format!("{} {}, all at once", workload.name(), trial.target);
                    let trial = numbered(trial, iteration, rows + disks + disk, label);
                    trials.push(ScheduledTrial {
                        together: Some(set),
                        ..trial
                    });
                }
                set += 1;
            }
        }
    }
    for (index, trial) in (0..).zip(trials.iter_mut()) {
        trial.index = index;
    }
    trials
}

fn numbered(trial: &ScheduledTrial, iteration: u32, row: usize, label: String) -> ScheduledTrial {
    let row = u32::try_from(row).unwrap_or(u32::MAX);
    let seed = trial.seed;
    ScheduledTrial {
        label,
        ..trial.clone()
    }
    .in_row(row, iteration, seed)
}

/// How long the trials take at least, nanoseconds.
pub(super) fn length_ns(schedule: &Schedule) -> u64 {
    let mut seen = None;
    let mut length_ns: u64 = 0;
    for trial in &schedule.trials {
        let set = trial.together;
        if set.is_some() && set == seen {
            continue;
        }
        seen = set;
        let workload = &trial.workload;
        let load_ns = workload.bounds.time_ns.unwrap_or(0) + workload.warmup_ns;
        length_ns = length_ns.saturating_add(load_ns + trial.pause.floor_ns + OVERHEAD_NS);
    }
    length_ns
}

#[cfg(test)]
mod tests {
    use fathom_plan::DiskLoad;

    use super::*;

    fn disk(target: &str) -> Disk {
        Disk {
            target: target.parse().unwrap(),
            drives: Vec::new(),
            kind_name: "SSD",
            size_bytes: None,
            load: DiskLoad {
                workers: 2,
                depth: 4,
                size_bytes: 64 << 20,
                cut: false,
            },
            may_be_written: true,
        }
    }

    fn wanted(order: Order) -> Wanted {
        Wanted {
            order,
            workloads: vec![DiskWorkload::RandRead, DiskWorkload::SeqWrite],
            seconds: 10,
            iterations: 2,
            seed: 5,
            destructive: false,
        }
    }

    #[test]
    fn each_disk_is_alone_and_then_all_are_at_once() {
        let disks = [disk("sim:hdd"), disk("sim:ssd"), disk("null:")];
        let arranged = arrange(&disks, &wanted(Order::Both)).unwrap();
        let trials = &arranged.schedule.trials;
        // 2 workloads, 3 disks, alone and at once, twice.
        assert_eq!(trials.len(), 24);
        let sets: Vec<Option<u32>> = trials.iter().map(|t| t.together).collect();
        assert_eq!(
            sets[..7],
            [None, None, None, Some(0), Some(0), Some(0), None]
        );
        let rows: std::collections::BTreeSet<u32> = trials.iter().map(|t| t.row).collect();
        assert_eq!(rows.len(), 12);
        let indexes = trials.iter().zip(0..);
        assert!(indexes.clone().all(|(t, index)| t.index == index));
        let seeds: std::collections::BTreeSet<u64> = trials.iter().map(|t| t.seed).collect();
        assert_eq!(seeds.len(), 24);
        // A set takes the time of one of its trials.
        let alone = arrange(&disks, &wanted(Order::Each)).unwrap();
        let at_once = arrange(&disks, &wanted(Order::Together)).unwrap();
        let length = |arranged: &Arranged| length_ns(&arranged.schedule);
        assert_eq!(length(&alone), 3 * length(&at_once));
    }
}
