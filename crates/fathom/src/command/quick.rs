//! `fathom quick`: the usual grid and durable writes, with no configuration.

use std::path::Path;

use clap::Args;
use fathom_model::{Target, unit};
use fathom_studies::quick::QuickOptions;

use crate::command::hosts::HostArgs;
use crate::command::run::execute_labelled_on;
use crate::exit::{Exit, NothingMeasured};
use crate::output_flags::Output;
use crate::whole_seconds::whole_seconds;
use crate::{present, run_identity, surroundings};

/// Measure the usual grid plus durable writes, in about two minutes.
///
/// Needs no root and no configuration. A test file is made in the target
/// directory, measured and removed: sequential 1 MiB and random 4 KiB blocks,
/// deep queues and single operations, reads and writes, and then the row that
/// databases live by: 4 KiB writes made durable one by one.
///
/// The result is a *burst* measurement: caches inside the drive may hold all
/// of it. Use --sustained to write past them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom quick                       The disk under the current directory
  fathom quick /mnt/nas --seconds 5  A mount, in less time
  fathom quick --size 8GiB           With a larger test file
  fathom quick /dev/sdb --read-only  A device with data: reads alone
  fathom quick --sustained           Writes past the drive's caches; takes long
  fathom quick s3://bench/try --endpoint http://127.0.0.1:9000
                                     A bucket: PUT, GET, HEAD and LIST
  fathom quick /mnt/nas --hosts node[01-04]
                                     On four hosts at the same time")]
pub(crate) struct Quick {
    /// A directory, file, device, or s3://BUCKET/PREFIX.
    #[arg(default_value = ".")]
    pub(crate) target: String,
    /// Seconds of measuring per cell.
    #[arg(long, default_value_t = 10, value_parser = whole_seconds(1, 86400))]
    pub(crate) seconds: u32,
    /// Size of the test file, for example 1GiB. Default: 1 GiB, or less when
    /// the disk is nearly full.
    #[arg(long, value_parser = parse_size)]
    pub(crate) size: Option<u64>,
    /// Write as much as it takes to get past caches, instead of for a time.
    #[arg(long)]
    pub(crate) sustained: bool,
    /// Allow a device, or a file that fathom did not make, to be overwritten.
    #[arg(long)]
    pub(crate) destructive: bool,
    /// Measure the read rows only: a device or file with data stays as it is.
    #[arg(long, conflicts_with_all = ["destructive", "sustained"])]
    pub(crate) read_only: bool,
    /// Keep the test file for later runs.
    #[arg(long)]
    pub(crate) keep_files: bool,
    #[command(flatten)]
    pub(crate) reached: fathom_plan::StoreFlags,
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The test file unless the user asks for another size: what people know from
/// other tools.
const DEFAULT_SIZE_BYTES: u64 = 1 << 30;

/// A test file takes at most this share of the free space.
const FREE_SHARE: u64 = 4;

/// The deepest row has eight blocks of 1 MiB in flight; a smaller file would
/// be the same few blocks over and over.
const SIZE_BYTES_MIN: u64 = 32 << 20;

/// A sustained test is larger than any cache that the host could have.
const SUSTAINED_MEMORY_MULTIPLE: u64 = 2;

pub(crate) fn run(quick: Quick) -> anyhow::Result<Exit> {
    let target: Target = match quick.target.parse() {
        Ok(target) => target,
        Err(error) => {
            present::complain(&format!("{error}"));
            return Ok(Exit::Usage);
        }
    };
    if matches!(target, Target::Bucket(_)) && (quick.sustained || quick.size.is_some()) {
        present::complain(
            "--size and --sustained are about test files; for a bucket say what is measured with \
             `fathom s3 put --objects N --object-size SIZE`",
        );
        return Ok(Exit::Usage);
    }
    if matches!(target, Target::Bucket(_)) && quick.read_only {
        present::complain(
            "--read-only is for files and devices; to read the objects of a bucket use \
             `fathom s3 get --existing`",
        );
        return Ok(Exit::Usage);
    }
    let size_bytes = quick.size.unwrap_or_else(|| match quick.hosts.are_given() {
        // What is free here says nothing about other hosts.
        true => DEFAULT_SIZE_BYTES,
        false => default_size(target.path(), quick.sustained),
    });
    if quick.sustained && quick.hosts.are_given() && quick.size.is_none() {
        present::complain("--sustained needs --size with --hosts: say twice the memory of a host");
        return Ok(Exit::Usage);
    }
    if size_bytes < SIZE_BYTES_MIN {
        present::complain(&format!(
            "a test file of {} is too small to say anything; use at least {}",
            unit::bytes_exact(size_bytes),
            unit::bytes_exact(SIZE_BYTES_MIN),
        ));
        return Ok(Exit::Usage);
    }
    let plan = fathom_studies::quick::quick(&QuickOptions {
        target,
        seconds: quick.seconds,
        size_bytes,
        sustained: quick.sustained,
        read_only: quick.read_only,
        seed: run_identity::fresh_seed(),
    });
    let mut plan = match plan {
        Ok(plan) => plan,
        Err(problems) => {
            let color = present::use_color(quick.output.format.color, &std::io::stderr());
            present::write_stderr(&problems.render(color));
            return Ok(Exit::Usage);
        }
    };
    plan.reach(&quick.reached);
    plan.set_destructive(quick.destructive);
    plan.set_keep_files(quick.keep_files);
    let label = if quick.sustained {
        "sustained"
    } else {
        "burst"
    };
    execute_labelled_on(&quick.hosts, plan, Some(label.to_owned()), quick.output)
        .map_err(offer_reading)
}

/// A target that must not be overwritten can still be read.
fn offer_reading(error: anyhow::Error) -> anyhow::Error {
    let nothing = error.downcast_ref::<NothingMeasured>();
    match nothing.is_some_and(|nothing| nothing.is_partial) {
        true => error.context("nothing was measured; --read-only measures the read rows alone"),
        false => error,
    }
}

/// 1 GiB, or for a sustained test twice the memory, but never more than a
/// quarter of the free space of a directory, or than a file or device holds.
pub(crate) fn default_size(path: Option<&Path>, sustained: bool) -> u64 {
    let wanted = match surroundings::memory_bytes() {
        Some(memory) if sustained => {
            DEFAULT_SIZE_BYTES.max(memory.saturating_mul(SUSTAINED_MEMORY_MULTIPLE))
        }
        _ => DEFAULT_SIZE_BYTES,
    };
    let share = match path.and_then(surroundings::fixed_bytes) {
        Some(bytes) => bytes,
        None => path
            .and_then(surroundings::free_bytes)
            .map_or(wanted, |free_bytes| free_bytes / FREE_SHARE),
    };
    let size = wanted.min(share);
    (size - size % SIZE_BYTES_MIN).max(SIZE_BYTES_MIN)
}

fn parse_size(text: &str) -> Result<u64, String> {
    unit::parse_bytes(text).map_err(|error| error.to_string())
}
