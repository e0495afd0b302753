//! `fathom record`: what this host does, over time, in a file.

mod export;
mod list;
mod show;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};
use fathom_fleet::Interrupt;
use fathom_model::unit;
use fathom_observe::Sysroot;
use fathom_recorder::format::Header;
use fathom_recorder::{Instant, Pace, RecordError, RecordingFile, Rotation, Sampler};

use crate::exit::{CommandError, Exit};
use crate::output_flags::StorePath;
use crate::{present, signals};

/// Readings are never closer than this.
const SHORTEST_NS: u64 = 100_000_000;

/// Record what this host does, to diagnose it later.
///
/// Devices with rates, sizes, times, queue, flushes and discards; CPUs one by
/// one; load, memory, swap, pressure; network, TCP retransmits, NFS mounts; the
/// processes and control groups that cause I/O; space, RAID, caches, and the
/// health of drives where that may be asked (root). Runs until Ctrl-C, SIGTERM
/// or --for; a kill loses at most the interval under way.
///
/// The file is read by `fathom diagnose`, and only by its owner.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  fathom record --for 10m            Ten minutes of the load that is slow
  fathom diagnose db1-20261121-153000.frec
                                     Was the storage the bottleneck?
  fathom record --output /var/lib/fathom/host.frec --rotate-size 64MiB --keep 8
                                     For good; the package has a service for it
  fathom record list                 What has been recorded
  fathom record show FILE            What is in it
  fathom record export FILE --csv > db1.csv
                                     For a spreadsheet or pandas")]
pub(crate) struct Record {
    #[command(subcommand)]
    command: Option<RecordCommand>,
    /// How long; without it until it is stopped.
    #[arg(long = "for", aliases = ["seconds", "runtime"], value_name = "TIME", value_parser = duration)]
    for_ns: Option<u64>,
    /// Distance between two readings, 100ms to 1h.
    #[arg(long = "every", value_name = "TIME", default_value = "1s", value_parser = interval)]
    every_ns: u64,
    /// The file; an existing one is overwritten with --force only.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Begin a new file after so many bytes. The one before becomes NAME.1, and
    /// so on; with this, a file that exists is moved, too. Only parts of the same
    /// recording are removed.
    #[arg(long, value_name = "SIZE", value_parser = part_size)]
    rotate_size: Option<u64>,
    /// How many files are kept, the one that is written included.
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 8,
        requires = "rotate_size"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    keep: u32,
    /// Say nothing.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    store: StorePath,
}

#[derive(Debug, Subcommand)]
enum RecordCommand {
    List(list::List),
    Show(show::Show),
    Export(export::Export),
}

pub(crate) fn duration(text: &str) -> Result<u64, String> {
    match unit::parse_seconds(text).map_err(|error| error.to_string())? {
        0 => Err("give a time longer than 0".to_owned()),
        ns => Ok(ns),
    }
}

/// A distance of readings.
pub(crate) fn interval(text: &str) -> Result<u64, String> {
    let ns = unit::parse_seconds(text).map_err(|error| error.to_string())?;
    match (SHORTEST_NS..=3_600_000_000_000).contains(&ns) {
        true => Ok(ns),
        false => Err("give a time from 100ms to 1h".to_owned()),
    }
}

fn part_size(text: &str) -> Result<u64, String> {
    let bytes = unit::parse_bytes(text).map_err(|error| error.to_string())?;
    match bytes >= 64 << 10 {
        true => Ok(bytes),
        false => Err("give at least 64KiB".to_owned()),
    }
}

pub(crate) fn run(record: &Record) -> anyhow::Result<Exit> {
    match &record.command {
        Some(RecordCommand::List(list)) => list::run(list),
        Some(RecordCommand::Show(show)) => show::run(show),
        Some(RecordCommand::Export(export)) => export::run(export),
        None => begin(record),
    }
}

/// The folder of recordings that were given no name: beside the store.
pub(crate) fn folder(store: &StorePath) -> anyhow::Result<PathBuf> {
    let store = present::store_path(store)?;
    Ok(store.parent().unwrap_or(Path::new(".")).join("recordings"))
}

fn begin(record: &Record) -> anyhow::Result<Exit> {
    if let Some(path) = &record.output {
        fathom_deadline::paths::answers(path).with_context(|| {
            format!("cannot record to {}; give another --output", path.display())
        })?;
    }
    let mut sampler = Sampler::new(&Sysroot::host());
    let every_ns = every(record);
    let header = Header::new(sampler.host(), every_ns);
    let rotation = record.rotate_size.map(|part_bytes| Rotation {
        part_bytes,
        keep: record.keep,
    });
    let taken = |path: &PathBuf| {
        fathom_deadline::paths::symlink_metadata(path).is_ok() && rotation.is_none()
    };
    let in_the_way = record.output.as_ref().filter(|path| taken(path));
    if let Some(path) = in_the_way.filter(|path| !written_over(path)) {
        let problem = format!(
            "{} exists, and is not overwritten; give another --output, --rotate-size to have it \
             moved, or --force to lose what is in it",
            path.display()
        );
        return Err(CommandError::Usage(problem).into());
    }
    let interrupt = Interrupt::new();
    signals::raise_on_signals(&interrupt)?;
    let begun = match &record.output {
        Some(path) => RecordingFile::begin(path, header, rotation),
        None => {
            let folder = folder(&record.store)?;
            RecordingFile::begin_in(&folder, header, rotation).map(|file| (file, Vec::new()))
        }
    };
    let (mut recording, others) = begun.map_err(as_error)?;
    let path = recording.path().to_owned();
    for other in others.iter().filter(|_| !record.quiet) {
        present::complain(other);
    }
    if !record.quiet {
        present::write_stderr(&format!("fathom: recording to {}\n", path.display()));
    }
    let mut pace = Pace::new(every_ns, record.for_ns);
    let mut readings = 0;
    while pace.wait(|| interrupt.is_raised()) && recording.is_in_place() {
        let frame = sampler.sample(Instant::now());
        recording.append(&frame).map_err(as_error)?;
        readings += 1;
    }
    if interrupt.is_raised() && readings < 2 && rotation.is_none() {
        recording
            .discard()
            .with_context(|| format!("cannot remove {}", path.display()))?;
        present::complain("interrupted before anything could be told; nothing was recorded");
        return Ok(Exit::Interrupted);
    }
    let recorded = recording.finish().map_err(as_error)?;
    let (path, what) = (path.display(), recorded.words());
    if let Some(why) = recorded.uselessness() {
        present::complain(&format!("{path}: {what}; {why}"));
        return Ok(Exit::Failure);
    }
    if !record.quiet {
        present::write_stderr(&format!("fathom: {what}; see: fathom diagnose {path}\n"));
    }
    Ok(Exit::Success)
}

/// Makes room for a new recording where `--force` says so: a file is removed,
/// anything else stays.
fn written_over(path: &Path) -> bool {
    let facts = fathom_deadline::paths::symlink_metadata(path);
    let is_file = facts.is_ok_and(|facts| facts.is_file());
    let remove = |path: &Path| std::fs::remove_file(path);
    present::may_overwrite() && is_file && fathom_deadline::paths::change(path, remove).is_ok()
}

/// The exit status depends on what the system says of earlier parts.
fn as_error(error: RecordError) -> anyhow::Error {
    match error {
        RecordError::Room(error) => error.into(),
        error => error.into(),
    }
}

/// The distance of readings: a short recording has one at its end as well.
fn every(record: &Record) -> u64 {
    let short = record.for_ns.unwrap_or(u64::MAX).max(SHORTEST_NS);
    record.every_ns.min(short)
}
