//! `--calibrate`: measures what the volume gives with the mix and the block
//! size of the recorded load, on a file of its own, after having asked.

use std::path::{Path, PathBuf};

use clap::Args;
use fathom_diagnose::recording::Recording;
use fathom_diagnose::{Ceiling, diagnose};
use fathom_model::diagnosis::{Calibration, DiskLoad};
use fathom_model::schedule::Pause;
use fathom_model::{RunState, Target, unit};
use fathom_observe::{Sysroot, host_fingerprint, parse_mountinfo, target_fingerprint};
use fathom_plan::IoFlags;
use fathom_studies::calibrate::{CALIBRATION, CalibrationConductor, calibration_of};

use super::{Diagnose, consent};
use crate::command::quick::default_size;
use crate::command::run::schedule;
use crate::exit::Exit;
use crate::output_flags::{Format, Output};
use crate::pipeline::{self, Request};
use crate::whole_seconds::whole_seconds;
use crate::{run_identity, surroundings};

/// The article's mix and block, where the recording does not tell the load's.
const USUAL_READ_SHARE: f64 = 0.7;
const USUAL_BLOCK_BYTES: u64 = 4096;
/// Direct I/O takes multiples of this everywhere.
const ALIGN_BYTES: u64 = 4096;
/// Larger mean blocks are those of merged requests.
const MOST_BLOCK_BYTES: u64 = 1 << 20;
/// Before each trial: token buckets and caches fill.
const WARMUP_SECONDS: u32 = 2;
/// Trials of a volume without surprises.
const TRIALS: u32 = 3;

/// What is asked for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Calibration")]
pub(super) struct CalibrateArgs {
    /// Measure what the volume can give, and hold the load against it: random
    /// operations of the load's mix and block size on a file of its own in
    /// FOLDER (by default where the busiest device is mounted). First as many
    /// as the volume takes, then 85 % of that, so that the latency is that of
    /// the storage and not of a queue. Loads the volume; asks first.
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", conflicts_with_all = ["ceiling", "ceiling_iops"])]
    pub(super) calibrate: Option<String>,
    /// Do not ask.
    #[arg(long)]
    pub(super) yes: bool,
    /// Seconds of each of the three measurements.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 10,
        requires = "calibrate"
    )]
    #[arg(value_parser = whole_seconds(1, 3600))]
    calibrate_seconds: u32,
    /// Size of the test file [default: 1 GiB, at most a quarter of the free
    /// space].
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "calibrate")]
    calibrate_size: Option<u64>,
}

