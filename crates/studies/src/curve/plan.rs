//! What a curve is told: the flags that it sets itself, defaults, sizes and places.

use fathom_model::curve::Sweep;
use fathom_model::schedule::Pause;
use fathom_model::workload::Arrival;
use fathom_model::{Schedule, Target, unit};
use fathom_plan::IoFlags;
use fathom_rules::method::curve::{
    MOST_BLOCK_BYTES, MOST_SET_BYTES, MOST_ZONE_BYTES, PAUSE_CEILING_NS, PAUSE_FLOOR_NS,
    POSITION_STEP_BYTES,
};

use super::arrange::{CurveOptions, default_block_sizes, default_working_sets};

/// What only some curves are told.
#[derive(Debug, Clone, Default)]
pub struct Swept {
    /// Operations in flight at most, where depth is searched.
    pub most_depth: u64,
    /// Block sizes or working sets; none for those of the study.
    pub bytes: Vec<u64>,
    /// Places on the target.
    pub positions: u32,
}

/// How much data there is for a curve before it begins.
#[derive(Debug, Clone, Copy, Default)]
pub struct DataRoom {
    /// Capacity of a simulated drive.
    pub drive_bytes: Option<u64>,
    /// A good size for the test file that is made in a directory.
    pub file_bytes: Option<u64>,
}

/// What has to be looked up of a target, for some curves only.
pub struct TargetLook<'a> {
    /// The smallest block that it takes.
    pub least_block_bytes: &'a dyn Fn(&Target) -> u64,
    /// Its size.
    pub size_bytes: &'a dyn Fn(&Target) -> Option<u64>,
}

/// Why a curve cannot be measured as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CurveError {
    /// Two lengths, or one that is not of whole seconds.
    #[error("--runtime is the time of a point here: give whole seconds from 1 on, and no --for")]
    Runtime,
    /// A flag that ends a trial.
    #[error("--{0}: the points of a curve end after --for each; leave it out")]
    Bound(String),
    /// A flag for what is swept.
    #[error("--{flag}: this is what a {curve} curve sets itself; leave it out")]
    Swept {
        /// The flag.
        flag: String,
        /// The curve.
        curve: String,
    },
    /// A plan without workloads.
    #[error("there is nothing to measure")]
    Nothing,
    /// Writes where a curve reads.
    #[error("a position curve only reads; leave --rw out or say --rw read")]
    OnlyReads,
    /// A working set that is larger than the data.
    #[error(
        "{target} has {}, less than a working set of {}; raise --size",
        unit::bytes(*.bytes),
        unit::bytes_exact(*.set_bytes)
    )]
    SetTooLarge {
        /// Where the data are.
        target: Target,
        /// How many there are.
        bytes: u64,
        /// The set.
        set_bytes: u64,
    },
    /// Too few working sets.
    #[error(
        "{target} has {}, too little to look for steps; raise --size",
        unit::bytes(*.bytes)
    )]
    TooFewSets {
        /// Where the data are.
        target: Target,
        /// How many there are.
        bytes: u64,
    },
    /// The places would lie upon one another.
    #[error(
        "{target} has {}, too little for {positions} places; use fewer --positions or a larger --size",
        unit::bytes(*.bytes)
    )]
    TooManyPlaces {
        /// Where the data are.
        target: Target,
        /// How many there are.
        bytes: u64,
        /// Places.
        positions: u32,
    },
    /// How much data there is cannot be found out.
    #[error("the size of {0} is not known; give --size")]
    UnknownSize(Target),
}

