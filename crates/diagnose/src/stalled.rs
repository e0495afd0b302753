//! How much of an interval work waited for I/O.
//!
//! Pressure stall and idle CPUs with a waiting task do not count tasks that wait for
//! asynchronous I/O (`io_getevents`, the completion queue of io_uring), and busy CPUs
//! show no idle time at all. But reads are asked for by somebody who waits for them:
//! where programs read most of what a device reads, and hardly anything else is in its
//! queue, work waits for as long as the device has something to do.

use fathom_rules::diagnosis::waits_for_io::{HALF, MOSTLY_READS};

use crate::recording::{DiskMoment, DoerMoment, Moment};

/// Share of a moment in which work waited, 0 to 1, by what was recorded of the host and
/// of this device; `None` where nothing tells.
pub(crate) fn share(moment: &Moment, disk: &DiskMoment, cpus: Option<u32>) -> Option<f64> {
    let iowait = moment.cpu.zip(cpus);
    // One task that waits all the time is idle time of one CPU.
    let by_cpu = || iowait.map(|(cpu, cpus)| (cpu.iowait * f64::from(cpus)).min(1.0));
    let of_host = moment.io_pressure_some.or_else(by_cpu);
    let by_reads = by_reads(moment, disk);
    match (of_host, by_reads) {
        (Some(host), Some(reads)) => Some(host.max(reads)),
        (host, reads) => host.or(reads),
    }
}

/// Share of the moment in which programs had reads in flight.
pub(crate) fn by_reads(moment: &Moment, disk: &DiskMoment) -> Option<f64> {
    let mostly = disk.reads >= MOSTLY_READS * disk.operations();
    let programs = moment.processes.iter();
    let programs = programs.filter(|process| !process.is_of_the_kernel());
    let asked: f64 = programs
        .map(|process: &DoerMoment| process.read_bytes)
        .sum();
    let by_programs = disk.read_bytes > 0.0 && asked >= HALF * disk.read_bytes;
    disk.util.filter(|_| mostly && by_programs)
}
