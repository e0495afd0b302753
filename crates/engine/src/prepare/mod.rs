//! Making the target ready: files that exist, are fathom's and were written.
//!
//! - A directory gets test files `PREFIX.0`, `PREFIX.1`, … and a list of them,
//!   `PREFIX.manifest`. Files of earlier runs are reused when the list says that
//!   fathom made them; a stranger's file with such a name ends the preparation.
//! - Before anything is read it is fully written with real data and flushed, and
//!   the page cache is dropped where the load goes past it.
//! - A file or device that the user named is written to only with permission,
//!   and a device only if [`crate::guard`] finds nothing on it.
//! - Null and simulated targets need nothing.

pub(crate) mod aligned;
mod beside;
mod classify;
mod cleanup;
mod control_group;
pub(crate) mod crew;
pub(crate) mod direct;
pub(crate) mod fill;
mod given;
mod held_lists;
mod hooks;
mod list_text;
mod manifest;
mod memory;
mod named;
mod objects;
mod of_run;
mod preflight;
mod ready;
mod room;
mod simulated;
mod space;
mod test_files;
mod tree;
mod trust;
mod unwritten;

#[cfg(test)]
pub(crate) use classify::not_permitted;
pub use cleanup::{FileAtPath, Removal, remove_file_if};
pub use held_lists::HeldLists;
pub use hooks::{CreationRefused, Hurry, NoHooks, PrepareHooks, PrepareProgress};
pub use of_run::{TestDirectory, remove_files_of_run, remove_surplus_files};
pub use preflight::Preflight;
pub(crate) use space::check_room;
pub use space::room_for_files;
pub use trust::is_private;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_drives::{PersistentDrive, open_drive};
use fathom_model::run::DataReport;
use fathom_model::unit::bytes;
use fathom_model::workload::{BlockSizes, CacheMode, NamedFiles};
use fathom_model::{Job, Target, Workload};
use rustix::fs::OFlags;

use self::beside::{Beside, Contents};
use self::classify::Kind;
use self::ready::Ready;
use self::test_files::TestFiles;
use self::unwritten::Share;
use crate::Error;
use crate::access::{AccessStream, Layout, TargetKind};
use crate::guard::DeviceClaim;
use crate::replay::Recorded;
use crate::target_file::TargetFile;
use crate::verify::Ledger;

/// Size of a null target for which none was asked.
const NULL_BYTES: u64 = 1 << 40;
/// Files that are looked at again after the load.
const LOOKED_AT_AGAIN: usize = 1024;
/// Files that are named in the report.
const NAMED_FILES: usize = 16;

/// What matters when the files of a layout are opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFacts {
    /// `O_DIRECT` was tried and works on this target.
    pub direct_works: bool,
    /// Offsets and lengths of direct I/O must be multiples of this.
    pub direct_align_bytes: u32,
    /// The job may open the target for writing.
    pub writable: bool,
}

/// A target that is ready for a trial. While it lives, test files are locked
/// against other runs, and a device that is written to is claimed.
#[derive(Debug)]
pub struct Prepared {
    /// Where the data lie.
    pub layout: Layout,
    /// Facts about the data, as far as preparing had to know them. What is in
    /// the page cache is not looked at.
    pub data: DataReport,
    /// How the files can be opened.
    pub open: OpenFacts,
    /// What the workers share when contents are verified.
    pub ledger: Option<Arc<Ledger>>,
    /// What the target is ready for.
    pub(crate) ready: Ready,
    /// Remarks for the user, in words.
    pub notes: Vec<String>,
    /// The drive of a simulated target: a new one, which may be replaced by
    /// one that an earlier trial used.
    pub drive: Option<PersistentDrive>,
    test_files: Option<TestFiles>,
    claims: Vec<Claim>,
    contents: Contents,
}

/// A claim on a device, shared by the trials of a set that use it.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    path: PathBuf,
    _device: Arc<DeviceClaim>,
}

