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
use fathom_recorder::format::{Header, Series};
use fathom_recorder::{Frame, Instant, RecordingWriter, Rotation, Sampler, make_room};

use crate::exit::{CommandError, Exit};
use crate::output_flags::StorePath;
use crate::pace::Pace;
use crate::{present, signals};

/// How recordings end, so that they are found.
pub(crate) const EXTENSION: &str = "frec";
/// Readings are never closer than this.
const SHORTEST_NS: u64 = 100_000_000;

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

fn duration(text: &str) -> Result<u64, String> {
    match unit::parse_duration(text).map_err(|error| error.to_string())? {
        0 => Err("nothing can be recorded in no time".to_owned()),
        ns => Ok(ns),
    }
}

/// A distance of readings.
pub(crate) fn interval(text: &str) -> Result<u64, String> {
    let ns = unit::parse_duration(text).map_err(|error| error.to_string())?;
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
    let mut header = Header::new(sampler.host(), every_ns);
    let rotation = record.rotate_size.map(|part_bytes| Rotation {
        part_bytes,
        keep: record.keep,
    });
    let taken = |path: &PathBuf| {
        fathom_deadline::paths::symlink_metadata(path).is_ok() && rotation.is_none()
    };
    if let Some(path) = record.output.as_ref().filter(|path| taken(path)) {
        let problem = format!(
            "{} exists, and is not overwritten; give another --output, or --rotate-size to have \
             it moved",
            path.display()
        );
        return Err(CommandError::Usage(problem).into());
    }
    let interrupt = Interrupt::new();
    signals::raise_on_signals(&interrupt)?;
    let (mut writer, others) = first_part(record, &mut header, rotation)?;
    let path = writer.path().to_owned();
    for other in others.iter().filter(|_| !record.quiet) {
        present::complain(other);
    }
    if !record.quiet {
        present::write_stderr(&format!("fathom: recording to {}\n", path.display()));
    }
    let mut pace = Pace::new(every_ns, record.for_ns);
    let mut frames = 0_u64;
    let mut bytes = 0;
    while pace.wait(&interrupt) && writer.is_in_place() {
        let frame = sampler.sample(Instant::now());
        append(&mut writer, &frame)?;
        if let Some(rotation) = rotation
            && writer.bytes() >= rotation.part_bytes
        {
            bytes += writer.bytes();
            writer.finish().context("cannot finish a part")?;
            (writer, _) = open(&path, &header, Some(rotation))?;
            // This reading ends one part and begins the next.
            append(&mut writer, &frame)?;
        }
        frames += 1;
    }
    bytes += writer.bytes();
    let in_place = writer.is_in_place();
    writer.finish().context("cannot finish the recording")?;
    let what = format!(
        "{}, {}",
        unit::counted(frames, "reading"),
        unit::bytes(bytes)
    );
    if let Some(why) = useless(frames, in_place, every_ns) {
        present::complain(&format!("{}: {what}; {why}", path.display()));
        return Ok(Exit::Failure);
    }
    if !record.quiet {
        let path = path.display();
        present::write_stderr(&format!("fathom: {what}; see: fathom diagnose {path}\n"));
    }
    Ok(Exit::Success)
}

/// The distance of readings: a short recording has one at its end as well.
fn every(record: &Record) -> u64 {
    let short = record.for_ns.unwrap_or(u64::MAX).max(SHORTEST_NS);
    record.every_ns.min(short)
}

/// Why nobody can use what was recorded.
fn useless(frames: u64, in_place: bool, every_ns: u64) -> Option<String> {
    if !in_place {
        let why = "the file was removed or moved while it was written, so that the recording ended";
        return Some(why.to_owned());
    }
    (frames < 2).then(|| {
        format!(
            "it takes two readings to tell anything: record for longer than {}, or more often \
             (--every)",
            unit::span(every_ns)
        )
    })
}

fn append(writer: &mut RecordingWriter, frame: &Frame) -> anyhow::Result<()> {
    let written = writer.append(frame);
    let path = writer.path().display();
    written.with_context(|| format!("cannot write to {path}; what is in it can be read"))
}

/// The file in which a recording begins, and what is said about others beside it.
fn first_part(
    record: &Record,
    header: &mut Header,
    rotation: Option<Rotation>,
) -> anyhow::Result<(RecordingWriter, Vec<String>)> {
    let Some(path) = &record.output else {
        let writer = open_new(header, &record.store, rotation)?;
        return Ok((writer, Vec::new()));
    };
    header.series = rotation.map(|_| Series::at(path, &header.host));
    open(path, header, rotation)
}

/// Creates the file under the given name. Earlier parts of the same recording are
/// renamed to make room for it.
fn open(
    path: &Path,
    header: &Header,
    rotation: Option<Rotation>,
) -> anyhow::Result<(RecordingWriter, Vec<String>)> {
    let others = match (rotation, &header.series) {
        (Some(rotation), Some(series)) => make_room(path, rotation.keep, series)?,
        _ => Vec::new(),
    };
    let writer = RecordingWriter::create(path, header)
        .with_context(|| format!("cannot make {}; give another --output", path.display()))?;
    Ok((writer, others))
}

/// Makes `HOST-20261121-153000.frec` in the folder of recordings. Another recorder
/// may begin in the same second, and then gets the next name.
fn open_new(
    header: &mut Header,
    store: &StorePath,
    rotation: Option<Rotation>,
) -> anyhow::Result<RecordingWriter> {
    let folder = folder(store)?;
    let elsewhere = |path: &Path| format!("cannot make {}; give --output FILE", path.display());
    fathom_outputs::make_folder(&folder).with_context(|| elsewhere(&folder))?;
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    for name in names(&header.host.name, &now) {
        let path = folder.join(name);
        header.series = rotation.map(|_| Series::at(&path, &header.host));
        match RecordingWriter::create(&path, header) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            made => return made.with_context(|| elsewhere(&path)),
        }
    }
    anyhow::bail!("the folder of recordings is full of recordings of this second")
}

/// Names that a recording of this second may have.
fn names(host: &str, now: &str) -> impl Iterator<Item = String> {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let host: String = host.chars().take(60).map(plain).collect();
    let first = format!("{host}-{now}");
    (0..100).map(move |again| match again {
        0 => format!("{first}.{EXTENSION}"),
        again => format!("{first}-{again}.{EXTENSION}"),
    })
}
