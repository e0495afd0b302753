//! Whether the load will find the memory that it needs, asked before anything
//! is made on the target. Memory that is missing later would end the process
//! in the middle of a trial, with its files left behind.

use fathom_model::Workload;

use super::control_group::{self, GroupRoom};
use crate::Error;
use crate::arena::Arena;

/// Stack, recording and small things of a worker: address space more than
/// memory.
const WORKER_BYTES: u64 = 16 << 20;
/// Memory of a worker that it uses, beside its blocks.
const TOUCHED_BYTES: u64 = 1 << 20;
/// Everything else that a run does beside its load.
const OTHER_BYTES: u64 = 96 << 20;

/// Takes the memory of a load for a moment and gives it back.
///
/// # Errors
/// The system, or the limit of this process, does not grant it.
pub(super) fn check(workload: &Workload) -> Result<(), Error> {
    let blocks = u64::from(workload.queue_depth).saturating_mul(workload.max_block_bytes());
    let each = match workload.requests().is_some() || workload.files_work().is_some() {
        true => WORKER_BYTES,
        false => WORKER_BYTES.saturating_add(blocks),
    };
    let needed = each
        .saturating_mul(u64::from(workload.workers))
        .saturating_add(OTHER_BYTES);
    // No allocation is larger, whatever the system would grant.
    let possible = isize::try_from(needed).ok().map(isize::unsigned_abs);
    let granted = possible.is_some_and(|bytes| Arena::new(bytes).is_ok());
    if granted {
        let touched = TOUCHED_BYTES
            .saturating_add(each - WORKER_BYTES)
            .saturating_mul(u64::from(workload.workers));
        return in_control_group(workload.workers, touched, control_group::room());
    }
    Err(Error::Workload(format!(
        "no memory for {} workers: they need about {} MiB of address space{}; use fewer workers, a \
         lower queue depth or smaller blocks",
        workload.workers,
        needed >> 20,
        limit().map_or_else(String::new, |mib| format!(
            ", and of the {mib} MiB that this process may have (ulimit -v) {} MiB are in use",
            in_use()
        ))
    )))
}

/// Where a control group has no room for what the load touches, the kernel would end
/// this process in the middle of it, without a word.
fn in_control_group(workers: u32, touched: u64, group: Option<GroupRoom>) -> Result<(), Error> {
    let Some(group) = group.filter(|group| group.free_bytes < touched) else {
        return Ok(());
    };
    Err(Error::Workload(format!(
        "no memory for {workers} workers: they need about {} MiB, and of the {} MiB that the control \
         group of this process may have (memory.max) {} MiB are left; use fewer workers, a lower queue \
         depth or smaller blocks",
        (touched >> 20).max(1),
        group.limit_bytes >> 20,
        group.free_bytes >> 20
    )))
}

/// The address space that this process may have, in MiB.
fn limit() -> Option<u64> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As);
    limit.current.map(|bytes| bytes >> 20)
}

/// The address space that this process has, in MiB (proc_pid_statm(5)).
fn in_use() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').next().and_then(|pages| pages.parse().ok());
    pages
        .unwrap_or(0u64)
        .saturating_mul(rustix::param::page_size() as u64)
        >> 20
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_no_machine_can_hold_is_refused_with_what_to_do() {
        let mut workload = Workload::example("x");
        check(&workload).unwrap();
        workload.workers = u32::MAX;
        workload.queue_depth = u32::MAX;
        let told = check(&workload).unwrap_err().to_string();
        assert!(told.contains("use fewer workers"), "{told}");
    }

    #[test]
    fn a_load_that_its_control_group_cannot_hold_is_refused() {
        let room = |free_bytes| {
            Some(GroupRoom {
                limit_bytes: 64 << 20,
                free_bytes,
            })
        };
        assert!(in_control_group(4, 256 << 20, None).is_ok());
        assert!(in_control_group(4, 30 << 20, room(40 << 20)).is_ok());
        let told = in_control_group(4, 256 << 20, room(40 << 20)).unwrap_err();
        let told = told.to_string();
        assert!(told.contains("about 256 MiB, and of the 64 MiB"), "{told}");
        assert!(told.contains("40 MiB are left"), "{told}");
    }
}