/// What preparing finds out and does.
#[derive(Debug, Default)]
struct Data {
    prepared_bytes: u64,
    reused: bool,
    writable: bool,
    direct_align: Option<u32>,
    unwritten: Option<Share>,
    notes: Vec<String>,
}

/// Makes the target of `job` ready.
///
/// # Errors
/// Every reason why the trial cannot run on this target, in words. Files that
/// were created are removed again.
pub fn prepare(job: &Job, hooks: &mut dyn PrepareHooks) -> Result<Prepared, Error> {
    prepare_beside(job, &[], hooks)
}

/// The same for a trial that runs at the same time as others, which have been
/// prepared before: they may share files and devices.
///
/// # Errors
/// As [`prepare`]; also when a trial would change what another one checks.
pub fn prepare_beside(
    job: &Job,
    others: &[&Prepared],
    hooks: &mut dyn PrepareHooks,
) -> Result<Prepared, Error> {
    memory::check(&job.workload)?;
    if job.workload.files_work().is_some() {
        return tree::prepare(job, Beside { others }, hooks);
    }
    if job.workload.requests().is_some() {
        return objects::prepare(job, hooks);
    }
    check_size(&job.workload)?;
    let recorded = Recorded::of(&job.workload)?;
    let task = Task {
        job,
        recorded: recorded.as_ref(),
    };
    let mut prepared = match &job.target {
        Target::Null | Target::Peer(_) => prepare_nothing(task, TargetKind::Null, NULL_BYTES)?,
        Target::Sim(model) => {
            let drive = PersistentDrive::new(open_drive(model, job.seed)?);
            let mut prepared = prepare_nothing(task, TargetKind::Sim, drive.capacity_bytes())?;
            simulated::prepare_drive(job, &drive, &mut prepared, hooks)?;
            prepared.drive = Some(drive);
            prepared
        }
        Target::Bucket(_) => objects::prepare_blocks(task)?,
        Target::Path(path) => match &job.workload.data_set.named {
            Some(named) => prepare_named(task, named, Beside { others }, hooks)?,
            None => prepare_path(task, path, Beside { others }, hooks)?,
        },
    };
    if let Some(recorded) = recorded {
        prepared.ready = Ready::Recorded(Arc::new(recorded));
    }
    Ok(prepared)
}

/// What a target is made ready for.
#[derive(Clone, Copy)]
struct Task<'a> {
    job: &'a Job,
    recorded: Option<&'a Recorded>,
}

/// Null and simulated targets hold no data.
fn prepare_nothing(task: Task<'_>, kind: TargetKind, most_bytes: u64) -> Result<Prepared, Error> {
    let job = task.job;
    if job.workload.verify.is_some() {
        return Err(Error::Workload(format!(
            "'{}' keeps no data that could be verified; use a file or device, or do not verify",
            job.target
        )));
    }
    let name = |n| PathBuf::from(format!("{}#{n}", job.target));
    let layout = match kind {
        TargetKind::Sim => given::layout_within(kind, job, &name(0), most_bytes)?,
        _ => {
            let size_bytes = job.workload.data_set.size_bytes.unwrap_or(most_bytes);
            Layout::new(kind, &job.workload, size_bytes, name)?
        }
    };
    check_fit(task, &layout)?;
    let data = Data {
        writable: true,
        ..Data::default()
    };
    Ok(Prepared::assemble(
        layout,
        data,
        None,
        None,
        Vec::new(),
        Contents::of(job),
    ))
}

