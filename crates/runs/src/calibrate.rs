//! Calibrations: what the volume gives with the mix and the block size of a
//! recorded load, measured on a file of its own.

use std::path::{Path, PathBuf};

use fathom_console::Exit;
use fathom_deadline::NotResponding;
use fathom_diagnose::recording::Recording;
use fathom_diagnose::{Ceiling, diagnose};
use fathom_model::diagnosis::Calibration;
use fathom_model::target::TargetError;
use fathom_model::{RunState, Target, unit};
use fathom_observe::{Sysroot, host_fingerprint, parse_mountinfo, target_fingerprint};
use fathom_studies::calibrate::{CalibrationConductor, CalibrationPlan, LoadShape, calibration_of};

use crate::output_flags::{Color, Output, StorePath};
use crate::pipeline::{self, Request};
use crate::plan_file::schedule_here;
use crate::{run_identity, surroundings};

/// Why the volume of a load cannot be calibrated as it was typed.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// No name of a target.
    #[error("--calibrate: {0}")]
    Target(TargetError),
    /// The place does not answer.
    #[error("--calibrate={folder}: {silent}")]
    Silent {
        /// As it was typed.
        folder: String,
        /// What does not answer.
        silent: NotResponding,
    },
    /// Something else than a folder or a simulated drive.
    #[error("--calibrate={0}: not a folder; the measurement makes a file of its own in one")]
    NoFolder(String),
    /// A recording of an idle host.
    #[error(
        "--calibrate: the recording has no device that did anything, so there is no load to hold \
         against a measurement"
    )]
    NoLoad,
    /// The load was on another host, and no folder of the same volume was named.
    #[error(
        "--calibrate: {recorded} was recorded, and this is {here}; run it there, or name a folder \
         of the same volume with --calibrate=FOLDER"
    )]
    OtherHost {
        /// Of the load.
        recorded: String,
        /// This one.
        here: String,
    },
    /// The folder lies on another device than the one with the load.
    #[error(
        "--calibrate={folder}: it lies on {first}, and the load was on {disk}; name a folder of \
         {disk}, or the device with --disk"
    )]
    OtherDevice {
        /// As it was typed.
        folder: String,
        /// What it lies on.
        first: String,
        /// Of the load.
        disk: String,
    },
    /// The test file does not fit.
    #[error(
        "--calibrate: {target} has room for {}, and the test file takes {}; name another folder \
         of the volume with --calibrate=FOLDER, or make the file smaller with --calibrate-size",
        unit::bytes(*.room_bytes),
        unit::bytes(*.size_bytes)
    )]
    NoRoom {
        /// The folder.
        target: Target,
        /// What it has.
        room_bytes: u64,
        /// What the file takes.
        size_bytes: u64,
    },
    /// No mounted folder of the device can be written to.
    #[error(
        "--calibrate: no folder of {disk} is mounted here in which this user may write; name one \
         with --calibrate=FOLDER"
    )]
    NotMounted {
        /// Of the load.
        disk: String,
    },
}

/// What came of a calibration.
#[derive(Debug)]
pub struct Calibrated {
    /// What the volume gives, where that is known now.
    pub calibration: Option<Calibration>,
    /// What has to be said of it.
    pub remarks: Vec<String>,
    /// How the command ends.
    pub exit: Exit,
}

impl Calibrated {
    /// Nothing was measured, and perhaps why.
    #[must_use]
    pub fn without(remark: Option<&str>) -> Calibrated {
        Calibrated {
            calibration: None,
            remarks: remark.into_iter().map(str::to_owned).collect(),
            exit: Exit::Success,
        }
    }

    /// What the volume can give.
    #[must_use]
    pub fn ceiling(&self) -> Option<Ceiling> {
        self.calibration.as_ref().map(Ceiling::of_calibration)
    }
}

/// The folder, or the simulated drive, that the user names.
///
/// # Errors
/// It is none, or does not answer.
pub fn named(folder: &str) -> Result<Target, CalibrationError> {
    let target: Target = folder.parse().map_err(CalibrationError::Target)?;
    let no_folder = || CalibrationError::NoFolder(folder.to_owned());
    let path = match &target {
        Target::Path(path) => path,
        Target::Sim(_) => return Ok(target),
        _ => return Err(no_folder()),
    };
    let found = fathom_deadline::paths::find(path);
    let found = found.map_err(|silent| CalibrationError::Silent {
        folder: folder.to_owned(),
        silent,
    })?;
    match found.is_some_and(|facts| facts.is_dir()) {
        true => Ok(target),
        false => Err(no_folder()),
    }
}

