//! Who uses a block device or a file right now.
//!
//! Reads `/proc` and `/sys` below a root that tests can choose. What cannot be
//! read is not reported as unused: the exclusive open of
//! [`super::DeviceGuard::claim`] has the last word.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use fathom_deadline::{MountTable, ask, paths};
use rustix::fs::{AtFlags, CWD, FileType, Statx, StatxFlags, statx};

use super::backing::Backing;

/// The kernel's number of a block device.
pub(crate) type DeviceNumber = (u32, u32);

/// The numbers of a device file.
pub(crate) fn number_of(rdev: u64) -> DeviceNumber {
    (rustix::fs::major(rdev), rustix::fs::minor(rdev))
}

/// A device and its partitions, as sysfs knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeviceFamily {
    /// Kernel names with numbers; the device itself first.
    pub(crate) members: Vec<(String, DeviceNumber)>,
    /// Devices on top of any member: dm, md, bcache, ….
    pub(crate) holders: BTreeSet<String>,
}

/// Looks a device up in sysfs below `root`. `None` when it is not there.
pub(crate) fn family(root: &Path, number: DeviceNumber) -> Option<DeviceFamily> {
    let dir = root.join(format!("sys/dev/block/{}:{}", number.0, number.1));
    let dir = fs::canonicalize(dir).ok()?;
    let name = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned());
    let mut members = vec![(name(&dir)?, number)];
    let mut dirs = vec![dir.clone()];
    for entry in fs::read_dir(&dir).ok()?.flatten() {
        let path = entry.path();
        if path.join("partition").exists()
            && let Some(number) = number_in(&path.join("dev"))
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
    Some(DeviceFamily { members, holders })
}

pub(crate) fn number_in(path: &Path) -> Option<DeviceNumber> {
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

/// Where members of a family are mounted, in this mount namespace and in those
/// of all processes that this one may look at.
pub(crate) fn mounts(root: &Path, family: &DeviceFamily) -> Vec<String> {
    let own = mounted_in(root, "self", family);
    let mut found: Vec<String> = own.clone();
    let mut namespaces = BTreeSet::from([namespace(root, "self")]);
    for process in processes(root) {
        if !namespaces.insert(namespace(root, &process)) {
            continue;
        }
        let there = mounted_in(root, &process, family);
        let news = there.into_iter().filter(|mount| !own.contains(mount));
        found.extend(news.map(|mount| format!("{mount} in the namespace of process {process}")));
    }
    found
}

/// What a process' mount namespace is called.
fn namespace(root: &Path, process: &str) -> Option<PathBuf> {
    fs::read_link(root.join(format!("proc/{process}/ns/mnt"))).ok()
}

fn processes(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root.join("proc"));
    let names = entries.into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| name.bytes().all(|b| b.is_ascii_digit()))
        .collect()
}

fn mounted_in(root: &Path, process: &str, family: &DeviceFamily) -> Vec<String> {
    let path = root.join(format!("proc/{process}/mountinfo"));
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let (front, back) = line.split_once(" - ")?;
            let mut fields = front.split(' ').skip(2);
            let number = fields.next()?;
            let mount_point = unescape(fields.nth(1)?);
            // Btrfs shows a number of its own; its source is a device file.
            let source = PathBuf::from(unescape(back.split(' ').nth(1)?));
            let source_number = paths::metadata(&source)
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

/// Members of a family that serve as swap space.
pub(crate) fn swaps_of(root: &Path, family: &DeviceFamily) -> Vec<String> {
    swaps(root, |path| {
        let facts = paths::metadata(path);
        facts.is_ok_and(|facts| {
            let number = number_of(facts.rdev());
            let is_member = |(_, member): &(String, DeviceNumber)| *member == number;
            facts.file_type().is_block_device() && family.members.iter().any(is_member)
        })
    })
}

/// Loop devices that lie on a device or file.
pub(crate) fn loops(
    root: &Path,
    backing: &dyn Fn(&Path) -> Option<Backing>,
    uses: impl Fn(&Backing) -> bool,
) -> Vec<String> {
    let entries = fs::read_dir(root.join("sys/block"))
        .into_iter()
        .flatten()
        .flatten();
    entries
        .filter(|entry| backing(&entry.path()).is_some_and(|backing| uses(&backing)))
        .map(|entry| {
            let name = entry.file_name();
            format!("loop device {} lies on it", name.to_string_lossy())
        })
        .collect()
}

/// A process that has a file open for writing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WritingProcess {
    /// Its number.
    pub(crate) process: String,
    /// Number and name: `process 4711 (qemu-kvm)`.
    pub(crate) shown: String,
}

