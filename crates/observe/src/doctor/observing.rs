//! What can be seen during a run.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use fathom_model::fingerprint::{DeviceFacts, TargetFingerprint};

use super::{Capability, CapabilityStatus as Status};
use crate::kernel_calls;
use crate::observer::is_silent;
use crate::pressure::parse_total_us;
use crate::process::parse_process_io;
use crate::smart::smart_answers;
use crate::{Observer, Sysroot, target_fingerprint};

pub(super) fn cachestat() -> Capability {
    let meaning =
        "tells whether data are in the page cache, exactly and cheaply; mincore is used otherwise";
    let tried = File::open("/proc/self/exe").and_then(|file| kernel_calls::cachestat(&file, 0, 0));
    match tried {
        Ok(_) => Capability::new("cachestat", Status::Ok, "works", meaning),
        // The kernel has it, but this file belongs to somebody else.
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
            let found = "works for files of this user only";
            Capability::new("cachestat", Status::Ok, found, meaning)
        }
        Err(error) => Capability::new("cachestat", Status::Limited, format!("{error}"), meaning)
            .remedy("Linux 6.5 or later has it"),
    }
}

pub(super) fn examine(sys: &Sysroot, path: Option<&Path>) -> Vec<Capability> {
    let mut capabilities = vec![pressure(sys), process_io(sys), drop_caches(sys)];
    capabilities.extend(smart(sys));
    if let Some(path) = path {
        let target = target_fingerprint(sys, path);
        capabilities.push(device_counters(sys, &target));
        let leaves = target
            .devices
            .iter()
            .filter(|device| device.below.is_empty());
        for device in leaves {
            capabilities.extend(block_access(sys, device));
            capabilities.extend(poll_queues(sys, device));
        }
    }
    capabilities
}

fn pressure(sys: &Sysroot) -> Capability {
    let meaning = "shows whether tasks waited for CPU, memory or I/O";
    let total = |name: &str| parse_total_us(&sys.text(format!("/proc/pressure/{name}"))?, "some");
    if ["cpu", "io", "memory"]
        .into_iter()
        .all(|name| total(name).is_some())
    {
        return Capability::new("pressure (PSI)", Status::Ok, "works", meaning);
    }
    Capability::new(
        "pressure (PSI)",
        Status::Missing,
        "/proc/pressure tells nothing",
        meaning,
    )
    .remedy("Linux 4.20 or later, booted with psi=1")
}

fn process_io(sys: &Sysroot) -> Capability {
    let meaning = "separates the I/O of fathom from that of others";
    if sys
        .text("/proc/self/io")
        .as_deref()
        .and_then(parse_process_io)
        .is_some()
    {
        return Capability::new(
            "own I/O counters",
            Status::Ok,
            "/proc/self/io works",
            meaning,
        );
    }
    Capability::new(
        "own I/O counters",
        Status::Missing,
        "/proc/self/io cannot be read",
        meaning,
    )
    .remedy("use a kernel with CONFIG_TASK_IO_ACCOUNTING, and a process that may be traced")
}

fn drop_caches(sys: &Sysroot) -> Capability {
    let meaning =
        "empties the caches of the whole machine before a run; single files are dropped without it";
    let path = sys.locate("/proc/sys/vm/drop_caches");
    match OpenOptions::new().write(true).open(path) {
        Ok(_) => Capability::new("drop_caches", Status::Ok, "may be written", meaning),
        Err(error) => Capability::new("drop_caches", Status::Limited, format!("{error}"), meaning)
            .remedy("run as root, outside a container"),
    }
}

