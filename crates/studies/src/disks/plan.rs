//! Tests of the disks of a storage node, by the rules of the benchmarking
//! guide of Virtuozzo Hybrid Infrastructure ("Preparing benchmarks for disks"):
//! each worker has twice the memory divided by the CPU threads; half as many
//! workers as threads on a hard disk, as many on an SSD; 4 operations in
//! flight per worker on a hard disk, 32 on an SSD; a flush after every 32 writes.

use fathom_model::Target;
use fathom_model::unit::MIB;
use fathom_plan::{Diagnostics, Plan, PlanBuilder};
use fathom_rules::method::disks::{HDD_DEPTH, SSD_DEPTH, WORKERS_MAX, WRITES_PER_FLUSH};

/// What kind of disk it is, as far as the rules differ by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskKind {
    /// It rotates.
    Hdd,
    /// It does not, NVMe drives included.
    Ssd,
}

/// The machine that tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskMachine {
    /// CPU threads; at least 1 is taken.
    pub cpu_threads: u32,
    /// Memory in bytes.
    pub ram_bytes: u64,
}

/// How a disk is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskLoad {
    /// Workers.
    pub workers: u32,
    /// Operations in flight per worker.
    pub depth: u32,
    /// Size of the data set, all workers together, bytes: a whole number of
    /// MiB for each.
    pub size_bytes: u64,
    /// The disk has not the room that the rule asks for.
    pub cut: bool,
}

impl DiskLoad {
    /// The load of the rules on a disk of which `room_bytes` may be used.
    pub fn by_rule(kind: DiskKind, machine: &DiskMachine, room_bytes: u64) -> DiskLoad {
        let threads = machine.cpu_threads.clamp(1, WORKERS_MAX);
        let (workers, depth) = match kind {
            DiskKind::Hdd => ((threads / 2).max(1), HDD_DEPTH),
            DiskKind::Ssd => (threads, SSD_DEPTH),
        };
        let each = machine.ram_bytes.saturating_mul(2) / u64::from(threads);
        DiskLoad {
            workers,
            depth,
            size_bytes: 0,
            cut: false,
        }
        .sized(each.saturating_mul(u64::from(workers)), room_bytes)
    }

    /// The same with a data set of about `wanted_bytes`.
    pub fn sized(self, wanted_bytes: u64, room_bytes: u64) -> DiskLoad {
        let unit = MIB * u64::from(self.workers);
        let wanted = wanted_bytes.max(unit).div_ceil(unit).saturating_mul(unit);
        let most = room_bytes / unit * unit;
        DiskLoad {
            size_bytes: wanted.min(most),
            cut: wanted > most,
            ..self
        }
    }
}

/// What is done to the disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskWorkload {
    /// 4 KiB writes at random, flushed after every 32.
    RandWrite,
    /// 1 MiB writes in sequence, flushed after every 32.
    SeqWrite,
    /// 4 KiB reads at random.
    RandRead,
    /// 1 MiB reads in sequence.
    SeqRead,
}

impl DiskWorkload {
    /// All of them, reads first: they see the data set as it was laid out.
    pub const ALL: [DiskWorkload; 4] = [
        DiskWorkload::RandRead,
        DiskWorkload::SeqRead,
        DiskWorkload::RandWrite,
        DiskWorkload::SeqWrite,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            DiskWorkload::RandWrite => "randwrite",
            DiskWorkload::SeqWrite => "seqwrite",
            DiskWorkload::RandRead => "randread",
            DiskWorkload::SeqRead => "seqread",
        }
    }

    /// Those that were named; without any, whatever harms nothing on disks of which
    /// all may be written to or not.
    pub fn chosen(named: &[DiskWorkload], may_be_written: bool) -> Vec<DiskWorkload> {
        let is_chosen = |workload: &DiskWorkload| match named.is_empty() {
            true => may_be_written || !workload.writes(),
            false => named.contains(workload),
        };
        DiskWorkload::ALL.into_iter().filter(is_chosen).collect()
    }

    /// Whether it changes what is on the disk.
    pub fn writes(self) -> bool {
        matches!(self, DiskWorkload::RandWrite | DiskWorkload::SeqWrite)
    }

    fn keys(self, load: &DiskLoad, seconds: u32) -> Vec<(&'static str, String)> {
        let (rw, block) = match self {
            DiskWorkload::RandWrite => ("randwrite", 4096),
            DiskWorkload::SeqWrite => ("write", MIB),
            DiskWorkload::RandRead => ("randread", 4096),
            DiskWorkload::SeqRead => ("read", MIB),
        };
        let mut keys = vec![
            ("name", self.name().to_owned()),
            ("rw", rw.to_owned()),
            ("bs", block.to_string()),
            ("numjobs", load.workers.to_string()),
            ("iodepth", load.depth.to_string()),
            ("size", load.size_bytes.to_string()),
            ("direct", "true".to_owned()),
            ("warmup", "2s".to_owned()),
            ("runtime", format!("{seconds}s")),
        ];
        if self.writes() {
            keys.push(("fdatasync", WRITES_PER_FLUSH.to_string()));
        }
        keys
    }
}

