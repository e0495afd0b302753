//! The plan unrolled: rows × targets × iterations in order, each trial with
//! its seed.

use std::collections::BTreeMap;

use fathom_model::schedule::Pause;
use fathom_model::{Schedule, ScheduledTrial, Target, Workload};

use crate::diagnostic::{Diagnostics, Problems, error};
use crate::limits::MAX_TRIALS;
use crate::pause::pause_bounds;
use crate::plan::Plan;
use crate::resolve::{TargetShape, resolve};
use crate::rows::Row;
use crate::together::{self, Turn};
use crate::value::Order;

/// What the caller knows and the plan does not. Everything may be left at its
/// default; scheduling itself looks at nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScheduleContext {
    /// Targets instead of those of the plan; empty keeps the plan's.
    pub targets: Vec<Target>,
    /// Seed for a plan that names none.
    pub seed: u64,
    /// The user allowed destruction on the command line.
    pub destructive: bool,
    /// The user asked to keep the files on the command line.
    pub keep_files: bool,
    /// Memory of the host in bytes, for warnings about the page cache.
    pub ram_bytes: Option<u64>,
    /// What was found out about targets.
    pub facts: BTreeMap<Target, TargetFacts>,
}

/// What was found out about a target before the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TargetFacts {
    /// What a path turned out to be.
    pub kind: Option<TargetKind>,
    /// Size of a device or file in bytes.
    pub size_bytes: Option<u64>,
    /// Free space of a directory's file system in bytes.
    pub free_bytes: Option<u64>,
    /// Whether the device below has spinning disks.
    pub rotational: Option<bool>,
}

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// Test files are made in it.
    Directory,
    /// An existing file.
    File,
    /// A block device.
    Device,
}

impl ScheduleContext {
    pub(crate) fn facts(&self, target: &Target) -> TargetFacts {
        self.facts.get(target).copied().unwrap_or_default()
    }

    fn shape(&self, target: &Target) -> TargetShape {
        match (target, self.facts(target).kind) {
            (Target::Path(_), Some(TargetKind::Directory)) => TargetShape::Directory,
            (Target::Path(_), Some(TargetKind::File | TargetKind::Device)) => TargetShape::Sized,
            _ => TargetShape::guess(Some(target)),
        }
    }
}

impl Plan {
    /// Unrolls the plan. The same plan and context give the same schedule.
    ///
    /// # Errors
    ///
    /// No target is named, there would be too many trials, or a workload does
    /// not fit a target.
    pub fn schedule(&self, context: &ScheduleContext) -> Result<Schedule, Diagnostics> {
        let mut problems = Problems::default();
        let targets = match context.targets.is_empty() {
            true => self.targets(),
            false => context.targets.clone(),
        };
        if targets.is_empty() {
            problems.push(
                error("no_target", None, "the plan names no target")
                    .help("add `targets: /mnt/data` to the plan, or name one on the command line"),
            );
        }
        let rows = self.rows();
        let trials = (rows.len() as u64)
            .saturating_mul(targets.len() as u64)
            .saturating_mul(u64::from(self.iterations()));
        if trials > MAX_TRIALS {
            let message = format!("{trials} trials; the limit is {MAX_TRIALS}");
            problems.push(
                error("too_many_trials", None, message).help("name fewer targets or iterations"),
            );
        }
        if problems.has_errors() {
            return Err(problems.finish(&self.source));
        }
        let cells = self.cells(&rows, &targets, context, &mut problems);
        if problems.has_errors() {
            return Err(problems.finish(&self.source));
        }
        let seed = self.seed().unwrap_or(context.seed);
        let turns = together::turns(&rows, &mut problems);
        let mut trials = self.unroll(&cells, &turns, targets.len(), seed);
        if self.payload_probe() {
            crate::payload_probe::append(&mut trials);
        }
        Ok(Schedule {
            seed,
            destructive: self.destructive() || context.destructive,
            keep_files: self.keep_files() || context.keep_files,
            depth_probe: self.depth_probe(),
            host_mode: self.host_mode(),
            ..Schedule::new(self.name(), trials)
        })
    }

