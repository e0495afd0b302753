//! Which files, which range of them, and which job uses what.
//!
//! The arithmetic is that of fathom's own layout: the data set is split evenly
//! over all files, the offset counts from the start of each, and workers that
//! share files walk through contiguous regions of their own.

use fathom_model::unit::bytes_exact;
use fathom_model::workload::WorkerRegion;
use fathom_model::{ScheduledTrial, Target, Workload};

use super::draft::{Draft, Own};
use super::{FioExport, FioFiles, named, vocabulary};
use fathom_plan::TargetKind;

/// What fathom takes for the null target without a size.
const NULL_BYTES: u64 = 1 << 40;
/// fio reads lines of up to 4096 characters.
const LONGEST_LINE: usize = 4000;

/// Where the jobs of a trial lie.
#[derive(Debug)]
pub(super) struct Placed {
    /// One entry per section.
    pub(super) each: Vec<Own>,
    /// Options of a job that writes all files wholly.
    pub(super) whole: Own,
}

/// The files of a trial.
struct Ground<'a> {
    workload: &'a Workload,
    /// A file or device that was named; else a directory.
    single: bool,
    shared: bool,
    /// Files of one worker, or shared ones.
    count: u64,
    /// Size of each file, where it is known.
    file_bytes: Option<u64>,
    offset_bytes: u64,
    /// Length of the range that is accessed in each, where it is known.
    region_bytes: Option<u64>,
}

/// Options of each section; `None` when something was refused.
pub(super) fn write(
    trial: &ScheduledTrial,
    export: &FioExport<'_>,
    draft: &mut Draft,
) -> Option<Placed> {
    let workload = &trial.workload;
    if let Some(list) = workload.replay() {
        let target = trial.target.path().and_then(|path| path.to_str());
        vocabulary::replay(list, target.filter(|p| is_plain(p)), draft);
    }
    if let (Some(named), Target::Path(_)) = (&workload.data_set.named, &trial.target) {
        return named::placed(workload, named, draft);
    }
    match &trial.target {
        Target::Sim(_) => {
            draft.refuse("targets", "a simulated drive exists in fathom alone");
            None
        }
        Target::Peer(_) => {
            draft.refuse("targets", "a connection comes from a job file; use that");
            None
        }
        Target::Bucket(_) => {
            draft.refuse("targets", "fio sends no requests like these to a bucket");
            None
        }
        Target::Null => Some(nothing(workload)),
        Target::Path(path) => {
            let Some(path) = path.to_str().filter(|p| is_plain(p)) else {
                let reason = "a job file cannot hold this path: it has control characters, or one \
                              of $ \\ ; #";
                draft.refuse("targets", reason);
                return None;
            };
            let facts = export.facts.get(&trial.target).copied().unwrap_or_default();
            let single = match facts.kind {
                Some(kind) => kind != TargetKind::Directory,
                None => path.starts_with("/dev/"),
            };
            let ground = Ground::new(workload, single, facts.size_bytes, draft)?;
            ground.placed(path, export.files, draft)
        }
    }
}

/// What a line can hold without being changed by fio.
pub(super) fn is_plain(path: &str) -> bool {
    let odd = |c: char| c.is_control() || matches!(c, '$' | '\\' | ';' | '#');
    !path.contains(odd) && path.trim() == path && !path.is_empty()
}

pub(super) fn escaped(path: &str) -> String {
    path.replace(':', "\\:")
}

pub(super) fn option(name: &str, value: impl ToString) -> (String, String) {
    (name.to_owned(), value.to_string())
}

/// The null target: no files, but fio wants a size.
fn nothing(workload: &Workload) -> Placed {
    let workers = u64::from(workload.workers.max(1));
    let each = workload.data_set.size_bytes.unwrap_or(NULL_BYTES) / workers;
    let mut own = vec![option("size", each.max(workload.block.max_bytes()))];
    if workers > 1 {
        own.push(option("numjobs", workers));
    }
    Placed {
        whole: own.clone(),
        each: vec![own],
    }
}

