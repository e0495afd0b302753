//! V24, V25, V26, V28, V29: can the bookkeeping be believed?

use fathom_model::op::{ErrorCounts, OpKind};
use fathom_model::run::RunState;
use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_model::workload::CacheMode;
use fathom_rules::{Rule, TargetKind, check};

use super::Facts;
use crate::outcome::{Outcome, grade};
use crate::trial::{Trial, data_kinds};

/// Clock sources that are read without a system call and do not run apart
/// between CPUs.
const GOOD_CLOCKS: [&str; 10] = [
    "tsc",
    "tsc-early",
    "kvm-clock",
    "xen",
    "hyperv_clocksource_tsc_page",
    "hyperv_clocksource",
    "arch_sys_counter",
    "riscv_clocksource",
    "timebase",
    "tod",
];

/// V24: can times be believed?
pub(super) fn clock(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V24;
    let trial = facts.trial;
    // The null target may take less than one tick; a virtual clock cannot err.
    if matches!(trial.kind, TargetKind::Null | TargetKind::Sim) {
        let reason = "the times of this target are not those of I/O";
        return Some(Outcome::not_measured(RULE, reason));
    }
    let source = trial.host.clocksource.as_deref();
    let read_ns = trial.host.clock_read_ns.filter(|ns| ns.is_finite());
    let impossible = trial.end().map(|end| end.engine.impossible_latencies);
    if source.is_none() && read_ns.is_none() && impossible.is_none() {
        return Some(Outcome::not_measured(
            RULE,
            "nothing is known about the clock",
        ));
    }
    let ops = trial.data_ops().max(1);
    let share = impossible.unwrap_or(0) as f64 / ops as f64;
    let (mut status, threshold) = grade(RULE, share);
    let poor = source.is_some_and(|s| !GOOD_CLOCKS.contains(&s));
    let slow = read_ns.is_some_and(|ns| ns > check::v24::SLOW_READ_NS);
    if poor || slow {
        status = status.max(FindingStatus::Caveat);
    }
    let cost = read_ns.map(|ns| format!(", {} to read", unit::latency(ns.clamp(0.0, 1e12))));
    let evidence = format!(
        "clock source {}{}; {} latencies of zero or less",
        source.unwrap_or("unknown"),
        cost.unwrap_or_default(),
        unit::group(impossible.unwrap_or(0)),
    );
    Some(Outcome::decided(RULE, status, share, threshold, evidence))
}

/// V25: do independent counts agree?
pub(super) fn unit_identity(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V25;
    let trial = facts.trial;
    let worst = data_kinds()
        .filter_map(|kind| identity_error(trial, kind))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((error, evidence)) = worst else {
        return Some(Outcome::not_measured(RULE, "no operation completed"));
    };
    Some(Outcome::graded(RULE, error, evidence))
}

/// Whether operations of a kind have no block size: those on whole files and
/// objects.
fn of_its_own_size(kind: OpKind) -> bool {
    kind.is_metadata() || kind.is_object()
}

/// Largest relative contradiction between operations, bytes and latencies.
fn identity_error(trial: &Trial<'_>, kind: OpKind) -> Option<(f64, String)> {
    let total = trial.total(kind);
    let latencies: f64 = trial
        .measured()
        .flat_map(|s| s.ops(kind))
        .map(|op| op.service.count() as f64)
        .sum();
    if total.ops == 0 && total.bytes == 0 && latencies == 0.0 {
        return None;
    }
    let ops = (total.ops as f64).max(1.0);
    let block = total.bytes as f64 / ops;
    let sizes = trial.workload.block_of(kind);
    let (least, most) = match trial.workload.replay() {
        // Sizes of whole files are checked one by one, where that is asked for.
        _ if of_its_own_size(kind) => (block, block),
        None => (sizes.min_bytes() as f64, sizes.max_bytes() as f64),
        // The list is not known here.
        Some(_) => (block, block),
    };
    let outside = if block < least {
        (least - block) / least
    } else {
        (block - most).max(0.0) / most.max(1.0)
    };
    let uncounted = (latencies - total.ops as f64).abs() / ops;
    if of_its_own_size(kind) {
        let text = format!(
            "{}: {} operations, {} recorded latencies",
            kind.name(),
            unit::group(total.ops),
            unit::group(latencies as u64)
        );
        return Some((uncounted, text));
    }
    let evidence = format!(
        "{}: {} operations, {} recorded latencies, {:.0} B per operation with blocks of {}",
        kind.name(),
        unit::group(total.ops),
        unit::group(latencies as u64),
        block,
        match least == most {
            true => unit::bytes_exact(least as u64),
            false => format!(
                "{} to {}",
                unit::bytes_exact(least as u64),
                unit::bytes_exact(most as u64)
            ),
        },
    );
    Some((outside.max(uncounted), evidence))
}

