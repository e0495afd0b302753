//! What a worker thread used of the host: CPU time and time spent waiting for
//! a CPU. Read once per interval, by the thread itself.
//!
//! CPU time comes from `getrusage(RUSAGE_THREAD)`, run delay from the second field of
//! `/proc/thread-self/schedstat` (0 where the kernel has no scheduler statistics).

use std::fs::File;
use std::os::unix::fs::FileExt;

use fathom_model::recording::ThreadUse;

use crate::record::Used;

/// Reads the calling thread's usage as differences between calls.
#[derive(Debug)]
pub(crate) struct ThreadMeter {
    schedstat: Option<File>,
    last: Used,
}

impl ThreadMeter {
    /// Starts metering the calling thread.
    pub(crate) fn start() -> ThreadMeter {
        let mut meter = ThreadMeter {
            schedstat: File::open("/proc/thread-self/schedstat").ok(),
            last: Used::default(),
        };
        meter.last = meter.total();
        meter
    }

    /// What was used since the last call.
    pub(crate) fn take(&mut self) -> Used {
        let total = self.total();
        let used = Used {
            cpu_user_ns: total.cpu_user_ns.saturating_sub(self.last.cpu_user_ns),
            cpu_system_ns: total.cpu_system_ns.saturating_sub(self.last.cpu_system_ns),
            run_delay_ns: total.run_delay_ns.saturating_sub(self.last.run_delay_ns),
        };
        self.last = total;
        used
    }

    fn total(&self) -> Used {
        let (cpu_user_ns, cpu_system_ns) = thread_cpu_ns();
        Used {
            cpu_user_ns,
            cpu_system_ns,
            run_delay_ns: self.run_delay_ns().unwrap_or(0),
        }
    }

    /// Time in which the thread could run and had no CPU, since its start.
    pub(crate) fn run_delay_ns(&self) -> Option<u64> {
        let mut text = [0u8; 96];
        let read = self.schedstat.as_ref()?.read_at(&mut text, 0).ok()?;
        parse_run_delay(&text[..read])
    }
}

fn parse_run_delay(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// What `getrusage` says of the calling thread; zeros when it says nothing.
fn thread_usage() -> libc::rusage {
    // SAFETY: zero is a valid value of every field of the C struct.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid place for the kernel to write to.
    let _ = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    usage
}

/// Context switches and page faults of the calling thread since its start.
pub(crate) fn thread_use() -> ThreadUse {
    let usage = thread_usage();
    ThreadUse {
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
        major_faults: usage.ru_majflt as u64,
        minor_faults: usage.ru_minflt as u64,
    }
}

/// User and system CPU time of the calling thread.
pub(crate) fn thread_cpu_ns() -> (u64, u64) {
    let usage = thread_usage();
    let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
    (ns(usage.ru_utime), ns(usage.ru_stime))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_delay_is_the_second_field() {
        assert_eq!(parse_run_delay(b"123 456 7\n"), Some(456));
        assert_eq!(parse_run_delay(b"123"), None);
        assert_eq!(parse_run_delay(b"a b c"), None);
    }

    #[test]
    fn work_is_seen() {
        let mut meter = ThreadMeter::start();
        let mut used = Used::default();
        let mut x = 1u64;
        while used.cpu_user_ns + used.cpu_system_ns == 0 {
            for i in 0..1_000_000u64 {
                x = x.wrapping_mul(i | 1) ^ i;
            }
            used = meter.take();
        }
        assert_ne!(std::hint::black_box(x), 0);
    }
}
