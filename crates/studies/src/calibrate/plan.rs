//! The workload of a calibration, made from a recorded load.

use fathom_model::diagnosis::DiskLoad;
use fathom_model::schedule::Pause;
use fathom_model::{Schedule, Target, unit};
use fathom_plan::{Diagnostics, IoFlags, Plan};
use fathom_rules::method::calibration::{
    ALIGN_BYTES, LEAST_BLOCKS, MOST_BLOCK_BYTES, PAUSE_CEILING_NS, THRESHOLD as PACE, TRIALS,
    USUAL_BLOCK_BYTES, USUAL_READ_SHARE, WARMUP_SECONDS,
};

use super::CALIBRATION;

/// Mix and block size of a load, as far as its recording tells them.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadShape {
    /// The device on which it was.
    device: String,
    /// The recording tells the block size.
    is_known: bool,
    /// Whole blocks of direct I/O.
    pub block_bytes: u64,
    /// Share of reads.
    pub read_percent: u32,
}

impl LoadShape {
    /// That of a load on a disk.
    pub fn of(load: &DiskLoad) -> LoadShape {
        let block = load.block_bytes.unwrap_or(USUAL_BLOCK_BYTES as f64);
        let blocks = (block / ALIGN_BYTES as f64).round() as u64;
        let share = load.read_share.unwrap_or(USUAL_READ_SHARE);
        LoadShape {
            device: load.name.clone(),
            is_known: load.block_bytes.is_some(),
            block_bytes: (blocks * ALIGN_BYTES).clamp(ALIGN_BYTES, MOST_BLOCK_BYTES),
            read_percent: (100.0 * share).round().clamp(0.0, 100.0) as u32,
        }
    }
}

/// What is measured, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationPlan {
    /// Where the file is made.
    pub target: Target,
    /// Of the load.
    pub shape: LoadShape,
    /// The test file: a whole number of blocks.
    pub size_bytes: u64,
    /// Of each measurement.
    pub seconds: u32,
}

impl CalibrationPlan {
    /// A calibration with a file of as many bytes as `size_bytes` at most, and one
    /// block at least: a mean block of a load is seldom a power of two.
    pub fn new(target: Target, shape: LoadShape, size_bytes: u64, seconds: u32) -> CalibrationPlan {
        CalibrationPlan {
            size_bytes: (size_bytes / shape.block_bytes).max(1) * shape.block_bytes,
            target,
            shape,
            seconds,
        }
    }

    /// What will be done, for who is to allow it.
    pub fn in_words(&self) -> String {
        let whose = match self.shape.is_known {
            true => format!("as the recorded load of {}", self.shape.device),
            false => "as is usual: the recording lacks it".to_owned(),
        };
        let seconds = u64::from(TRIALS * (self.seconds + WARMUP_SECONDS));
        format!(
            "This measures what the volume under {target} can give:\n\
             \x20 - a new file of {size} is made there, filled with data that cannot be\n\
             \x20   compressed, and removed at the end\n\
             \x20 - random operations of {block}, {reads} % reads, without the page cache\n\
             \x20   ({whose})\n\
             \x20 - for about {span}: as many as the volume takes, then {pace:.0} % of that\n\
             \x20 - meanwhile the volume is fully loaded: work on it becomes slower\n",
            target = self.target,
            size = unit::bytes_exact(self.size_bytes),
            block = unit::bytes_exact(self.shape.block_bytes),
            reads = self.shape.read_percent,
            span = unit::span(seconds * 1_000_000_000),
            pace = PACE * 100.0,
        )
    }

