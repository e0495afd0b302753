//! CPU time of the host: `/proc/stat` (proc(5)), in ticks of 1/`CLK_TCK` s.

use fathom_model::observation::{CpuActivity, InterruptCpu};

/// Ticks of one CPU, or of all together. Guest time is part of `user`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTicks {
    /// User and nice.
    pub user: u64,
    /// Kernel.
    pub system: u64,
    /// Idle.
    pub idle: u64,
    /// Idle with I/O outstanding. May go back, so says proc(5).
    pub iowait: u64,
    /// Hard and soft interrupts.
    pub interrupt: u64,
    /// Taken by the hypervisor.
    pub steal: u64,
}

impl CpuTicks {
    /// Growth since `last`; a field that went back did not grow.
    pub fn since(&self, last: &CpuTicks) -> CpuTicks {
        CpuTicks {
            user: self.user.saturating_sub(last.user),
            system: self.system.saturating_sub(last.system),
            idle: self.idle.saturating_sub(last.idle),
            iowait: self.iowait.saturating_sub(last.iowait),
            interrupt: self.interrupt.saturating_sub(last.interrupt),
            steal: self.steal.saturating_sub(last.steal),
        }
    }

    /// Everything but idle and waiting for I/O.
    pub fn busy(&self) -> u64 {
        let parts = [self.user, self.system, self.interrupt, self.steal];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// All ticks.
    pub fn total(&self) -> u64 {
        self.busy()
            .saturating_add(self.idle)
            .saturating_add(self.iowait)
    }
}

/// Reads the `cpu` lines of `/proc/stat` into `each` (CPU number, ticks; the
/// buffer is reused) and gives the line of the whole host.
pub fn parse_cpu_ticks(text: &str, each: &mut Vec<(u32, CpuTicks)>) -> Option<CpuTicks> {
    each.clear();
    let mut all = None;
    // The CPU lines come first; `intr` after them is very long.
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("cpu") else {
            break;
        };
        let Some((number, fields)) = rest.split_once(' ') else {
            continue;
        };
        let ticks = parse_ticks(fields);
        match (number.parse(), ticks) {
            (Ok(number), Some(ticks)) => each.push((number, ticks)),
            (Err(_), Some(ticks)) if number.is_empty() => all = Some(ticks),
            _ => {}
        }
    }
    all
}

fn parse_ticks(fields: &str) -> Option<CpuTicks> {
    let mut n = [0_u64; 8];
    let mut count = 0;
    for field in fields.split_ascii_whitespace().take(n.len()) {
        n[count] = field.parse().ok()?;
        count += 1;
    }
    (count >= 4).then(|| CpuTicks {
        user: n[0].saturating_add(n[1]),
        system: n[2],
        idle: n[3],
        iowait: n[4],
        interrupt: n[5].saturating_add(n[6]),
        steal: n[7],
    })
}

/// Remembers the last ticks of every CPU and gives differences.
#[derive(Debug, Default)]
pub(crate) struct CpuWatch {
    all: Option<CpuTicks>,
    each: Vec<(u32, CpuTicks)>,
    now: Vec<(u32, CpuTicks)>,
}

