//! CPU time that a test did not get.

/// What the hypervisor takes of the CPUs from now on.
pub(crate) struct Stolen {
    /// Ticks of all CPUs, and of them the stolen ones.
    before: (u64, u64),
}

impl Stolen {
    pub(crate) fn from_now() -> Stolen {
        Stolen {
            before: Stolen::ticks(),
        }
    }

    fn ticks() -> (u64, u64) {
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let line = stat.lines().next().unwrap_or_default();
        let fields = line.split_whitespace().skip(1);
        let ticks: Vec<u64> = fields.filter_map(|field| field.parse().ok()).collect();
        let stolen = ticks.get(7).copied().unwrap_or(0);
        (ticks.iter().take(8).sum(), stolen)
    }

    /// Whether it took so much that the machine stood still now and then,
    /// between the drive and the program that measured it.
    pub(crate) fn was_much(&self) -> bool {
        let (all, stolen) = Stolen::ticks();
        let (all, stolen) = (all - self.before.0, stolen - self.before.1);
        stolen as f64 > 0.01 * all as f64
    }
}
