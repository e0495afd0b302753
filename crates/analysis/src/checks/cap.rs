//! V38: a limit that somebody set: a control group's, or a cloud volume's own
//! counters of time at its limit.

use fathom_model::op::OpKind;
use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::check::v38::{AT_LIMIT, BEYOND, CLOUD_SHARE, SLICE_SECONDS};
use fathom_rules::{Rule, TargetKind, check};

use super::Facts;
use super::device_facts::{Pair, pairs};
use crate::company::overlap;
use crate::outcome::Outcome;
use crate::plateau::plateau;
use crate::trial::Trial;

const RULE: &Rule = check::V38;

/// A declared limit and how much of it was used.
struct Use {
    share: f64,
    text: String,
}

/// V38: was a limit reached?
pub(super) fn cap(facts: &Facts<'_>) -> Option<Outcome> {
    let trial = facts.trial;
    if trial.kind == TargetKind::Null || trial.data_ops() == 0 {
        return None;
    }
    let info = |share: f64, text: String| {
        Outcome::decided(RULE, FindingStatus::Info, share, RULE.info, text)
    };
    if let Some(evidence) = evidence(trial) {
        return Some(info(1.0, evidence));
    }
    if trial.kind == TargetKind::Sim {
        return None;
    }
    let uses = uses(trial);
    let most = uses.iter().max_by(|a, b| a.share.total_cmp(&b.share));
    let cloud = cloud_share(trial).filter(|(share, _)| *share > 0.0);
    Some(match (most, cloud) {
        (_, Some((share, text))) => info(share, text),
        (Some(most), None) => {
            let pass = FindingStatus::Pass;
            let text = format!("{} was not reached", most.text);
            Outcome::decided(RULE, pass, most.share, RULE.info, text)
        }
        (None, None) if trial.record.target_before.is_none() => {
            Outcome::not_measured(RULE, "the target was not looked at")
        }
        (None, None) => {
            let text = "no control group limits the devices, and the rate is not a plateau";
            let pass = FindingStatus::Pass;
            Outcome::decided(RULE, pass, 0.0, RULE.info, text.to_owned())
        }
    })
}

/// The evidence that a cap set the rate, with its figure.
pub(crate) fn evidence(trial: &Trial<'_>) -> Option<String> {
    let least = check::v38::INFO;
    let mut uses = uses(trial);
    uses.sort_by(|a, b| b.share.total_cmp(&a.share));
    let reached = uses
        .into_iter()
        .find(|used| (least..=BEYOND).contains(&used.share));
    if let Some(used) = reached {
        return Some(format!(
            "{} was reached ({:.1} % of it)",
            used.text,
            100.0 * used.share
        ));
    }
    if let Some((_, text)) = cloud_share(trial).filter(|(share, _)| *share >= CLOUD_SHARE) {
        return Some(text);
    }
    plateau(trial)
}

/// The evidence that a limit which somebody declared was met so closely that
/// nothing else needs to explain the rate.
pub(crate) fn declared(trial: &Trial<'_>) -> Option<String> {
    let near = AT_LIMIT + SLICE_SECONDS / trial.duration_seconds().max(1.0);
    let mut uses = uses(trial);
    uses.retain(|used| (used.share - 1.0).abs() <= near);
    uses.sort_by(|a, b| (a.share - 1.0).abs().total_cmp(&(b.share - 1.0).abs()));
    if let Some(used) = uses.first() {
        let share = 100.0 * used.share;
        return Some(format!("{} was reached ({share:.1} % of it)", used.text));
    }
    let cloud = cloud_share(trial).filter(|(share, _)| *share >= CLOUD_SHARE);
    cloud.map(|(_, text)| text)
}

/// Whether a control group limits a device under the target, reached or not.
pub(crate) fn is_limited(trial: &Trial<'_>) -> bool {
    !uses(trial).is_empty()
}

