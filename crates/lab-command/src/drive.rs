//! `fathom-lab drive`: a simulated drive as a real file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use fathom_console::{Exit, admit, complain, write_file, write_stderr, write_stdout};
use fathom_lab::real::LoopDevice;
use fathom_lab::{Description, Options, SimulatedDrive, Storing, Truth};
use fathom_model::rng::splitmix64;
use fathom_model::unit;
use fathom_outputs::Mark;

use crate::child;
use crate::signals::{LOOK, Signals};

/// Mount a simulated drive as a real file.
///
/// The file reaches the model through FUSE, with real I/O in real time, so
/// that any program can use it. What the drive really did is written down by
/// the drive itself, and can be read at any time in truth.json beside it. It
/// is served until Ctrl-C, or until COMMAND ends.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom-lab drive hdd --size 1GiB --at /tmp/hdd
                                     Until Ctrl-C: /tmp/hdd/drive
  fathom-lab drive 'cloud?iops=500,size=1GiB' -- fathom io {} --rw randread
  fathom-lab drive hdd --size 1GiB -- fio --name=x --filename={} --rw=randread
                                     Serve, run a command on it, compare
  fathom-lab drive --file drive.toml --loop --truth truth.json
                                     As a block device; needs root")]
pub(crate) struct Drive {
    /// `MODEL` or `MODEL?parameter=value,…`; `fathom-lab models` lists them.
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    model: Option<String>,
    /// Read the model and its parameters from a file.
    #[arg(long, value_name = "FILE", conflicts_with = "size")]
    file: Option<PathBuf>,
    /// The folder on which to mount; made when missing. Default: a new one
    /// in the folder for temporary files.
    #[arg(long, value_name = "DIR")]
    at: Option<PathBuf>,
    /// Size of the drive, for example 1GiB.
    #[arg(long, value_parser = unit_bytes)]
    size: Option<u64>,
    /// Seed of everything random in the drive.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write what the drive really did to this file at the end.
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Put a loop device over the file, so that it is a block device.
    #[arg(long = "loop")]
    loop_device: bool,
    /// Forget what is written; reads give zeros.
    #[arg(long)]
    discard: bool,
    /// Keep what is written in an unnamed file in this folder, not in memory.
    #[arg(long, value_name = "DIR", conflicts_with = "discard")]
    keep_in: Option<PathBuf>,
    /// What the written data may take. Default: half of the free memory.
    #[arg(long, value_name = "SIZE", value_parser = unit_bytes)]
    keep_at_most: Option<u64>,
    /// Answer operations that the drive never ends with EIO after so many
    /// seconds; 0 is never.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    hang: f64,
    /// A command to run with the drive; `{}` in it is the drive's path.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

fn unit_bytes(text: &str) -> Result<u64, String> {
    unit::parse_bytes(text).map_err(|error| error.to_string())
}

pub(crate) fn serve(drive: &Drive) -> anyhow::Result<Exit> {
    if let Some(file) = &drive.truth {
        admit(file, Mark::Document)?;
    }
    let options = match options(drive) {
        Ok(options) => options,
        Err(error) => {
            complain(&format!("{error:#}"));
            return Ok(Exit::Usage);
        }
    };
    let signals = Signals::listen().context("cannot listen for signals")?;
    let mounted = match SimulatedDrive::mount(&options) {
        Ok(mounted) => mounted,
        Err(error @ fathom_lab::Error::Description(_)) => {
            complain(&error.to_string());
            return Ok(Exit::Usage);
        }
        Err(error) => return Err(error.into()),
    };
    let device = if drive.loop_device {
        Some(LoopDevice::over(&mounted.path(), None)?)
    } else {
        None
    };
    let path = device
        .as_ref()
        .map_or_else(|| mounted.path(), |device| device.path().to_owned());
    let exit = if drive.command.is_empty() {
        write_stdout(&guide(&mounted, &path, &options.description))?;
        while signals.count() == 0 && !mounted.is_gone() {
            sleep(LOOK);
        }
        Exit::Success
    } else {
        child::run(&drive.command, &path, &signals)?
    };
    drop(device);
    let truth = mounted.unmount();
    if let Some(file) = &drive.truth {
        let text = serde_json::to_string_pretty(&truth).context("cannot write JSON")?;
        write_file(file, Mark::Document, &(text + "\n"))?;
    }
    write_stderr(&summary(&truth));
    Ok(exit)
}

fn options(drive: &Drive) -> anyhow::Result<Options> {
    let mut description = match (&drive.file, &drive.model) {
        (Some(file), _) => Description::in_file(file, drive.seed),
        (None, Some(model)) => Description::new(model, drive.seed),
        (None, None) => anyhow::bail!("name a model, or a file with --file"),
    };
    if let Some(bytes) = drive.size {
        description.set_size(bytes)?;
    }
    let at = drive.at.clone().unwrap_or_else(|| {
        let name = splitmix64(fathom_observe::unix_now_ns() ^ u64::from(std::process::id()));
        #[expect(
            clippy::disallowed_methods,
            reason = "the name is drawn, and only a mount goes there"
        )]
        let folder = std::env::temp_dir();
        folder.join(format!("fathom-lab-{name:016x}"))
    });
    let mut options = Options::new(description, &at);
    options.limit_bytes = drive.keep_at_most;
    if drive.discard {
        options.storing = Storing::Discard;
    } else if let Some(folder) = &drive.keep_in {
        options.storing = Storing::Folder(folder.clone());
    }
    options.hang = match drive.hang {
        0.0 => None,
        seconds => Some(
            Duration::try_from_secs_f64(seconds)
                .with_context(|| format!("--hang {seconds} is not a time"))?,
        ),
    };
    Ok(options)
}

