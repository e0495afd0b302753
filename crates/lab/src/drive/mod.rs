//! A simulated drive as a real file, through FUSE, in real time.
//!
//! [`files`] is the folder that is mounted. An operation goes to [`intake`],
//! which asks the model when it ends, and waits in [`delivery`] for that time;
//! nothing blocks, so that as many are in flight as the program has. [`record`]
//! keeps what was done and how late the laboratory itself was.

mod content;
mod delivery;
mod files;
mod intake;
mod path_cost;
mod record;
mod store;
mod unmount;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};

use self::delivery::{Delivery, lock};
use self::files::{DRIVE_NAME, Files, PATH_NAME, TRUTH_NAME};
use self::intake::Intake;
use self::path_cost::{PathCost, SendTimes};
use self::record::{FLOOR_NS, TOLERANCE};
use self::store::Store;
pub use self::store::Storing;
use crate::Error;
use crate::description::Description;
use crate::real::tool;
use crate::truth::{LaboratoryTruth, Truth};

/// At most this share of replies may be late.
const LATE_SHARE_MAX: f64 = 0.05;

/// Operations that a drive never ends are answered with EIO after this time,
/// as a kernel does that waits for a device.
const HANG: Duration = Duration::from_secs(30);

/// How a drive is served.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which drive.
    pub description: Description,
    /// The folder on which it is mounted; made when it is missing.
    pub at: PathBuf,
    /// Where data go.
    pub storing: Storing,
    /// What the stored data may take; `None` is half of the free memory.
    pub limit_bytes: Option<u64>,
    /// After which time an operation that never ends is answered with EIO;
    /// `None` is never.
    pub hang: Option<Duration>,
}

impl Options {
    /// The usual: data in memory, EIO after 30 seconds of hanging.
    pub fn new(description: Description, at: &Path) -> Options {
        Options {
            description,
            at: at.to_owned(),
            storing: Storing::Memory,
            limit_bytes: None,
            hang: Some(HANG),
        }
    }
}

/// A mounted drive. Dropping it unmounts.
pub struct SimulatedDrive {
    facts: Arc<DriveFacts>,
    session: Option<BackgroundSession>,
    clerk: Option<JoinHandle<()>>,
    at: PathBuf,
    made_folder: bool,
}

/// What the truth is written from.
struct DriveFacts {
    description: Description,
    intake: Arc<Intake>,
}

impl SimulatedDrive {
    /// Mounts a drive.
    ///
    /// # Errors
    /// [`Error::Description`] for a model or parameter that does not exist,
    /// [`Error::Absent`] when this machine or user cannot mount FUSE,
    /// [`Error::Io`] when the folder cannot be used.
    pub fn mount(options: &Options) -> Result<SimulatedDrive, Error> {
        let description = &options.description;
        let model = description.build()?;
        tool::need_fuse()?;
        let made_folder = prepare_folder(&options.at)?;
        let at = options
            .at
            .canonicalize()
            .map_err(Error::io("find", &options.at))?;
        let limit_bytes = options.limit_bytes.unwrap_or_else(default_limit);
        let capacity_bytes = model.capacity_bytes();
        let store = Store::new(&options.storing, capacity_bytes, limit_bytes)
            .map_err(Error::io("make room for the data of", &at))?;
        let delivery = Arc::new(Delivery::new(capacity_bytes));
        let intake = Arc::new(Intake::new(
            model,
            store,
            Arc::clone(&delivery),
            options.hang,
        ));
        let facts = Arc::new(DriveFacts {
            description: description.clone(),
            intake: Arc::clone(&intake),
        });
        let sends = Arc::new(SendTimes::default());
        let of_files = Arc::clone(&facts);
        let text = move || as_json(&of_files.truth());
        let files = Files::new(intake, Arc::clone(&sends), Box::new(text));
        let session = Session::new(files, &at, &mount_options())
            .and_then(Session::spawn)
            .map_err(|error| mount_error(&at, error));
        let session = match session {
            Ok(session) => session,
            Err(error) => {
                remove_folder(&at, made_folder);
                return Err(error);
            }
        };
        let mut drive = SimulatedDrive {
            facts,
            session: Some(session),
            clerk: None,
            at,
            made_folder,
        };
        drive.open_doors(&sends)?;
        Ok(drive)
    }

    /// Starts the delivery and learns what the way costs.
    fn open_doors(&mut self, sends: &SendTimes) -> Result<(), Error> {
        let intake = Arc::clone(&self.facts.intake);
        let clerk = thread::Builder::new()
            .name("lab-delivery".to_owned())
            .spawn(move || intake.delivery.run(|| intake.wake()))
            .map_err(Error::io("start a thread for", &self.at))?;
        self.clerk = Some(clerk);
        let cost = PathCost::measure(&self.at.join(PATH_NAME), sends)?;
        let _ = self.facts.intake.path_cost.set(cost);
        Ok(())
    }