fn prepare_path(
    task: Task<'_>,
    path: &Path,
    beside: Beside<'_>,
    hooks: &mut dyn PrepareHooks,
) -> Result<Prepared, Error> {
    let job = task.job;
    let (path, kind) = classify::classify(path)?;
    let mut layout = match kind {
        Kind::Directory => test_files::layout(job, &path)?,
        Kind::File => given::file_layout(job, &path)?,
        Kind::Device => given::device_layout(job, &path)?,
        Kind::Stream => given::stream_layout(job, &path)?,
    };
    check_fit(task, &layout)?;
    beside.check_contents(job, &layout)?;
    let ledger = match job.workload.verify {
        Some(_) => Some(Arc::new(Ledger::new(job, &layout)?)),
        None => None,
    };
    // Only data that the load reads before it writes them must carry stamps.
    let stamps = ledger
        .as_deref()
        .filter(|_| Ledger::needs_prepared(&job.workload));
    let mut data = Data::default();
    let (mut test_files, mut claim) = (None, None);
    match kind {
        Kind::Directory => {
            data.writable = true;
            test_files = Some(TestFiles::prepare(
                job,
                &path,
                &mut layout,
                beside,
                stamps,
                &mut data,
                hooks,
            )?);
        }
        Kind::File => given::prepare_file(job, &path, &layout, stamps, &mut data, hooks)?,
        Kind::Device => {
            claim = given::prepare_device(job, &path, &layout, beside, stamps, &mut data, hooks)?;
        }
        Kind::Stream => data.reused = true,
    }
    if job.workload.sync.every_writes > 0 && data.writable {
        // The first flush of a load pays for its own writes, not for those before.
        let filler = fill::Filler {
            job,
            layout: &layout,
            ledger: None,
            direct_align: data.direct_align,
        };
        filler.settle(hooks)?;
    }
    if job.workload.cache == CacheMode::Direct || job.workload.drop_cache {
        let files = layout.files.iter().filter_map(|file| file.file.as_ref());
        files.for_each(direct::forget_cached);
    }
    let claims = claim.into_iter().collect();
    Ok(Prepared::assemble(
        layout,
        data,
        ledger,
        test_files,
        claims,
        Contents::of(job),
    ))
}

fn prepare_named(
    task: Task<'_>,
    named: &NamedFiles,
    beside: Beside<'_>,
    hooks: &mut dyn PrepareHooks,
) -> Result<Prepared, Error> {
    let job = task.job;
    let files = named::Files::look(named)?;
    let mut layout = files.layout(job)?;
    check_fit(task, &layout)?;
    beside.check_contents(job, &layout)?;
    let ledger = match job.workload.verify {
        Some(_) => Some(Arc::new(Ledger::new(job, &layout)?)),
        None => None,
    };
    let stamps = ledger
        .as_deref()
        .filter(|_| Ledger::needs_prepared(&job.workload));
    let mut data = Data::default();
    let claims = files.prepare(job, &mut layout, beside, stamps, &mut data, hooks)?;
    if job.workload.cache == CacheMode::Direct || job.workload.drop_cache {
        let files = layout.files.iter().filter_map(|file| file.file.as_ref());
        files.for_each(direct::forget_cached);
    }
    Ok(Prepared::assemble(
        layout,
        data,
        ledger,
        None,
        claims,
        Contents::of(job),
    ))
}

/// Deletes the files that the run created, unless `keep`; nothing else, also
/// when somebody has put something else in their place meanwhile.
///
/// # Errors
/// [`Error::Io`] when a file could not be removed.
pub fn cleanup(
    prepared: &mut Prepared,
    keep: bool,
    hooks: &mut dyn PrepareHooks,
) -> Result<Removal, Error> {
    match &mut prepared.test_files {
        Some(files) if !keep => files.remove(hooks),
        _ => Ok(Removal::default()),
    }
}

impl Prepared {
    /// The directory in which this run has made test files for it.
    pub fn directory(&self) -> Option<TestDirectory> {
        self.test_files.as_ref().and_then(TestFiles::directory)
    }

    /// The share of the data that is not written now: somebody may have punched holes
    /// since.
    pub fn unwritten_share_now(&self) -> Option<f64> {
        let (mut bytes, mut missing) = (0.0, 0.0);
        for file in self.layout.files.iter().take(LOOKED_AT_AGAIN) {
            let opened = file.file.as_ref()?.open(OFlags::RDONLY).ok()?;
            let share = unwritten::unwritten_share(&opened, 0, file.size_bytes).value?;
            bytes += file.size_bytes as f64;
            missing += share * file.size_bytes as f64;
        }
        (bytes > 0.0).then(|| missing / bytes)
    }

