//! The probe at half the rate: does something hold operations back that the device
//! would do?
//!
//! A flat rate with a full queue is a device at its end or a cap. How long an
//! operation takes while nothing waits tells them apart (`hidden_cap`), where it is
//! the device's own time: of reads at random.

use fathom_model::Fingerprint;
use fathom_model::run::{RunState, TrialRecord};
use fathom_model::schedule::{Purpose, Schedule, ScheduledTrial, TrialRole};
use fathom_model::verdict::{Limiter, Validity};
use fathom_model::workload::{Arrival, Distribution, OpMix, Pattern, Rate, RateUnit, Workload};
use fathom_rules::check::v21::LEAST_ROW_NS;
use fathom_rules::method::hidden_cap::{FLAT, PACE, PACE_NS};
use fathom_stats::moments::Moments;

use crate::hidden_cap::{is_full, variation_after_the_first};
use crate::judge::judge_trials;
use crate::knee::same_shape;
use crate::plateau::caps_exist;
use crate::probe::once;
use crate::trial::Trial;

/// The trial that tells a cap from a device, after a row, with its probe at twice
/// the depth where there was one; `None` where nothing asks for it.
pub(crate) fn pace_probe(
    schedule: &Schedule,
    host: &Fingerprint,
    around: &[&TrialRecord],
    row: &TrialRecord,
) -> Option<ScheduledTrial> {
    let spec = &row.spec;
    let asked = schedule.depth_probe
        && schedule.purpose == Purpose::Measure
        && spec.role == TrialRole::Measure
        && spec.together.is_none()
        && row.state == RunState::Complete;
    // One at a time, a deeper row says more.
    let deeper = schedule.trials.iter().any(|t| {
        t.target == spec.target
            && t.workload.total_depth() > 1
            && same_shape(&t.workload, &spec.workload)
    });
    let asked = asked && !(spec.workload.total_depth() == 1 && deeper);
    let workload = asked.then(|| at_half_the_rate(row, host)).flatten()?;
    may_be_a_cap(host, around, row).then(|| ScheduledTrial {
        iteration: 0,
        label: format!("{}, probe at half the rate", spec.label),
        workload,
        role: TrialRole::Probe,
        ..spec.clone()
    })
}

fn at_half_the_rate(record: &TrialRecord, host: &Fingerprint) -> Option<Workload> {
    let trial = Trial::new(record, host);
    let workload = &record.spec.workload;
    let reads = workload.mix == OpMix::READ;
    let closed = !trial.open_loop() && workload.think_ns == 0 && workload.verify.is_none();
    let blocks = workload.replay().is_none() && workload.requests().is_none();
    let real = trial.kind != fathom_rules::TargetKind::Null && trial.direct();
    if !(reads && closed && blocks && real)
        || trial.total_depth() == 1 && !caps_exist(&trial)
        || trial.duration_ns < LEAST_ROW_NS
        || !is_full(&trial)
        || variation_after_the_first(&trial)? > FLAT
    {
        return None;
    }
    let rates = Moments::of(&trial.second_rates())?;
    // Reads in order would be fetched ahead while nothing is asked for.
    let pattern = match workload.pattern.is_random() {
        true => workload.pattern.clone(),
        false => Pattern::Random(Distribution::EachOnce),
    };
    Some(Workload {
        pattern,
        rate: Some(Rate {
            per_second: (PACE * rates.mean).max(1.0),
            unit: RateUnit::Ops,
            arrival: Arrival::Constant,
        }),
        slo: None,
        ..once(workload, PACE_NS)
    })
}

/// Judges the row beside what ran around it: whether a device may be its limit, and
/// so may a cap.
fn may_be_a_cap(host: &Fingerprint, around: &[&TrialRecord], row: &TrialRecord) -> bool {
    let records = around.iter().copied().chain([row]);
    let trials: Vec<Trial<'_>> = records.map(|record| Trial::new(record, host)).collect();
    let judged = judge_trials(&trials);
    judged.last().is_some_and(|judged| {
        let open = match judged.verdict.limiter {
            Limiter::Unknown | Limiter::DeviceOrCap | Limiter::Device => true,
            Limiter::QueueDepth => row.spec.workload.total_depth() == 1,
            _ => false,
        };
        open && judged.verdict.validity != Validity::NotTrusted
    })
}
