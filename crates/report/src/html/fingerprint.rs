//! Host and targets as lists of named facts. A fact that is not known is left
//! out.

use fathom_model::fingerprint::{DeviceFacts, TargetFingerprint};
use fathom_model::{JudgedRun, unit};

use crate::facts;

/// Names and values.
type Facts = Vec<(String, String)>;

/// One target's fingerprint.
pub(super) struct TargetView {
    pub(super) target: String,
    pub(super) facts: Facts,
    /// Each device under the target.
    pub(super) devices: Vec<(String, Facts)>,
}

fn push<T: ToString>(out: &mut Facts, name: &str, value: Option<T>) {
    if let Some(value) = value {
        out.push((name.to_owned(), value.to_string()));
    }
}

/// The host, fact by fact.
pub(super) fn host_facts(run: &JudgedRun) -> Facts {
    let host = &run.host;
    let mut out = Vec::new();
    push(&mut out, "Host", Some(&host.hostname));
    push(&mut out, "System", host.os.as_ref());
    push(&mut out, "Kernel", Some(&host.kernel));
    push(&mut out, "Architecture", Some(&host.architecture));
    push(&mut out, "CPU", host.cpu_model.as_ref());
    push(&mut out, "CPUs usable", Some(host.cpus));
    push(&mut out, "Memory", Some(unit::bytes(host.memory_bytes)));
    push(&mut out, "Clock source", host.clocksource.as_ref());
    push(
        &mut out,
        "Clock read",
        host.clock_read_ns.map(unit::latency),
    );
    push(&mut out, "Virtualization", host.virtualization.as_ref());
    push(&mut out, "CPU governor", host.cpu_governor.as_ref());
    let memlock = host
        .memlock_bytes
        .map_or("unlimited".to_owned(), unit::bytes_exact);
    push(&mut out, "Locked memory limit", Some(memlock));
    push(
        &mut out,
        "Open files limit",
        Some(unit::group(host.open_files_limit)),
    );
    push(&mut out, "Root", Some(if host.root { "yes" } else { "no" }));
    out.extend(host.facts.iter().map(|(k, v)| (k.clone(), v.clone())));
    out
}

/// A target, fact by fact.
pub(super) fn target_view(target: &TargetFingerprint) -> TargetView {
    let mut facts = Vec::new();
    if let Some(fs) = &target.filesystem {
        push(&mut facts, "File system", Some(facts::filesystem_line(fs)));
        push(&mut facts, "Mount options", Some(fs.options.join(", ")));
        push(&mut facts, "Size", Some(unit::bytes(fs.total_bytes)));
        push(
            &mut facts,
            "Available",
            Some(unit::bytes(fs.available_bytes)),
        );
        facts.extend(fs.facts.iter().map(|(k, v)| (k.clone(), v.clone())));
    }
    TargetView {
        target: target.target.clone(),
        facts,
        devices: target.devices.iter().map(device_view).collect(),
    }
}

fn device_view(device: &DeviceFacts) -> (String, Facts) {
    let mut out = Vec::new();
    let bytes = |v: Option<u64>| v.map(unit::bytes_exact);
    push(&mut out, "Kind", Some(&device.kind));
    push(&mut out, "Model", device.model.as_ref());
    push(&mut out, "Serial", device.serial.as_ref());
    push(&mut out, "Firmware", device.firmware.as_ref());
    push(&mut out, "Size", Some(unit::bytes(device.size_bytes)));
    push(
        &mut out,
        "Below",
        (!device.below.is_empty()).then(|| device.below.join(", ")),
    );
    let rotational = device.rotational.map(|r| if r { "yes" } else { "no" });
    push(&mut out, "Rotational", rotational);
    push(&mut out, "Scheduler", device.scheduler.as_ref());
    push(&mut out, "Queue length", device.queue_requests);
    push(&mut out, "Read-ahead", bytes(device.read_ahead_bytes));
    push(&mut out, "Write cache", device.write_cache.as_ref());
    push(&mut out, "Logical block", bytes(device.logical_block_bytes));
    push(
        &mut out,
        "Physical block",
        bytes(device.physical_block_bytes),
    );
    push(&mut out, "Optimal I/O", bytes(device.optimal_io_bytes));
    push(&mut out, "Largest discard", bytes(device.discard_max_bytes));
    out.extend(device.facts.iter().map(|(k, v)| (k.clone(), v.clone())));
    (device.name.clone(), out)
}