    /// Sentences about test files that are not where they were prepared any
    /// more: somebody else removed, moved or replaced them during the load.
    pub fn disturbed(&self) -> Vec<String> {
        let mut removal = Removal::default();
        let placed = self.test_files.is_some() && self.ready.tree().is_none();
        let files = self.layout.files.iter().filter(|_| placed);
        for file in files.take(LOOKED_AT_AGAIN) {
            match file.file.as_ref().map(TargetFile::still_there) {
                Some(Ok(false)) => removal.add(&file.path, FileAtPath::Replaced),
                Some(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {
                    removal.add(&file.path, FileAtPath::Missing);
                }
                _ => {}
            }
        }
        let mut remarks = removal.remarks();
        let place = self.test_files.as_ref().map(TestFiles::place);
        if let Some(directory) = place.filter(TestDirectory::was_moved) {
            remarks.push(format!(
                "{}: somebody else moved or removed this directory while test files in it were \
                 used; they went on being used where it lies now",
                directory.path.display()
            ));
        }
        remarks
    }

    fn assemble(
        layout: Layout,
        data: Data,
        ledger: Option<Arc<Ledger>>,
        test_files: Option<TestFiles>,
        claims: Vec<Claim>,
        contents: Contents,
    ) -> Prepared {
        let names = layout.files.iter().take(NAMED_FILES);
        Prepared {
            data: DataReport {
                active_bytes: layout.active_bytes(),
                unwritten_share: data.unwritten.as_ref().and_then(|share| share.value),
                unwritten_method: data.unwritten.map(|share| share.method.to_owned()),
                files: names.map(|file| file.path.display().to_string()).collect(),
                prepared_bytes: data.prepared_bytes,
                reused: data.reused,
                ..DataReport::default()
            },
            open: OpenFacts {
                direct_works: data.direct_align.is_some(),
                direct_align_bytes: data.direct_align.unwrap_or(512),
                writable: data.writable,
            },
            layout,
            ledger,
            notes: data.notes,
            drive: None,
            ready: Ready::default(),
            test_files,
            claims,
            contents,
        }
    }
}

/// A size that the user gave must hold whole blocks.
fn check_size(workload: &Workload) -> Result<(), Error> {
    let (Some(size), BlockSizes::Fixed(block)) = (workload.data_set.size_bytes, &workload.block)
    else {
        return Ok(());
    };
    // Named files are as long as whoever names them wants them to be.
    if workload.data_set.named.is_some() {
        return Ok(());
    }
    let block = (*block).max(1);
    if size.is_multiple_of(block) || !workload.block_by_kind.is_empty() {
        return Ok(());
    }
    let below = size / block * block;
    Err(Error::Workload(format!(
        "the size of {size} bytes is not a multiple of the block of {block} bytes; the nearest \
         sizes are {below} ({}) and {}",
        bytes(below),
        below + block
    )))
}

/// Errors that every worker's stream of accesses would meet show before
/// anything is created.
fn check_fit(task: Task<'_>, layout: &Layout) -> Result<(), Error> {
    let job = task.job;
    if let Some(recorded) = task.recorded {
        recorded.check(&job.workload, layout)?;
    }
    let last = job.workload.workers.max(1) - 1;
    for worker in [0, last] {
        AccessStream::new(&job.workload, layout, worker, job.seed)?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "given_tests.rs"]
mod given_tests;
#[cfg(test)]
#[path = "safety_tests.rs"]
mod safety_tests;
#[cfg(test)]
#[path = "swap_tests.rs"]
mod swap_tests;
#[cfg(test)]
#[path = "prepare_tests.rs"]
mod tests;
