//! `fathom quick`: the usual grid and durable writes, with no configuration.

use clap::Args;
use fathom_model::{Target, unit};
use fathom_plan::Plan;
use fathom_runs::read_extent::read_extent;
use fathom_studies::quick::{FileRoom, QuickOptions, ReadExtent, check_size};

use crate::command::hosts::HostArgs;
use crate::command::run::execute_labelled_on;
use crate::exit::{CommandError, Exit, NothingMeasured};
use crate::output_flags::Output;
use crate::whole_seconds::whole_seconds;
use crate::{run_identity, surroundings};

/// Measure a disk, mount or bucket in about two minutes.
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
  fathom quick /mnt/nas --for 5s     A mount, in less time
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
    /// How long each cell is measured.
    #[arg(long = "for", aliases = ["seconds", "runtime"], value_name = "TIME")]
    #[arg(default_value = "10s", value_parser = whole_seconds(1, 86400))]
    pub(crate) seconds: u32,
    /// Size of the test file, for example 1GiB. Default: 1 GiB, or less when the disk is nearly full; of a device full of data, reads use all.
    #[arg(long, value_parser = unit::parse_bytes)]
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
    /// Seed of all random choices: with the same one, a run makes the same requests. Default: a new one.
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) reached: fathom_plan::StoreFlags,
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
    #[command(flatten)]
    pub(crate) output: Output,
}

pub(crate) fn run(quick: Quick) -> anyhow::Result<Exit> {
    let plan = plan_of(&quick)?;
    let label = if quick.sustained {
        "sustained"
    } else {
        "burst"
    };
    execute_labelled_on(&quick.hosts, plan, Some(label.to_owned()), quick.output)
        .map_err(offer_reading)
}

/// What the flags ask for.
pub(crate) fn plan_of(quick: &Quick) -> anyhow::Result<Plan> {
    let target: Target = quick.target.parse().map_err(CommandError::usage)?;
    refuse_stray(quick, &target)?;
    let size_bytes = quick.size.unwrap_or_else(|| match quick.hosts.are_given() {
        // What is free here says nothing about other hosts.
        true => FileRoom::default().file_size(false),
        false => surroundings::test_file_bytes(target.path(), quick.sustained),
    });
    check_size(size_bytes).map_err(CommandError::usage)?;
    let is_told = quick.size.is_some() || quick.hosts.are_given();
    let plan = fathom_studies::quick::quick(&QuickOptions {
        read_extent: match is_told {
            true => ReadExtent::Part,
            false => read_extent(&target, quick.destructive),
        },
        target,
        seconds: quick.seconds,
        size_bytes,
        sustained: quick.sustained,
        read_only: quick.read_only,
        seed: quick.seed.unwrap_or_else(run_identity::fresh_seed),
    });
    let color = quick.output.format.color;
    let mut plan = plan.map_err(|problems| CommandError::plan(problems, color))?;
    plan.reach(&quick.reached);
    plan.set_destructive(quick.destructive);
    plan.set_keep_files(quick.keep_files);
    Ok(plan)
}

/// Refuses flags that mean nothing for this target, or on other hosts.
fn refuse_stray(quick: &Quick, target: &Target) -> Result<(), CommandError> {
    let is_bucket = matches!(target, Target::Bucket(_));
    if is_bucket && (quick.sustained || quick.size.is_some()) {
        return Err(CommandError::usage(
            "--size and --sustained are about test files; for a bucket say what is measured with \
             `fathom s3 put --objects N --object-size SIZE`",
        ));
    }
    if is_bucket && quick.read_only {
        return Err(CommandError::usage(
            "--read-only is for files and devices; to read the objects of a bucket use \
             `fathom s3 get --existing`",
        ));
    }
    if quick.sustained && quick.hosts.are_given() && quick.size.is_none() {
        return Err(CommandError::usage(
            "--sustained needs --size with --hosts: say twice the memory of a host",
        ));
    }
    Ok(())
}

/// A target that must not be overwritten can still be read.
fn offer_reading(error: anyhow::Error) -> anyhow::Error {
    let nothing = error.downcast_ref::<NothingMeasured>();
    match nothing.is_some_and(|nothing| nothing.is_partial) {
        true => error.context("nothing was measured; --read-only measures the read rows alone"),
        false => error,
    }
}