    /// The drive's file.
    pub fn path(&self) -> PathBuf {
        self.at.join(DRIVE_NAME)
    }

    /// The file from which the truth can be read at any time.
    pub fn truth_path(&self) -> PathBuf {
        self.at.join(TRUTH_NAME)
    }

    /// Whether somebody else unmounted it.
    pub fn is_gone(&self) -> bool {
        let guard = self.session.as_ref().map(|session| &session.guard);
        guard.is_none_or(JoinHandle::is_finished)
    }

    /// What the drive did so far.
    pub fn truth(&self) -> Truth {
        self.facts.truth()
    }

    /// Answers what is in flight with EIO, unmounts, and gives the truth.
    pub fn unmount(mut self) -> Truth {
        self.close();
        self.facts.truth()
    }

    fn close(&mut self) {
        let Some(session) = self.session.take() else {
            return;
        };
        self.facts.intake.delivery.close();
        if let Some(clerk) = self.clerk.take() {
            let _ = clerk.join();
        }
        unmount::unmount(&self.at, session);
        remove_folder(&self.at, self.made_folder);
    }
}

impl Drop for SimulatedDrive {
    fn drop(&mut self) {
        self.close();
    }
}

impl DriveFacts {
    fn truth(&self) -> Truth {
        let intake = &self.intake;
        let drive = intake.model_truth();
        let record = lock(&intake.delivery.record);
        let refused_writes = intake.store.refused();
        let allowed = record.replies as f64 * LATE_SHARE_MAX;
        let cost = intake.path_cost.get().copied().unwrap_or_default();
        Truth {
            schema: "fathom.lab.truth/1".to_owned(),
            model: self.description.model.clone(),
            seed: drive.seed,
            capacity_bytes: intake.capacity_bytes,
            stores_data: intake.store.stores(),
            mounted_unix_ns: record.mounted_unix_ns,
            first_arrival_ns: record.first_arrival_ns,
            last_reply_ns: record.last_reply_ns,
            in_flight_max: intake.delivery.in_flight_max(),
            operations: record.operations(),
            spells: record.spells.clone(),
            seconds: record.seconds.clone(),
            regions: record.regions.clone(),
            laboratory: LaboratoryTruth {
                replies: record.replies,
                tolerance: TOLERANCE,
                floor_ns: FLOOR_NS,
                late: record.late,
                kept_up: record.late as f64 <= allowed && refused_writes == 0,
                lateness: (&record.lateness).into(),
                refused_writes,
                path: cost.truth(),
            },
            drive: serde_json::to_value(&drive).ok(),
        }
    }
}

fn as_json(truth: &Truth) -> String {
    serde_json::to_string_pretty(truth).map_or_else(|_| "{}\n".to_owned(), |text| text + "\n")
}

fn mount_options() -> Config {
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName("fathom-lab".to_owned()),
        MountOption::Subtype("fathom".to_owned()),
        MountOption::NoAtime,
        MountOption::NoDev,
        MountOption::NoSuid,
        MountOption::NoExec,
    ];
    // Root's drive is for everybody, as a device is; allowing others needs root.
    if rustix::process::geteuid().is_root() {
        config.acl = SessionACL::All;
    }
    config
}

fn mount_error(at: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::PermissionDenied => Error::Absent(format!(
            "mounting on {} is not permitted ({error}): run as root, or where fusermount3 may \
             mount for users",
            at.display()
        )),
        _ => Error::io("mount on", at)(error),
    }
}

/// Makes the folder unless it is there, and then it must be empty. True when
/// it was made.
fn prepare_folder(at: &Path) -> Result<bool, Error> {
    match fs::read_dir(at) {
        Ok(mut entries) => match entries.next() {
            None => Ok(false),
            Some(_) => Err(Error::Description(format!(
                "{} is not empty, and mounting would hide what is in it; name an empty or new \
                 folder",
                at.display()
            ))),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fathom_outputs::make_folder(at).map_err(Error::io("make", at))?;
            Ok(true)
        }
        Err(error) if error.raw_os_error() == Some(libc::ENOTCONN) => {
            Err(Error::Description(format!(
                "{} is the mount of a drive whose laboratory was killed; remove it with \
                 'fusermount3 -u {0}' or, as root, 'umount {0}'",
                at.display()
            )))
        }
        Err(error) => Err(Error::io("use", at)(error)),
    }
}

fn remove_folder(at: &Path, made: bool) {
    if made {
        // Somebody may have put something into it by now; then it stays.
        let _ = fs::remove_dir(at);
    }
}

/// Half of the memory that is free, at least 64 MiB.
fn default_limit() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok());
    (kib.unwrap_or(0) * 1024 / 2).max(64 << 20)
}

#[cfg(test)]
#[path = "drive_tests.rs"]
mod tests;
