//! `fathom stack`: the layers under a path or device.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use clap::Args;
use fathom_deadline::paths;
use fathom_diagnose::judge_stack;
use fathom_model::Target;
use fathom_model::stack::Stack as Layers;
use fathom_observe::Sysroot;
use fathom_observe::stack::read_stack;
use fathom_report::stack;

use crate::exit::{CommandError, Exit};
use crate::shown::{Shown, TextOrJson};

/// Show the layers under a path or device, and their faults.
///
/// From the mount down: file system, LVM, LUKS, thin pools, multipath, arrays,
/// bcache, loop devices, partitions, drives and their controllers, with the
/// settings that matter at each, and the server of a network mount. Alignment is
/// followed through all of them. Only reads; as root it also reads the
/// superblock and device mapper's tables. The rules are in docs/reference/stack.md.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom stack /var/lib/postgresql     What is under this folder?
  fathom stack /dev/md0                What is under this array?
  fathom stack /mnt/nas --json         For programs (schema fathom.stack/1)")]
pub(crate) struct Stack {
    /// A file, a folder (also one that is yet to be made) or a block device.
    #[arg(default_value = ".")]
    path: PathBuf,
    #[command(flatten)]
    shown: Shown<TextOrJson>,
}

pub(crate) fn run(command: &Stack) -> anyhow::Result<Exit> {
    command.shown.admit()?;
    if let Some(target @ (Target::Sim(_) | Target::Bucket(_) | Target::Null)) = target_of(command) {
        let problem =
            format!("{target} has no layers\nhelp: name a file, a folder or a block device");
        return Err(CommandError::Usage(problem).into());
    }
    let path = of_device(&command.path).unwrap_or_else(|| command.path.clone());
    let missing = is_missing(&path);
    if missing && (is_bare(&path) || !can_be_made(&path)) {
        let problem = format!(
            "{}: not found\nhelp: name a file, a folder (also one that is yet to be made in an existing \
             one, such as ./new) or a block device",
            path.display()
        );
        return Err(CommandError::Usage(problem).into());
    }
    let mut found = read_stack(&Sysroot::host(), &path);
    if missing {
        found.notes.push(format!(
            "{} is not there yet: these are the layers under its folder",
            path.display()
        ));
    }
    judge_stack(&mut found);
    let text = match command.shown.is_json() {
        true => stack::json(&found)?,
        false => stack::text(&found, command.shown.columns()),
    };
    command.shown.write(&text)?;
    Ok(match is_unseen(&found) {
        true => Exit::Failure,
        false => Exit::Success,
    })
}

/// What the path is as the target of a measurement.
fn target_of(command: &Stack) -> Option<Target> {
    let missing = is_missing(&command.path);
    command.path.to_str().filter(|_| missing)?.parse().ok()
}

/// Whether no layer could be looked at; the notes say why. A file system without a
/// device below it is one that could.
fn is_unseen(found: &Layers) -> bool {
    let sees_devices = paths::exists(Path::new("/sys/devices"));
    let is_known = found.filesystem.is_some() && sees_devices;
    found.devices.is_empty() && found.server.is_none() && !is_known
}

/// Whether there is nothing of this name. What does not answer is there: the layers
/// show what it is.
/// A name without a folder: of a device, as other outputs have it, or mistyped.
fn is_bare(path: &Path) -> bool {
    path.parent() == Some(Path::new(""))
}

/// The device that a bare name stands for, where nothing else here has the name.
fn of_device(path: &Path) -> Option<PathBuf> {
    let device = Path::new("/dev").join(path);
    (is_bare(path) && is_missing(path) && !is_missing(&device)).then_some(device)
}

fn is_missing(path: &Path) -> bool {
    paths::symlink_metadata(path).is_err_and(|error| is_gone(&error))
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Whether a path that is not there can be meant as one to make: in a folder that
/// exists, and that is neither the root nor that of devices. What is missing there
/// is a mount, a device or a wrong name.
fn can_be_made(path: &Path) -> bool {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = absolute.parent().unwrap_or(Path::new("/"));
    let special = [Path::new("/"), Path::new("/dev")].contains(&folder);
    let is_folder = match paths::metadata(folder) {
        Ok(facts) => facts.is_dir(),
        Err(error) => !is_gone(&error),
    };
    !special && is_folder
}