/// Whether another process is an agent, as this one is, of the same program.
pub(crate) fn is_fellow_agent(root: &Path, process: &str) -> bool {
    let facts = |process: &str| {
        let folder = root.join("proc").join(process);
        let program = open_file(&folder.join("exe"))?;
        let line = fs::read(folder.join("cmdline")).ok()?;
        let command = line.split(|byte| *byte == 0).nth(1)?;
        let device = (program.stx_dev_major, program.stx_dev_minor);
        (command == b"agent").then_some((device, program.stx_ino))
    };
    facts("self").is_some_and(|own| facts(process) == Some(own))
}

/// Processes other than this one that have a file open for writing.
pub(crate) fn writers(root: &Path, device: DeviceNumber, inode: u64) -> BTreeSet<WritingProcess> {
    let own = std::process::id().to_string();
    let mut found = BTreeSet::new();
    for process in processes(root).into_iter().filter(|id| *id != own) {
        let folder = root.join("proc").join(&process);
        for fd in fs::read_dir(folder.join("fd"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let Some(facts) = open_file(&fd.path()) else {
                continue;
            };
            let number = (facts.stx_dev_major, facts.stx_dev_minor);
            let same = kind_of(&facts).is_file() && (number, facts.stx_ino) == (device, inode);
            let mode = |info: String| {
                let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
                flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok())
            };
            let info = fs::read_to_string(folder.join("fdinfo").join(fd.file_name()));
            if same && info.ok().and_then(mode).is_some_and(|flags| flags & 3 != 0) {
                let command = fs::read_to_string(folder.join("comm")).unwrap_or_default();
                let shown = format!("process {process} ({})", command.trim());
                let process = process.clone();
                found.insert(WritingProcess { process, shown });
            }
        }
    }
    found
}

/// The block device that a descriptor of a process refers to.
fn open_device(descriptor: &Path) -> Option<DeviceNumber> {
    let facts = open_file(descriptor)?;
    kind_of(&facts)
        .is_block_device()
        .then_some((facts.stx_rdev_major, facts.stx_rdev_minor))
}

fn kind_of(facts: &Statx) -> FileType {
    FileType::from_raw_mode(facts.stx_mode.into())
}

/// What a descriptor of a process refers to. What the kernel has in its cache is
/// enough: files of a server that is gone may be open too.
fn open_file(descriptor: &Path) -> Option<Statx> {
    let target = fs::read_link(descriptor).ok()?;
    // Pipes, sockets and the like are no paths.
    if !target.is_absolute() {
        return None;
    }
    let look = |descriptor: &Path| {
        let flags = AtFlags::STATX_DONT_SYNC;
        statx(CWD, descriptor, flags, StatxFlags::TYPE | StatxFlags::INO).ok()
    };
    let table = MountTable::recent();
    match table.of(&target).filter(|mount| mount.needs_others()) {
        None => look(descriptor),
        Some(mount) => {
            let descriptor = descriptor.to_owned();
            ask(&mount.name(), move || look(&descriptor)).ok()?
        }
    }
}

/// Processes other than this one that have a member of the family open. Only
/// root sees all of them.
pub(crate) fn openers(root: &Path, family: &DeviceFamily) -> Vec<String> {
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
            let Some(number) = open_device(&fd.path()) else {
                continue;
            };
            let member = family.members.iter().find(|(_, member)| *member == number);
            if let Some((name, _)) = member {
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
