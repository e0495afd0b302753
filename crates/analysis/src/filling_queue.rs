//! How the queue filled at the start of a trial.
//!
//! Where operations wait for one another, the first ones find an empty queue: of N in
//! flight the k-th waits as long as k of them take, so that about half of them take less
//! than half of what each later one takes (Little 1961; a queue served in order). Where an
//! operation takes its time whatever is in flight, as on a long way, the first take as long
//! as the rest. So the first second of a trial tells a saturated target from a latency,
//! where no trial at another depth does.
//!
//! What serves its queue in another order, or takes very different times, shows quick
//! operations later on as well. Then nothing is said.

use fathom_model::unit;
use fathom_rules::TargetKind;
use fathom_rules::check;
use fathom_rules::method::filling_queue::{
    LATER, LEAST_DEPTH, LEAST_KEPT, LEAST_QUICK, LEAST_SECONDS, MOST_QUICK, THRESHOLD as QUICK,
};

use crate::checks::{asks_all_the_time, busy_worker, depth_kept, share_of_ceiling};
use crate::plateau::mean_latency;
use crate::trial::{Second, Trial, data_kinds};

/// That the target is saturated, in words, where the first second proves it.
pub(crate) fn saturated(trial: &Trial<'_>) -> Option<String> {
    let depth = trial.total_depth() as f64;
    let full = depth_kept(trial).is_some_and(|kept| kept >= LEAST_KEPT);
    let alone = trial.set_size == 1 && !trial.part && trial.kind != TargetKind::Null;
    if !(alone && full && depth >= LEAST_DEPTH && asks_all_the_time(trial)) {
        return None;
    }
    // What waits for the generator takes longer the more is in flight as well.
    let at_its_own_limit = share_of_ceiling(trial).is_some_and(|s| s > check::v22::CAVEAT)
        || busy_worker(trial).is_some_and(|busy| busy > check::v22::BUSY_THREAD);
    let (first, later) = trial.seconds.split_first()?;
    let later: Vec<&Second<'_>> = later.iter().collect();
    if at_its_own_limit || later.len() < LEAST_SECONDS {
        return None;
    }
    let usual_ns = mean_latency(&later)?;
    let quick_ns = (QUICK * usual_ns) as u64;
    let at_first = quick_operations(first, quick_ns);
    let fills = (LEAST_QUICK * depth..=MOST_QUICK * depth).contains(&at_first);
    let of_later = later.iter().map(|s| quick_operations(s, quick_ns));
    let each_later = of_later.sum::<f64>() / later.len() as f64;
    (fills && each_later <= LATER * at_first).then(|| {
        format!(
            "the first {} operations took less than half of the {} that later ones take: they found \
             an empty queue, and what is in flight waits for one another",
            unit::group(at_first as u64),
            unit::latency(usual_ns)
        )
    })
}

/// Data operations of a second that took no longer than this.
fn quick_operations(second: &Second<'_>, most_ns: u64) -> f64 {
    let all = data_kinds().flat_map(|kind| second.ops(kind));
    let quick = all.map(|op| {
        let count = op.service.count();
        count.saturating_sub(op.service.count_above(most_ns))
    });
    quick.fold(0, u64::saturating_add) as f64
}

#[cfg(test)]
mod tests {
    use fathom_model::Histogram;
    use fathom_model::run::TrialRecord;
    use fathom_model::verdict::Limiter;

    use crate::test_records::{RecordBuilder, run_of};

    /// 32 in flight at 800 operations per second for twenty seconds, 40 ms each; `early` of
    /// the first second and `late` of each later one take a tenth of that.
    fn trial(early: u64, late: u64) -> (RecordBuilder, TrialRecord) {
        trial_of(0.03, early, late)
    }

    fn trial_of(noise: f64, early: u64, late: u64) -> (RecordBuilder, TrialRecord) {
        let builder = RecordBuilder::reads().with(|b| {
            b.workload.queue_depth = 32;
            b.ops_per_second = 800;
            b.seconds = 20;
            b.noise = noise;
        });
        let mut trial = builder.trial();
        for (second, sample) in trial.samples.iter_mut().enumerate() {
            let quick = if second == 0 { early } else { late };
            for op in &mut sample.ops {
                let mut service = Histogram::new();
                (0..op.ops).for_each(|n| {
                    let ns = if n < quick { 4_000_000 } else { 40_000_000 };
                    service.record(ns);
                });
                op.service = service;
            }
        }
        (builder, trial)
    }

    fn limiter(early: u64, late: u64) -> Limiter {
        let (builder, trial) = trial(early, late);
        limiter_of(&builder, trial)
    }

    fn limiter_of(builder: &RecordBuilder, trial: TrialRecord) -> Limiter {
        let judged = crate::judge(&run_of(vec![trial], builder.host.clone()));
        judged.trials[0].verdict.limiter
    }

    #[test]
    fn a_queue_that_filled_shows_a_saturated_device() {
        assert_eq!(limiter(16, 0), Limiter::Device);
    }

    #[test]
    fn seconds_that_hardly_vary_may_be_those_of_a_cap() {
        let (builder, trial) = trial_of(0.0001, 16, 0);
        assert_eq!(limiter_of(&builder, trial), Limiter::DeviceOrCap);
    }

    #[test]
    fn the_start_says_nothing_of_a_rate_that_changed() {
        let (builder, mut trial) = trial(16, 0);
        let half = trial.samples.len() / 2;
        for sample in trial.samples.iter_mut().skip(half) {
            for op in &mut sample.ops {
                op.ops /= 2;
                op.bytes /= 2;
            }
        }
        assert_eq!(limiter_of(&builder, trial), Limiter::Unknown);
    }

    #[test]
    fn a_latency_shows_no_quick_operation() {
        assert_eq!(limiter(0, 0), Limiter::Unknown);
    }

    #[test]
    fn times_that_differ_show_quick_operations_later_as_well() {
        assert_eq!(limiter(16, 16), Limiter::Unknown);
    }

    #[test]
    fn more_quick_operations_than_fit_a_queue_are_a_cache_or_a_credit() {
        assert_eq!(limiter(300, 0), Limiter::Unknown);
    }
}