/// Keys of a workload that the curve itself sets.
pub fn swept_keys(sweep: Sweep) -> &'static [&'static str] {
    match sweep {
        Sweep::Depth => &["iodepth", "rate", "rate_iops", "arrival", "think_time"],
        Sweep::Load => &["iodepth", "rate", "rate_iops", "think_time"],
        Sweep::Block => &["bs", "align", "arrival"],
        Sweep::WorkingSet => &["working_set", "arrival"],
        Sweep::Mix => &[
            "rate",
            "rate_iops",
            "mix",
            "rwmixread",
            "rwmixwrite",
            "think_time",
        ],
        Sweep::Position => &[
            "offset",
            "working_set",
            "mix",
            "pattern",
            "distribution",
            "arrival",
        ],
    }
}

/// Refuses flags that say what the curve itself sets.
///
/// # Errors
/// There is such a flag.
pub fn refuse_conflict(sweep: Sweep, flags: &IoFlags) -> Result<(), CurveError> {
    let bounds = ["io_size", "number_ios"];
    let flag = |key: &str| key.replace('_', "-");
    if let Some(key) = bounds.iter().find(|key| flags.given(key)) {
        return Err(CurveError::Bound(flag(key)));
    }
    match swept_keys(sweep).iter().find(|key| flags.given(key)) {
        None => Ok(()),
        Some(key) => Err(CurveError::Swept {
            flag: flag(key),
            curve: flag(sweep.name()),
        }),
    }
}

/// Seconds of a point, whether they were called `--for` or `--runtime`; `None` where
/// neither was given.
///
/// # Errors
/// Both were given, or a time that is not of whole seconds.
pub fn point_seconds(flags: &mut IoFlags, named: Option<u32>) -> Result<Option<u32>, CurveError> {
    let Some(runtime_ns) = flags.take_runtime_ns() else {
        return Ok(named);
    };
    let seconds = u32::try_from(runtime_ns / 1_000_000_000).unwrap_or(u32::MAX);
    match u64::from(seconds) * 1_000_000_000 == runtime_ns && seconds > 0 && named.is_none() {
        true => Ok(Some(seconds)),
        false => Err(CurveError::Runtime),
    }
}

/// Fills in what makes sense for the sweep and was not given.
pub fn fill_in(sweep: Sweep, flags: &mut IoFlags, room: DataRoom, seconds: Option<u32>) {
    let seconds = seconds.unwrap_or(match sweep {
        Sweep::Depth | Sweep::Block | Sweep::Mix => 3,
        Sweep::Load => 5,
        Sweep::WorkingSet => 2,
        Sweep::Position => 1,
    });
    flags.fill_in("runtime", &format!("{seconds}s"));
    let warmup_ms = (u64::from(seconds) * 100).min(5000);
    flags.fill_in("warmup", &format!("{warmup_ms}ms"));
    match sweep {
        Sweep::Depth | Sweep::Load => {}
        Sweep::Block => flags.fill_in("iodepth", "16"),
        Sweep::WorkingSet => flags.fill_in("iodepth", "16"),
        Sweep::Mix => {
            flags.fill_in("rw", "randrw");
            flags.fill_in("iodepth", "32");
        }
        Sweep::Position => {
            flags.fill_in("rw", "read");
            flags.fill_in("bs", "1m");
            flags.fill_in("iodepth", "4");
        }
    }
    if let (Some(capacity), Sweep::WorkingSet | Sweep::Position) = (room.drive_bytes, sweep) {
        let whole = capacity - capacity % MOST_BLOCK_BYTES;
        flags.fill_in("size", &whole.to_string());
    }
    if let Some(bytes) = room.file_bytes {
        flags.fill_in("size", &bytes.to_string());
    }
}

