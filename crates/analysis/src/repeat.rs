//! V08: is the second pass over the same data faster than the first?
//!
//! A cache outside of this host (a server's, an array's, a hypervisor's) shows
//! neither in the page cache nor in the counters of a network file system. It
//! shows when the same range is read again.

use fathom_model::judged::JudgedTrial;
use fathom_model::op::OpKind;
use fathom_model::unit;
use fathom_rules::check::v08::{LEAST_COVERAGE, LEAST_PASS_SECONDS};
use fathom_rules::{Rule, TargetKind, check};

use crate::outcome::Outcome;
use crate::trial::{Trial, add};

const RULE: &Rule = check::V08;

/// The outcome for each trial that reads, against the first trial of its row or
/// against its own first pass.
pub(crate) fn outcomes(trials: &[Trial<'_>], judged: &[JudgedTrial]) -> Vec<(usize, Outcome)> {
    let reads = |trial: &Trial<'_>| {
        let only = kind_of(trial).is_some();
        only && trial.kind != TargetKind::Null && !trial.open_loop()
    };
    let evidence = crate::across::evidence(judged);
    let mut found = Vec::new();
    for (index, trial) in trials.iter().enumerate() {
        if !reads(trial) || evidence[index] || trial.data_ops() == 0 {
            continue;
        }
        let first = (0..index).find(|i| {
            let same_row = judged[*i].row == judged[index].row && !evidence[*i];
            same_row && trials[*i].data_ops() > 0
        });
        // Beside other loads passes differ for other reasons.
        let within = (trial.set_size == 1)
            .then(|| passes_within(trial))
            .flatten();
        let between = first.and_then(|first| between(&trials[first], trial));
        let worst = [within, between].into_iter().flatten();
        let worst = worst.max_by(|a, b| a.0.total_cmp(&b.0));
        found.push((
            index,
            match worst {
                Some((ratio, evidence)) => Outcome::graded(RULE, ratio, evidence),
                None => Outcome::not_measured(RULE, reason(trial, first.is_some())),
            },
        ));
    }
    found
}

/// What a trial reads with, if it does nothing else.
fn kind_of(trial: &Trial<'_>) -> Option<OpKind> {
    match trial.workload.requests() {
        Some(object) => object.phase().filter(|kind| {
            matches!(kind, OpKind::Get | OpKind::GetParallel) && kind.reads_objects()
        }),
        None => {
            let mix = &trial.workload.mix;
            (mix.reads() && !mix.modifies()).then_some(OpKind::Read)
        }
    }
}

fn reason(trial: &Trial<'_>, repeated: bool) -> String {
    match repeated {
        true => "the first pass read too little of the data set to be met again".to_owned(),
        false if trial.end().is_none() => "the trial did not reach its report".to_owned(),
        false => {
            "no two passes over the data set can be compared: one trial, and its passes are in \
                  part, shorter than 3 s or begun in the warm-up"
                .to_owned()
        }
    }
}

fn active_bytes(trial: &Trial<'_>) -> Option<f64> {
    if let Some(object) = trial.workload.requests() {
        let objects = object.objects as f64 * f64::from(trial.workload.workers);
        // How much there is in a bucket of somebody else's is not known here.
        return (!object.existing).then_some(objects * object.sizes.mean_bytes());
    }
    let bytes = trial.end()?.data.active_bytes;
    (bytes > 0).then_some(bytes as f64)
}

/// A later trial of a row against the first.
fn between(first: &Trial<'_>, later: &Trial<'_>) -> Option<(f64, String)> {
    let range = active_bytes(first)?;
    if first.data_bytes() as f64 / range < LEAST_COVERAGE {
        return None;
    }
    let rate = |trial: &Trial<'_>| trial.data_bytes() as f64 / trial.duration_seconds();
    let (before, after) = (rate(first), rate(later));
    let ratio = after / before;
    (before > 0.0 && ratio.is_finite()).then(|| {
        let evidence = format!(
            "iteration {} read at {}, the first at {} ({ratio:.2} times)",
            u64::from(later.record.spec.iteration) + 1,
            unit::throughput(after),
            unit::throughput(before),
        );
        (ratio, evidence)
    })
}

/// The second pass of a trial against its first. Both passes need some
/// seconds, and the pattern must come by every block once per pass.
fn passes_within(trial: &Trial<'_>) -> Option<(f64, String)> {
    use fathom_model::workload::{Distribution, ObjectOrder, Pattern, WorkerRegion};
    let once = match (trial.workload.requests(), &trial.workload.pattern) {
        (Some(object), _) => matches!(object.order, ObjectOrder::AsMade | ObjectOrder::EachOnce),
        (None, Pattern::Sequential | Pattern::Backwards) => true,
        (None, Pattern::Random(distribution)) => *distribution == Distribution::EachOnce,
        (None, Pattern::Strided { .. } | Pattern::Skipping { .. }) => false,
    };
    // Workers that do not divide the range come by a block several times a pass.
    let alone = trial.workload.workers == 1;
    let divided = alone
        || trial.workload.requests().is_some()
        || trial.workload.data_set.region == WorkerRegion::Split;
    let plain = trial.workload.replay().is_none()
        && trial.workload.sequencer == fathom_model::workload::Sequencer::default();
    let range = active_bytes(trial)?;
    let warm = trial.seconds.first()?.phase != fathom_model::sample::Phase::Measure;
    // With a warm-up the first pass is not wholly measured.
    if !once || !divided || !plain || warm {
        return None;
    }
    let first = time_to_read(trial, range)?;
    let second = time_to_read(trial, 2.0 * range)? - first;
    if first < LEAST_PASS_SECONDS || second <= 0.0 || first / second > 1e6 {
        return None;
    }
    let ratio = first / second;
    let evidence = format!(
        "the second pass over {} took {second:.1} s, the first {first:.1} s ({ratio:.2} times as \
         fast)",
        unit::bytes(range as u64),
    );
    Some((ratio, evidence))
}

/// Seconds until so many bytes were read; `None` when they never were.
fn time_to_read(trial: &Trial<'_>, bytes: f64) -> Option<f64> {
    let kind = kind_of(trial)?;
    let (mut read, mut time) = (0.0, 0.0);
    for second in trial.measured() {
        let more = add(second.ops(kind).map(|op| op.bytes)) as f64;
        let length = second.duration_ns as f64 / 1e9;
        if read + more >= bytes {
            let share = ((bytes - read) / more.max(1.0)).clamp(0.0, 1.0);
            return Some(time + length * share);
        }
        read += more;
        time += length;
    }
    None
}

#[cfg(test)]
#[path = "repeat_tests.rs"]
mod tests;
