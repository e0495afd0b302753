//! Which files a job uses, and how much of them.

use std::path::{Path, PathBuf};

use fathom_model::workload::{BlockSizes, FileLayout, NamedFiles, Work, WorkerRegion, Workload};

use super::asked::Asked;
use super::replay;
use crate::fio::request::account::OptionOutcome;
use crate::fio::request::surroundings::{FioListed, FioPath, FioSurroundings};
use crate::fio::request::value::lists;
use crate::fio::request::value::number::Amount;

/// Files of one run.
pub(super) const MAX_FILES: u64 = 1_000_000;
/// Names of files that fio makes.
const DEFAULT_FORMAT: &str = "$jobname.$jobnum.$filenum";

/// The files of one clone or of several that run as one trial.
pub(super) struct CloneFiles {
    /// All of them, clone by clone unless they are shared.
    pub(super) paths: Vec<PathBuf>,
    /// All clones use the same ones.
    pub(super) shared: bool,
    /// Files of each clone.
    pub(super) each: u64,
    /// Size of the smallest that is there; `None` when one is missing.
    there_bytes: Option<u64>,
    /// Bytes that a recorded list reaches into one of them.
    reach_bytes: Option<u64>,
    /// Free bytes of the file system that they are on.
    free_bytes: Option<u64>,
    /// An earlier job of the run lets them grow until the disk is full.
    pub(super) grows: bool,
    device: bool,
}

/// How much of its files a clone uses.
pub(super) struct Extent {
    /// Bytes that a clone goes through once.
    pub(super) set_bytes: u64,
    /// Bytes of each file that it goes through.
    pub(super) file_bytes: u64,
    /// Bytes that it moves, without loops.
    pub(super) io_bytes: u64,
}

/// The files of clones `first..first + count`.
pub(super) fn name(
    asked: &mut Asked<'_>,
    workload: &Workload,
    clones: std::ops::Range<u32>,
    surroundings: &dyn FioSurroundings,
) -> Option<CloneFiles> {
    let listed = match workload.work {
        Work::Blocks => replay::listed(asked, clones.start, surroundings)?,
        // A list is refused there.
        _ => FioListed::default(),
    };
    let lists: Vec<Vec<PathBuf>> = clones
        .map(|clone| of_clone(asked, clone, &listed, surroundings))
        .collect::<Option<_>>()?;
    let first = lists.first()?;
    let shared = lists.iter().all(|list| list == first);
    let each = first.len() as u64;
    let paths: Vec<PathBuf> = match shared {
        true => first.clone(),
        false => lists.into_iter().flatten().collect(),
    };
    if paths.is_empty() || paths.len() as u64 > MAX_FILES {
        let message = format!(
            "it uses {} files; 1 to {MAX_FILES} are possible",
            paths.len()
        );
        asked.problem("nrfiles", message);
        return None;
    }
    let mut there = Some(u64::MAX);
    let mut device = false;
    for path in &paths {
        match surroundings.look(path) {
            FioPath::File(bytes) => there = there.map(|t| t.min(bytes)),
            FioPath::Device(bytes) => {
                device = true;
                there = there.map(|t| t.min(bytes));
            }
            // Devices without an end give as much as is asked for.
            FioPath::Other => {}
            FioPath::Missing => there = None,
            FioPath::Directory => {
                asked.problem("filename", format!("'{}' is a directory", path.display()));
                return None;
            }
        }
    }
    let free_bytes = match asked.flag("fill_device", false) {
        true => surroundings.free_bytes(&paths[0]),
        false => None,
    };
    Some(CloneFiles {
        free_bytes,
        grows: false,
        paths,
        shared,
        each,
        there_bytes: there,
        reach_bytes: Some(listed.reach_bytes).filter(|reach| *reach > 0),
        device,
    })
}

