//! Who uses a block device or a file right now.
//!
//! Reads `/proc` and `/sys` below a root that tests can choose. What cannot be
//! read is not reported as unused: the exclusive open of
//! [`super::DeviceGuard::claim`] has the last word.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The kernel's number of a block device.
pub(crate) type DeviceNumber = (u32, u32);

/// The numbers of a device file.
pub(crate) fn number_of(rdev: u64) -> DeviceNumber {
    (rustix::fs::major(rdev), rustix::fs::minor(rdev))
}

/// A device and its partitions, as sysfs knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Family {
    /// Kernel names with numbers; the device itself first.
    pub(crate) members: Vec<(String, DeviceNumber)>,
    /// Devices on top of any member: dm, md, bcache, ….
    pub(crate) holders: BTreeSet<String>,
}

/// Looks a device up in sysfs below `root`. `None` when it is not there.
pub(crate) fn family(root: &Path, number: DeviceNumber) -> Option<Family> {
    let dir = root.join(format!("sys/dev/block/{}:{}", number.0, number.1));
    let dir = fs::canonicalize(dir).ok()?;
    let name = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned());
    let mut members = vec![(name(&dir)?, number)];
    let mut dirs = vec![dir.clone()];
    for entry in fs::read_dir(&dir).ok()?.flatten() {
        let path = entry.path();
        if path.join("partition").exists()
            && let Some(number) = read_number(&path.join("dev"))
        {
            members.push((name(&path)?, number));
            dirs.push(path);
        }
    }
    members[1..].sort();
    let mut holders = BTreeSet::new();
    for dir in dirs {
        for holder in fs::read_dir(dir.join("holders"))
            .into_iter()
            .flatten()
            .flatten()
        {
            holders.insert(describe_holder(&holder.path()));
        }
    }
    Some(Family { members, holders })
}

fn read_number(path: &Path) -> Option<DeviceNumber> {
    let text = fs::read_to_string(path).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// `dm-0 (mpatha)` where the mapper has a name, `md127` otherwise.
fn describe_holder(path: &Path) -> String {
    let name = path
        .file_name()
        .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    match fs::read_to_string(path.join("dm/name")) {
        Ok(mapped) => format!("{name} ({})", mapped.trim()),
        Err(_) => name,
    }
}

/// Where members of a family are mounted.
pub(crate) fn mounts(root: &Path, family: &Family) -> Vec<String> {
    let text = fs::read_to_string(root.join("proc/self/mountinfo")).unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let (front, back) = line.split_once(" - ")?;
            let mut fields = front.split(' ').skip(2);
            let number = fields.next()?;
            let mount_point = unescape(fields.nth(1)?);
            // Btrfs shows a number of its own; its source is a device file.
            let source = PathBuf::from(unescape(back.split(' ').nth(1)?));
            let source_number = fs::metadata(&source)
                .ok()
                .filter(|m| m.file_type().is_block_device())
                .map(|m| number_of(m.rdev()));
            let member = family.members.iter().find(|(_, member)| {
                number == format!("{}:{}", member.0, member.1) || source_number == Some(*member)
            })?;
            Some(format!("{} is mounted at {mount_point}", member.0))
        })
        .collect()
}

/// Octal escapes of spaces and the like in mount tables.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let code = after
            .get(..3)
            .and_then(|code| u8::from_str_radix(code, 8).ok());
        match code {
            Some(byte) => {
                out.push(char::from(byte));
                rest = &after[3..];
            }
            None => {
                out.push('\\');
                rest = after;
            }
        }
    }
    out + rest
}

/// Members of a family, or a file, that serve as swap space.
pub(crate) fn swaps(root: &Path, uses: impl Fn(&Path) -> bool) -> Vec<String> {
    let text = fs::read_to_string(root.join("proc/swaps")).unwrap_or_default();
    text.lines()
        .skip(1)
        .filter_map(|line| line.split_ascii_whitespace().next())
        .map(unescape)
        .filter(|path| uses(Path::new(path)))
        .map(|path| format!("{path} is in use as swap space"))
        .collect()
}

/// Loop devices that lie on a device or file.
pub(crate) fn loops(root: &Path, uses: impl Fn(&Path) -> bool) -> Vec<String> {
    let entries = fs::read_dir(root.join("sys/block"))
        .into_iter()
        .flatten()
        .flatten();
    entries
        .filter_map(|entry| {
            let backing = fs::read_to_string(entry.path().join("loop/backing_file")).ok()?;
            uses(Path::new(backing.trim_end_matches('\n'))).then(|| {
                format!(
                    "loop device {} lies on it",
                    entry.file_name().to_string_lossy()
                )
            })
        })
        .collect()
}

/// Processes other than this one that have a member of the family open. Only
/// root sees all of them.
pub(crate) fn openers(root: &Path, family: &Family) -> Vec<String> {
    let own = std::process::id().to_string();
    let mut found = BTreeSet::new();
    for process in fs::read_dir(root.join("proc"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let id = process.file_name().to_string_lossy().into_owned();
        if id == own || !id.bytes().all(|b| b.is_ascii_digit()) {
            continue;
        }
        for fd in fs::read_dir(process.path().join("fd"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let Ok(target) = fs::metadata(fd.path()) else {
                continue;
            };
            let number = number_of(target.rdev());
            let member = family.members.iter().find(|(_, member)| *member == number);
            if let (true, Some((name, _))) = (target.file_type().is_block_device(), member) {
                let command = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
                found.insert(format!(
                    "{name} is open in process {id} ({})",
                    command.trim()
                ));
            }
        }
    }
    found.into_iter().collect()
}
