//! `fathom lab`: drives whose truth is known.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Subcommand};
use fathom_drives::{Parameter, Quantity, common_parameters, models};
use fathom_lab::real::LoopDevice;
use fathom_lab::{Description, Options, SimulatedDrive, Storing, Truth};
use fathom_model::unit;
use fathom_outputs::Mark;

use crate::exit::Exit;
use crate::{present, run_identity};

mod diagnosis;
mod exam;
mod link;
mod store;

/// How often the end is looked for.
const LOOK: Duration = Duration::from_millis(20);

/// Serve drives whose truth is known, to try fathom or any other tool on.
#[derive(Debug, Subcommand)]
pub(crate) enum Lab {
    Drive(Box<Drive>),
    /// List the models of drives and their parameters.
    #[command(after_help = "Example:\n  fathom lab models")]
    Models,
    S3(Box<store::Store>),
    Link(Box<link::Link>),
    Exam(exam::Exam),
    Accuracy(exam::Accuracy),
    Diagnosis(diagnosis::DiagnosisExam),
    #[command(hide = true)]
    Application(diagnosis::Play),
}

/// Mount a simulated drive as a real file.
///
/// The file reaches the model through FUSE, with real I/O in real time, so
/// that any program can use it. What the drive really did is written down by
/// the drive itself, and can be read at any time in truth.json beside it. It
/// is served until Ctrl-C, or until COMMAND ends.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom lab drive hdd --size 1GiB --at /tmp/hdd
                                     Until Ctrl-C: /tmp/hdd/drive
  fathom lab drive 'cloud?iops=500,size=1GiB' -- fathom io {} --rw randread
  fathom lab drive hdd --size 1GiB -- fio --name=x --filename={} --rw=randread
                                     Serve, run a command on it, compare
  fathom lab drive --file drive.toml --loop --truth truth.json
                                     As a block device; needs root")]
pub(crate) struct Drive {
    /// `MODEL` or `MODEL?parameter=value,…`; `fathom lab models` lists them.
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

pub(crate) fn run(lab: Lab) -> anyhow::Result<Exit> {
    match lab {
        Lab::Drive(drive) => serve(&drive),
        Lab::S3(store) => store::serve(&store),
        Lab::Link(link) => link::serve(&link),
        Lab::Exam(exam) => exam::sit(&exam),
        Lab::Accuracy(accuracy) => exam::accuracy(&accuracy),
        Lab::Diagnosis(exam) => diagnosis::sit(&exam),
        Lab::Application(application) => diagnosis::play(&application),
        Lab::Models => {
            present::write_stdout(&models_text())?;
            Ok(Exit::Success)
        }
    }
}

fn serve(drive: &Drive) -> anyhow::Result<Exit> {
    if let Some(file) = &drive.truth {
        present::admit(file, Mark::Document)?;
    }
    let options = match options(drive) {
        Ok(options) => options,
        Err(error) => {
            present::complain(&format!("{error:#}"));
            return Ok(Exit::Usage);
        }
    };
    let signals = Signals::listen().context("cannot listen for signals")?;
    let mounted = match SimulatedDrive::mount(&options) {
        Ok(mounted) => mounted,
        Err(error @ fathom_lab::Error::Description(_)) => {
            present::complain(&error.to_string());
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
        present::write_stdout(&guide(&mounted, &path, &options.description))?;
        while signals.count() == 0 && !mounted.is_gone() {
            sleep(LOOK);
        }
        Exit::Success
    } else {
        run_command(&drive.command, &path, &signals)?
    };
    drop(device);
    let truth = mounted.unmount();
    if let Some(file) = &drive.truth {
        let text = serde_json::to_string_pretty(&truth).context("cannot write JSON")?;
        present::write_file(file, Mark::Document, &(text + "\n"))?;
    }
    present::write_stderr(&summary(&truth));
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
        std::env::temp_dir().join(format!("fathom-lab-{:016x}", run_identity::fresh_seed()))
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
                .with_context(|| format!("--hang {seconds} is no time"))?,
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

/// Runs the command and gives its status.
fn run_command(command: &[OsString], path: &Path, signals: &Signals) -> anyhow::Result<Exit> {
    let mut words = command.iter().map(|word| with_path(word, path));
    let program = words.next().unwrap_or_default();
    let mut child = Command::new(&program)
        .args(words)
        .spawn()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let mut passed_on = 0;
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for the command")? {
            return Ok(as_exit(status));
        }
        // The first signal asks the command to end, the second gives up on it:
        // its I/O fails then, and it is left to end by itself.
        let count = signals.count();
        if count > 1 {
            return Ok(Exit::Interrupted);
        }
        if count > passed_on {
            passed_on = count;
            ask_to_end(&child);
        }
        sleep(LOOK);
    }
}

fn with_path(word: &OsStr, path: &Path) -> OsString {
    match (word.to_str(), path.to_str()) {
        (Some(word), Some(path)) => word.replace("{}", path).into(),
        _ => word.to_owned(),
    }
}

fn ask_to_end(child: &Child) {
    let pid = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        // It may have ended by now, which is what is wanted.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
}

fn as_exit(status: ExitStatus) -> Exit {
    match status.code() {
        Some(0) => Exit::Success,
        Some(code) => Exit::OfCommand(u8::try_from(code).unwrap_or(1)),
        None => Exit::Interrupted,
    }
}

/// Ctrl-C, SIGTERM and SIGHUP since the start.
struct Signals(Arc<AtomicUsize>);

impl Signals {
    fn listen() -> std::io::Result<Signals> {
        let count = Arc::new(AtomicUsize::new(0));
        for signal in [
            signal_hook::consts::SIGINT,
            signal_hook::consts::SIGTERM,
            signal_hook::consts::SIGHUP,
        ] {
            let count = Arc::clone(&count);
            // SAFETY: the action adds to an atomic, which is async-signal-safe.
            unsafe {
                signal_hook::low_level::register(signal, move || {
                    count.fetch_add(1, Ordering::Relaxed);
                })?;
            }
        }
        Ok(Signals(count))
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
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

/// Every model with its parameters, their defaults and ranges.
fn models_text() -> String {
    let mut text = String::new();
    for model in models() {
        text += &format!("{}\n  {}\n", model.name, model.summary);
        text += &parameters_text(model.parameters.iter());
        text.push('\n');
    }
    text += "every model\n";
    text + &parameters_text(common_parameters())
}

fn parameters_text<'a>(parameters: impl Iterator<Item = &'a Parameter>) -> String {
    let mut text = String::new();
    for parameter in parameters {
        let default = match parameter.quantity {
            Quantity::Bytes => unit::bytes_exact(parameter.default as u64),
            Quantity::Number => parameter.default.to_string(),
        };
        let setting = format!("{}={default}", parameter.name);
        text += &format!("  {setting:<28} {}\n", parameter.help);
    }
    text
}
