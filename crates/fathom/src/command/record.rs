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
use fathom_recorder::{Frame, Instant, RecordingWriter, Rotation, Sampler, make_room};

use crate::cli::StorePath;
use crate::exit::Exit;
use crate::pace::Pace;
use crate::{present, signals};

/// How recordings end, so that they are found.
pub(crate) const EXTENSION: &str = "frec";

/// Record what this host does, to be diagnosed later.
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
                                     For good; examples/fathom-record.service
  fathom record list                 What has been recorded
  fathom record show FILE            What is in it
  fathom record export FILE --csv > db1.csv
                                     For a spreadsheet or pandas")]
pub(crate) struct Record {
    #[command(subcommand)]
    command: Option<RecordCommand>,
    /// How long; without it until it is stopped.
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    for_ns: Option<u64>,
    /// Distance between two readings, 100ms to 1h.
    #[arg(long = "every", value_name = "TIME", default_value = "1s", value_parser = interval)]
    every_ns: u64,
    /// The file; an existing one is never overwritten.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Begin a new file after so many bytes. The one before becomes NAME.1, and
    /// so on; with this, a file that exists is moved, too.
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

fn duration(text: &str) -> Result<u64, String> {
    match unit::parse_duration(text).map_err(|error| error.to_string())? {
        0 => Err("nothing can be recorded in no time".to_owned()),
        ns => Ok(ns),
    }
}

/// A distance of readings.
pub(crate) fn interval(text: &str) -> Result<u64, String> {
    let ns = unit::parse_duration(text).map_err(|error| error.to_string())?;
    match (100_000_000..=3_600_000_000_000).contains(&ns) {
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
    let mut sampler = Sampler::new(&Sysroot::host());
    let header = Header::new(sampler.host(), record.every_ns);
    let path = match &record.output {
        Some(path) => path.clone(),
        None => new_name(&header.host.name, &record.store)?,
    };
    let rotation = record.rotate_size.map(|part_bytes| Rotation {
        part_bytes,
        keep: record.keep,
    });
    if path.symlink_metadata().is_ok() && rotation.is_none() {
        present::complain(&format!(
            "{} exists, and is not overwritten; give another --output, or --rotate-size to have \
             it moved",
            path.display()
        ));
        return Ok(Exit::Usage);
    }
    let interrupt = Interrupt::new();
    signals::raise_on_signals(&interrupt)?;
    let mut writer = open(&path, &header, rotation)?;
    if !record.quiet {
        present::write_stderr(&format!("fathom: recording to {}\n", path.display()));
    }
    let mut pace = Pace::new(record.every_ns, record.for_ns);
    let mut frames = 0_u64;
    let mut bytes = 0;
    while pace.wait(&interrupt) {
        let frame = sampler.sample(Instant::now());
        append(&mut writer, &frame)?;
        if let Some(rotation) = rotation
            && writer.bytes() >= rotation.part_bytes
        {
            bytes += writer.bytes();
            writer.finish().context("cannot finish a part")?;
            writer = open(&path, &header, Some(rotation))?;
            // This reading ends one part and begins the next.
            append(&mut writer, &frame)?;
        }
        frames += 1;
    }
    bytes += writer.bytes();
    writer.finish().context("cannot finish the recording")?;
    if !record.quiet {
        let (size, path) = (unit::bytes(bytes), path.display());
        let text = format!("fathom: {frames} readings, {size}; see: fathom diagnose {path}\n");
        present::write_stderr(&text);
    }
    Ok(Exit::Success)
}

fn append(writer: &mut RecordingWriter, frame: &Frame) -> anyhow::Result<()> {
    let written = writer.append(frame);
    let path = writer.path().display();
    written.with_context(|| format!("cannot write to {path}; what is in it can be read"))
}

fn open(
    path: &Path,
    header: &Header,
    rotation: Option<Rotation>,
) -> anyhow::Result<RecordingWriter> {
    if let Some(rotation) = rotation {
        make_room(path, rotation.keep)?;
    }
    RecordingWriter::create(path, header).with_context(|| format!("cannot make {}", path.display()))
}

/// `HOST-20261121-153000.frec` in the folder of recordings.
fn new_name(host: &str, store: &StorePath) -> anyhow::Result<PathBuf> {
    let folder = folder(store)?;
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let host: String = host.chars().take(60).map(plain).collect();
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let names = (0..100).map(|again| match again {
        0 => format!("{host}-{now}.{EXTENSION}"),
        again => format!("{host}-{now}-{again}.{EXTENSION}"),
    });
    let mut paths = names.map(|name| folder.join(name));
    paths
        .find(|path| path.symlink_metadata().is_err())
        .context("the folder of recordings is full of recordings of this second")
}
