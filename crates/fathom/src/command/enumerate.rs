//! `fathom enumerate`: how listing scales with the number of entries.

use std::path::Path;

use clap::Args;
use fathom_model::schedule::Purpose;
use fathom_model::{Target, unit};
use fathom_plan::enumeration_plan;

use crate::cli::Output;
use crate::command::run::schedule;
use crate::exit::Exit;
use crate::pipeline::{self, Request};
use crate::present;

/// Sizes of directories at most.
const SIZES_MAX: usize = 40;
const ENTRIES_MAX: u64 = 1 << 40;
/// What a file without contents takes on most file systems.
const ENTRY_BYTES: u64 = 1024;

/// Measure how listing a directory scales with its entries.
///
/// Directories of 1,000, 10,000, … empty files are made, each is listed by
/// names alone (`ls`) and with the facts of each entry (`ls -l`), and how the
/// time grows is told as an exponent with its interval: 1 is in proportion.
/// They lie in a directory of their own within the target and are removed.
///
/// Names that were just made are in this host's caches. With --drop-cache (as
/// root) each listing is the first after they were emptied.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom enumerate /data                        1,000 to 1,000,000 entries, as far as there is room
  fathom enumerate /mnt/vol --most 10m          Up to 10,000,000
  fathom enumerate /mnt/vol --sizes 1k,5k,50k   These
  sudo fathom enumerate /mnt/vol --drop-cache   With cold caches
  fathom enumerate /data --json | jq .enumeration")]
pub(crate) struct Enumerate {
    /// A directory.
    #[arg(default_value = ".")]
    target: String,
    /// The largest directory.
    #[arg(long, default_value = "1m", value_parser = parse_count, value_name = "ENTRIES")]
    most: u64,
    /// These sizes instead of powers of ten.
    #[arg(long, value_delimiter = ',', value_parser = parse_count, value_name = "LIST")]
    sizes: Vec<u64>,
    /// Empty the host's caches before each listing (as root).
    #[arg(long)]
    drop_cache: bool,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(command: Enumerate) -> anyhow::Result<Exit> {
    let target: Target = match command.target.parse() {
        Ok(target) => target,
        Err(error) => return refuse(&error.to_string()),
    };
    let Some(path) = target.path().filter(|path| path.is_dir()) else {
        return refuse(&format!("{target} is no directory; name one to list in"));
    };
    let sizes = match sizes(&command, path) {
        Ok(sizes) => sizes,
        Err(problem) => return refuse(&problem),
    };
    let color = present::use_color(command.output.format.color, &std::io::stderr());
    let plan = match enumeration_plan(target, &sizes, command.drop_cache) {
        Ok(plan) => plan,
        Err(problems) => {
            present::write_stderr(&problems.render(color));
            return Ok(Exit::Usage);
        }
    };
    let Some(mut schedule) = schedule(&plan, color) else {
        return Ok(Exit::Usage);
    };
    schedule.purpose = Purpose::Enumeration;
    pipeline::execute(Request {
        plan,
        schedule,
        label: None,
        output: command.output,
    })
}

/// Sizes of directories in ascending order.
fn sizes(command: &Enumerate, path: &Path) -> Result<Vec<u64>, String> {
    if !command.sizes.is_empty() {
        let mut sizes = command.sizes.clone();
        sizes.sort_unstable();
        sizes.dedup();
        return match sizes.len() <= SIZES_MAX {
            true => Ok(sizes),
            false => Err(format!("--sizes: at most {SIZES_MAX}")),
        };
    }
    let room = room(path);
    let most = command.most.min(room);
    if most < command.most {
        present::complain(&format!(
            "{} has room for about {} empty files; larger directories are left out",
            path.display(),
            unit::group(room)
        ));
    }
    let powers = (3..19).map(|power| 10u64.pow(power));
    let mut sizes: Vec<u64> = powers.take_while(|size| *size <= most).collect();
    if sizes.last().is_none_or(|last| *last < command.most) && command.most <= room {
        sizes.push(command.most);
    }
    match sizes.is_empty() {
        true => Err(format!("{} has no room for 1,000 files", path.display())),
        false => Ok(sizes),
    }
}

/// Empty files for which there is room, with half of it left free.
fn room(path: &Path) -> u64 {
    let Ok(facts) = rustix::fs::statvfs(path) else {
        return u64::MAX;
    };
    let bytes = facts.f_bavail.saturating_mul(facts.f_frsize);
    let by_bytes = bytes / ENTRY_BYTES / 2;
    match facts.f_files {
        0 => by_bytes,
        _ => by_bytes.min(facts.f_favail / 2),
    }
}

fn parse_count(text: &str) -> Result<u64, String> {
    let count = unit::parse_count(text).map_err(|error| error.to_string())?;
    match (1..=ENTRIES_MAX).contains(&count) {
        true => Ok(count),
        false => Err(format!("must be from 1 to {ENTRIES_MAX}")),
    }
}

fn refuse(problem: &str) -> anyhow::Result<Exit> {
    present::complain(problem);
    Ok(Exit::Usage)
}
