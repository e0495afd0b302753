//! The flags of `fathom snia`.

use std::error::Error;

use clap::{Args, Subcommand, ValueEnum};
use fathom_model::snia::SniaTest;
use fathom_model::unit;
use fathom_studies::snia::{ActiveRange, SniaChoices};

use crate::output_flags::Output;
use crate::whole_seconds::whole_seconds;

/// The tests of the SNIA storage performance test specification (SSS PTS).
///
/// On a block device the steps of the standard: the device is discarded,
/// written twice, then measured in rounds until it is steady. All data on it
/// are lost. On a directory the same on a test file: harmless, comparable with
/// itself, and never called conforming. `--dry-run` says what it will take.
// Not deferred: the description of the shared flags would replace that of each test.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  fathom snia iops /dev/nvme1n1 --destructive --dry-run
                                     What would it take?
  fathom snia iops /dev/nvme1n1 --destructive
                                     The standard's test; erases the device
  fathom snia latency /data --round-seconds 5
                                     SNIA-style on a test file
  fathom snia wsat 'sim:enterprise?size=4GiB,media_mibs=20' --round-seconds 10")]
pub(crate) enum Snia {
    /// Random operations per second by mix of reads and writes and block size.
    ///
    /// Rounds of 56 cells, a minute each, until random writes of 4 KiB are
    /// steady over five rounds; at most 25 rounds. 5 to 24 hours.
    #[command(after_help = "Example:\n  fathom snia iops /dev/nvme1n1 --destructive")]
    Iops(Box<Common>),
    /// Sequential reads and writes of 1 MiB and 128 KiB.
    ///
    /// For each block size: purge, preconditioning, then rounds until the
    /// throughput of writes is steady.
    #[command(after_help = "Example:\n  fathom snia throughput /dev/nvme1n1 --destructive")]
    Throughput(Box<Common>),
    /// Latency with one operation outstanding: mean, largest, percentiles.
    ///
    /// Rounds of 100, 65 and 0 % reads in 8 KiB, 4 KiB and 512 bytes until the
    /// mean of 4 KiB writes is steady.
    #[command(after_help = "Example:\n  fathom snia latency /dev/nvme1n1 --destructive")]
    Latency(Box<Common>),
    /// Write saturation: random writes of 4 KiB for a day or four capacities.
    #[command(after_help = "Example:\n  fathom snia wsat /dev/nvme1n1 --destructive")]
    Wsat(Box<Common>),
}

/// The flags of every test.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// A device, a directory or file, or `sim:MODEL`.
    pub(crate) target: String,
    /// The part of the target that is accessed, from its start: a share or a
    /// size. The standard asks for all of it.
    #[arg(long, default_value = "100%", value_name = "SHARE|SIZE", value_parser = parse_range)]
    pub(crate) active_range: ActiveRange,
    /// Size of the test file in a directory; default 1 GiB or a quarter of the
    /// free space.
    #[arg(long, value_parser = unit::parse_bytes)]
    pub(crate) size: Option<u64>,
    /// Threads; default 2, for sequential work 1.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,
    /// Operations outstanding per thread; default 16, for sequential work 32.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(crate) outstanding: Option<u32>,
    /// Seconds of each cell of a round. The standard asks for 60.
    #[arg(long, default_value_t = 60, value_parser = whole_seconds(1, 3600))]
    pub(crate) round_seconds: u32,
    /// Rounds at most; default 25, for wsat 1440.
    #[arg(long, visible_alias = "wdpc-rounds-max", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) rounds_max: Option<u32>,
    /// Write twice the active range in sequence before the rounds.
    #[arg(long, value_enum, default_value_t, value_name = "WHETHER")]
    pub(crate) precondition: YesNo,
    /// Discard the whole device first, where it can. Never a secure erase.
    #[arg(long, value_enum, default_value_t, value_name = "WHETHER")]
    pub(crate) purge: YesNo,
    /// Only say what would be done and how long it would take.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Seed of offsets and contents.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Allow a device, or a file that fathom did not make, to be overwritten.
    #[arg(long)]
    pub(crate) destructive: bool,
    /// Keep the test file for later runs.
    #[arg(long)]
    pub(crate) keep_files: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// A switch that is on unless turned off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    #[default]
    Yes,
    No,
}

impl Common {
    /// What was chosen of the test.
    pub(crate) fn choices(&self) -> SniaChoices {
        SniaChoices {
            active_range: self.active_range,
            threads: self.threads,
            outstanding: self.outstanding,
            round_seconds: self.round_seconds,
            rounds_max: self.rounds_max,
            preconditions: self.precondition == YesNo::Yes,
            purges: self.purge == YesNo::Yes,
        }
    }
}

impl Snia {
    /// Which test, and the rest.
    pub(crate) fn into_parts(self) -> (SniaTest, Common) {
        match self {
            Snia::Iops(common) => (SniaTest::Iops, *common),
            Snia::Throughput(common) => (SniaTest::Throughput, *common),
            Snia::Latency(common) => (SniaTest::Latency, *common),
            Snia::Wsat(common) => (SniaTest::Wsat, *common),
        }
    }
}

fn parse_range(text: &str) -> Result<ActiveRange, Box<dyn Error + Send + Sync>> {
    let Some(percent) = text.strip_suffix('%') else {
        return Ok(ActiveRange::Bytes(unit::parse_bytes(text)?));
    };
    match percent.trim().parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(ActiveRange::Percent(percent)),
        _ => Err(format!("'{text}' is not a share above 0 % and up to 100 %").into()),
    }
}