fn size(text: &str) -> Result<u64, String> {
    let bytes = unit::parse_bytes(text).map_err(|error| error.to_string())?;
    match bytes < MOST_BLOCK_BYTES * 16 {
        true => Err("a test file of less than 16 MiB says nothing of a volume".to_owned()),
        false => Ok(bytes),
    }
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Calibrated {
    pub(super) calibration: Option<Calibration>,
    pub(super) remarks: Vec<String>,
    pub(super) exit: Exit,
}

impl Calibrated {
    fn without(remark: Option<&str>, exit: Exit) -> Calibrated {
        Calibrated {
            calibration: None,
            remarks: remark.into_iter().map(str::to_owned).collect(),
            exit,
        }
    }

    pub(super) fn ceiling(&self) -> Option<Ceiling> {
        self.calibration.as_ref().map(ceiling_of)
    }
}

/// The ceiling that a calibration found.
pub(super) fn ceiling_of(found: &Calibration) -> Ceiling {
    Ceiling {
        source: format!("calibrated by run {}", found.run),
        operations: found.operations,
        block_bytes: Some(found.block_bytes as f64),
        read_share: Some(found.read_share),
        wait_ms: found.wait_ms,
    }
}

/// Refuses at once, before a host is watched for minutes.
pub(super) fn may_measure(args: &Diagnose) -> Result<(), String> {
    let Some(folder) = &args.calibration.calibrate else {
        return Ok(());
    };
    if !args.calibration.yes && !consent::can_ask() {
        return Err(
            "--calibrate loads the volume and asks first, which needs a terminal; with --yes it \
             does not ask"
                .to_owned(),
        );
    }
    if folder.is_empty() {
        return Ok(());
    }
    named(folder).map(drop)
}

/// The folder, or the simulated drive, that the user names.
fn named(folder: &str) -> Result<Target, String> {
    let target: Target = folder
        .parse()
        .map_err(|error| format!("--calibrate: {error}"))?;
    let path = match &target {
        Target::Path(path) => path,
        Target::Sim(_) => return Ok(target),
        _ => return Err(no_folder(folder)),
    };
    let found = fathom_deadline::paths::find(path);
    let found = found.map_err(|silent| format!("--calibrate={folder}: {silent}"))?;
    if found.is_some_and(|facts| facts.is_dir()) {
        return Ok(target);
    }
    Err(no_folder(folder))
}

fn no_folder(folder: &str) -> String {
    format!("--calibrate={folder}: not a folder; the measurement makes a file of its own in one")
}

/// As many bytes as `size_bytes` at most, and one block at least: a mean block
/// of a load is seldom a power of two.
fn whole_blocks(size_bytes: u64, block_bytes: u64) -> u64 {
    (size_bytes / block_bytes).max(1) * block_bytes
}

/// What is measured, and how.
struct Order {
    target: Target,
    load: DiskLoad,
    size_bytes: u64,
    block_bytes: u64,
    read_percent: u32,
    seconds: u32,
    remarks: Vec<String>,
}

/// Measures the volume, where that was asked for and is allowed. The inner
/// error is a call that cannot be followed.
pub(super) fn measure(
    args: &Diagnose,
    load: &Recording,
) -> anyhow::Result<Result<Calibrated, String>> {
    let Some(folder) = &args.calibration.calibrate else {
        return Ok(Ok(Calibrated::without(None, Exit::Success)));
    };
    let order = match Order::new(args, load, folder) {
        Ok(order) => order,
        Err(reason) => return Ok(Err(reason)),
    };
    if !args.calibration.yes && !consent::is_given(&order.in_words()) {
        let remark = "the volume was not measured: no consent was given";
        return Ok(Ok(Calibrated::without(Some(remark), Exit::Success)));
    }
    order.carry_out(args).map(Ok)
}

impl Order {
    fn new(args: &Diagnose, load: &Recording, folder: &str) -> Result<Order, String> {
        let disks = diagnose(load, |_| None).disks;
        let Some(disk) = disks.into_iter().next() else {
            return Err(
                "--calibrate: the recording has no device that did anything, so there is no load to \
                 hold against a measurement"
                    .to_owned(),
            );
        };
        let (target, remarks) = place(load, &disk.name, folder)?;
        let block = disk.block_bytes.unwrap_or(USUAL_BLOCK_BYTES as f64);
        let blocks = (block / ALIGN_BYTES as f64).round() as u64;
        let share = disk.read_share.unwrap_or(USUAL_READ_SHARE);
        let block_bytes = (blocks * ALIGN_BYTES).clamp(ALIGN_BYTES, MOST_BLOCK_BYTES);
        let size = args.calibration.calibrate_size;
        let size = size.unwrap_or_else(|| default_size(target.path(), false));
        let size_bytes = whole_blocks(size, block_bytes);
        has_room(&target, size_bytes)?;
        Ok(Order {
            size_bytes,
            target,
            block_bytes,
            read_percent: (100.0 * share).round().clamp(0.0, 100.0) as u32,
            seconds: args.calibration.calibrate_seconds,
            load: disk,
            remarks,
        })
    }

    /// What will be done, for who is to allow it.
    fn in_words(&self) -> String {
        let whose = match self.load.block_bytes {
            Some(_) => format!("as the recorded load of {}", self.load.name),
            None => "as is usual: the recording does not tell".to_owned(),
        };
        format!(
            "This measures what the volume under {target} can give:\n\
             \x20 - a new file of {size} is made there, filled with data that cannot be\n\
             \x20   compressed, and removed at the end\n\
             \x20 - random operations of {block}, {reads} % reads, without the page cache\n\
             \x20   ({whose})\n\
             \x20 - for about {span}: as many as the volume takes, then 85 % of that\n\
             \x20 - meanwhile the volume is fully loaded: whoever works on it becomes slower\n",
            target = self.target,
            size = unit::bytes_exact(self.size_bytes),
            block = unit::bytes_exact(self.block_bytes),
            reads = self.read_percent,
            span = unit::span(u64::from(TRIALS * (self.seconds + WARMUP_SECONDS)) * 1_000_000_000),
        )
    }

    fn flags(&self) -> IoFlags {
        let rw = match self.read_percent {
            0 => "randwrite",
            100 => "randread",
            _ => "randrw",
        };
        let mut flags = IoFlags::default();
        let mut set = |key: &str, value: String| flags.fill_in(key, &value);
        set("rw", rw.to_owned());
        if rw == "randrw" {
            set("rwmixread", self.read_percent.to_string());
        }
        set("bs", self.block_bytes.to_string());
        set("direct", "true".to_owned());
        set("size", self.size_bytes.to_string());
        set("runtime", format!("{}s", self.seconds));
        set("warmup", format!("{WARMUP_SECONDS}s"));
        flags
    }

    fn carry_out(self, args: &Diagnose) -> anyhow::Result<Calibrated> {
        let mut plan = match self.flags().to_plan(self.target.clone()) {
            Ok(plan) => plan,
            Err(problems) => anyhow::bail!("--calibrate: {}", problems.render(false)),
        };
        plan.set_name(CALIBRATION);
        plan.set_seed(run_identity::fresh_seed());
        let Some(mut schedule) = schedule(&plan, false) else {
            return Ok(Calibrated::without(None, Exit::Usage));
        };
        let simulated = self.target.path().is_none();
        for trial in &mut schedule.trials {
            trial.pause = Pause {
                floor_ns: 0,
                ceiling_ns: if simulated { 0 } else { 2_000_000_000 },
                until_quiet: !simulated,
            };
        }
        let host = host_fingerprint(&Sysroot::host());
        let Some(mut conductor) = CalibrationConductor::new(&schedule, host) else {
            anyhow::bail!("--calibrate: there is nothing to measure");
        };
        schedule.trials = conductor.expected();
        let request = Request {
            plan,
            schedule,
            label: Some("burst".to_owned()),
            output: Output {
                format: Format::default(),
                html: None,
                quiet: !std::io::IsTerminal::is_terminal(&std::io::stderr()),
                strict: false,
                metrics: crate::metrics::MetricsArgs::default(),
                store: args.store.clone(),
            },
        };
        let run = pipeline::Run::new(&request).conductor(&mut conductor);
        let measured = run.measure()?;
        measured.complain();
        let judged = fathom_studies::judge(&measured.record);
        let mut remarks = self.remarks;
        match calibration_of(&judged, Some(&measured.record)) {
            Ok(calibration) => Ok(Calibrated {
                calibration: Some(calibration),
                remarks,
                exit: Exit::Success,
            }),
            Err(why) => {
                remarks.push(format!("the calibration gives no ceiling: {why}"));
                Ok(Calibrated {
                    calibration: None,
                    remarks,
                    exit: match judged.run.state {
                        RunState::Interrupted | RunState::Running => Exit::Interrupted,
                        RunState::Failed => Exit::Failure,
                        RunState::Complete => Exit::NotTrusted,
                    },
                })
            }
        }
    }
}

/// Where the file is made, and what speaks against holding the two together.
fn place(load: &Recording, disk: &str, folder: &str) -> Result<(Target, Vec<String>), String> {
    let here = host_fingerprint(&Sysroot::host()).hostname;
    let elsewhere = load.host.name.as_deref().filter(|name| *name != here);
    if folder.is_empty() {
        return match elsewhere {
            Some(name) => Err(format!(
                "--calibrate: {name} was recorded, and this is {here}; run it there, or name a folder \
                 of the same volume with --calibrate=FOLDER"
            )),
            None => Ok((Target::Path(mounted(disk)?), Vec::new())),
        };
    }
    let target = named(folder)?;
    let Some(path) = target.path() else {
        let remark = "a simulated drive was calibrated: it says nothing of this volume";
        return Ok((target, vec![remark.to_owned()]));
    };
    let devices = names_under(path);
    if devices.iter().any(|name| name == disk) {
        let remark = elsewhere.map(|name| {
            format!(
                "{name} was recorded and {here} calibrated: it counts if that is the same volume"
            )
        });
        return Ok((target, remark.into_iter().collect()));
    }
    let lies = match devices.first() {
        Some(first) => format!("lies on {first}"),
        None => "lies on no block device".to_owned(),
    };
    match elsewhere {
        None if !devices.is_empty() => Err(format!(
            "--calibrate={folder}: it {lies}, and the load was on {disk}; name a folder of {disk}, or \
             the device with --disk"
        )),
        _ => Ok((
            target,
            vec![format!(
                "{folder} {lies}, and the load was on {disk}: the calibration counts if that is the \
                 same volume"
            )],
        )),
    }
}

/// Refuses a folder in which the test file has no room.
fn has_room(target: &Target, size_bytes: u64) -> Result<(), String> {
    let free = target.path().and_then(surroundings::free_bytes);
    match free.filter(|free| *free < size_bytes) {
        None => Ok(()),
        Some(free) => Err(format!(
            "--calibrate: {target} has {} free, and the test file takes {}; name another folder of \
             the volume with --calibrate=FOLDER, or make the file smaller with --calibrate-size",
            unit::bytes(free),
            unit::bytes(size_bytes)
        )),
    }
}

fn names_under(path: &Path) -> Vec<String> {
    let devices = target_fingerprint(&Sysroot::host(), path).devices;
    devices.into_iter().map(|device| device.name).collect()
}

/// A folder on a device in which this user may write, with the most free space
/// where there are several.
fn mounted(disk: &str) -> Result<PathBuf, String> {
    let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut points: Vec<PathBuf> = parse_mountinfo(&text)
        .into_iter()
        .filter(|mount| {
            mount.source.starts_with("/dev/") && fathom_deadline::paths::is_dir(&mount.mount_point)
        })
        // Test files have no business in the root folder.
        .map(|mount| match mount.mount_point == Path::new("/") {
            true => PathBuf::from("/var/tmp"),
            false => mount.mount_point,
        })
        .collect();
    points.sort();
    points.dedup();
    let usable = points.into_iter().filter(|point| {
        let writable = rustix::fs::access(point, rustix::fs::Access::WRITE_OK).is_ok();
        writable && names_under(point).iter().any(|name| name == disk)
    });
    let free = |point: &PathBuf| surroundings::free_bytes(point).unwrap_or(0);
    usable.max_by_key(free).ok_or_else(|| {
        format!(
            "--calibrate: no folder of {disk} is mounted here in which this user may write; name one \
             with --calibrate=FOLDER"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_room_is_refused_by_the_flags_of_the_call() {
        let told = has_room(&Target::Path("/proc".into()), 1 << 30).unwrap_err();
        assert!(
            told.contains("0 B free") && told.contains("--calibrate-size"),
            "{told}"
        );
        assert!(has_room(&Target::Path("/proc".into()), 0).is_ok());
    }

    #[test]
    fn a_file_holds_whole_blocks() {
        assert_eq!(whole_blocks(1 << 30, 4096), 1 << 30);
        assert_eq!(whole_blocks(1 << 30, 73_728), 1_073_700_864);
        assert_eq!(whole_blocks(1000, 4096), 4096);
    }
}
