//! Limits between the application and the device: the file system, and the
//! CPU that submits or completes.
//!
//! The file system is named when operations wait above an idle device, and
//! everything else that could hold them there is excluded: no CPU is busy, no
//! control group throttles, no layer lies between (encryption, RAID, caches
//! and loop devices hold requests of their own), and the device did the work.

use fathom_model::unit;
use fathom_model::verdict::{Finding, FindingStatus, Limiter};
use fathom_rules::method::limited_above_the_device::{
    BUSY_CPU, IDLE_QUEUE, LEAST_WAITING, THRESHOLD as MOST_AT_DEVICE,
};
use fathom_rules::{TargetKind, check};

use crate::activity::host_observations;
use crate::checks::{Facts, is_limited};
use crate::named_limiter::Named;
use crate::trial::Trial;

/// The file system, when its part is proved.
pub(crate) fn by_filesystem(facts: &Facts<'_>, findings: &[Finding]) -> Option<Named> {
    let trial = facts.trial;
    let plain = trial.kind == TargetKind::File && stack_is_plain(trial);
    let closed = !trial.open_loop() && trial.workload.think_ns == 0;
    // Buffered operations wait in the page cache, which is not the file system.
    if !plain || !closed || !trial.direct() || is_limited(trial) || !device_did_it(findings) {
        return None;
    }
    let activity = facts.activity.as_ref().ok()?;
    let in_flight = trial.mean_in_flight()?;
    let at_device = activity.mean_queue;
    let waiting = in_flight - at_device;
    let idle = at_device < IDLE_QUEUE && at_device < MOST_AT_DEVICE * in_flight;
    let busiest = busiest_cpu(trial)?;
    if !idle || waiting < LEAST_WAITING || busiest >= BUSY_CPU {
        return None;
    }
    let kind = trial
        .filesystem()
        .map_or("file system", |f| f.kind.as_str());
    let text = format!(
        "{in_flight:.1} operations were in flight, {at_device:.2} of them at the device on \
         average: they waited in {kind} above a device that was idle for part of the time, while \
         the busiest CPU was {:.0} % busy",
        100.0 * busiest
    );
    Some((Limiter::Filesystem, text))
}

/// Nothing but partitions between the file system and one disk.
fn stack_is_plain(trial: &Trial<'_>) -> bool {
    let devices = trial.record.target_before.iter().flat_map(|t| &t.devices);
    let mut count = 0;
    let mut disks = 0;
    for device in devices {
        count += 1;
        match device.kind.as_str() {
            "partition" => {}
            "disk" | "nvme" => disks += 1,
            _ => return false,
        }
    }
    count > 0 && disks == 1
}

/// The bytes came from and went to the device (V01), and nobody else used it.
fn device_did_it(findings: &[Finding]) -> bool {
    let status = |id: &str| findings.iter().find(|f| f.id == id).map(|f| f.status);
    let passed = status(check::id::V01) == Some(FindingStatus::Pass);
    let calm = |id: &str| {
        !matches!(
            status(id),
            Some(FindingStatus::Invalid | FindingStatus::Caveat)
        )
    };
    passed && calm(check::id::V30) && calm(check::id::V37) && calm(check::id::V27)
}

/// Share of time that the busiest CPU was busy, on average over the seconds.
pub(crate) fn busiest_cpu(trial: &Trial<'_>) -> Option<f64> {
    let observations = host_observations(trial);
    let (mut busy, mut all) = (0.0, 0.0);
    for observation in observations {
        let cpu = observation.cpu.as_ref()?;
        busy += cpu.busiest_cpu_ns as f64;
        all += observation.duration_ns as f64;
    }
    (all > 0.0).then(|| (busy / all).min(1.0))
}

/// One CPU that spent its time on interrupts: its number, its share of time
/// in them, and the device's part where its lines are known.
pub(crate) fn interrupt_bound(trial: &Trial<'_>, limit: f64) -> Option<(f64, String)> {
    let observations = host_observations(trial);
    let cpus: Vec<_> = observations
        .iter()
        .map(|o| o.cpu.as_ref()?.interrupt_cpu)
        .collect::<Option<_>>()?;
    let first = cpus.first()?.cpu;
    // The same CPU throughout: else the work moves and no single one limits.
    if cpus.iter().any(|c| c.cpu != first) {
        return None;
    }
    let sum = |field: fn(&fathom_model::observation::InterruptCpu) -> u64| {
        cpus.iter().map(|c| field(c) as f64).sum::<f64>()
    };
    let share = sum(|c| c.interrupt_ns) / sum(|c| c.all_ns).max(1.0);
    (share >= limit).then(|| {
        let load = trial.end().and_then(|end| end.host.as_ref());
        let lines = load
            .iter()
            .flat_map(|l| &l.interrupts)
            .find(|i| i.busiest_cpu == first);
        let lines = lines.map(|i| {
            let part = 100.0 * i.on_busiest_cpu as f64 / (i.total as f64).max(1.0);
            format!(
                "; {part:.0} % of the {} interrupts of {} came to it",
                unit::group(i.total),
                i.device
            )
        });
        let text = format!(
            "CPU {first} spent {:.0} % of its time in interrupts{}",
            100.0 * share.min(1.0),
            lines.unwrap_or_default()
        );
        (share, text)
    })
}

#[cfg(test)]
#[path = "above_the_device_tests.rs"]
mod tests;