fn of_clone(
    asked: &mut Asked<'_>,
    clone: u32,
    listed: &FioListed,
    surroundings: &dyn FioSurroundings,
) -> Option<Vec<PathBuf>> {
    if let Some(directory) = asked.text("opendir") {
        let limit = usize::try_from(MAX_FILES).unwrap_or(usize::MAX);
        let files = surroundings.files_below(Path::new(directory), limit);
        if files.is_empty() {
            asked.problem("opendir", format!("there are no files below '{directory}'"));
            return None;
        }
        return Some(files);
    }
    let directory = directory_of(asked, clone);
    let inside = |name: &str| match &directory {
        Some(directory) if !name.starts_with('/') => directory.join(name),
        _ => PathBuf::from(name),
    };
    if let Some(target) = replay::redirected(asked) {
        return Some(vec![inside(target)]);
    }
    let named = asked.names("filename");
    if !named.is_empty() {
        asked.mapped(
            "read_iolog",
            "the operations go to the files that filename= names, whatever the log names",
        );
        return Some(named.iter().map(|name| inside(name)).collect());
    }
    if !listed.names.is_empty() {
        return Some(listed.names.iter().map(|name| inside(name)).collect());
    }
    let count = asked.count("nrfiles").unwrap_or(1).max(1);
    if count > MAX_FILES {
        asked.problem(
            "nrfiles",
            format!("{count} files are more than {MAX_FILES}"),
        );
        return None;
    }
    // A section named after a device means the device.
    let job = inside(&asked.job.name);
    if count == 1 && matches!(surroundings.look(&job), FioPath::Device(_) | FioPath::Other) {
        return Some(vec![job]);
    }
    let names = (0..count).map(|file| made_name(asked, clone, file));
    Some(names.map(|name| inside(&name)).collect())
}

/// The directory that the files of a clone are in; several take turns.
fn directory_of(asked: &Asked<'_>, clone: u32) -> Option<PathBuf> {
    let directories = lists::names(asked.text("directory")?).ok()?;
    let place = usize::try_from(clone).unwrap_or(0) % directories.len().max(1);
    directories.get(place).map(PathBuf::from)
}

/// What a file of a clone is called where no name is given.
fn made_name(asked: &Asked<'_>, clone: u32, file: u64) -> String {
    let format = asked.text("filename_format").filter(|f| !f.is_empty());
    let format = format.unwrap_or(DEFAULT_FORMAT);
    format
        .replace("$jobname", &asked.job.name)
        .replace("$jobnum", &clone.to_string())
        .replace("$filenum", &file.to_string())
        .replace("$clientuid", "localhost")
}

/// Fills in files, sizes and offsets for clones from number `first`.
pub(super) fn fill(
    asked: &mut Asked<'_>,
    workload: &mut Workload,
    files: &CloneFiles,
    clones: std::ops::Range<u32>,
) -> Option<Extent> {
    let (offset, step) = offsets(asked, files, clones.start)?;
    let unit = workload.max_block_bytes().max(workload.align_bytes).max(1);
    let file_bytes = match file_size(asked, files, offset, unit)? {
        FileSize::Known(bytes) => bytes,
        FileSize::UntilFull(bytes) => {
            workload.data_set.ends_when_full = true;
            bytes
        }
        FileSize::AsItWillBe => return Some(all_that_is_there(workload, files)),
    };
    let mut span = file_bytes;
    if let BlockSizes::Fixed(block) = workload.block {
        span -= span % block.max(1);
    }
    let largest = workload.max_block_bytes();
    if span < largest {
        let message = format!("each file has {file_bytes} bytes, less than one block of {largest}");
        asked.problem("size", message);
        return None;
    }
    let count = u32::try_from(files.each).unwrap_or(u32::MAX);
    workload.data_set.files = FileLayout {
        count,
        shared: files.shared,
    };
    workload.data_set.offset_bytes = offset;
    let clones = u64::from(clones.end - clones.start);
    // The last clone's part is the one that reaches furthest.
    let reach = step
        .saturating_mul(clones.saturating_sub(1))
        .saturating_add(span);
    // A device does not grow: the parts of the last clones end with it.
    let reach = match files.there_bytes.filter(|_| files.device) {
        Some(there) => reach.min(there.saturating_sub(offset)),
        None => reach,
    };
    workload.data_set.region = match step {
        0 => WorkerRegion::Whole,
        step_bytes => WorkerRegion::Staggered {
            step_bytes,
            span_bytes: Some(span),
        },
    };
    let each_file = offset.checked_add(reach);
    let total = each_file.and_then(|bytes| bytes.checked_mul(files.paths.len() as u64));
    if total.is_none_or(|total| total > 1 << 62) {
        asked.problem("size", "all files together are too large");
        return None;
    }
    workload.data_set.size_bytes = total;
    let set_bytes = span.saturating_mul(files.each);
    Some(Extent {
        set_bytes,
        file_bytes: span,
        io_bytes: io_bytes(asked, set_bytes),
    })
}

