//! What is decided before a test begins: range, threads, rounds, block sizes.

use fathom_model::snia::{SniaSettings, SniaTarget, SniaTest};
use fathom_model::{Target, unit};
use fathom_plan::{Diagnostics, IoFlags, Plan};
use fathom_rules::method::snia::{
    PASSES, RANGE_BYTES_MIN, RANGE_STEP_BYTES, ROUNDS_MAX, WSAT_ROUNDS,
};

use super::plan::blocks;

/// A target as a test finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SniaPlace {
    /// What kind of target it is.
    pub on: SniaTarget,
    /// Size of the whole target.
    pub capacity_bytes: u64,
    /// Size of the test file that is made, or of the simulated data set.
    pub size_bytes: Option<u64>,
    /// The device says that it takes discards.
    pub can_discard: bool,
    /// The smallest block that it takes.
    pub least_block_bytes: u64,
}

impl SniaPlace {
    /// A target that has a size, and takes no discards.
    pub fn fixed(on: SniaTarget, capacity_bytes: u64, least_block_bytes: u64) -> SniaPlace {
        SniaPlace {
            on,
            capacity_bytes,
            size_bytes: None,
            can_discard: false,
            least_block_bytes,
        }
    }

    /// A test file of about this size, which is made.
    pub fn test_file(bytes: u64, least_block_bytes: u64) -> SniaPlace {
        let bytes = whole_blocks(bytes);
        SniaPlace {
            size_bytes: Some(bytes),
            ..SniaPlace::fixed(SniaTarget::File, bytes, least_block_bytes)
        }
    }

    /// A simulated drive, with a data set as large as it is.
    pub fn simulated(capacity_bytes: u64, least_block_bytes: u64) -> SniaPlace {
        let drive = SniaPlace::fixed(SniaTarget::Simulated, capacity_bytes, least_block_bytes);
        SniaPlace {
            size_bytes: Some(whole_blocks(capacity_bytes)),
            ..drive
        }
    }
}

/// A part of a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ActiveRange {
    /// In percent, above 0 and at most 100.
    Percent(f64),
    /// In bytes.
    Bytes(u64),
}

impl ActiveRange {
    /// Bytes of a target of some capacity.
    fn of(self, capacity_bytes: u64) -> u64 {
        match self {
            ActiveRange::Percent(100.0) => capacity_bytes,
            ActiveRange::Percent(percent) => (capacity_bytes as f64 * percent / 100.0) as u64,
            ActiveRange::Bytes(bytes) => bytes,
        }
    }
}

/// What a user may choose; what is left open is as the standard has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SniaChoices {
    /// The part of the target that is accessed, from its start.
    pub active_range: ActiveRange,
    /// Threads.
    pub threads: Option<u32>,
    /// Operations outstanding per thread.
    pub outstanding: Option<u32>,
    /// Seconds of each cell of a round.
    pub round_seconds: u32,
    /// Rounds at most.
    pub rounds_max: Option<u32>,
    /// The active range is written before the rounds.
    pub preconditions: bool,
    /// The whole device is discarded first, where it can.
    pub purges: bool,
}

/// Why a test cannot be made as it was chosen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The latency test fixes what was chosen.
    #[error(
        "the latency test has one thread with one operation outstanding; leave --threads and \
         --outstanding out"
    )]
    OneAtATime,
    /// More than the target has.
    #[error(
        "--active-range: {target} has {}, less than {}",
        unit::bytes(*.capacity_bytes),
        unit::bytes(*.active_bytes)
    )]
    RangeTooLarge {
        /// The target.
        target: Target,
        /// What it has.
        capacity_bytes: u64,
        /// What was chosen.
        active_bytes: u64,
    },
    /// Less than says anything.
    #[error(
        "{} are too little to say anything; a test needs at least {}",
        unit::bytes(*.active_bytes),
        unit::bytes_exact(RANGE_BYTES_MIN)
    )]
    RangeTooSmall {
        /// What was chosen.
        active_bytes: u64,
    },
}