/// SMART of SATA and SAS disks, on hosts that have any.
fn smart(sys: &Sysroot) -> Option<Capability> {
    let names = sys.names("/sys/block");
    if !sys.is_host() || !names.iter().any(|name| name.starts_with("sd")) {
        return None;
    }
    let meaning = "wear and bad sectors of SATA and SAS disks, in recordings and alarms";
    let limited = |found: String| Capability::new("SMART", Status::Limited, found, meaning);
    let answers = match smart_answers() {
        Ok(answers) => answers,
        Err(reason) => {
            return Some(limited(reason.to_string()).remedy("install smartmontools 7.0 or later"));
        }
    };
    let known: Vec<&str> = answers
        .iter()
        .filter(|answer| answer.health.is_ok())
        .map(|answer| answer.name.as_str())
        .collect();
    Some(match (known.is_empty(), answers.first()) {
        (false, _) => {
            let found = format!("smartctl tells of {}", known.join(", "));
            Capability::new("SMART", Status::Ok, found, meaning)
        }
        (true, Some(first)) => {
            let reason = first.health.as_ref().err().cloned().unwrap_or_default();
            limited(format!("{}: {reason}", first.name)).remedy("run as root")
        }
        (true, None) => {
            limited("smartctl finds no disk".to_owned()).remedy("run as root, outside a container")
        }
    })
}

fn device_counters(sys: &Sysroot, target: &TargetFingerprint) -> Capability {
    let meaning = "compares what the load asked for with what the device did; without it caches and foreign I/O stay unseen";
    let observer = Observer::new(sys, target);
    let leaves: Vec<&str> = observer.leaves().collect();
    if !leaves.is_empty() {
        let found = format!("counters of {}", leaves.join(", "));
        return Capability::new("device counters", Status::Ok, found, meaning);
    }
    let kind = target
        .filesystem
        .as_ref()
        .map_or("", |filesystem| filesystem.kind.as_str());
    let silent = target
        .devices
        .iter()
        .any(|device| is_silent(&target.devices, device));
    let (found, remedy) = if silent {
        (
            "the device does not account its I/O",
            "write 1 to /sys/block/NAME/queue/iostats",
        )
    } else if kind.is_empty() {
        (
            "no device is known below the target",
            "measure on a host whose /sys is mounted",
        )
    } else {
        (
            "no block device is known below this file system",
            "use a target on a local block device",
        )
    };
    let found = if kind.is_empty() {
        found.to_owned()
    } else {
        format!("{found} ({kind})")
    };
    Capability::new("device counters", Status::Missing, found, meaning).remedy(remedy)
}

/// Whether the raw device may be read (never tried for writing).
fn block_access(sys: &Sysroot, device: &DeviceFacts) -> Option<Capability> {
    if !sys.is_host() {
        return None;
    }
    let path = PathBuf::from("/dev").join(device.name.replace('!', "/"));
    let meaning =
        "needed to measure the raw device and to read its health and its firmware's counters";
    let asked = path.clone();
    // A disk that sleeps is not woken.
    let opened = fathom_deadline::ask(&path.display().to_string(), move || {
        OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(asked)
            .map(drop)
    });
    let opened = opened.unwrap_or_else(|silent| Err(silent.into()));
    Some(match opened {
        Ok(_) => {
            let found = format!("{} may be read", path.display());
            Capability::new("block device access", Status::Ok, found, meaning)
        }
        Err(error) => {
            let found = format!("{}: {error}", path.display());
            let remedy = match rustix::process::geteuid().is_root() {
                true => "root is not enough here: in a container, pass the device in",
                false => "run as root or as a member of the group disk",
            };
            Capability::new("block device access", Status::Limited, found, meaning).remedy(remedy)
        }
    })
}

fn poll_queues(sys: &Sysroot, device: &DeviceFacts) -> Option<Capability> {
    if device.kind != "nvme" {
        return None;
    }
    let queues = sys.number("/sys/module/nvme/parameters/poll_queues")?;
    let meaning = "completions by polling instead of interrupts (lowest latency); only for loads that ask for it";
    let status = if queues > 0 {
        Status::Ok
    } else {
        Status::Limited
    };
    let found = format!("nvme.poll_queues = {queues}");
    let capability = Capability::new("poll queues", status, found, meaning);
    Some(capability.remedy("load the nvme module with poll_queues=N, N the number of polling CPUs"))
}
