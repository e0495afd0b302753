//! What a trial must know about its data before it starts: are they in the page
//! cache, were they ever written (validity checks V02 and V04).

use std::fs::{File, Metadata};
use std::io::{Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use fathom_model::run::DataReport;

use crate::Error;
use crate::data_file::{DataFile, by_paths, holds_data};
use crate::page_cache::{cached_bytes, unwritten_back_bytes};
use crate::written::{unwritten_by_sampling, unwritten_bytes};

/// Files that are looked at; of more, as many evenly spaced ones are.
const FILE_LIMIT: usize = 4096;

/// State of a data set. A share is `None` when it cannot be told; the method
/// then says why.
#[derive(Debug, Clone, PartialEq)]
pub struct DataState {
    /// Share of the bytes that is in the page cache, 0 to 1.
    pub cached_share: Option<f64>,
    /// How that was found, or why not.
    pub cached_method: String,
    /// Share of the bytes that was never written, 0 to 1.
    pub unwritten_share: Option<f64>,
    /// How that was found, or why not.
    pub unwritten_method: String,
}

impl DataState {
    /// Enters the state into a trial's report.
    pub fn enter(self, report: &mut DataReport) {
        report.cached_share = self.cached_share;
        report.cached_method = Some(self.cached_method);
        report.unwritten_share = self.unwritten_share;
        report.unwritten_method = Some(self.unwritten_method);
    }
}

/// Sums of one question over all files.
#[derive(Default)]
struct DataTally {
    bytes: u64,
    of: u64,
    method: Option<String>,
    failure: Option<String>,
}

impl DataTally {
    fn add(&mut self, answer: Result<(u64, String), Error>, of: u64) {
        match answer {
            Ok((bytes, method)) => {
                self.bytes += bytes;
                self.of += of;
                self.method.get_or_insert(method);
            }
            Err(error) => {
                self.failure.get_or_insert(error.to_string());
            }
        }
    }

    /// One unanswered file leaves the whole share unknown: it may be the one.
    fn share(self, note: &str) -> (Option<f64>, String) {
        if let Some(failure) = self.failure {
            return (None, failure);
        }
        let Some(method) = self.method else {
            return (None, "there are no data to look at".to_owned());
        };
        let share = (self.bytes as f64 / self.of.max(1) as f64).clamp(0.0, 1.0);
        (Some(share), format!("{method}{note}"))
    }
}

/// Looks at files or block devices, at `range` of each where one is given. The
/// files are flushed first where that is needed to tell what is written;
/// nothing else is changed. Directories are not walked.
pub fn data_state(paths: &[PathBuf], range: Option<Range<u64>>) -> DataState {
    state_of_files(&by_paths(paths), range)
}

/// As [`data_state`], of files that are opened in a way of their own.
pub fn state_of_files(files: &[DataFile<'_>], range: Option<Range<u64>>) -> DataState {
    let (mut cached, mut unwritten) = (DataTally::default(), DataTally::default());
    let looked_at = files.len().min(FILE_LIMIT);
    for index in 0..looked_at {
        let file = &files[index * files.len() / looked_at];
        if let Err(error) = look(file, range.as_ref(), &mut cached, &mut unwritten) {
            let text = error.to_string();
            cached.failure.get_or_insert_with(|| text.clone());
            unwritten.failure.get_or_insert(text);
        }
    }
    let note = if looked_at < files.len() {
        format!(", {looked_at} of {} files", files.len())
    } else {
        String::new()
    };
    let (cached_share, cached_method) = cached.share(&note);
    let (unwritten_share, unwritten_method) = unwritten.share(&note);
    DataState {
        cached_share,
        cached_method,
        unwritten_share,
        unwritten_method,
    }
}

/// Share of the data in the page cache alone, 0 to 1, and how it was found or
/// why it is not known; within `range` of each file where one is given.
pub fn cached_share(paths: &[PathBuf], range: Option<Range<u64>>) -> (Option<f64>, String) {
    cached_share_of_files(&by_paths(paths), range)
}

/// As [`cached_share`], of files that are opened in a way of their own.
pub fn cached_share_of_files(
    files: &[DataFile<'_>],
    range: Option<Range<u64>>,
) -> (Option<f64>, String) {
    let mut cached = DataTally::default();
    let looked_at = files.len().min(FILE_LIMIT);
    for index in 0..looked_at {
        let data = &files[index * files.len() / looked_at];
        let path = data.path();
        match open_sized(data) {
            Ok((file, _, length)) => {
                let part = within(range.as_ref(), length);
                if !part.is_empty() {
                    let bytes = part.end - part.start;
                    cached.add(ask_cache(path, &file, part), bytes);
                }
            }
            Err(error) => cached.add(Err(error), 0),
        }
    }
    cached.share("")
}

/// How long a file may take to say what it has in memory.
const PATIENCE: Duration = Duration::from_millis(500);

/// Bytes of these files or block devices that lie in the page cache and have
/// not been written yet. `None` when the kernel cannot count them (before Linux
/// 6.5), for more than 4096 files, and when a file does not answer in time.
pub fn unflushed_bytes(paths: &[PathBuf]) -> Option<u64> {
    if paths.is_empty() || paths.len() > FILE_LIMIT {
        return None;
    }
    let paths = paths.to_vec();
    let (answer, answered) = mpsc::channel();
    // A file system that hangs keeps this thread and nobody else.
    thread::Builder::new()
        .name("fathom-dirty".to_owned())
        .spawn(move || {
            let bytes = paths.iter().try_fold(0_u64, |sum, path| {
                let (file, ..) = open_sized(&DataFile::by_path(path)).ok()?;
                Some(sum.saturating_add(unwritten_back_bytes(&file).ok()?))
            });
            // Nobody listens any more when it took too long.
            let _ = answer.send(bytes);
        })
        .ok()?;
    answered.recv_timeout(PATIENCE).ok()?
}

fn look(
    data: &DataFile<'_>,
    range: Option<&Range<u64>>,
    cached: &mut DataTally,
    unwritten: &mut DataTally,
) -> Result<(), Error> {
    let path = data.path();
    let (file, metadata, length) = open_sized(data)?;
    let Range { start, end } = within(range, length);
    if start >= end {
        return Ok(());
    }
    cached.add(ask_cache(path, &file, start..end), end - start);
    let answer = if metadata.file_type().is_block_device() {
        unwritten_by_sampling(path, &file, start, end)
    } else {
        unwritten_bytes(path, &file, start, end)
    };
    unwritten.add(answer.map(|found| (found.bytes, found.method)), end - start);
    Ok(())
}

/// The part of a file of this length that is asked for.
fn within(range: Option<&Range<u64>>, length: u64) -> Range<u64> {
    range.map_or(0..length, |range| {
        range.start.min(length)..range.end.min(length)
    })
}

fn ask_cache(path: &Path, file: &File, range: Range<u64>) -> Result<(u64, String), Error> {
    let found = cached_bytes(path, file, range.start, range.end)?;
    Ok((found.bytes, found.method.to_owned()))
}

/// Opens a file or block device and finds its length.
fn open_sized(data: &DataFile<'_>) -> Result<(File, Metadata, u64), Error> {
    let path = data.path();
    let open = |source| Error::Open {
        path: path.to_owned(),
        source,
    };
    let mut file = data.open().map_err(open)?;
    let metadata = file.metadata().map_err(open)?;
    let kind = metadata.file_type();
    if !holds_data(&file).map_err(open)? {
        let reason = "neither a file nor a block device".to_owned();
        return Err(Error::Unknown {
            path: path.to_owned(),
            reason,
        });
    }
    let length = if kind.is_block_device() {
        let find = |source| Error::Ask {
            what: "find the size",
            path: path.to_owned(),
            source,
        };
        file.seek(SeekFrom::End(0)).map_err(find)?
    } else {
        metadata.len()
    };
    Ok((file, metadata, length))
}

#[cfg(test)]
#[path = "data_state_tests.rs"]
mod tests;
