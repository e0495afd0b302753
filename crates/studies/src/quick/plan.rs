//! The quick test: a fixed grid that people know how to read, plus the row
//! that tells what a commit costs.
//!
//! Sequential 1 MiB and random 4 KiB blocks, deep and shallow, reads and
//! writes; then 4 KiB writes that are each made durable before the next.

use fathom_model::Target;
use fathom_model::unit::MIB;
use fathom_plan::{Diagnostics, Plan, PlanBuilder};
use fathom_rules::method::quick::{SIZE_BYTES_MAX, SIZE_BYTES_MIN, SUSTAINED_PASSES};

use super::objects;

/// What the quick test is told.
#[derive(Debug, Clone, PartialEq)]
pub struct QuickOptions {
    /// What is measured.
    pub target: Target,
    /// Measured time of each cell in seconds, 1 to 86,400; 10 is usual. With
    /// `sustained`, of each read cell.
    pub seconds: u32,
    /// Size of the test file in bytes, 32 MiB to 1 PiB; 1 GiB is usual. The
    /// caller takes less on a disk that is nearly full, and with `sustained`
    /// as much more than the memory as the free space allows.
    pub size_bytes: u64,
    /// How much of it rows that read use.
    pub read_extent: ReadExtent,
    /// Write cells end after bytes instead of seconds, so that caches of
    /// drives and controllers are filled and left behind.
    pub sustained: bool,
    /// Only the rows that read: nothing is written to the target.
    pub read_only: bool,
    /// Seed of all offsets and contents.
    pub seed: u64,
}

/// What rows that read use of a target. Rows that write use a part: where space is allocated
/// as it is written, they would take all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadExtent {
    /// The part that rows that write use.
    Part,
    /// The same part, after writing what was never written there.
    Prepared,
    /// The whole target, of this many bytes, because a cache may hold a smaller part.
    All(u64),
}

/// One cell of the grid.
struct QuickCell {
    label: &'static str,
    rw: &'static str,
    block_bytes: u64,
    depth: u64,
    durable: bool,
}

impl QuickCell {
    fn writes(&self) -> bool {
        self.rw.ends_with("write")
    }
}

const fn cell(label: &'static str, rw: &'static str, block_bytes: u64, depth: u64) -> QuickCell {
    QuickCell {
        label,
        rw,
        block_bytes,
        depth,
        durable: false,
    }
}

/// Reads come first: they see the file as it was laid out, and no write's
/// aftermath. Shallow comes before deep: then a probe at twice the depth is asked
/// for only where the two leave open what sets the rate. All cells use the same
/// file.
const GRID: [QuickCell; 9] = [
    cell("SEQ1M Q1T1 read", "read", MIB, 1),
    cell("SEQ1M Q8T1 read", "read", MIB, 8),
    cell("RND4K Q1T1 read", "randread", 4096, 1),
    cell("RND4K Q32T1 read", "randread", 4096, 32),
    cell("SEQ1M Q1T1 write", "write", MIB, 1),
    cell("SEQ1M Q8T1 write", "write", MIB, 8),
    cell("RND4K Q1T1 write", "randwrite", 4096, 1),
    cell("RND4K Q32T1 write", "randwrite", 4096, 32),
    QuickCell {
        label: "DURABLE 4K",
        rw: "randwrite",
        block_bytes: 4096,
        depth: 1,
        durable: true,
    },
];

/// The plan of the quick test: one iteration of each cell in a fixed order.
///
/// Seconds and size outside of what [`QuickOptions`] tells are brought into
/// it.
///
/// # Errors
/// The target cannot be measured so.
pub fn quick(options: &QuickOptions) -> Result<Plan, Diagnostics> {
    let seconds = options.seconds.clamp(1, 86_400);
    let is_bucket = matches!(options.target, Target::Bucket(_));
    let (name, workloads) = match options.target {
        Target::Bucket(_) => ("quick-objects", objects::workloads(seconds)),
        _ => {
            let shown = |cell: &&QuickCell| !(options.read_only && cell.writes());
            let cells = GRID.iter().filter(shown);
            let workloads = cells.map(|cell| workload(cell, options, seconds));
            (super::NAME, workloads.collect())
        }
    };
    let plan = PlanBuilder::new(name)
        .targets([options.target.clone()])
        .set("seed", options.seed)
        .set("iterations", 1)
        .set("order", "fixed")
        .pause("1s", if options.sustained { "30s" } else { "2s" }, true)
        // What its depths do not say of one another, a few seconds do. A sustained
        // test must not be disturbed by more writes, and a bucket's is short.
        .set("probe", !(options.sustained || is_bucket));
    workloads
        .into_iter()
        .fold(plan, PlanBuilder::workload)
        .build()
}

