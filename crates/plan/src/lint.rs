//! Warnings: plans that run, but whose numbers would mislead, or cost more
//! than the user may expect.

use fathom_model::workload::{CacheMode, Content, SyncOpen, Workload};
use fathom_model::{ScheduledTrial, Target, unit};

use crate::cost::{Cost, CostAssumptions, cost};
use crate::diagnostic::{Diagnostics, Problem, Problems, warning};
use crate::node::{Located, Span};
use crate::plan::Plan;
use crate::rows::Row;
use crate::schedule::ScheduleContext;
use crate::value::Order;

/// Effective samples that a 99.9th percentile needs.
const SAMPLES_FOR_P999: f64 = 3688.0;
/// Shorter trials are over before caches and clocks settle.
const SHORT_NS: u64 = 5_000_000_000;
/// One percent of what a consumer SSD of 1 TB is rated for (about 600 TB).
const WEAR_BYTES: u64 = 6_000_000_000_000;

impl Plan {
    /// Everything that is unwise about the plan in this context, including
    /// what was found while reading it. Never an error: those come from
    /// [`Plan::schedule`].
    pub fn lint(&self, context: &ScheduleContext) -> Diagnostics {
        let mut problems = Problems::default();
        if let Ok(schedule) = self.schedule(context) {
            let rows = self.rows();
            let targets = schedule
                .trials
                .iter()
                .map(|trial| trial.row + 1)
                .max()
                .unwrap_or(0);
            let targets = (targets as usize / rows.len().max(1)).max(1);
            for trial in schedule.trials.iter().filter(|trial| trial.iteration == 0) {
                if let Some(row) = rows.get(trial.row as usize / targets) {
                    lint_trial(row, trial, context, self, &mut problems);
                }
            }
            let assumptions = CostAssumptions {
                facts: context.facts.clone(),
                ..CostAssumptions::default()
            };
            self.lint_wear(&cost(&schedule, &assumptions), context, &mut problems);
            self.lint_order(rows.len() * targets, &mut problems);
        }
        let mut found = problems.finish(&self.source);
        found.items.extend(self.warnings.items.iter().cloned());
        found
    }

    fn lint_wear(&self, cost: &Cost, context: &ScheduleContext, problems: &mut Problems) {
        let spinning = |target: &Target| context.facts(target).rotational == Some(true);
        let targets = match context.targets.is_empty() {
            true => self.targets(),
            false => context.targets.clone(),
        };
        if cost.bytes_written_max < WEAR_BYTES || targets.iter().all(spinning) {
            return;
        }
        let message = format!(
            "on a fast drive this writes up to {}, which wears an SSD",
            unit::bytes(cost.bytes_written_max)
        );
        let span = self.keys.workloads.as_ref().and_then(|w| w.span);
        problems.push(warning("wears_ssd", span, message).help(format!(
            "bound the writes with {}",
            self.spelling.key("io_size")
        )));
    }

    fn lint_order(&self, rows: usize, problems: &mut Problems) {
        if rows < 2 || self.iterations() < 2 || self.order() != Order::Fixed {
            return;
        }
        let span = self.keys.order.as_ref().and_then(|order| order.span);
        let message = "with a fixed order, drift (heat, filling, other load) looks like a \
                       difference between rows";
        let help = format!("write {}", self.spelling.pair("order", "interleaved"));
        problems.push(warning("unpaired_order", span, message).help(help));
    }
}

fn lint_trial(
    row: &Row,
    trial: &ScheduledTrial,
    context: &ScheduleContext,
    plan: &Plan,
    problems: &mut Problems,
) {
    if trial.target.path().is_none() {
        return;
    }
    let found = [
        reads_from_memory(row, trial, context, plan),
        short(row, &trial.workload),
        writes_to_memory(row, &trial.workload, plan),
        flattering(row, &trial.workload),
    ];
    for problem in found.into_iter().flatten() {
        problems.push(problem);
    }
}

fn place<T>(key: &Option<Located<T>>, row: &Row) -> Option<Span> {
    key.as_ref().and_then(|key| key.span).or(row.entry)
}

fn reads_from_memory(
    row: &Row,
    trial: &ScheduledTrial,
    context: &ScheduleContext,
    plan: &Plan,
) -> Option<Problem> {
    let workload = &trial.workload;
    if workload.cache != CacheMode::Buffered || !workload.mix.reads() {
        return None;
    }
    let ram = context.ram_bytes?;
    let size = workload
        .data_set
        .size_bytes
        .or(context.facts(&trial.target).size_bytes);
    let read = workload.data_set.working_set_bytes.or(size)?;
    if read >= ram {
        return None;
    }
    let message = format!(
        "reads of {} through the page cache come from the {} of memory, not from the target",
        unit::bytes_exact(read),
        unit::bytes(ram)
    );
    let span = place(&row.keys.size, row);
    Some(
        warning("buffered_read_fits_memory", span, message).help(format!(
            "write {}, or take a {} of more than the memory",
            plan.spelling.pair("direct", "true"),
            plan.spelling.key("size")
        )),
    )
}

fn short(row: &Row, workload: &Workload) -> Option<Problem> {
    let bounds = workload.bounds;
    let seconds = bounds.time_ns.map(|ns| ns as f64 / 1e9);
    let by_rate = match workload.rate {
        Some(rate) if rate.unit == fathom_model::workload::RateUnit::Ops => {
            seconds.map(|seconds| seconds * rate.per_second)
        }
        _ => None,
    };
    let ops = [by_rate, bounds.ops.map(|ops| ops as f64)];
    let ops = ops.into_iter().flatten().fold(f64::INFINITY, f64::min);
    let span = place(&row.keys.runtime, row);
    if ops < SAMPLES_FOR_P999 {
        let message = format!(
            "{} operations are too few for p99.9, which needs 3,688 independent ones",
            unit::group(ops as u64)
        );
        return Some(warning("short_for_p999", span, message).help("run longer"));
    }
    if bounds.time_ns.is_some_and(|ns| ns < SHORT_NS) {
        let message = format!(
            "{} are over before caches and clocks settle, and a hard disk does not reach the \
             3,688 operations that p99.9 needs",
            unit::span(bounds.time_ns.unwrap_or(0))
        );
        return Some(warning("short_for_p999", span, message).help("run for 30s or longer"));
    }
    None
}

fn writes_to_memory(row: &Row, workload: &Workload, plan: &Plan) -> Option<Problem> {
    let sync = workload.sync;
    let durable = sync.every_writes > 0 || sync.final_flush || sync.open != SyncOpen::No;
    if workload.cache != CacheMode::Buffered || workload.mix.write_percent == 0 || durable {
        return None;
    }
    let message = "writes through the page cache that are never flushed measure memory";
    let span = place(&row.keys.direct, row);
    Some(warning("write_never_flushed", span, message).help(format!(
        "write {} or {}",
        plan.spelling.pair("end_fsync", "true"),
        plan.spelling.pair("fdatasync", "32")
    )))
}

fn flattering(row: &Row, workload: &Workload) -> Option<Problem> {
    if workload.mix.write_percent == 0 || workload.payload.content != Content::Zeros {
        return None;
    }
    let message = "zeros flatter drives and file systems that compress or leave them out";
    let span = place(&row.keys.payload, row);
    Some(warning("flattering_content", span, message).help("write random contents"))
}

#[cfg(test)]
#[path = "lint_tests.rs"]
mod tests;