/// What to do with a drive that is served.
fn guide(mounted: &SimulatedDrive, path: &Path, description: &Description) -> String {
    let path = path.display();
    format!(
        "{model}, seed {seed}, is served at\n  {path}\n\
         and what it really does stands in\n  {truth}\n\n\
         Try:\n  \
         fathom io {path} --rw randread --bs 4k --runtime 10s\n  \
         fathom io {path} --rw write --bs 1M --runtime 10s --destructive\n  \
         fio --name=x --filename={path} --direct=1 --rw=randread --bs=4k \
         --ioengine=libaio --iodepth=8 --runtime=10 --time_based\n\n\
         Ctrl-C ends it.\n",
        model = description.model,
        seed = description.seed,
        truth = mounted.truth_path().display(),
    )
}

/// The truth in a few lines.
fn summary(truth: &Truth) -> String {
    let mut text = format!("\nWhat the drive did ({}):\n", truth.model);
    for (kind, of) in &truth.operations {
        let rate = truth
            .rate(kind)
            .map_or_else(String::new, |rate| format!("{rate:.1}/s"));
        let time = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), milliseconds);
        text += &format!(
            "  {kind:<6} {ops:>9} ops  {rate:>11}  {bytes:>11}  p50 {p50}  p99 {p99}\n",
            ops = of.ops,
            bytes = unit::bytes(of.bytes),
            p50 = time(of.delivered.p50_ns),
            p99 = time(of.delivered.p99_ns),
        );
        let errors: u64 = of.errors.values().sum();
        if errors + of.stuck > 0 {
            text += &format!("         {errors} ended with an error, {} hung\n", of.stuck);
        }
    }
    text + &promise(truth)
}

fn milliseconds(ns: u64) -> String {
    format!("{:.3} ms", ns as f64 / 1e6)
}

/// Whether the laboratory was what it promised to be.
fn promise(truth: &Truth) -> String {
    let laboratory = &truth.laboratory;
    let late = truth.late_share() * 100.0;
    let bound = laboratory.tolerance * 100.0;
    if laboratory.replies == 0 {
        return "Nothing was asked of the drive.\n".to_owned();
    }
    if laboratory.kept_up {
        return format!(
            "The laboratory kept up: {late:.2} % of its replies were more than {bound} % late.\n"
        );
    }
    if laboratory.refused_writes > 0 {
        return format!(
            "The laboratory could not keep what was written: {} writes were refused. Give it \
             more with --keep-at-most or --keep-in, or use --discard.\n",
            laboratory.refused_writes
        );
    }
    format!(
        "The laboratory could NOT keep up: {late:.1} % of its replies were more than {bound} % \
         late. The drive was slower than its model; use a slower model, or a less busy machine.\n"
    )
}
