//! The host's time: the time-stamp counter where the kernel itself trusts it,
//! `clock_gettime(CLOCK_MONOTONIC)` otherwise.
//!
//! Reading the counter costs about a third of a call of the vDSO. It is used
//! only if the processor says that it runs at one rate in all power states
//! (`constant_tsc`, `nonstop_tsc`) and the kernel has kept it as its own clock
//! source, which it does only after having checked it against other clocks. It is
//! calibrated once per process against `CLOCK_MONOTONIC` over 10 ms between two
//! bracketed readings, which fixes the rate to a few parts in a million (a third
//! of a second in a day) and lets the first operation come soon.

use super::Clock;

/// The host's time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostClock {
    /// Nanoseconds per counter tick as a 32.32 fixed-point number; 0 when the
    /// system call is used.
    scale: u64,
    anchor_ticks: u64,
    anchor_ns: u64,
}

impl HostClock {
    /// The best clock of this host. The first call of a process may take
    /// 10 ms for the calibration.
    pub(crate) fn new() -> HostClock {
        static CLOCK: std::sync::OnceLock<HostClock> = std::sync::OnceLock::new();
        *CLOCK.get_or_init(|| {
            if counter_is_trusted() {
                calibrate()
            } else {
                HostClock::system()
            }
        })
    }

    /// The system call, always.
    pub(crate) fn system() -> HostClock {
        HostClock {
            scale: 0,
            anchor_ticks: 0,
            anchor_ns: 0,
        }
    }

    /// Sleeps until a time of this clock; returns at once if it has come. The
    /// counter and `CLOCK_MONOTONIC` drift apart (they agree to 0.1 ppm where
    /// nothing steers the latter, which is 0.4 ms in an hour; a time service
    /// may steer it by 500 ppm), so what is slept is a length, not a moment.
    pub(crate) fn sleep_until(&self, due_ns: u64) {
        let ahead_ns = due_ns.saturating_sub(self.now());
        if ahead_ns > 0 {
            sleep(ahead_ns);
        }
    }
}

impl Default for HostClock {
    fn default() -> Self {
        HostClock::new()
    }
}

impl Clock for HostClock {
    #[inline]
    fn now(&self) -> u64 {
        if self.scale == 0 {
            return monotonic_ns();
        }
        let ticks = counter().wrapping_sub(self.anchor_ticks);
        // A thread on another CPU may read a few ticks before the anchor.
        let ticks = if ticks > i64::MAX as u64 { 0 } else { ticks };
        self.anchor_ns + ((u128::from(ticks) * u128::from(self.scale)) >> 32) as u64
    }
}

/// `CLOCK_MONOTONIC` in nanoseconds.
pub(crate) fn monotonic_ns() -> u64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Sleeps for `length_ns` nanoseconds.
fn sleep(length_ns: u64) {
    let length = rustix::time::Timespec {
        tv_sec: (length_ns / 1_000_000_000) as i64,
        tv_nsec: (length_ns % 1_000_000_000) as _,
    };
    // A signal may cut the sleep short; the caller looks at the clock again.
    let _ = rustix::thread::nanosleep(&length);
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction; Linux leaves it
    // usable from user space unless a process asks otherwise.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn counter() -> u64 {
    0
}

#[cfg(target_arch = "x86_64")]
fn counter_is_trusted() -> bool {
    let source =
        std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo");
    let (Ok(source), Ok(cpuinfo)) = (source, cpuinfo) else {
        return false;
    };
    source.trim() == "tsc" && flags_promise_steady_counter(&cpuinfo)
}

// The vDSO of other architectures already reads their counter directly.
#[cfg(not(target_arch = "x86_64"))]
fn counter_is_trusted() -> bool {
    false
}

/// Whether every processor in `/proc/cpuinfo` has a counter of constant rate.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
fn flags_promise_steady_counter(cpuinfo: &str) -> bool {
    let mut lines = cpuinfo
        .lines()
        .filter(|line| line.starts_with("flags"))
        .peekable();
    let promised = |line: &str| {
        ["constant_tsc", "nonstop_tsc"]
            .iter()
            .all(|flag| line.split_ascii_whitespace().any(|word| word == *flag))
    };
    lines.peek().is_some() && lines.all(promised)
}

/// A pair of readings that belong together: the tightest of several brackets.
fn paired_reading() -> (u64, u64) {
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..64 {
        let before = counter();
        let ns = monotonic_ns();
        let width = counter().wrapping_sub(before);
        if width < best.0 {
            best = (width, before.wrapping_add(width / 2), ns);
        }
    }
    (best.1, best.2)
}

fn calibrate() -> HostClock {
    let (ticks0, ns0) = paired_reading();
    sleep(10_000_000);
    let (ticks1, ns1) = paired_reading();
    let (ticks, ns) = (ticks1.wrapping_sub(ticks0), ns1.saturating_sub(ns0));
    // Plausible counters run at 100 MHz to 20 GHz; anything else is no counter.
    let plausible = ns > 0 && (ns / 10..ns.saturating_mul(20)).contains(&ticks);
    if !plausible {
        return HostClock::system();
    }
    HostClock {
        scale: ((u128::from(ns) << 32) / u128::from(ticks)) as u64,
        anchor_ticks: ticks1,
        anchor_ns: ns1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_show_the_same_time() {
        let clock = HostClock::new();
        for _ in 0..1000 {
            // The counter is read between two system calls; a calibration that is
            // off by more than a millisecond after a test's lifetime is broken.
            let before = monotonic_ns();
            let now = clock.now();
            let after = monotonic_ns();
            assert!(now + 1_000_000 >= before && now <= after + 1_000_000);
        }
    }

    #[test]
    fn time_never_goes_back() {
        for clock in [HostClock::new(), HostClock::system()] {
            let mut last = clock.now();
            for _ in 0..100_000 {
                let now = clock.now();
                assert!(now >= last);
                last = now;
            }
        }
    }

    #[test]
    fn a_counter_that_may_stop_is_not_trusted() {
        let good = "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\n";
        assert!(flags_promise_steady_counter(good));
        let second_cpu_bad = format!("{good}processor\t: 1\nflags\t\t: fpu tsc constant_tsc\n");
        assert!(!flags_promise_steady_counter(&second_cpu_bad));
        assert!(!flags_promise_steady_counter("Features: fp asimd\n"));
        assert!(!flags_promise_steady_counter(""));
    }

    #[test]
    fn sleeping_until_the_past_returns() {
        let clock = HostClock::new();
        clock.sleep_until(0);
        assert!(clock.now() > 0);
    }

    #[test]
    fn who_sleeps_by_a_clock_that_drifted_wakes_up_by_it() {
        // A nanosecond per tick, and an hour behind the system's, or as long as it runs.
        let behind = HostClock {
            scale: 1 << 32,
            anchor_ticks: counter(),
            anchor_ns: monotonic_ns().saturating_sub(3_600_000_000_000),
        };
        if counter() == 0 {
            println!("skipped: there is no counter on this architecture");
            return;
        }
        // The counter may run at more than 1 GHz, but not at 20.
        let due_ns = behind.now() + 1_000_000;
        behind.sleep_until(due_ns);
        assert!(behind.now() >= due_ns.saturating_sub(1_000_000 * 19 / 20));
    }
}
