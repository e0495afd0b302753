//! `fathom record export`: a recording for other programs.

use std::io::{BufWriter, Write, stdout};
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use fathom_recorder::RecordingReader;
use fathom_recorder::export::{self, CSV_HEAD};

use crate::exit::{CommandError, Exit};
use crate::present;

/// Export a recording as JSON lines or CSV.
///
/// One line for each thing and reading, with the growth of counters per second
/// and gauges as they are; in CSV one line for each value.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom record export db1.frec > db1.jsonl
  fathom record export db1.frec --kind disk --csv > db1.csv")]
pub(crate) struct Export {
    /// The recording.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// As CSV: at,kind,name,field,value.
    #[arg(long)]
    csv: bool,
    /// Only this kind: host, cpu, memory, pressure, disk, link, tcp, process,
    /// group, nfs, filesystem, raid, cache, mapped, health, smart, bus.
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<&'static str>,
}

fn kind(text: &str) -> Result<&'static str, String> {
    let known = fathom_recorder::kind::Kind::of_name(text);
    known.map(fathom_recorder::kind::Kind::name).ok_or_else(|| {
        let names = fathom_recorder::kind::Kind::ALL.map(fathom_recorder::kind::Kind::name);
        let meant = fathom_model::nearest::did_you_mean(text, names);
        format!("there are {}{meant}", names.join(", "))
    })
}

pub(super) fn run(args: &Export) -> anyhow::Result<Exit> {
    let mut reader = RecordingReader::open(&args.file)
        .map_err(|error| CommandError::Usage(format!("{}: {error}", args.file.display())))?;
    match write(&mut reader, args, BufWriter::new(stdout().lock())) {
        // It is not an error when the reader has gone (`| head`, a closed terminal).
        Err(error) if present::is_reader_gone(&error) => return Ok(Exit::Success),
        written => written.context("cannot write to standard output")?,
    }
    match reader.take_failure() {
        Some(error) => Err(error).with_context(|| format!("cannot read {}", args.file.display())),
        None => Ok(Exit::Success),
    }
}

fn write(reader: &mut RecordingReader, args: &Export, mut out: impl Write) -> std::io::Result<()> {
    let mut lines = export::Export::default();
    let mut text = String::new();
    if args.csv {
        out.write_all(CSV_HEAD.as_bytes())?;
    }
    for frame in reader.by_ref() {
        for line in lines.advance(&frame) {
            if args.kind.is_some_and(|kind| kind != line.kind) {
                continue;
            }
            text.clear();
            if args.csv {
                line.csv(&mut text);
            } else {
                text = line.json().to_string();
                text.push('\n');
            }
            out.write_all(text.as_bytes())?;
        }
    }
    out.flush()
}
