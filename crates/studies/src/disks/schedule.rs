//! The schedule: for each workload every disk alone, then all at once.

use fathom_model::schedule::Purpose;
use fathom_model::{Schedule, ScheduledTrial, Target};
use fathom_plan::{Diagnostics, Plan, ScheduleContext};
use fathom_rules::method::disks::OVERHEAD_NS;

use super::plan::{DiskLoad, DiskWorkload, disk_plan};

/// Which parts are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskOrder {
    /// Each disk alone.
    Each,
    /// All disks at once.
    Together,
    /// Each alone, then all at once.
    Both,
}

/// A disk and its load.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedDisk {
    /// The disk.
    pub target: Target,
    /// How it is loaded.
    pub load: DiskLoad,
}

/// What is done to the disks.
#[derive(Debug, Clone, PartialEq)]
pub struct DisksOptions {
    /// Alone, at once, or both.
    pub order: DiskOrder,
    /// In this order.
    pub workloads: Vec<DiskWorkload>,
    /// Seconds of measuring, each time.
    pub seconds: u32,
    /// How often everything is measured.
    pub iterations: u32,
    /// Seed of all offsets and contents.
    pub seed: u64,
    /// The named devices may be overwritten.
    pub destructive: bool,
}

/// A schedule and the plan that it is stored with.
#[derive(Debug)]
pub struct PlannedDisks {
    /// The plan, for disks that are loaded alike.
    pub plan: Plan,
    /// The trials of all disks.
    pub schedule: Schedule,
}

/// Arranges the trials. `surroundings` says what is known of the host for a plan.
///
/// # Errors
/// A disk has no room, or a value is out of its bounds.
pub fn plan_disks(
    disks: &[LoadedDisk],
    wanted: &DisksOptions,
    surroundings: impl Fn(&Plan) -> ScheduleContext,
) -> Result<PlannedDisks, Diagnostics> {
    let mut of_disks: Vec<Vec<ScheduledTrial>> = Vec::new();
    for disk in disks {
        let targets = [disk.target.clone()];
        let plan = disk_plan(&targets, &disk.load, &wanted.workloads, wanted.seconds)?;
        let context = ScheduleContext {
            seed: wanted.seed,
            ..surroundings(&plan)
        };
        of_disks.push(plan.schedule(&context)?.trials);
    }
    let targets: Vec<Target> = disks.iter().map(|disk| disk.target.clone()).collect();
    // Disks of another kind are loaded otherwise; the schedule says how.
    let load = disks.first().map(|disk| disk.load);
    let load = load.unwrap_or(DiskLoad {
        workers: 1,
        depth: 1,
        size_bytes: 1 << 20,
        cut: false,
    });
    let mut plan = disk_plan(&targets, &load, &wanted.workloads, wanted.seconds)?;
    plan.set_seed(wanted.seed);
    plan.set_iterations(wanted.iterations);
    plan.set_destructive(wanted.destructive);
    Ok(PlannedDisks {
        schedule: Schedule {
            seed: wanted.seed,
            destructive: wanted.destructive,
            purpose: Purpose::Disks,
            ..Schedule::new(plan.name(), in_order(&of_disks, wanted))
        },
        plan,
    })
}

fn in_order(of_disks: &[Vec<ScheduledTrial>], wanted: &DisksOptions) -> Vec<ScheduledTrial> {
    let mut trials: Vec<ScheduledTrial> = Vec::new();
    let (disks, mut set) = (of_disks.len(), 0);
    for iteration in 0..wanted.iterations {
        for (at, workload) in wanted.workloads.iter().enumerate() {
            let of_workload = of_disks.iter().filter_map(|trials| trials.get(at));
            let rows = 2 * at * disks;
            if wanted.order != DiskOrder::Together {
                for (disk, trial) in of_workload.clone().enumerate() {
                    let label = format!("{} {}", workload.name(), trial.target);
                    trials.push(numbered(trial, iteration, rows + disk, label));
                }
            }
            if wanted.order != DiskOrder::Each {
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
pub fn length_ns(schedule: &Schedule) -> u64 {
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
    use super::*;

    fn disk(target: &str) -> LoadedDisk {
        LoadedDisk {
            target: target.parse().unwrap(),
            load: DiskLoad {
                workers: 2,
                depth: 4,
                size_bytes: 64 << 20,
                cut: false,
            },
        }
    }

    fn wanted(order: DiskOrder) -> DisksOptions {
        DisksOptions {
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
        let arrange =
            |order| plan_disks(&disks, &wanted(order), |_| ScheduleContext::default()).unwrap();
        let arranged = arrange(DiskOrder::Both);
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
        let alone = arrange(DiskOrder::Each);
        let at_once = arrange(DiskOrder::Together);
        let length = |arranged: &PlannedDisks| length_ns(&arranged.schedule);
        assert_eq!(length(&alone), 3 * length(&at_once));
    }
}
