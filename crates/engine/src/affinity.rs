//! Where a worker thread runs and how exactly it is woken.

use std::num::NonZeroU64;

use rustix::io::Errno;
use rustix::thread::CpuSet;

/// Why a worker cannot be pinned to a CPU.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PinError {
    /// No host has so many.
    #[error("cpu {0} does not exist; change --cpus")]
    NoSuchCpu(u32),
    /// This process may not run there.
    #[error(
        "a worker cannot be pinned to cpu {cpu} ({error}): this process may run on {allowed} CPUs \
         of this host; change --cpus"
    )]
    Refused {
        cpu: u32,
        error: Errno,
        allowed: u32,
    },
}

/// Pins the calling thread to one CPU.
pub(crate) fn pin_to(cpu: u32) -> Result<(), PinError> {
    let cpu_index = cpu as usize;
    if cpu_index >= CpuSet::MAX_CPU {
        return Err(PinError::NoSuchCpu(cpu));
    }
    let mut set = CpuSet::new();
    set.set(cpu_index);
    rustix::thread::sched_setaffinity(None, &set).map_err(|error| PinError::Refused {
        cpu,
        error,
        allowed: allowed_cpus(),
    })
}

/// CPUs that the calling thread may run on.
pub(crate) fn allowed_cpus() -> u32 {
    rustix::thread::sched_getaffinity(None).map_or(1, |set| set.count().max(1))
}

/// Asks for timers that fire on time instead of up to 50 microseconds late.
pub(crate) fn ask_for_exact_timers() {
    let _ = rustix::thread::set_current_timer_slack(Some(NonZeroU64::MIN));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_that_does_not_exist_is_named() {
        std::thread::spawn(|| {
            let told = pin_to(1_000_000).unwrap_err().to_string();
            assert!(told.contains("cpu 1000000"), "{told}");
            assert!(pin_to(CpuSet::MAX_CPU as u32 - 1).is_err() || allowed_cpus() == 1);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_pinned_thread_has_one_cpu() {
        std::thread::spawn(|| {
            let set = rustix::thread::sched_getaffinity(None).unwrap();
            let cpu = (0..CpuSet::MAX_CPU).find(|cpu| set.is_set(*cpu)).unwrap();
            pin_to(cpu as u32).unwrap();
            assert_eq!(allowed_cpus(), 1);
        })
        .join()
        .unwrap();
    }
}
