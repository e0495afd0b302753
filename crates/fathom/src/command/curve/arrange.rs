//! From flags to what a curve is told: defaults, conflicts, sizes.

use fathom_model::curve::Sweep;
use fathom_model::schedule::Pause;
use fathom_model::workload::{Arrival, Workload};
use fathom_model::{Schedule, Target, unit};
use fathom_observe::Sysroot;
use fathom_plan::{IoFlags, Plan};
use fathom_studies::curve::{CurveOptions, default_block_sizes, default_working_sets};

use super::arguments::Swept;
use crate::command::quick::default_size;
use crate::surroundings;

/// The largest block and working set of default sweeps.
const MOST_BLOCK_BYTES: u64 = 4 << 20;
const MOST_SET_BYTES: u64 = 16 << 30;
/// A range of a position sweep at most: longer than a drive's cache.
const MOST_ZONE_BYTES: u64 = 1 << 30;
/// Offsets of a position sweep are multiples of this.
const POSITION_ALIGN_BYTES: u64 = 1 << 20;
/// Sweeps are short; what the device still does afterwards is waited for.
const PAUSE_CEILING_NS: u64 = 2_000_000_000;
const PAUSE_FLOOR_NS: u64 = 50_000_000;

/// The flags that say what the curve itself sets.
pub(super) fn conflict(sweep: Sweep, flags: &IoFlags) -> Option<String> {
    let bounds = ["io_size", "number_ios"];
    let swept: &[&str] = match sweep {
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
    };
    let flag = |key: &str| key.replace('_', "-");
    if flags.given("runtime") {
        return Some("--runtime: a curve takes --seconds for each of its points".to_owned());
    }
    if let Some(key) = bounds.iter().find(|key| flags.given(key)) {
        return Some(format!(
            "--{}: the points of a curve end after --seconds each; leave it out",
            flag(key)
        ));
    }
    let key = swept.iter().find(|key| flags.given(key))?;
    Some(format!(
        "--{}: this is what a {} curve sets itself; leave it out",
        flag(key),
        sweep.name().replace('_', "-")
    ))
}

/// Fills in what makes sense for the sweep and was not given.
pub(super) fn fill_in(sweep: Sweep, flags: &mut IoFlags, target: &Target, seconds: Option<u32>) {
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
    if let (Target::Sim(model), Sweep::WorkingSet | Sweep::Position) = (target, sweep)
        && let Ok(drive) = fathom_drives::open_drive(model, 0)
    {
        let capacity = drive.capacity_bytes();
        let whole = capacity - capacity % MOST_BLOCK_BYTES;
        flags.fill_in("size", &whole.to_string());
    }
    // A test file is made in a directory only.
    if let Some(path) = target
        .path()
        .filter(|path| fathom_deadline::paths::is_dir(path))
    {
        flags.fill_in("size", &default_size(Some(path), false).to_string());
    }
}

/// What the curve is told.
pub(super) fn options(
    sweep: Sweep,
    swept: &Swept,
    plan: &Plan,
    schedule: &Schedule,
    arrival: Option<Arrival>,
) -> Result<CurveOptions, String> {
    let Some(first) = schedule.trials.first() else {
        return Err("there is nothing to measure".to_owned());
    };
    let base = first.workload.clone();
    if sweep == Sweep::Position && base.mix.modifies() {
        return Err("a position curve only reads; leave --rw out or say --rw read".to_owned());
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
        Sweep::Block => options.bytes = blocks(swept, &options.target),
        Sweep::WorkingSet => options.bytes = working_sets(swept, plan, &options)?,
        Sweep::Position => place(&mut options, plan, swept.positions)?,
    }
    Ok(options)
}

fn sorted(mut bytes: Vec<u64>) -> Vec<u64> {
    bytes.retain(|b| *b > 0);
    bytes.sort_unstable();
    bytes.dedup();
    bytes
}

fn blocks(swept: &Swept, target: &Target) -> Vec<u64> {
    match swept.bytes.is_empty() {
        true => default_block_sizes(least_block(target), MOST_BLOCK_BYTES),
        false => sorted(swept.bytes.clone()),
    }
}

/// The smallest block that the target is known to take.
pub(crate) fn least_block(target: &Target) -> u64 {
    let Some(path) = target.path() else {
        return 512;
    };
    let devices = fathom_observe::target_fingerprint(&Sysroot::host(), path).devices;
    let leaves = devices.iter().filter(|d| d.below.is_empty());
    let sectors: Option<Vec<u64>> = leaves.map(|d| d.logical_block_bytes).collect();
    let largest = sectors.and_then(|sectors| sectors.into_iter().max());
    largest.unwrap_or(4096)
}

fn working_sets(swept: &Swept, plan: &Plan, options: &CurveOptions) -> Result<Vec<u64>, String> {
    let size = size_of(plan, &options.target, &options.base)?;
    let sets = match swept.bytes.is_empty() {
        true => default_working_sets(size.min(MOST_SET_BYTES), options.base.block.max_bytes()),
        false => sorted(swept.bytes.clone()),
    };
    let most = sets.last().copied().unwrap_or(0);
    if most > size {
        return Err(format!(
            "{} has {}, less than a working set of {}; raise --size",
            options.target,
            unit::bytes(size),
            unit::bytes_exact(most)
        ));
    }
    if sets.len() < 3 {
        return Err(format!(
            "{} has {}, too little to look for steps; raise --size",
            options.target,
            unit::bytes(size)
        ));
    }
    Ok(sets)
}

/// Even places from the first to the last range.
fn place(options: &mut CurveOptions, plan: &Plan, positions: u32) -> Result<(), String> {
    let size = size_of(plan, &options.target, &options.base)?;
    let block = options.base.block.max_bytes().max(1);
    let align = POSITION_ALIGN_BYTES.max(block);
    let zone = (size / u64::from(positions)).min(MOST_ZONE_BYTES);
    let zone = zone - zone % block;
    if zone < 4 * block || size < align.saturating_mul(u64::from(positions)) {
        return Err(format!(
            "{} has {}, too little for {positions} places; use fewer --positions or a larger --size",
            options.target,
            unit::bytes(size)
        ));
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
fn size_of(plan: &Plan, target: &Target, base: &Workload) -> Result<u64, String> {
    if let Some(size) = base.data_set.size_bytes {
        return Ok(size);
    }
    match target {
        Target::Null | Target::Sim(_) | Target::Peer(_) | Target::Bucket(_) => {
            Err(format!("the size of {target} is not known; give --size"))
        }
        Target::Path(path) => {
            let facts = surroundings::of(plan).facts;
            let size = facts.get(target).and_then(|facts| facts.size_bytes);
            size.ok_or_else(|| format!("the size of {} is not known; give --size", path.display()))
        }
    }
}
