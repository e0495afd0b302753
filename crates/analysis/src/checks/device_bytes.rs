//! V01: bytes at the device against bytes of the application.

use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::check::v01::{LEAST_BLOCKS, LEAST_CERTAIN};
use fathom_rules::{Rule, TargetKind, check};

use super::Facts;
use super::data_set::holes;
use super::unflushed::unflushed;
use crate::activity::{Activity, Moved};
use crate::outcome::Outcome;

const RULE: &Rule = check::V01;

pub(super) fn app_vs_device_bytes(facts: &Facts<'_>) -> Option<Outcome> {
    let trial = facts.trial;
    // Space and length are changed, and no data move.
    if trial.kind == TargetKind::File && !trial.engine().keeps_data() {
        return None;
    }
    if !trial.workload.mix.reads() && trial.workload.mix.write_percent == 0 {
        return None;
    }
    if let Some(reason) = trial.artificial() {
        return Some(Outcome::not_measured(RULE, reason));
    }
    if trial.kind == TargetKind::Memory {
        let reason = "the target is in memory: there is no device (see V06)";
        return Some(Outcome::not_measured(RULE, reason));
    }
    let activity = match &facts.activity {
        Ok(activity) => activity,
        Err(reason) => return Some(Outcome::not_measured(RULE, reason.clone())),
    };
    if let Some(reason) = cannot_be_told_apart(facts) {
        return Some(Outcome::not_measured(RULE, reason));
    }
    let outcomes = [read_side(facts, activity), write_side(facts, activity)];
    let worst = outcomes.into_iter().flatten().max_by_key(Outcome::status);
    Some(worst.unwrap_or_else(|| {
        Outcome::not_measured(RULE, "too few operations to compare with the device")
    }))
}

/// Beside a trial that must reach the device, nothing shows how much of a
/// buffered one did.
fn cannot_be_told_apart(facts: &Facts<'_>) -> Option<&'static str> {
    let company = facts.trial.company.as_ref()?;
    (company.direct && !facts.trial.direct()).then_some(
        "trials that ran at the same time go past the page cache to the same devices: what \
         this one caused there cannot be told from theirs",
    )
}

/// Device bytes over read bytes, when both are known. Above 1 with read-ahead.
pub(crate) fn read_ratio(facts: &Facts<'_>) -> Option<f64> {
    let activity = facts.activity.as_ref().ok()?;
    favourable_ratio(facts, activity.device_read_bytes, read(facts, activity))
}

/// The reads that are compared: direct ones alone, where buffered ones come on
/// top.
fn read(facts: &Facts<'_>, activity: &Activity) -> Moved {
    match facts.trial.direct() {
        true => activity.direct_read,
        false => activity.read,
    }
}

/// The ratio with the slack in favour of the measurement.
fn favourable_ratio(facts: &Facts<'_>, device: f64, app: Moved) -> Option<f64> {
    let least = LEAST_BLOCKS * facts.trial.workload.min_block_bytes().max(512) as f64;
    if app.bytes < least {
        return None;
    }
    // Never more than three quarters: a cache that answers everything must
    // show in the shortest run.
    let certain = (app.bytes - app.slack).max(app.bytes * LEAST_CERTAIN);
    Some(device / certain)
}

fn read_side(facts: &Facts<'_>, activity: &Activity) -> Option<Outcome> {
    let app = read(facts, activity);
    let ratio = favourable_ratio(facts, activity.device_read_bytes, app)?;
    let how = match facts.trial.direct() {
        true => "direct reads",
        false => "buffered reads",
    };
    let found = outcome(
        ratio,
        how,
        "delivered",
        (activity.device_read_bytes, app.bytes),
        loads(facts),
        activity,
    );
    Some(match holes(facts).filter(|_| found.status() >= FindingStatus::Caveat) {
        Some(share) => found.and(&format!(
            "; {:.0} % of the data was never written, and holes are read without the device (V04)",
            100.0 * share
        )),
        None => found,
    })
}

fn write_side(facts: &Facts<'_>, activity: &Activity) -> Option<Outcome> {
    if facts.trial.direct() {
        let app = activity.direct_written;
        let ratio = favourable_ratio(facts, activity.device_write_bytes, app)?;
        return Some(outcome(
            ratio,
            "direct writes",
            "received",
            (activity.device_write_bytes, app.bytes),
            loads(facts),
            activity,
        ));
    }
    // Writeback lags behind: the whole load with all that followed it counts.
    let whole = Activity::of_load_and_after(facts.trial).ok()?;
    let flushed = facts
        .trial
        .end()
        .is_some_and(|e| e.final_flush_ns.is_some());
    let sync = &facts.trial.workload.sync;
    let left = match unflushed(facts.trial) {
        Some(left) if !flushed => left.bytes as f64,
        _ => 0.0,
    };
    if !flushed && sync.every_writes == 0 && left == 0.0 {
        return None;
    }
    let app = whole.written;
    // What is still dirty is the business of V07, not a lie of the device.
    let device = whole.device_write_bytes + left.min(app.bytes);
    let ratio = favourable_ratio(facts, device, app)?;
    Some(outcome(
        ratio,
        "buffered writes",
        "received",
        (device, app.bytes),
        loads(facts),
        &whole,
    ))
}

/// Workloads whose bytes are compared.
fn loads(facts: &Facts<'_>) -> usize {
    facts.trial.company.as_ref().map_or(1, |c| c.loads)
}

fn outcome(
    ratio: f64,
    how: &str,
    verb: &str,
    (device, app): (f64, f64),
    loads: usize,
    activity: &Activity,
) -> Outcome {
    let who = match loads {
        1 => "the workload".to_owned(),
        n => format!("the {n} workloads that ran at the same time"),
    };
    let evidence = format!(
        "{how}: {who} moved {}, {} {verb} {} ({:.0} %) over {:.0} s",
        unit::bytes(app as u64),
        names(&activity.leaves),
        unit::bytes(device as u64),
        100.0 * device / app,
        activity.seconds,
    );
    let more = match ratio > check::v09::INFO {
        true => {
            "; more than the workload moved is not a fault here: read-ahead, metadata or others \
                 (V09, V30)"
        }
        false => "",
    };
    Outcome::graded(RULE, ratio, evidence + more)
}

/// Device names for a sentence.
pub(super) fn names(leaves: &[String]) -> String {
    match leaves {
        [] => "the device".to_owned(),
        [one] => one.clone(),
        [first, rest @ ..] if rest.len() < 4 => format!("{first}, {}", rest.join(", ")),
        [first, rest @ ..] => format!("{first} and {} more devices", rest.len()),
    }
}

#[cfg(test)]
#[path = "device_bytes_tests.rs"]
mod tests;