/// Rates against the limits of control groups, device by device. The page
/// cache reads ahead and writes back in its own time: buffered writes are not
/// compared.
fn uses(trial: &Trial<'_>) -> Vec<Use> {
    let seconds = trial.duration_seconds();
    if trial.duration_ns == 0 {
        return Vec::new();
    }
    let of_device = |device: &Pair<'_>| -> Vec<Use> {
        let limit = |fact: &str| -> Option<f64> {
            let value: f64 = device.fact(fact)?.parse().ok()?;
            (value > 0.0).then_some(value)
        };
        let mut uses = Vec::new();
        for (kind, word) in [(OpKind::Read, "read"), (OpKind::Write, "write")] {
            if !trial.direct() {
                continue;
            }
            let (ops, bytes) = done(trial, kind);
            for (what, done) in [("ops", ops), ("bytes", bytes)] {
                let fact = format!("cgroup_{word}_{what}");
                let Some(most) = limit(&fact).filter(|_| done > 0.0) else {
                    continue;
                };
                let figure = match what {
                    "ops" => format!("{} {word}s/s", unit::count(most)),
                    _ => format!("{} of {word}s", unit::throughput(most)),
                };
                let group = device.fact(&format!("{fact}_group")).unwrap_or("/");
                uses.push(Use {
                    share: done / seconds / most,
                    text: format!(
                        "the limit of {figure} on {} (control group {group})",
                        device.name()
                    ),
                });
            }
        }
        uses
    };
    pairs(trial).iter().flat_map(of_device).collect()
}

/// Operations and bytes of the measure phase, with those of other trials that
/// used the same devices meanwhile.
fn done(trial: &Trial<'_>, kind: OpKind) -> (f64, f64) {
    let Some(company) = &trial.company else {
        let total = trial.total(kind);
        return (total.ops as f64, total.bytes as f64);
    };
    let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    let start = trial.measured().map(|s| signed(s.start_ns)).min();
    let end = trial.measured().map(|s| signed(s.end_ns())).max();
    let window = (start.unwrap_or(0), end.unwrap_or(0));
    let mut sum = (0.0, 0.0);
    for piece in company.pieces_of(trial) {
        let share = overlap(piece.start_ns, piece.duration_ns, window);
        let all = piece.all();
        let (ops, bytes) = match kind {
            OpKind::Read => (all.reads, all.read_bytes),
            _ => (all.writes, all.written_bytes),
        };
        sum = (sum.0 + ops * share, sum.1 + bytes * share);
    }
    sum
}

/// Share of the trial that a cloud volume counted as spent at a limit.
fn cloud_share(trial: &Trial<'_>) -> Option<(f64, String)> {
    let known = [
        (
            "cloud_volume_iops_exceeded_us",
            "operations/s of the volume",
        ),
        (
            "cloud_volume_throughput_exceeded_us",
            "throughput of the volume",
        ),
        (
            "cloud_instance_iops_exceeded_us",
            "operations/s of the instance",
        ),
        (
            "cloud_instance_throughput_exceeded_us",
            "throughput of the instance",
        ),
    ];
    let ops = trial.data_ops() as f64 / trial.duration_seconds();
    let bytes = trial.data_bytes() as f64 / trial.duration_seconds();
    let found = pairs(trial).into_iter().flat_map(|device| {
        known.into_iter().filter_map(move |(fact, what)| {
            let seconds = device.growth(fact)? as f64 / 1e6;
            let share = (seconds / trial.duration_seconds()).min(1.0);
            let text = format!(
                "{} spent {seconds:.1} s at the provisioned {what}; the rate was {} ops/s, {}",
                device.name(),
                unit::count(ops.min(1e15)),
                unit::throughput(bytes),
            );
            share.is_finite().then_some((share, text))
        })
    });
    found.max_by(|a, b| a.0.total_cmp(&b.0))
}

#[cfg(test)]
#[path = "cap_tests.rs"]
mod tests;
