//! How long a device that is about to be used may take to answer.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

/// How long a device may take that has nothing to wake up from.
const AWAKE: Duration = Duration::from_secs(3);
/// How long one may take that sleeps: a disk turns after this time.
const SPIN_UP: Duration = Duration::from_secs(10);
/// Devices below one another that are followed.
const LEVELS_MAX: u32 = 8;

/// Told that a device which may sleep is being waited for.
type Tell = fn(&str);

static TELL: OnceLock<Tell> = OnceLock::new();

/// Has `tell` called with a line about what has not answered yet and is still waited
/// for: a device that may be asleep, a file system whose changes are held up.
pub fn tell_when_waiting(tell: fn(&str)) {
    // The first one stays.
    let _ = TELL.set(tell);
}

/// Passes `text` to the function registered with [`tell_when_waiting`].
pub fn tell_of_waiting(text: &str) {
    if let Some(tell) = TELL.get() {
        tell(text);
    }
}

pub(crate) fn waiting_for(name: &str, waited: Duration, patience: Duration) {
    tell_of_waiting(&format!(
        "{name} has not answered for {} s; waiting for {} s at most, because a disk that \
         sleeps needs time to spin up",
        waited.as_secs(),
        patience.as_secs()
    ));
}

/// How long a device may take to answer that is about to be used: a disk that
/// can sleep, or anything made of one, longer than all others.
pub fn device_patience(device: &Path) -> Duration {
    let number = fs::metadata(device).map_or(0, |facts| facts.rdev());
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let place = format!("/sys/dev/block/{major}:{minor}");
    match fs::canonicalize(place).is_ok_and(|place| may_sleep(&place, LEVELS_MAX)) {
        true => SPIN_UP,
        false => AWAKE,
    }
}

/// Whether a device with this folder in sysfs may be a disk that has been
/// stopped, or lies on one. Only disks of the SCSI layer are ever stopped;
/// virtual ones call themselves rotational, too.
fn may_sleep(place: &Path, levels: u32) -> bool {
    // A partition is a folder within that of its disk.
    let disk = match place.join("partition").exists() {
        true => place.parent().unwrap_or(place),
        false => place,
    };
    let name = disk.file_name().unwrap_or_default().to_string_lossy();
    let turns = fs::read_to_string(disk.join("queue/rotational"));
    if name.starts_with("sd") && turns.is_ok_and(|text| text.trim() == "1") {
        return true;
    }
    let below = fs::read_dir(disk.join("slaves")).into_iter().flatten();
    let below = below.flatten().map(|entry| entry.path());
    let mut below: Vec<PathBuf> = below
        .filter_map(|path| fs::canonicalize(path).ok())
        .collect();
    below.sort();
    levels > 0 && below.iter().any(|place| may_sleep(place, levels - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder like that of a device in sysfs.
    fn device(root: &Path, name: &str, rotational: &str) -> PathBuf {
        let place = root.join(name);
        fs::create_dir_all(place.join("queue")).unwrap();
        fs::create_dir_all(place.join("slaves")).unwrap();
        fs::write(place.join("queue/rotational"), rotational).unwrap();
        place
    }

    #[test]
    fn only_disks_that_turn_and_what_lies_on_them_may_sleep() {
        let root = tempfile::tempdir().unwrap();
        let disk = device(root.path(), "sda", "1\n");
        let part = disk.join("sda1");
        fs::create_dir(&part).unwrap();
        fs::write(part.join("partition"), "1").unwrap();
        let mapped = device(root.path(), "dm-0", "1\n");
        std::os::unix::fs::symlink(&part, mapped.join("slaves/sda1")).unwrap();
        for place in [&disk, &part, &mapped] {
            assert!(may_sleep(place, LEVELS_MAX), "{}", place.display());
        }
        for (name, rotational) in [("sdb", "0\n"), ("vda", "1\n"), ("loop0", "1\n")] {
            let place = device(root.path(), name, rotational);
            assert!(!may_sleep(&place, LEVELS_MAX), "{name}");
        }
        // Made of itself, as no kernel would say.
        let odd = device(root.path(), "md0", "0\n");
        std::os::unix::fs::symlink(&odd, odd.join("slaves/md0")).unwrap();
        assert!(!may_sleep(&odd, LEVELS_MAX));
        assert_eq!(device_patience(Path::new("/dev/null")), AWAKE);
    }
}
