//! Which part of the CPU was the generator's limit: a worker thread, the quota
//! of a control group, or one CPU that handled the device's interrupts.

use fathom_model::unit;
use fathom_rules::check;

use super::generator::busy_worker;
use crate::above_the_device::interrupt_bound;
use crate::trial::Trial;

/// One part of the CPU that was used up.
pub(crate) struct CpuBound {
    /// Share of its time.
    pub(crate) share: f64,
    /// From which share on it counts.
    pub(crate) limit: f64,
    /// What it was, with figures.
    pub(crate) text: String,
}

/// The part of the CPU that was used up, when one was.
pub(crate) fn cpu_bound(trial: &Trial<'_>) -> Option<CpuBound> {
    worker(trial)
        .or_else(|| quota_bound(trial))
        .or_else(|| interrupts(trial))
}

/// The busiest worker thread, in words, whatever its share.
pub(super) fn busiest_thread(trial: &Trial<'_>) -> Option<String> {
    let share = busy_worker(trial)?;
    // Threads of other trials have the same names.
    let thread = trial
        .end()
        .filter(|_| trial.set_size == 1)
        .and_then(|end| end.host.as_ref()?.busiest_thread.as_ref());
    let name = match thread {
        Some(thread) => {
            let cpu = thread.cpu.map(|cpu| format!(", last on CPU {cpu}"));
            format!(" ({}{})", thread.name, cpu.unwrap_or_default())
        }
        None => String::new(),
    };
    Some(format!(
        "the busiest worker thread{name} used {:.0} % of a CPU",
        100.0 * share
    ))
}

fn worker(trial: &Trial<'_>) -> Option<CpuBound> {
    // What the file system does for an operation on a file it does in the
    // worker's own time: that is the load, not the cost of making it.
    if trial.workload.files_work().is_some() {
        return None;
    }
    let limit = check::v22::BUSY_THREAD;
    let share = busy_worker(trial).filter(|share| *share > limit)?;
    Some(CpuBound {
        share,
        limit,
        text: busiest_thread(trial)?,
    })
}

/// A worker thread that computed so much of its time that little more was to be had
/// of it, in words.
pub(crate) fn nearly_bound(trial: &Trial<'_>) -> Option<String> {
    if trial.workload.files_work().is_some() || trial.artificial().is_some() {
        return None;
    }
    busy_worker(trial).filter(|share| *share >= check::v22::NEARLY_BUSY)?;
    let text = busiest_thread(trial)?;
    Some(format!(
        "{text}: more of them would tell (`--numjobs {}`)",
        trial.workload.workers.saturating_mul(2)
    ))
}

/// A quota that stopped the workers for a good part of the time.
pub(crate) fn quota_bound(trial: &Trial<'_>) -> Option<CpuBound> {
    let limit = check::v22::QUOTA;
    let load = trial.end()?.host.as_ref()?;
    let quota = load.cpu_quota.as_ref()?;
    let share = quota.throttled_periods as f64 / quota.periods as f64;
    (share.is_finite() && share > limit).then(|| CpuBound {
        share,
        limit,
        text: format!(
            "the CPU quota of the control group {} stopped fathom in {:.0} % of its periods, for \
             {} in all",
            quota.group,
            100.0 * share.min(1.0),
            unit::span(quota.throttled_ns)
        ),
    })
}

fn interrupts(trial: &Trial<'_>) -> Option<CpuBound> {
    let limit = check::v22::INTERRUPTS;
    let (share, text) = interrupt_bound(trial, limit)?;
    Some(CpuBound { share, limit, text })
}

#[cfg(test)]
#[path = "generator_cpu_tests.rs"]
mod tests;
