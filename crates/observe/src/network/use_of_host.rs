//! What the CPUs of the host did between two moments: which one was busiest,
//! and which one served the interrupts.

use fathom_model::network::HostUse;

use crate::Sysroot;
use crate::cpu::{CpuTicks, parse_cpu_ticks};

/// Remembers what the CPUs had done at a moment.
#[derive(Debug)]
pub struct HostUseWatch {
    sys: Sysroot,
    all: CpuTicks,
    each: Vec<(u32, CpuTicks)>,
}

impl HostUseWatch {
    /// Starts watching; `None` where `/proc/stat` cannot be read.
    pub fn start(sys: &Sysroot) -> Option<HostUseWatch> {
        let mut each = Vec::new();
        let all = parse_cpu_ticks(&sys.text("/proc/stat")?, &mut each)?;
        Some(HostUseWatch {
            sys: sys.clone(),
            all,
            each,
        })
    }

    /// What happened since; `None` when no time has passed.
    pub fn since_start(&self) -> Option<HostUse> {
        let mut each = Vec::new();
        let all = parse_cpu_ticks(&self.sys.text("/proc/stat")?, &mut each)?;
        host_use(&self.all, &self.each, &all, &each)
    }
}

/// CPUs that are on line; 1 where that cannot be read.
pub fn cpu_count(sys: &Sysroot) -> u32 {
    let mut each = Vec::new();
    let known = sys.text("/proc/stat");
    let _ = known.and_then(|text| parse_cpu_ticks(&text, &mut each));
    u32::try_from(each.len()).unwrap_or(u32::MAX).max(1)
}

fn host_use(
    all_before: &CpuTicks,
    each_before: &[(u32, CpuTicks)],
    all_now: &CpuTicks,
    each_now: &[(u32, CpuTicks)],
) -> Option<HostUse> {
    let share = |part: u64, whole: u64| match whole {
        0 => 0.0,
        whole => part as f64 / whole as f64,
    };
    let all = all_now.since(all_before);
    if all.total() == 0 {
        return None;
    }
    let before = |cpu: u32| each_before.iter().find(|(number, _)| *number == cpu);
    let grown: Vec<(u32, CpuTicks)> = each_now
        .iter()
        .filter_map(|(cpu, now)| Some((*cpu, now.since(&before(*cpu)?.1))))
        .collect();
    let busiest = grown.iter().max_by_key(|(_, ticks)| ticks.busy())?;
    let interrupted = grown.iter().max_by_key(|(_, ticks)| ticks.interrupt)?;
    Some(HostUse {
        cpus: u32::try_from(grown.len()).unwrap_or(u32::MAX),
        busy_share: share(all.busy(), all.total()),
        busiest_cpu: busiest.0,
        busiest_share: share(busiest.1.busy(), busiest.1.total()),
        interrupt_cpu: interrupted.0,
        interrupt_share: share(interrupted.1.interrupt, interrupted.1.total()),
        interrupt_concentration: share(interrupted.1.interrupt, all.interrupt),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (CpuTicks, Vec<(u32, CpuTicks)>) {
        let mut each = Vec::new();
        let all = parse_cpu_ticks(text, &mut each).unwrap();
        (all, each)
    }

    #[test]
    fn interrupts_on_one_cpu_show() {
        let (all, each) =
            parsed("cpu 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n");
        let (now, each_now) =
            parsed("cpu 20 0 30 100 0 0 50 0\ncpu0 10 0 20 15 0 0 5 0\ncpu1 10 0 10 85 0 0 45 0\n");
        let used = host_use(&all, &each, &now, &each_now).unwrap();
        assert_eq!((used.cpus, used.interrupt_cpu, used.busiest_cpu), (2, 1, 1));
        assert!((used.busy_share - 0.5).abs() < 1e-9);
        assert!((used.interrupt_concentration - 0.9).abs() < 1e-9);
        assert!((used.interrupt_share - 0.3).abs() < 1e-9);
        assert_eq!(host_use(&all, &each, &all, &each), None);
    }
}