    /// As a plan.
    ///
    /// # Errors
    /// A value is out of its bounds.
    pub fn plan(&self) -> Result<Plan, Diagnostics> {
        let rw = match self.shape.read_percent {
            0 => "randwrite",
            100 => "randread",
            _ => "randrw",
        };
        let mut flags = IoFlags::default();
        let mut set = |key: &str, value: String| flags.fill_in(key, &value);
        set("rw", rw.to_owned());
        if rw == "randrw" {
            set("rwmixread", self.shape.read_percent.to_string());
        }
        set("bs", self.shape.block_bytes.to_string());
        set("direct", "true".to_owned());
        set("size", self.size_bytes.to_string());
        set("runtime", format!("{}s", self.seconds));
        set("warmup", format!("{WARMUP_SECONDS}s"));
        let mut plan = flags.to_plan(self.target.clone())?;
        plan.set_name(CALIBRATION);
        Ok(plan)
    }

    /// The schedule of the plan, with pauses until the device is quiet.
    pub fn paused(&self, mut schedule: Schedule) -> Schedule {
        let simulated = self.target.path().is_none();
        for trial in &mut schedule.trials {
            trial.pause = Pause {
                floor_ns: 0,
                ceiling_ns: if simulated { 0 } else { PAUSE_CEILING_NS },
                until_quiet: !simulated,
            };
        }
        schedule
    }
}

/// The smallest test file.
const LEAST_FILE_BYTES: u64 = MOST_BLOCK_BYTES * LEAST_BLOCKS;

/// A test file that says nothing of a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a test file of less than {} says nothing of a volume",
    unit::bytes_exact(LEAST_FILE_BYTES)
)]
pub struct FileTooSmall;

/// Refuses a test file that says nothing of a volume.
///
/// # Errors
/// It is too small.
pub fn check_size(bytes: u64) -> Result<u64, FileTooSmall> {
    match bytes < LEAST_FILE_BYTES {
        true => Err(FileTooSmall),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(block_bytes: Option<f64>, read_share: Option<f64>) -> LoadShape {
        LoadShape::of(&DiskLoad {
            name: "sda".to_owned(),
            operations: 100.0,
            read_share,
            operations_p95: 100.0,
            reads_peak: 0.0,
            writes_peak: 0.0,
            operations_peak: 100.0,
            bytes: 0.0,
            block_bytes,
            wait_ms: None,
            wait_peak_ms: None,
            queue: None,
            queue_peak: None,
            util: None,
            series: Vec::new(),
        })
    }

    #[test]
    fn a_load_has_whole_blocks_and_what_is_usual_where_nothing_is_known() {
        let known = load(Some(73_000.0), Some(0.31));
        assert_eq!((known.block_bytes, known.read_percent), (73_728, 31));
        let merged = load(Some(9e6), Some(1.0));
        assert_eq!((merged.block_bytes, merged.read_percent), (1 << 20, 100));
        let unknown = load(None, None);
        assert_eq!((unknown.block_bytes, unknown.read_percent), (4096, 70));
    }

    #[test]
    fn a_file_holds_whole_blocks() {
        let size = |shape: LoadShape, bytes| {
            let plan = CalibrationPlan::new(Target::Null, shape, bytes, 10);
            plan.size_bytes
        };
        assert_eq!(size(load(Some(4096.0), None), 1 << 30), 1 << 30);
        assert_eq!(size(load(Some(73_728.0), None), 1 << 30), 1_073_700_864);
        assert_eq!(size(load(None, None), 1000), 4096);
    }

    #[test]
    fn who_is_to_allow_it_is_told_what_will_be_done() {
        let shape = load(Some(8192.0), Some(0.5));
        let plan = CalibrationPlan::new(Target::Path("/data".into()), shape, 1 << 30, 10);
        let words = plan.in_words();
        for part in [
            "a new file of 1 GiB",
            "random operations of 8 KiB, 50 % reads",
            "(as the recorded load of sda)",
            "for about 36 s: as many as the volume takes, then 85 % of that",
        ] {
            assert!(words.contains(part), "{part}: {words}");
        }
        assert!(check_size(16 << 20).is_ok());
        let small = check_size(1 << 20).unwrap_err().to_string();
        let told = "a test file of less than 16 MiB says nothing of a volume";
        assert_eq!(small, told);
    }
}