/// V26: failed operations.
pub(super) fn io_errors(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V26;
    let trial = facts.trial;
    if trial.record.samples.is_empty() && trial.end().is_none_or(|end| end.engine.errors.is_empty())
    {
        return Some(Outcome::not_measured(RULE, "nothing was measured"));
    }
    let mut errors = ErrorCounts::default();
    // A final flush that failed lies in the settle phase.
    for op in trial.record.samples.iter().flat_map(|s| &s.ops) {
        for (class, count) in op.errors.iter() {
            errors.add_many(class, count.min(u64::MAX - errors.total()));
        }
    }
    // An error outside the load (final flush, verification) is in the log only.
    let logged = trial.end().map_or(0, |end| end.engine.errors.len() as u64);
    let count = errors.total().max(logged);
    if count == 0 {
        let evidence = "no operation failed".to_owned();
        return Some(Outcome::graded(RULE, 0.0, evidence));
    }
    let classes: Vec<String> = errors
        .iter()
        .map(|(class, n)| format!("{} {}", unit::group(n), class.name()))
        .collect();
    let first = trial.end().and_then(|end| end.engine.errors.first());
    let evidence = format!(
        "{}{}{}",
        unit::counted(count, "failed operation"),
        match classes.is_empty() {
            true => String::new(),
            false => format!(" ({})", classes.join(", ")),
        },
        first
            .map(|e| format!("; the first: {}", e.message))
            .unwrap_or_default(),
    );
    Some(Outcome::graded(RULE, count as f64, evidence))
}

/// V28: was it the engine and mode that was asked for?
pub(super) fn engine_fallback(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V28;
    let trial = facts.trial;
    let Some(end) = trial.end() else {
        return Some(Outcome::not_measured(
            RULE,
            "the trial did not reach its report",
        ));
    };
    let report = &end.engine;
    let Some(used) = report.used else {
        return Some(Outcome::not_measured(RULE, "the engine did not report"));
    };
    let requested = report.requested.unwrap_or(trial.workload.engine);
    let lost_direct =
        trial.workload.cache == CacheMode::Direct && !report.direct && trial.artificial().is_none();
    let mut notes: Vec<String> = Vec::new();
    if used != requested {
        notes.push(format!(
            "{} ran in place of {}",
            used.name(),
            requested.name()
        ));
    }
    if lost_direct {
        notes.push("direct I/O was requested and not in force".to_owned());
    }
    let status = match (notes.is_empty(), report.fallbacks.is_empty()) {
        (false, _) => FindingStatus::Caveat,
        (true, false) => FindingStatus::Info,
        (true, true) => FindingStatus::Pass,
    };
    notes.extend(report.fallbacks.iter().take(8).cloned());
    let evidence = match notes.is_empty() {
        true => format!("{} ran as requested", used.name()),
        false => notes.join("; "),
    };
    let threshold = RULE.caveat;
    Some(Outcome::decided(
        RULE,
        status,
        notes.len() as f64,
        threshold,
        evidence,
    ))
}

/// V29: did it come to its end?
pub(super) fn incomplete(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V29;
    let trial = facts.trial;
    let stuck = trial.end().map_or(0, |end| end.engine.stuck.len());
    let measured = match trial.workload.bounds.time_ns {
        Some(planned) if planned > 0 => format!(
            "{} of {} measured",
            unit::span(trial.duration_ns),
            unit::span(planned)
        ),
        _ => format!("{} measured", unit::span(trial.duration_ns)),
    };
    let reason = trial.end().and_then(|end| end.reason.as_deref());
    let because = reason.map(|r| format!(": {r}")).unwrap_or_default();
    let nothing = trial.data_ops() == 0;
    let (status, text) = match trial.record.state {
        _ if stuck > 0 => (
            FindingStatus::Invalid,
            format!(
                "{} did not come back",
                unit::counted(stuck as u64, "operation")
            ),
        ),
        RunState::Failed => (FindingStatus::Invalid, "the trial failed".to_owned()),
        _ if nothing => (
            FindingStatus::Invalid,
            "no operation was completed".to_owned(),
        ),
        RunState::Complete => (FindingStatus::Pass, "the trial came to its end".to_owned()),
        RunState::Interrupted => (
            FindingStatus::Caveat,
            "the trial was interrupted".to_owned(),
        ),
        RunState::Running => (
            FindingStatus::Caveat,
            "the trial is under way, or its process was killed".to_owned(),
        ),
    };
    let count = if status == FindingStatus::Pass {
        0
    } else {
        stuck.max(1)
    };
    let threshold = RULE.caveat;
    let evidence = format!("{text}{because}; {measured}");
    let outcome = Outcome::decided(RULE, status, count as f64, threshold, evidence);
    Some(match trial.record.state {
        _ if stuck > 0 => outcome,
        // The user stopped the run, so nothing went wrong.
        RunState::Interrupted => outcome.with_remedy("Run it again to the end."),
        RunState::Complete if nothing => outcome.with_remedy(
            "Give it more time, or ask for less at once: not one operation was done by the end.",
        ),
        _ => outcome,
    })
}

#[cfg(test)]
#[path = "integrity_tests.rs"]
mod tests;
