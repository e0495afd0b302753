//! Where a trial's data lie: the files, and which worker uses which part.

use std::path::PathBuf;

use fathom_model::Workload;

use crate::Error;
use crate::target_file::TargetFile;

/// What the files of a layout are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// Test files in a directory.
    Directory,
    /// One regular file that was named.
    File,
    /// A block device.
    Device,
    /// A character device that can be read at any offset, for example `/dev/zero`.
    Stream,
    /// The null target: the paths name nothing.
    Null,
    /// A simulated drive: the path names nothing.
    Sim,
}

impl TargetKind {
    /// Whether there are no files and no device: null and simulated targets.
    pub fn is_virtual(self) -> bool {
        matches!(self, TargetKind::Null | TargetKind::Sim)
    }
}

/// One file, or the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutFile {
    /// Where it is, for messages: `file` is what is opened.
    pub path: PathBuf,
    /// The file that lies there, once preparing has found or made it.
    pub file: Option<TargetFile>,
    /// Its full size.
    pub size_bytes: u64,
    /// Start of the accessed range, without deliberate misalignment.
    pub start_bytes: u64,
    /// Length of the accessed range. Accesses stay in
    /// `start_bytes .. start_bytes + span_bytes`.
    pub span_bytes: u64,
}

impl LayoutFile {
    /// The file to be opened.
    ///
    /// # Errors
    /// It has not been prepared.
    pub(crate) fn opened(&self) -> Result<&TargetFile, Error> {
        let file = self.file.as_ref();
        file.ok_or_else(|| Error::target(&self.path, "cannot be opened before it is prepared"))
    }
}

/// The files of a trial and who uses them. All accessed ranges have the same
/// start and length, so that load does not depend on the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// What the files are.
    pub kind: TargetKind,
    /// Every file, in the order of [`crate::access::Access::file`].
    pub files: Vec<LayoutFile>,
    /// All workers use all files; otherwise each worker has
    /// [`Layout::files_per_worker`] files of its own.
    pub shared: bool,
    /// Files that one worker uses.
    pub files_per_worker: u32,
}

impl Layout {
    /// Lays out `count` files per worker (or `count` shared ones) of together
    /// `size_bytes`, and in each the range that the workload accesses.
    /// `path_of` names the files from 0.
    ///
    /// The working set is split evenly over the files; the workload's offset
    /// counts from the start of every file.
    ///
    /// # Errors
    /// [`Error::Workload`] when a worker's share is smaller than one block.
    pub fn new(
        kind: TargetKind,
        workload: &Workload,
        size_bytes: u64,
        path_of: impl Fn(u32) -> PathBuf,
    ) -> Result<Layout, Error> {
        let single = !matches!(kind, TargetKind::Directory | TargetKind::Null);
        let shared = single || workload.data_set.files.shared;
        let files_per_worker = if single {
            1
        } else {
            workload.data_set.files.count.max(1)
        };
        let workers = workload.workers.max(1);
        let total = if shared {
            u64::from(files_per_worker)
        } else {
            u64::from(files_per_worker) * u64::from(workers)
        };
        let align = workload.align_bytes.max(1);
        let mut file_bytes = size_bytes / total;
        if !single {
            file_bytes -= file_bytes % align;
        }
        let start_bytes = workload.data_set.offset_bytes.div_ceil(align) * align;
        let room = file_bytes.saturating_sub(start_bytes);
        let span_bytes = match workload.data_set.working_set_bytes {
            Some(set) => (set / total).min(room),
            None => room,
        };
        let count = u32::try_from(total)
            .map_err(|_| Error::Workload(format!("{total} files are more than can be handled")))?;
        Ok(Layout {
            kind,
            files: (0..count)
                .map(|n| LayoutFile {
                    path: path_of(n),
                    file: None,
                    size_bytes: file_bytes,
                    start_bytes,
                    span_bytes,
                })
                .collect(),
            shared,
            files_per_worker,
        })
    }

    /// Indexes of the first file and of the one after the last that `worker` uses.
    pub fn files_of(&self, worker: u32) -> std::ops::Range<u32> {
        if self.shared {
            0..self.files_per_worker
        } else {
            let first = worker.saturating_mul(self.files_per_worker);
            first..first.saturating_add(self.files_per_worker)
        }
    }

    /// Bytes in the accessed ranges of all files together.
    pub fn active_bytes(&self) -> u64 {
        self.files.iter().map(|f| f.span_bytes).sum()
    }

    /// Bytes of all files together.
    pub fn total_bytes(&self) -> u64 {
        self.files.iter().map(|f| f.size_bytes).sum()
    }
}