/// What is measured, and what has to be said of it.
pub struct CalibrationOrder {
    plan: CalibrationPlan,
    remarks: Vec<String>,
}

impl CalibrationOrder {
    /// For the busiest device of a load, in this folder: an empty name is where the
    /// device is mounted. Each measurement takes so many seconds, on a file of this
    /// size or of one that suits the place.
    ///
    /// # Errors
    /// The load and the place do not go together, or the file has no room.
    pub fn new(
        load: &Recording,
        folder: &str,
        size_bytes: Option<u64>,
        seconds: u32,
    ) -> Result<CalibrationOrder, CalibrationError> {
        let disks = diagnose(load, |_| None).disks;
        let disk = disks.into_iter().next().ok_or(CalibrationError::NoLoad)?;
        let (target, remarks) = place(load, &disk.name, folder)?;
        let shape = LoadShape::of(&disk);
        let size =
            size_bytes.unwrap_or_else(|| surroundings::test_file_bytes(target.path(), false));
        let plan = CalibrationPlan::new(target, shape, size, seconds);
        has_room(&plan.target, plan.size_bytes)?;
        Ok(CalibrationOrder { plan, remarks })
    }

    /// What will be done, for who is to allow it.
    #[must_use]
    pub fn in_words(&self) -> String {
        self.plan.in_words()
    }

    /// Measures the volume.
    ///
    /// # Errors
    /// A measurement that fails.
    pub fn carry_out(self, store: &StorePath) -> anyhow::Result<Calibrated> {
        let mut plan = match self.plan.plan() {
            Ok(plan) => plan,
            Err(problems) => anyhow::bail!("--calibrate: {}", problems.render(false)),
        };
        plan.set_seed(run_identity::fresh_seed());
        let mut schedule = self.plan.paused(schedule_here(&plan, Color::Never)?);
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
                quiet: !std::io::IsTerminal::is_terminal(&std::io::stderr()),
                store: store.clone(),
                ..Output::default()
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
fn place(
    load: &Recording,
    disk: &str,
    folder: &str,
) -> Result<(Target, Vec<String>), CalibrationError> {
    let here = host_fingerprint(&Sysroot::host()).hostname;
    let elsewhere = load.host.name.as_deref().filter(|name| *name != here);
    if folder.is_empty() {
        return match elsewhere {
            Some(name) => Err(CalibrationError::OtherHost {
                recorded: name.to_owned(),
                here,
            }),
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
    if let (None, Some(first)) = (elsewhere, devices.first()) {
        return Err(CalibrationError::OtherDevice {
            folder: folder.to_owned(),
            first: first.clone(),
            disk: disk.to_owned(),
        });
    }
    let lies = match devices.first() {
        Some(first) => format!("lies on {first}"),
        None => "lies on no block device".to_owned(),
    };
    let remark = format!(
        "{folder} {lies}, and the load was on {disk}: the calibration counts if that is the same \
         volume"
    );
    Ok((target, vec![remark]))
}

/// Refuses a folder in which the test file has no room.
fn has_room(target: &Target, size_bytes: u64) -> Result<(), CalibrationError> {
    let room = target.path().and_then(surroundings::room_for_files);
    match room.filter(|room| *room < size_bytes) {
        None => Ok(()),
        Some(room_bytes) => Err(CalibrationError::NoRoom {
            target: target.clone(),
            room_bytes,
            size_bytes,
        }),
    }
}

fn names_under(path: &Path) -> Vec<String> {
    let devices = target_fingerprint(&Sysroot::host(), path).devices;
    devices.into_iter().map(|device| device.name).collect()
}

/// A folder on a device in which this user may write, with the most free space
/// where there are several.
fn mounted(disk: &str) -> Result<PathBuf, CalibrationError> {
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
    let room = |point: &PathBuf| surroundings::room_for_files(point).unwrap_or(0);
    let usable = usable.max_by_key(room);
    usable.ok_or_else(|| CalibrationError::NotMounted {
        disk: disk.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_room_is_refused_by_the_flags_of_the_call() {
        let told = has_room(&Target::Path("/proc".into()), 1 << 30).unwrap_err();
        let told = told.to_string();
        assert!(
            told.contains("room for 0 B") && told.contains("--calibrate-size"),
            "{told}"
        );
        assert!(has_room(&Target::Path("/proc".into()), 0).is_ok());
    }
}
