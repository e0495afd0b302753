//! What this machine lets fathom do: each capability tried where it can be, and
//! read from the kernel's settings where not.

mod input_output;
mod machine;
mod observing;

use std::path::{Path, PathBuf};

use fathom_deadline::{MountTable, ask_mounts, paths};
use serde::Serialize;

use crate::Sysroot;

/// How much of a capability there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CapabilityStatus {
    /// All of it.
    Ok,
    /// Some of it, or with a cost to the measurement.
    Limited,
    /// None of it.
    Missing,
}

/// One thing that fathom would like to use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capability {
    /// Short name, for example `io_uring`.
    pub name: String,
    /// How much of it there is.
    pub status: CapabilityStatus,
    /// What was found.
    pub found: String,
    /// What it means for a measurement.
    pub meaning: String,
    /// What would help; `None` when nothing is needed or nothing can be done.
    pub remedy: Option<String>,
}

impl Capability {
    pub(crate) fn new(
        name: &str,
        status: CapabilityStatus,
        found: impl Into<String>,
        meaning: &str,
    ) -> Self {
        Capability {
            name: name.to_owned(),
            status,
            found: found.into(),
            meaning: meaning.to_owned(),
            remedy: None,
        }
    }

    pub(crate) fn remedy(mut self, remedy: &str) -> Self {
        if self.status != CapabilityStatus::Ok {
            self.remedy = Some(remedy.to_owned());
        }
        self
    }
}

/// Examines the machine, and what lies under `target` (a directory, a file or a
/// block device) where one is given. In a directory, or the one that holds the
/// file, a file of 64 KiB is made and removed again; a device is only opened for
/// reading. On a recorded tree nothing is tried and only what its files tell is
/// listed.
pub fn doctor(sys: &Sysroot, target: Option<&Path>) -> Vec<Capability> {
    let mut capabilities = Vec::new();
    if sys.is_host() {
        capabilities.push(input_output::io_uring(sys));
        capabilities.push(input_output::libaio(sys));
        if let Some(directory) = target.and_then(directory_of) {
            capabilities.extend(in_directory(&directory));
        }
        capabilities.push(observing::cachestat());
    }
    capabilities.extend(machine::examine(sys));
    capabilities.extend(observing::examine(sys, target));
    if sys.is_host() {
        capabilities.extend(answering());
    }
    capabilities
}

/// What files in a directory can do, tried by a helper.
fn in_directory(directory: &Path) -> Vec<Capability> {
    let tried = paths::on(directory, |directory| {
        Ok(input_output::in_directory(directory))
    });
    tried.unwrap_or_else(|error| {
        let found = format!("{}: {error}", directory.display());
        let meaning = "test files are made in the target directory";
        let capability = Capability::new("write access", CapabilityStatus::Missing, found, meaning);
        vec![capability.remedy("name a directory that this user may write and that answers")]
    })
}

/// Mounts that need a server or another process, and whether they answer; and
/// what did not while the machine was examined.
fn answering() -> Option<Capability> {
    let mounts = MountTable::read().needing_others();
    let asked = ask_mounts(&mounts);
    let mut silent: Vec<String> = asked
        .into_iter()
        .filter_map(Result::err)
        .chain(fathom_deadline::not_responding())
        .map(|silent| silent.to_string())
        .collect();
    silent.sort();
    silent.dedup();
    let meaning = "whatever touches it waits, and measures nothing";
    let name = "mounts that answer";
    if silent.is_empty() {
        let found = match mounts.len() {
            0 => return None,
            1 => "the only one that needs a server or process answers".to_owned(),
            many => format!("all {many} that need a server or process answer"),
        };
        return Some(Capability::new(name, CapabilityStatus::Ok, found, meaning));
    }
    let found = silent.join("; ");
    let capability = Capability::new(name, CapabilityStatus::Limited, found, meaning);
    Some(capability.remedy("bring its server or process back, or detach it with umount -l"))
}

/// Where test files for this target would lie; `None` for a block device.
fn directory_of(target: &Path) -> Option<PathBuf> {
    let Ok(metadata) = paths::metadata(target) else {
        return Some(target.to_owned());
    };
    if metadata.is_dir() {
        return Some(target.to_owned());
    }
    let absolute = std::path::absolute(target)
        .ok()
        .filter(|_| metadata.is_file())?;
    absolute.parent().map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_machine_is_examined_and_what_lacks_has_a_remedy() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("data");
        std::fs::write(&file, "x").unwrap();
        let capabilities = doctor(&Sysroot::host(), Some(&file));
        for name in [
            "io_uring",
            "libaio",
            "direct I/O",
            "cachestat",
            "device counters",
        ] {
            assert!(capabilities.iter().any(|one| one.name == name), "{name}");
        }
        for one in &capabilities {
            assert_eq!(
                one.remedy.is_some(),
                one.status != CapabilityStatus::Ok,
                "{one:?}"
            );
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn files_are_examined_where_they_lie_and_devices_not_at_all() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(directory_of(file.path()).as_deref(), file.path().parent());
        assert_eq!(directory_of(Path::new("/")), Some(PathBuf::from("/")));
        assert_eq!(directory_of(Path::new("/dev/null")), None);
    }
}