impl CpuWatch {
    /// What happened since the last call; `None` the first time and when the
    /// text has no CPU line.
    pub(crate) fn advance(&mut self, text: &str, tick_ns: u64) -> Option<CpuActivity> {
        let all = parse_cpu_ticks(text, &mut self.now);
        let grown = all.zip(self.all).map(|(now, last)| now.since(&last));
        let ns = |ticks: u64| ticks.saturating_mul(tick_ns);
        let grown_each = || {
            self.now.iter().filter_map(|(number, now)| {
                // A CPU that just came online has no history to differ from.
                let at = self
                    .each
                    .binary_search_by_key(number, |&(number, _)| number)
                    .ok()?;
                Some((*number, now.since(&self.each[at].1)))
            })
        };
        let busiest = grown_each().max_by_key(|(_, ticks)| ticks.busy());
        let interrupted = grown_each().max_by_key(|(_, ticks)| ticks.interrupt);
        let interrupt_cpu =
            interrupted
                .filter(|(_, ticks)| ticks.interrupt > 0)
                .map(|(cpu, ticks)| InterruptCpu {
                    cpu,
                    interrupt_ns: ns(ticks.interrupt),
                    all_ns: ns(ticks.total()),
                });
        self.all = all;
        std::mem::swap(&mut self.each, &mut self.now);
        self.each.sort_unstable_by_key(|&(number, _)| number);
        grown.map(|grown| CpuActivity {
            cpus: u32::try_from(self.each.len()).unwrap_or(u32::MAX),
            user_ns: ns(grown.user),
            system_ns: ns(grown.system),
            interrupt_ns: ns(grown.interrupt),
            idle_ns: ns(grown.idle),
            iowait_ns: ns(grown.iowait),
            steal_ns: ns(grown.steal),
            busiest_cpu_ns: ns(busiest.map_or(0, |(_, ticks)| ticks.busy())),
            busiest_cpu: busiest.map(|(number, _)| number),
            interrupt_cpu,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "cpu  100 5 30 900 10 1 2 7 3 0\ncpu0 60 0 10 400 5 1 1 3 0 0\ncpu1 40 5 20 500 5 0 1 4 3 0\nintr 1 2 3\n";
    const SECOND: &str = "cpu  150 5 40 940 9 2 4 9 3 0\ncpu0 105 0 15 405 4 2 2 3 0 0\ncpu1 45 5 25 535 5 0 2 6 3 0\nintr 9\n";

    #[test]
    fn differences_are_in_nanoseconds_and_the_busiest_cpu_is_found() {
        let mut watch = CpuWatch::default();
        assert_eq!(watch.advance(FIRST, 10_000_000), None);
        let activity = watch.advance(SECOND, 10_000_000).unwrap();
        assert_eq!(activity.cpus, 2);
        assert_eq!(activity.user_ns, 500_000_000);
        assert_eq!(activity.system_ns, 100_000_000);
        assert_eq!(activity.interrupt_ns, 30_000_000);
        assert_eq!(activity.steal_ns, 20_000_000);
        assert_eq!(activity.iowait_ns, 0, "iowait went back");
        assert_eq!(activity.busiest_cpu_ns, (45 + 5 + 2) * 10_000_000);
        assert_eq!(activity.busiest_cpu, Some(0));
        let interrupts = activity.interrupt_cpu.unwrap();
        assert_eq!(interrupts.cpu, 0, "two ticks against one");
        assert_eq!(interrupts.interrupt_ns, 20_000_000);
        assert_eq!(interrupts.all_ns, (45 + 5 + 5 + 2) * 10_000_000);
    }

    #[test]
    fn a_cpu_that_comes_online_does_not_count_its_whole_past() {
        let mut watch = CpuWatch::default();
        watch.advance("cpu 10 0 0 10\ncpu0 10 0 0 10\n", 1);
        let text = "cpu 12 0 0 10\ncpu0 12 0 0 10\ncpu7 5000 0 0 10\n";
        let activity = watch.advance(text, 1).unwrap();
        assert_eq!((activity.cpus, activity.busiest_cpu_ns), (2, 2));
    }

    #[test]
    fn texts_without_cpu_lines_are_none() {
        let mut each = Vec::new();
        assert_eq!(parse_cpu_ticks("", &mut each), None);
        assert_eq!(parse_cpu_ticks("cpu x y\n", &mut each), None);
        assert_eq!(parse_cpu_ticks("cpu0 1 2 3 4\n", &mut each), None);
        assert_eq!(each.len(), 1);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(text in "(cpu[0-9]{0,2} [0-9 ]*\n|\\PC*\n)*") {
            let mut watch = CpuWatch::default();
            watch.advance(&text, 10_000_000);
            let again = watch.advance(&text, 10_000_000);
            proptest::prop_assert_eq!(again.unwrap_or_default().user_ns, 0);
        }
    }
}