/// The plan for disks that are loaded alike.
///
/// # Errors
/// The data set is too small, or a value is out of its bounds.
pub fn disk_plan(
    targets: &[Target],
    load: &DiskLoad,
    workloads: &[DiskWorkload],
    seconds: u32,
) -> Result<Plan, Diagnostics> {
    if load.size_bytes == 0 {
        let names: Vec<String> = targets.iter().map(Target::to_string).collect();
        return Err(Diagnostics::of_limit(format!(
            "there is no room on {} for a data set of 1 MiB for each of {} workers",
            names.join(", "),
            load.workers
        )));
    }
    let plan = PlanBuilder::new("disks")
        .targets(targets.iter().cloned())
        .set("iterations", 1)
        .set("probe", false)
        .pause("1s", "30s", true);
    let keys = workloads
        .iter()
        .map(|workload| workload.keys(load, seconds));
    keys.fold(plan, PlanBuilder::workload).build()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use fathom_plan::ScheduleContext;

    const GIB: u64 = 1 << 30;

    #[test]
    fn the_rules_of_the_guide_hold() {
        let machine = DiskMachine {
            cpu_threads: 16,
            ram_bytes: 64 * GIB,
        };
        let ssd = DiskLoad::by_rule(DiskKind::Ssd, &machine, 1000 * GIB);
        // 8 GiB for each worker, as the guide's jobs have it.
        assert_eq!((ssd.workers, ssd.depth), (16, 32));
        assert_eq!(ssd.size_bytes, 16 * 8 * GIB);
        let hdd = DiskLoad::by_rule(DiskKind::Hdd, &machine, 1000 * GIB);
        assert_eq!((hdd.workers, hdd.depth), (8, 4));
        assert_eq!(hdd.size_bytes, 8 * 8 * GIB);
        assert!(!hdd.cut);
        let small = DiskLoad::by_rule(DiskKind::Ssd, &machine, 10 * GIB);
        assert!(small.cut && small.size_bytes <= 10 * GIB);
    }

    #[test]
    fn a_plan_has_one_trial_of_each_workload() {
        let machine = DiskMachine {
            cpu_threads: 2,
            ram_bytes: GIB,
        };
        let load = DiskLoad::by_rule(DiskKind::Hdd, &machine, 100 * GIB);
        let plan = disk_plan(&[Target::Null], &load, &DiskWorkload::ALL, 60).unwrap();
        let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
        let flushes: Vec<u32> = schedule
            .trials
            .iter()
            .map(|t| t.workload.sync.every_writes)
            .collect();
        assert_eq!(flushes, [0, 0, 32, 32]);
        let full = load.sized(GIB, 0);
        let told = disk_plan(&[Target::Null], &full, &DiskWorkload::ALL, 60);
        assert!(told.unwrap_err().to_string().contains("no room"));
    }

    proptest! {
        #[test]
        fn any_machine_gives_a_load_that_fits(
            cpu_threads: u32, ram_bytes: u64, room_bytes: u64, hdd: bool
        ) {
            let kind = if hdd { DiskKind::Hdd } else { DiskKind::Ssd };
            let machine = DiskMachine { cpu_threads, ram_bytes };
            let load = DiskLoad::by_rule(kind, &machine, room_bytes);
            prop_assert!(load.size_bytes <= room_bytes);
            prop_assert!(load.workers >= 1);
            prop_assert_eq!(load.size_bytes % (MIB * u64::from(load.workers)), 0);
        }
    }
}