/// What the curve is told, with the workload of a schedule.
///
/// # Errors
/// It does not go with the sweep or the target.
pub fn options(
    sweep: Sweep,
    swept: &Swept,
    schedule: &Schedule,
    arrival: Option<Arrival>,
    look: &TargetLook<'_>,
) -> Result<CurveOptions, CurveError> {
    let Some(first) = schedule.trials.first() else {
        return Err(CurveError::Nothing);
    };
    let base = first.workload.clone();
    if sweep == Sweep::Position && base.mix.modifies() {
        return Err(CurveError::OnlyReads);
    }
    let simulated = first.target.path().is_none();
    let mut options = CurveOptions {
        sweep,
        target: first.target.clone(),
        seed: schedule.seed,
        pause: Pause {
            floor_ns: if simulated { 0 } else { PAUSE_FLOOR_NS },
            ceiling_ns: if simulated { 0 } else { PAUSE_CEILING_NS },
            until_quiet: !simulated,
        },
        most_depth: swept.most_depth,
        bytes: Vec::new(),
        zone_bytes: 0,
        arrival: arrival.unwrap_or(Arrival::Poisson),
        base,
    };
    match sweep {
        Sweep::Depth | Sweep::Load | Sweep::Mix => {}
        Sweep::Block => options.bytes = blocks(swept, &options.target, look),
        Sweep::WorkingSet => options.bytes = working_sets(swept, &options, look)?,
        Sweep::Position => place(&mut options, swept.positions, look)?,
    }
    Ok(options)
}

fn sorted(mut bytes: Vec<u64>) -> Vec<u64> {
    bytes.retain(|b| *b > 0);
    bytes.sort_unstable();
    bytes.dedup();
    bytes
}

fn blocks(swept: &Swept, target: &Target, look: &TargetLook<'_>) -> Vec<u64> {
    match swept.bytes.is_empty() {
        true => default_block_sizes((look.least_block_bytes)(target), MOST_BLOCK_BYTES),
        false => sorted(swept.bytes.clone()),
    }
}

fn working_sets(
    swept: &Swept,
    options: &CurveOptions,
    look: &TargetLook<'_>,
) -> Result<Vec<u64>, CurveError> {
    let size = size_of(options, look)?;
    let sets = match swept.bytes.is_empty() {
        true => default_working_sets(size.min(MOST_SET_BYTES), options.base.block.max_bytes()),
        false => sorted(swept.bytes.clone()),
    };
    let most = sets.last().copied().unwrap_or(0);
    if most > size {
        return Err(CurveError::SetTooLarge {
            target: options.target.clone(),
            bytes: size,
            set_bytes: most,
        });
    }
    if sets.len() < 3 {
        return Err(CurveError::TooFewSets {
            target: options.target.clone(),
            bytes: size,
        });
    }
    Ok(sets)
}

/// Even places from the first to the last range.
fn place(
    options: &mut CurveOptions,
    positions: u32,
    look: &TargetLook<'_>,
) -> Result<(), CurveError> {
    let size = size_of(options, look)?;
    let block = options.base.block.max_bytes().max(1);
    let align = POSITION_STEP_BYTES.max(block);
    let zone = (size / u64::from(positions)).min(MOST_ZONE_BYTES);
    let zone = zone - zone % block;
    if zone < 4 * block || size < align.saturating_mul(u64::from(positions)) {
        return Err(CurveError::TooManyPlaces {
            target: options.target.clone(),
            bytes: size,
            positions,
        });
    }
    let room = size - zone;
    let last = u64::from(positions - 1);
    let offsets = (0..=last).map(|i| {
        let offset = (u128::from(room) * u128::from(i) / u128::from(last)) as u64;
        offset - offset % align
    });
    options.bytes = sorted_with_zero(offsets.collect());
    options.zone_bytes = zone;
    Ok(())
}

fn sorted_with_zero(mut offsets: Vec<u64>) -> Vec<u64> {
    offsets.sort_unstable();
    offsets.dedup();
    offsets
}

/// Bytes of the whole target or data set.
fn size_of(options: &CurveOptions, look: &TargetLook<'_>) -> Result<u64, CurveError> {
    let target = &options.target;
    let known = options.base.data_set.size_bytes;
    let known = known.or_else(|| (look.size_bytes)(target));
    known.ok_or_else(|| CurveError::UnknownSize(target.clone()))
}