/// Bytes that each clone moves.
fn io_bytes(asked: &mut Asked<'_>, set_bytes: u64) -> u64 {
    match asked.amount("io_size") {
        Some(Amount::Bytes(bytes)) if bytes > 0 => bytes,
        Some(Amount::Percent(percent)) if percent > 0 => share(set_bytes, percent),
        _ => match asked.amount("size") {
            Some(Amount::Bytes(bytes)) if bytes > 0 && asked.has("filesize") => {
                bytes.min(set_bytes)
            }
            _ => set_bytes,
        },
    }
}

/// Names the files of a workload that reads or writes real ones.
pub(super) fn named(asked: &Asked<'_>, files: &CloneFiles) -> NamedFiles {
    NamedFiles {
        paths: files.paths.clone(),
        create: !files.device && asked.flag("allow_file_create", true),
        ours: false,
    }
}

fn share(of: u64, percent: u64) -> u64 {
    u64::try_from(u128::from(of) * u128::from(percent) / 100).unwrap_or(u64::MAX)
}

/// Start of the first clone's range, and how far the next one's lies behind it.
fn offsets(asked: &mut Asked<'_>, files: &CloneFiles, first: u32) -> Option<(u64, u64)> {
    let there = files.there_bytes.filter(|bytes| *bytes < u64::MAX);
    let basis = there.or_else(|| match asked.amount("size") {
        Some(Amount::Bytes(bytes)) => Some(bytes / files.each.max(1)),
        _ => None,
    });
    let mut read = |name: &'static str| match asked.amount(name) {
        None => Some(0),
        Some(Amount::Bytes(bytes)) => Some(bytes),
        Some(Amount::Percent(percent)) => match basis {
            Some(basis) => Some(share(basis, percent)),
            None => {
                asked.problem(
                    name,
                    format!("{name} is a share of a size that is not known"),
                );
                None
            }
        },
        Some(Amount::Zones(_)) => {
            asked.refused(name, "zoned devices are not supported; give it in bytes");
            None
        }
    };
    let increment = read("offset_increment")?;
    let mut offset = read("offset")?;
    if asked.flag("file_append", false)
        && let Some(there) = there
    {
        offset = offset.max(there);
    }
    let shifted = increment
        .checked_mul(u64::from(first))
        .and_then(|by| offset.checked_add(by));
    let Some(mut offset) = shifted.filter(|offset| *offset <= 1 << 61) else {
        asked.problem("offset", "the offset is too large");
        return None;
    };
    if let Some(align) = asked.bytes("offset_align").filter(|align| *align > 0) {
        offset -= offset % align;
    }
    Some((offset, increment))
}

/// How long a file is behind the offset.
enum FileSize {
    Known(u64),
    /// It grows until nothing more fits; at most this.
    UntilFull(u64),
    /// An earlier job of the run lets it grow: all that is there then.
    AsItWillBe,
}

