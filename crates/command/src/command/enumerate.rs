//! `fathom enumerate`: how listing scales with the number of entries.

use std::path::Path;

use clap::Args;
use fathom_model::schedule::Purpose;
use fathom_model::{Target, unit};
use fathom_plan::StoreFlags;
use fathom_studies::enumerate::{FreeSpace, SizeOptions, enumeration_plan};

use crate::command::run::schedule_here;
use crate::exit::{CommandError, Exit};
use crate::output_flags::Output;
use crate::pipeline::{self, Request};
use crate::present;

const ENTRIES_MAX: u64 = 1 << 40;

/// Measure listings of growing directories or buckets.
///
/// Directories of 1,000, 10,000, … empty files are made, each is listed by
/// names alone (`ls`) and with the facts of each entry (`ls -l`), and how the
/// time grows is told as an exponent with its interval: 1 is in proportion.
/// They lie in a directory of their own within the target and are removed.
///
/// Names that were just made are in this host's caches. With --drop-cache (as
/// root) each listing is the first after they were emptied.
///
/// In a bucket as many objects of a byte are made below a prefix of its own (up
/// to 10,000 unless --most or --sizes say more) and listed page by page.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom enumerate /data                        1,000 to 1,000,000 entries, as far as there is room
  fathom enumerate /mnt/vol --most 10m          Up to 10,000,000
  fathom enumerate /mnt/vol --sizes 1k,5k,50k   These
  sudo fathom enumerate /mnt/vol --drop-cache   With cold caches
  fathom enumerate s3://bench/try --endpoint http://127.0.0.1:9000
                                                A bucket: 1,000 and 10,000 keys
  fathom enumerate /data --json | jq .enumeration")]
pub(crate) struct Enumerate {
    /// A directory, or s3://BUCKET/PREFIX.
    #[arg(default_value = ".")]
    target: String,
    /// The largest directory or prefix. Default: 1,000,000 entries; in a bucket
    /// 10,000.
    #[arg(long, value_parser = parse_count, value_name = "ENTRIES")]
    most: Option<u64>,
    /// These sizes instead of powers of ten.
    #[arg(long, value_delimiter = ',', value_parser = parse_count, value_name = "LIST")]
    sizes: Vec<u64>,
    /// Empty the host's caches before each listing (as root).
    #[arg(long)]
    drop_cache: bool,
    #[command(flatten)]
    reached: StoreFlags,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(command: Enumerate) -> anyhow::Result<Exit> {
    let target: Target = command.target.parse().map_err(CommandError::usage)?;
    let directory = match (&target, target.path()) {
        (Target::Bucket(_), _) if command.drop_cache => {
            let problem = "--drop-cache empties caches of this host; a bucket is listed elsewhere";
            return Err(CommandError::usage(problem).into());
        }
        (Target::Bucket(_), _) => None,
        (_, Some(path)) if fathom_deadline::paths::find(path)?.is_some_and(|f| f.is_dir()) => {
            Some(path)
        }
        _ => {
            let problem = format!(
                "{target} is not a directory or bucket\nhelp: name one to list in, as in /data or \
                 s3://bucket/prefix"
            );
            return Err(CommandError::Usage(problem).into());
        }
    };
    let options = size_options(&command, directory);
    let place = directory.map(|path| path.display().to_string());
    if let Some(remark) = options.remark(&place.unwrap_or_default()) {
        present::complain(&remark);
    }
    let sizes = options.sizes().map_err(CommandError::usage)?;
    let color = command.output.format.color;
    let plan = enumeration_plan(target, &sizes, command.drop_cache);
    let mut plan = plan.map_err(|problems| CommandError::plan(problems, color))?;
    plan.reach(&command.reached);
    let mut schedule = schedule_here(&plan, color)?;
    schedule.purpose = Purpose::Enumeration;
    let request = Request {
        plan,
        schedule,
        label: None,
        output: command.output,
    };
    pipeline::Run::new(&request).report()
}

/// Which sizes are asked for, where `path` is a directory.
fn size_options(command: &Enumerate, path: Option<&Path>) -> SizeOptions {
    SizeOptions {
        named: command.sizes.clone(),
        most: command.most,
        in_bucket: path.is_none(),
        room: path.and_then(free_space).map(FreeSpace::files),
    }
}

fn free_space(path: &Path) -> Option<FreeSpace> {
    let space = fathom_deadline::paths::space(path).ok()?;
    Some(FreeSpace {
        bytes: space.available.saturating_mul(space.block_bytes),
        inodes: (space.inodes > 0).then_some(space.inodes_free),
    })
}

fn parse_count(text: &str) -> Result<u64, String> {
    let count = unit::parse_count(text).map_err(|error| error.to_string())?;
    match (1..=ENTRIES_MAX).contains(&count) {
        true => Ok(count),
        false => Err(format!("must be from 1 to {ENTRIES_MAX}")),
    }
}
