//! Where a worker thread runs and how exactly it is woken.

use std::num::NonZeroU64;

use rustix::thread::CpuSet;

/// Pins the calling thread to one CPU. Says why when that fails.
pub(crate) fn pin_to(cpu: u32) -> Result<(), String> {
    let cpu_index = cpu as usize;
    if cpu_index >= CpuSet::MAX_CPU {
        return Err(format!("cpu {cpu} does not exist; change --cpus"));
    }
    let mut set = CpuSet::new();
    set.set(cpu_index);
    rustix::thread::sched_setaffinity(None, &set).map_err(|error| {
        let allowed = allowed_cpus();
        format!(
            "a worker cannot be pinned to cpu {cpu} ({error}): this process may run on \
                 {allowed} CPUs of this host; change --cpus"
        )
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
            let told = pin_to(1_000_000).unwrap_err();
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