/// What is decided before the test begins.
///
/// # Errors
/// The choices do not fit the test or the target.
pub fn settings(
    test: SniaTest,
    choices: &SniaChoices,
    target: &Target,
    place: &SniaPlace,
) -> Result<SniaSettings, SettingsError> {
    if test == SniaTest::Latency && (choices.threads.is_some() || choices.outstanding.is_some()) {
        return Err(SettingsError::OneAtATime);
    }
    let active = whole_blocks(choices.active_range.of(place.capacity_bytes));
    if active > place.capacity_bytes {
        return Err(SettingsError::RangeTooLarge {
            target: target.clone(),
            capacity_bytes: place.capacity_bytes,
            active_bytes: active,
        });
    }
    if active < RANGE_BYTES_MIN {
        return Err(SettingsError::RangeTooSmall {
            active_bytes: active,
        });
    }
    let (threads, outstanding) = match test {
        SniaTest::Iops | SniaTest::Wsat => (2, 16),
        SniaTest::Throughput => (1, 32),
        SniaTest::Latency => (1, 1),
    };
    let least = place.least_block_bytes;
    let rounds = match test {
        SniaTest::Wsat => WSAT_ROUNDS,
        _ => ROUNDS_MAX,
    };
    Ok(SniaSettings {
        capacity_bytes: place.capacity_bytes,
        active_bytes: active,
        round_ns: u64::from(choices.round_seconds) * 1_000_000_000,
        rounds_max: choices.rounds_max.unwrap_or(rounds),
        passes: match (test, choices.preconditions) {
            (SniaTest::Wsat, _) | (_, false) => 0,
            (_, true) => PASSES,
        },
        threads: choices.threads.unwrap_or(threads),
        outstanding: choices.outstanding.unwrap_or(outstanding),
        on: place.on,
        discards: place.can_discard && choices.purges,
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

/// The plan of a test: the workload from which all others are made, random writes of
/// 4 KiB.
///
/// # Errors
/// The plan cannot be carried out on this target.
pub fn plan(
    test: SniaTest,
    target: &Target,
    settings: &SniaSettings,
    place: &SniaPlace,
) -> Result<Plan, Diagnostics> {
    let mut flags = IoFlags::default();
    flags.fill_in("rw", "randwrite");
    flags.fill_in("bs", "4k");
    flags.fill_in("iodepth", &settings.outstanding.to_string());
    flags.fill_in("warmup", "0s");
    let seconds = settings.round_ns / 1_000_000_000;
    flags.fill_in("runtime", &format!("{seconds}s"));
    if let Some(bytes) = place.size_bytes {
        flags.fill_in("size", &bytes.to_string());
    }
    let mut plan = flags.to_plan(target.clone())?;
    plan.set_name(&format!("snia {}", test.name()));
    Ok(plan)
}

/// Ranges are whole multiples of the largest block.
fn whole_blocks(bytes: u64) -> u64 {
    bytes - bytes % RANGE_STEP_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn choices() -> SniaChoices {
        SniaChoices {
            active_range: ActiveRange::Percent(100.0),
            threads: None,
            outstanding: None,
            round_seconds: 60,
            rounds_max: None,
            preconditions: true,
            purges: true,
        }
    }

    #[test]
    fn what_is_left_open_is_that_of_the_standard() {
        let target: Target = "/dev/sdx".parse().unwrap();
        let mut place = SniaPlace::fixed(SniaTarget::Device, GIB, 4096);
        place.can_discard = true;
        let of = |test| settings(test, &choices(), &target, &place).unwrap();
        let iops = of(SniaTest::Iops);
        assert_eq!((iops.threads, iops.outstanding, iops.passes), (2, 16, 2));
        assert_eq!(iops.skipped_blocks, [512]);
        assert!(iops.discards);
        let wsat = of(SniaTest::Wsat);
        assert_eq!((wsat.passes, wsat.rounds_max), (0, 1440));
    }

    #[test]
    fn ranges_that_do_not_fit_are_refused() {
        let target: Target = "/data".parse().unwrap();
        let place = SniaPlace::test_file(GIB + 5000, 512);
        assert_eq!((place.capacity_bytes, place.size_bytes), (GIB, Some(GIB)));
        let with = |active_range| {
            let choices = SniaChoices {
                active_range,
                ..choices()
            };
            settings(SniaTest::Iops, &choices, &target, &place)
        };
        let half = with(ActiveRange::Percent(50.0)).unwrap();
        assert_eq!(half.active_bytes, GIB / 2);
        let more = with(ActiveRange::Bytes(2 * GIB)).unwrap_err().to_string();
        assert!(more.contains("less than 2.00 GiB"), "{more}");
        let little = with(ActiveRange::Bytes(1 << 20)).unwrap_err().to_string();
        assert!(little.contains("at least 64 MiB"), "{little}");
        let threads = SniaChoices {
            threads: Some(2),
            ..choices()
        };
        assert!(settings(SniaTest::Latency, &threads, &target, &place).is_err());
    }
}