impl<'a> Ground<'a> {
    fn new(
        workload: &'a Workload,
        single: bool,
        there_bytes: Option<u64>,
        draft: &mut Draft,
    ) -> Option<Ground<'a>> {
        let workers = u64::from(workload.workers.max(1));
        let shared = single || workload.data_set.files.shared;
        let count = match single {
            true => 1,
            false => u64::from(workload.data_set.files.count.max(1)),
        };
        let total = if shared { count } else { count * workers };
        let align = workload.align_bytes.max(1);
        let size = workload
            .data_set
            .size_bytes
            .or(there_bytes.filter(|_| single));
        let file_bytes = size.map(|size| size / total).map(|bytes| match single {
            true => bytes,
            false => bytes - bytes % align,
        });
        let start = workload
            .data_set
            .offset_bytes
            .div_ceil(align)
            .saturating_mul(align);
        let room = file_bytes.map(|bytes| bytes.saturating_sub(start));
        let asked = workload.data_set.working_set_bytes.map(|set| set / total);
        let span = match (asked, room) {
            (Some(asked), Some(room)) => Some(asked.min(room)),
            (asked, room) => asked.or(room),
        };
        let least = workload.block.min_bytes().max(1);
        let region = span.map(|span| span.saturating_sub(workload.misalign_bytes));
        let region_bytes = region.map(|bytes| bytes - bytes % least);
        if !single && region_bytes.is_none() {
            draft.refuse("size", "a directory needs the size of the test files");
            return None;
        }
        if region_bytes.is_some_and(|bytes| bytes < workload.block.max_bytes()) {
            draft.refuse(
                "size",
                "the accessed range of a file is smaller than a block",
            );
            return None;
        }
        Some(Ground {
            workload,
            single,
            shared,
            count,
            file_bytes,
            offset_bytes: start + workload.misalign_bytes,
            region_bytes,
        })
    }

    fn placed(&self, path: &str, files: FioFiles<'_>, draft: &mut Draft) -> Option<Placed> {
        self.tell_of_working_set(files, draft);
        let workers = u64::from(self.workload.workers.max(1));
        let in_order = !self.workload.pattern.is_random();
        let (whole, mut common) = (self.all_files(path, files), Own::new());
        if matches!(files, FioFiles::Given(_)) {
            common.push(option("allow_file_create", 0));
        }
        let split = self.workload.data_set.region == WorkerRegion::Split;
        let mut each = if self.shared && in_order && workers > 1 && split {
            self.regions(path, files, draft)?
        } else if !self.shared && self.count > 1 && matches!(files, FioFiles::Given(_)) {
            (0..workers)
                .map(|worker| {
                    let first = worker * self.count;
                    let mut own = listed(path, files, first..first + self.count);
                    own.extend(self.range(self.offset_bytes, self.region_bytes));
                    own
                })
                .collect()
        } else {
            let mut own = self.names(path, files);
            match self.workload.data_set.region {
                WorkerRegion::Staggered {
                    step_bytes,
                    span_bytes,
                } if self.shared => {
                    own.push(option("offset_increment", step_bytes));
                    own.extend(self.range(self.offset_bytes, span_bytes));
                }
                _ => own.extend(self.range(self.offset_bytes, self.region_bytes)),
            }
            vec![own]
        };
        let longest = each
            .iter()
            .flatten()
            .map(|(name, value)| name.len() + value.len());
        if longest.max().unwrap_or(0) > LONGEST_LINE {
            draft.refuse(
                "nrfiles",
                "the list of files is longer than a line of fio may be",
            );
            return None;
        }
        for own in &mut each {
            if self.count > 1 {
                let service = if in_order { "sequential" } else { "random" };
                own.push(option("file_service_type", service));
            }
            own.extend(common.iter().cloned());
        }
        Some(Placed { each, whole })
    }

    fn tell_of_working_set(&self, files: FioFiles<'_>, draft: &mut Draft) {
        let end = self.region_bytes.map(|bytes| self.offset_bytes + bytes);
        let Some((file, end)) = self.file_bytes.zip(end) else {
            return;
        };
        let beyond = file.saturating_sub(end) >= self.workload.block.max_bytes();
        if beyond && !self.single && matches!(files, FioFiles::Own(_)) {
            draft.differs(format!(
                "fio's files end with the accessed range; fathom's have {} each",
                bytes_exact(file)
            ));
        }
    }

    /// Names and number of all files, and the jobs that use them.
    fn names(&self, path: &str, files: FioFiles<'_>) -> Own {
        let workers = self.workload.workers.max(1);
        let (FioFiles::Own(prefix) | FioFiles::Given(prefix)) = files;
        let mut own = Own::new();
        if self.single {
            own.push(option("filename", escaped(path)));
        } else {
            own.push(option("directory", escaped(path)));
            let format = match (self.shared, self.count) {
                (true, _) => format!("{prefix}.$filenum"),
                (false, 1) => format!("{prefix}.$jobnum"),
                (false, _) => format!("{prefix}.$jobnum.$filenum"),
            };
            own.push(option("filename_format", format));
        }
        if self.count > 1 {
            own.push(option("nrfiles", self.count));
        }
        if workers > 1 {
            own.push(option("numjobs", workers));
        }
        own
    }

    /// Offset in each file and size over all files of a job.
    fn range(&self, offset: u64, region: Option<u64>) -> Own {
        let mut own = Own::new();
        if offset > 0 {
            own.push(option("offset", offset));
        }
        if let Some(region) = region {
            own.push(option("size", region * self.count));
        }
        own
    }

    /// A job that uses all files wholly.
    fn all_files(&self, path: &str, files: FioFiles<'_>) -> Own {
        let workers = u64::from(self.workload.workers.max(1));
        let listed_all = !self.shared && self.count > 1 && matches!(files, FioFiles::Given(_));
        let mut own = match listed_all {
            true => listed(path, files, 0..self.count * workers),
            false => self.names(path, files),
        };
        if self.shared {
            own.retain(|(name, _)| name != "numjobs");
        }
        let jobs = if listed_all { workers } else { 1 };
        if let Some(bytes) = self.file_bytes {
            own.push(option("size", bytes * self.count * jobs));
        }
        own
    }

    /// Contiguous regions of shared files, one for each worker.
    fn regions(&self, path: &str, files: FioFiles<'_>, draft: &mut Draft) -> Option<Vec<Own>> {
        let workers = u64::from(self.workload.workers.max(1));
        let Some(region) = self.region_bytes else {
            let reason = "the size of the target is not known here, and each of fio's jobs needs \
                          its part of it; give a size";
            draft.refuse("size", reason);
            return None;
        };
        if self.count > 1 && self.count.is_multiple_of(workers) {
            let share = self.count / workers;
            let own = |worker: u64| {
                let first = worker * share;
                let mut own = listed(path, files, first..first + share);
                own.extend(option_offset(self.offset_bytes));
                own.push(option("size", region * share));
                own
            };
            return Some((0..workers).map(own).collect());
        }
        if !workers.is_multiple_of(self.count) {
            let reason = "the regions of the workers would cross from file to file, which a job of \
                          fio cannot; choose a multiple of the one as the other";
            draft.refuse("nrfiles", reason);
            return None;
        }
        let sharing = workers / self.count;
        let cell = self.workload.block.max_bytes().max(1);
        let each = region / cell / sharing * cell;
        if each == 0 {
            draft.refuse("numjobs", "a worker's region is smaller than a block");
            return None;
        }
        if each * sharing + cell <= region {
            draft.differs("the last blocks, which cannot be shared out evenly, are not visited");
        }
        let of_file = |file: u64| {
            let mut own = match self.single {
                true => vec![option("filename", escaped(path))],
                false => listed(path, files, file..file + 1),
            };
            own.extend(option_offset(self.offset_bytes));
            own.push(option("size", each));
            if sharing > 1 {
                own.push(option("offset_increment", each));
                own.push(option("numjobs", sharing));
            }
            own
        };
        Some((0..self.count).map(of_file).collect())
    }
}

fn option_offset(offset: u64) -> Option<(String, String)> {
    (offset > 0).then(|| option("offset", offset))
}

/// Files of a directory by their numbers.
fn listed(path: &str, files: FioFiles<'_>, numbers: std::ops::Range<u64>) -> Own {
    let (FioFiles::Own(prefix) | FioFiles::Given(prefix)) = files;
    let names: Vec<String> = numbers.map(|n| format!("{prefix}.{n}")).collect();
    vec![
        option("directory", escaped(path)),
        option("filename", names.join(":")),
    ]
}
