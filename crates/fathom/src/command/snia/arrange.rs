//! From flags to the settings of a test: capacity, active range, block sizes.

use std::os::unix::fs::FileTypeExt;

use fathom_analysis::snia::blocks;
use fathom_model::snia::{SniaSettings, SniaTarget, SniaTest};
use fathom_model::{Target, unit};
use fathom_observe::Sysroot;
use fathom_rules::method::snia::{PASSES, ROUNDS_MAX, WSAT_ROUNDS};

use super::arguments::{Common, YesNo};
use crate::command::curve::least_block;
use crate::command::quick::default_size;

/// Ranges are whole multiples of the largest block.
const RANGE_STEP_BYTES: u64 = 1 << 20;
/// The deepest test has 32 blocks of 1 MiB in flight; twice that many differ.
const RANGE_BYTES_MIN: u64 = 64 << 20;

/// Where a test runs.
pub(super) struct Place {
    pub(super) on: SniaTarget,
    pub(super) capacity_bytes: u64,
    /// Size of the test file that is made, or of the simulated data set.
    pub(super) size_bytes: Option<u64>,
    /// The device says that it takes discards.
    can_discard: bool,
}

/// Finds out what the target is.
pub(super) fn place(target: &Target, size: Option<u64>) -> Result<Place, String> {
    let fixed = |on, capacity_bytes| Place {
        on,
        capacity_bytes,
        size_bytes: None,
        can_discard: false,
    };
    let place = match target {
        Target::Null | Target::Peer(_) | Target::Bucket(_) => {
            return Err(format!("{target} stores nothing; name a drive"));
        }
        Target::Sim(model) => {
            let drive = fathom_drives::open_drive(model, 0);
            let drive = drive.map_err(|error| error.to_string())?;
            let capacity = drive.capacity_bytes();
            Place {
                size_bytes: Some(capacity - capacity % RANGE_STEP_BYTES),
                ..fixed(SniaTarget::Simulated, capacity)
            }
        }
        Target::Path(path) => {
            let metadata = fathom_deadline::paths::metadata(path)
                .map_err(|error| format!("cannot examine {}: {error}", path.display()))?;
            let kind = metadata.file_type();
            if kind.is_dir() {
                let bytes = size.unwrap_or_else(|| default_size(Some(path), false));
                let bytes = bytes - bytes % RANGE_STEP_BYTES;
                return Ok(Place {
                    size_bytes: Some(bytes),
                    ..fixed(SniaTarget::File, bytes)
                });
            }
            if kind.is_block_device() {
                let devices = fathom_observe::target_fingerprint(&Sysroot::host(), path).devices;
                let top = devices.first();
                Place {
                    can_discard: top.is_some_and(|d| d.discard_max_bytes.unwrap_or(0) > 0),
                    ..fixed(SniaTarget::Device, top.map_or(0, |d| d.size_bytes))
                }
            } else if kind.is_file() {
                fixed(SniaTarget::File, metadata.len())
            } else {
                return Err(format!(
                    "{} is neither a device nor a directory nor a file",
                    path.display()
                ));
            }
        }
    };
    match size {
        Some(_) => Err(format!(
            "--size: {target} has a size already; choose a part of it with --active-range"
        )),
        None => Ok(place),
    }
}

/// What is decided before the test begins.
pub(super) fn settings(
    test: SniaTest,
    common: &Common,
    target: &Target,
    place: &Place,
) -> Result<SniaSettings, String> {
    if test == SniaTest::Latency && (common.threads.is_some() || common.outstanding.is_some()) {
        return Err(
            "the latency test has one thread with one operation outstanding; leave --threads and \
             --outstanding out"
                .to_owned(),
        );
    }
    let active = common.active_range.of(place.capacity_bytes);
    let active = active - active % RANGE_STEP_BYTES;
    if active > place.capacity_bytes {
        return Err(format!(
            "--active-range: {target} has {}, less than {}",
            unit::bytes(place.capacity_bytes),
            unit::bytes(active)
        ));
    }
    if active < RANGE_BYTES_MIN {
        return Err(format!(
            "{} are too little to say anything; a test needs at least {}",
            unit::bytes(active),
            unit::bytes_exact(RANGE_BYTES_MIN)
        ));
    }
    let (threads, outstanding) = match test {
        SniaTest::Iops | SniaTest::Wsat => (2, 16),
        SniaTest::Throughput => (1, 32),
        SniaTest::Latency => (1, 1),
    };
    let least = least_block(target);
    let rounds = match test {
        SniaTest::Wsat => WSAT_ROUNDS,
        _ => ROUNDS_MAX,
    };
    Ok(SniaSettings {
        capacity_bytes: place.capacity_bytes,
        active_bytes: active,
        round_ns: u64::from(common.round_seconds) * 1_000_000_000,
        rounds_max: common.rounds_max.unwrap_or(rounds),
        passes: match (test, common.precondition) {
            (SniaTest::Wsat, _) | (_, YesNo::No) => 0,
            (_, YesNo::Yes) => PASSES,
        },
        threads: common.threads.unwrap_or(threads),
        outstanding: common.outstanding.unwrap_or(outstanding),
        on: place.on,
        discards: place.can_discard && common.purge == YesNo::Yes,
        skipped_blocks: blocks(test)
            .iter()
            .copied()
            .filter(|block| *block < least)
            .collect(),
        skipped_because: format!(
            "the logical block of the target is {}",
            unit::bytes_exact(least)
        ),
    })
}