    /// Every row on every target.
    fn cells(
        &self,
        rows: &[Row],
        targets: &[Target],
        context: &ScheduleContext,
        problems: &mut Problems,
    ) -> Vec<RowOnTarget> {
        let mut cells = Vec::with_capacity(rows.len() * targets.len());
        for row in rows {
            for target in targets {
                let shape = context.shape(target);
                let workload = resolve(&row.keys, &row.name, shape, self.spelling, problems);
                crate::check::check(
                    &row.keys,
                    &workload,
                    shape,
                    row.entry,
                    self.spelling,
                    problems,
                );
                crate::fit::check(row, &workload, target, context, self.spelling, problems);
                let label = match targets.len() {
                    1 => row.label.clone(),
                    _ => format!("{} on {target}", row.label),
                };
                cells.push(RowOnTarget {
                    label,
                    target: target.clone(),
                    workload,
                    start_delay_ns: row.keys.start_delay.as_ref().map_or(0, |t| t.value.0),
                });
            }
        }
        cells
    }

    /// Turns × targets × iterations in order. A turn is a row, or the rows
    /// that run at the same time.
    fn unroll(
        &self,
        cells: &[RowOnTarget],
        turns: &[Turn],
        targets: usize,
        seed: u64,
    ) -> Vec<ScheduledTrial> {
        let of_target = |turn: &Turn, target: usize| -> Vec<usize> {
            turn.iter().map(|row| row * targets + target).collect()
        };
        let turns: Vec<Vec<usize>> = turns
            .iter()
            .flat_map(|turn| (0..targets).map(move |target| of_target(turn, target)))
            .collect();
        let iterations = self.iterations();
        let order: Vec<(&Vec<usize>, u32)> = match self.order() {
            Order::Fixed => turns
                .iter()
                .flat_map(|turn| (0..iterations).map(move |iteration| (turn, iteration)))
                .collect(),
            Order::Interleaved => (0..iterations)
                .flat_map(|iteration| turns.iter().map(move |turn| (turn, iteration)))
                .collect(),
        };
        let mut trials = Vec::new();
        let mut sets = 0..;
        for (turn, iteration) in order {
            let together = (turn.len() > 1).then(|| sets.next()).flatten();
            for (row, place) in turn.iter().zip(0..) {
                let at = SchedulePosition {
                    index: u32::try_from(trials.len()).unwrap_or(u32::MAX),
                    row: u32::try_from(*row).unwrap_or(u32::MAX),
                    iteration,
                    together,
                    place,
                };
                let trial = cells.get(*row).map(|cell| self.trial(cell, at, seed));
                trials.extend(trial);
            }
        }
        trials
    }

    fn trial(&self, cell: &RowOnTarget, at: SchedulePosition, seed: u64) -> ScheduledTrial {
        let (target, workload) = (cell.target.clone(), cell.workload.clone());
        let trial = ScheduledTrial {
            index: at.index,
            pause: self.pause(),
            together: at.together,
            start_delay_ns: cell.start_delay_ns,
            // Files of its own, the same ones in every iteration.
            file_set: at.together.map_or(0, |_| at.place),
            ..ScheduledTrial::new(cell.label.clone(), target, workload)
        };
        trial.in_row(at.row, at.iteration, seed)
    }

    pub(crate) fn order(&self) -> Order {
        let order = self.keys.order.as_ref();
        order.map_or(Order::Interleaved, |order| order.value)
    }

    fn pause(&self) -> Pause {
        let keys = self.keys.pause.as_ref().map(|p| &p.value);
        let (floor_ns, ceiling_ns) = pause_bounds(keys);
        Pause {
            floor_ns,
            ceiling_ns,
            until_quiet: keys
                .and_then(|p| p.until_quiet.as_ref())
                .is_none_or(|quiet| quiet.value.0),
        }
    }
}

/// One row on one target.
struct RowOnTarget {
    label: String,
    target: Target,
    workload: Workload,
    start_delay_ns: u64,
}

/// Where a trial stands in the schedule.
#[derive(Clone, Copy)]
struct SchedulePosition {
    index: u32,
    row: u32,
    iteration: u32,
    /// The set in which it runs, if it does not run alone.
    together: Option<u32>,
    /// Its place within the set.
    place: u32,
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
