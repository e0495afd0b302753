//! How long trials take, as far as that is known before they begin.

use fathom_model::{ScheduledTrial, Target};

/// Assumed time of a trial's preparation and end, for the first guess of the
/// time left.
const OVERHEAD_NS: u64 = 500_000_000;

/// How long a trial takes; 0 where nobody knows. The time of a simulated drive flies.
pub(super) fn trial_ns(spec: &ScheduledTrial) -> u64 {
    if matches!(spec.target, Target::Sim(_)) {
        return 0;
    }
    let workload = &spec.workload;
    workload.bounds.time_ns.map_or(0, |time_ns| {
        time_ns + workload.warmup_ns + spec.pause.floor_ns + OVERHEAD_NS
    })
}