/// All of files that another job makes before.
fn all_that_is_there(workload: &mut Workload, files: &CloneFiles) -> Extent {
    workload.data_set.files = FileLayout {
        count: u32::try_from(files.each).unwrap_or(u32::MAX),
        shared: files.shared,
    };
    workload.data_set.size_bytes = None;
    workload.data_set.region = WorkerRegion::Whole;
    Extent {
        set_bytes: 0,
        file_bytes: 0,
        io_bytes: 0,
    }
}

/// Bytes of each file that a recorded list works on: as far as it reaches, and all
/// that is there or asked for.
fn for_a_list(asked: &Asked<'_>, files: &CloneFiles, reach: u64, room: u64) -> u64 {
    let wanted = match asked.amount("size") {
        Some(Amount::Bytes(bytes)) => reach.max(bytes / files.each.max(1)),
        _ => reach.max(room),
    };
    // A device does not grow.
    match files.device {
        true => wanted.min(room),
        false => wanted,
    }
}

/// Bytes of each file behind the offset, of which accesses are units of `unit`.
fn file_size(
    asked: &mut Asked<'_>,
    files: &CloneFiles,
    offset: u64,
    unit: u64,
) -> Option<FileSize> {
    let there = files.there_bytes.filter(|bytes| *bytes < u64::MAX);
    let room = there.map(|bytes| bytes.saturating_sub(offset));
    let range = asked
        .text("filesize")
        .and_then(|t| lists::range(t, asked.units).ok());
    if let Some((low, high)) = range.filter(|(_, high)| *high > 0) {
        if low < high {
            asked.mapped(
                "filesize",
                "every file has the size in the middle of the range",
            );
        }
        return Some(FileSize::Known(low / 2 + high / 2 + (low & high & 1)));
    }
    if asked.flag("fill_device", false)
        && let Some(size) = until_full(asked, files, room)
    {
        return Some(size);
    }
    if let Some(reach) = files.reach_bytes {
        let reach = reach.checked_next_multiple_of(unit).unwrap_or(reach);
        let bytes = for_a_list(asked, files, reach, room.unwrap_or(0));
        return Some(FileSize::Known(bytes));
    }
    let wanted = match asked.amount("size") {
        Some(Amount::Bytes(bytes)) if bytes > 0 => bytes / files.each.max(1),
        Some(Amount::Percent(percent)) => match there {
            Some(there) => share(there, percent).min(room.unwrap_or(0)),
            None => {
                asked.problem(
                    "size",
                    "a size in percent needs files that are there already",
                );
                return None;
            }
        },
        Some(Amount::Zones(_)) => {
            asked.refused("size", "zoned devices are not supported; give it in bytes");
            return None;
        }
        _ => match room {
            _ if files.grows => return Some(FileSize::AsItWillBe),
            Some(room) if room > 0 => return Some(FileSize::Known(room)),
            _ => {
                let message = "it needs a size: give size=, or name a file or device that is there";
                asked.problem("size", message);
                return None;
            }
        },
    };
    // A device does not grow.
    Some(FileSize::Known(match room {
        Some(room) if files.device => wanted.min(room),
        _ => wanted,
    }))
}

/// What `fill_device` means: where a device is named its end, else until the
/// file system is full.
fn until_full(asked: &mut Asked<'_>, files: &CloneFiles, room: Option<u64>) -> Option<FileSize> {
    if asked.has("size") {
        asked.mapped("fill_device", "the size ends the job, or a full disk");
        return None;
    }
    if files.device {
        asked.mapped("fill_device", "the end of the device ends the job");
        return room.filter(|room| *room > 0).map(FileSize::Known);
    }
    asked.becomes("fill_device", OptionOutcome::Run);
    let free = files.free_bytes?;
    // More than there can be room for: the disk is full before.
    Some(FileSize::UntilFull(
        free.saturating_add(free / 16 + (64 << 20)),
    ))
}
