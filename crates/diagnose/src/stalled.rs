//! How much of an interval work waited for I/O.
//!
//! Pressure stall and idle CPUs with a waiting task do not count tasks that wait for
//! asynchronous I/O (`io_getevents`, the completion queue of io_uring), and busy CPUs
//! show no idle time at all. But reads are asked for by somebody who waits for them:
//! where programs read most of what a device reads, and hardly anything else is in its
//! queue, work waits for as long as the device has something to do.

use fathom_rules::diagnosis::room::USED_QUEUE;
use fathom_rules::diagnosis::waits_for_io::{HALF, MOSTLY_READS};

use crate::recording::{DiskMoment, DoerMoment, Moment};

/// Share of a moment in which work waited, 0 to 1, by what was recorded of the host and
/// of this device; `None` where nothing tells.
pub(crate) fn share(moment: &Moment, disk: &DiskMoment, cpus: Option<u32>) -> Option<f64> {
    // Several tasks that wait at once are idle time of several CPUs: pressure stall, which
    // counts them once, says more.
    let of_host = moment.io_pressure_some.or_else(|| of_cpus(moment, cpus));
    larger(of_host, by_reads(moment, disk))
}

/// As [`share`], or idle CPUs with a waiting task where they show more: for a single task,
/// or where something else shows that all tasks that wait do so for this device. Kernels
/// count the wait for a flush of a device as waiting CPUs and not always as pressure
/// stall, which is a mean over the CPUs that have something to do.
pub(crate) fn most_of_any(moment: &Moment, disk: &DiskMoment, cpus: Option<u32>) -> Option<f64> {
    larger(share(moment, disk, cpus), of_cpus(moment, cpus))
}

/// Idle time with a waiting task, where one task that waits all the time is idle time of
/// one CPU.
fn of_cpus(moment: &Moment, cpus: Option<u32>) -> Option<f64> {
    let (cpu, cpus) = moment.cpu.zip(cpus)?;
    Some((cpu.iowait * f64::from(cpus)).min(1.0))
}

fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        _ => a.or(b),
    }
}

/// Whether the tasks of the host that wait may do so for another device. One with half as
/// many in flight as this one has is part of the same stack, or as overloaded.
pub(crate) fn may_wait_elsewhere(moment: &Moment, disk: &DiskMoment, queue: f64) -> bool {
    let mut others = moment.disks.iter().filter(|other| other.name != disk.name);
    others.any(|other| {
        let held = other.in_flight().unwrap_or(0.0);
        held >= USED_QUEUE && held < HALF * queue
    })
}

/// Share of the moment in which programs had reads in flight.
pub(crate) fn by_reads(moment: &Moment, disk: &DiskMoment) -> Option<f64> {
    let mostly = disk.reads >= MOSTLY_READS * disk.operations();
    disk.util.filter(|_| mostly && programs_read(moment, disk))
}

/// Whether programs asked for at least half of what the device read, and not the kernel
/// for itself.
pub(crate) fn programs_read(moment: &Moment, disk: &DiskMoment) -> bool {
    let programs = moment.processes.iter();
    let programs = programs.filter(|process| !process.is_of_the_kernel());
    let asked: f64 = programs
        .map(|process: &DoerMoment| process.read_bytes)
        .sum();
    disk.read_bytes > 0.0 && asked >= HALF * disk.read_bytes
}