fn workload(cell: &QuickCell, options: &QuickOptions, seconds: u32) -> Vec<(&'static str, String)> {
    let size = match options.read_extent {
        ReadExtent::All(bytes) if !cell.writes() => bytes - bytes % MIB,
        _ => options.size_bytes,
    };
    let size = size.clamp(SIZE_BYTES_MIN, SIZE_BYTES_MAX);
    let mut keys = vec![
        ("name", cell.label.to_owned()),
        ("rw", cell.rw.to_owned()),
        ("bs", cell.block_bytes.to_string()),
        ("iodepth", cell.depth.to_string()),
        ("numjobs", "1".to_owned()),
        ("size", size.to_string()),
        ("direct", "true".to_owned()),
    ];
    if options.read_extent == ReadExtent::Prepared && !cell.writes() {
        keys.push(("precondition", "written".to_owned()));
    }
    if options.sustained && cell.writes() && !cell.durable {
        let written = size.saturating_mul(SUSTAINED_PASSES);
        keys.push(("io_size", written.to_string()));
        // A slow drive stops after this long.
        keys.push(("runtime", "15m".to_owned()));
        return keys;
    }
    keys.push(("runtime", format!("{seconds}s")));
    keys.push(("warmup", "1s".to_owned()));
    if cell.durable {
        keys.push(("fdatasync", "1".to_owned()));
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::Schedule;
    use fathom_plan::ScheduleContext;

    fn schedule(sustained: bool) -> Schedule {
        let plan = quick(&QuickOptions {
            target: "/mnt/a".parse().unwrap(),
            seconds: 10,
            size_bytes: 1 << 30,
            sustained,
            read_extent: ReadExtent::Part,
            read_only: false,
            seed: 7,
        })
        .unwrap();
        plan.schedule(&ScheduleContext::default()).unwrap()
    }

    #[test]
    fn the_grid_has_its_nine_rows_once_each() {
        let schedule = schedule(false);
        let labels: Vec<&str> = schedule.trials.iter().map(|t| t.label.as_str()).collect();
        let expected: Vec<&str> = GRID.iter().map(|cell| cell.label).collect();
        assert_eq!(labels, expected);
        assert_eq!(schedule.seed, 7);
        let durable = schedule.trials.last().unwrap();
        assert_eq!(durable.workload.sync.every_writes, 1);
        assert_eq!(durable.workload.queue_depth, 1);
    }

    #[test]
    fn read_only_keeps_the_rows_that_read() {
        let plan = quick(&QuickOptions {
            target: "/dev/sdz".parse().unwrap(),
            seconds: 10,
            size_bytes: 1 << 30,
            read_extent: ReadExtent::Part,
            sustained: false,
            read_only: true,
            seed: 7,
        })
        .unwrap();
        let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
        assert_eq!(schedule.trials.len(), 4);
        assert!(schedule.trials.iter().all(|t| !t.workload.may_modify()));
    }

    #[test]
    fn reads_use_all_of_a_drive_and_writes_a_part() {
        let plan = quick(&QuickOptions {
            target: "sim:array".parse().unwrap(),
            seconds: 10,
            size_bytes: 1 << 30,
            read_extent: ReadExtent::All((8 << 30) + 512),
            sustained: false,
            read_only: false,
            seed: 7,
        })
        .unwrap();
        let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
        for trial in &schedule.trials {
            let expected = if trial.workload.mix.modifies() { 1 } else { 8 };
            let size = trial.workload.data_set.size_bytes;
            assert_eq!(size, Some(expected << 30), "{}", trial.label);
        }
    }

    #[test]
    fn all_rows_share_one_file_layout() {
        for sustained in [false, true] {
            let schedule = schedule(sustained);
            let first = &schedule.trials[0].workload;
            for trial in &schedule.trials {
                let workload = &trial.workload;
                assert_eq!(
                    workload.data_set.files, first.data_set.files,
                    "{}",
                    trial.label
                );
                assert_eq!(
                    workload.data_set.size_bytes, first.data_set.size_bytes,
                    "{}",
                    trial.label
                );
                assert_eq!(workload.workers, first.workers, "{}", trial.label);
                assert_eq!(workload.cache, first.cache, "{}", trial.label);
            }
        }
    }

    #[test]
    fn sustained_writes_end_after_bytes() {
        for trial in schedule(true).trials {
            let bounds = trial.workload.bounds;
            let by_bytes = trial.label.ends_with(" write");
            assert_eq!(bounds.bytes.is_some(), by_bytes, "{}", trial.label);
        }
        assert!(
            schedule(false)
                .trials
                .iter()
                .all(|t| t.workload.bounds.bytes.is_none())
        );
    }

    #[test]
    fn any_options_make_a_plan_that_reads_back() {
        for (seconds, size_bytes) in [(0, 0), (10, 1 << 30), (u32::MAX, u64::MAX)] {
            for sustained in [false, true] {
                let plan = quick(&QuickOptions {
                    target: Target::Null,
                    seconds,
                    size_bytes,
                    read_extent: ReadExtent::Part,
                    sustained,
                    read_only: false,
                    seed: u64::MAX,
                })
                .unwrap();
                let read = fathom_plan::parse("quick", &plan.to_yaml());
                assert_eq!(read.unwrap_or_else(|e| panic!("{e}")), plan);
                let schedule = plan.schedule(&ScheduleContext::default());
                assert_eq!(schedule.unwrap().trials.len(), 9);
            }
        }
    }
}
