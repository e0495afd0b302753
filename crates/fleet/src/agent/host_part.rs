//! A host's part of the data of all hosts, worked out where the target is
//! seen: only there it is known whether a path is a directory.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use fathom_deadline::paths;
use fathom_model::host_mode::HostPart;
use fathom_model::unit;
use fathom_model::{ScheduledTrial, Target};

/// Why the data of a trial cannot be divided among hosts.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostPartError {
    /// A target that each host would have for itself, or that is one connection.
    #[error("{0} is not one target for several hosts; use a directory, file or device")]
    NotShared(Target),
    #[error("named files and recorded lists cannot be divided among hosts")]
    NamedFiles,
    #[error(
        "{} of {} are too little for {hosts} hosts with blocks of {}",
        unit::bytes(*bytes),
        path.display(),
        unit::bytes(*block_bytes)
    )]
    TooSmall {
        path: PathBuf,
        bytes: u64,
        hosts: u32,
        block_bytes: u64,
    },
    #[error("cannot examine {}: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
}

/// Makes the workload of a trial that of its host's part.
///
/// # Errors
/// When the data cannot be divided among so many hosts.
pub(crate) fn take(spec: &mut ScheduledTrial) -> Result<(), HostPartError> {
    let Some(part) = spec.part else {
        return Ok(());
    };
    let of = u64::from(part.of.max(1));
    match &spec.target {
        Target::Path(path) if !paths::is_dir(path) => {
            let path = path.clone();
            range(spec, &path, part)?;
        }
        // In a directory a host's part is files of its own.
        Target::Path(_) | Target::Null | Target::Bucket(_) => {
            if part.divided {
                share_files(spec, of);
            }
        }
        Target::Sim(_) | Target::Peer(_) => {
            return Err(HostPartError::NotShared(spec.target.clone()));
        }
    }
    if part.divided {
        let bounds = &mut spec.workload.bounds;
        bounds.bytes = bounds.bytes.map(|bytes| (bytes / of).max(1));
        bounds.ops = bounds.ops.map(|ops| (ops / of).max(1));
    }
    Ok(())
}

fn share_files(spec: &mut ScheduledTrial, of: u64) {
    let workload = &mut spec.workload;
    let share = |bytes: &mut Option<u64>| *bytes = bytes.map(|bytes| bytes / of);
    share(&mut workload.data_set.size_bytes);
    share(&mut workload.data_set.working_set_bytes);
    if let Some(meta) = workload.files_work_mut() {
        meta.tree.files = meta.tree.files.div_ceil(of);
    }
    if let Some(object) = workload.requests_mut() {
        object.objects = object.objects.div_ceil(of);
    }
}

/// An equal range of a file or device, in whole blocks.
fn range(spec: &mut ScheduledTrial, path: &Path, part: HostPart) -> Result<(), HostPartError> {
    let workload = &mut spec.workload;
    if workload.data_set.named.is_some() || workload.replay().is_some() {
        return Err(HostPartError::NamedFiles);
    }
    let size = match workload.data_set.size_bytes {
        Some(size) => size,
        None => size_of(path)?,
    };
    let align = workload.align_bytes.max(workload.max_block_bytes()).max(1);
    let whole = size.saturating_sub(workload.data_set.offset_bytes) / u64::from(part.of.max(1));
    let own = whole - whole % align;
    if own == 0 {
        return Err(HostPartError::TooSmall {
            path: path.to_owned(),
            bytes: size,
            hosts: part.of,
            block_bytes: align,
        });
    }
    let offset = own.saturating_mul(u64::from(part.number));
    workload.data_set.offset_bytes = workload.data_set.offset_bytes.saturating_add(offset);
    workload.data_set.size_bytes = Some(workload.data_set.offset_bytes.saturating_add(own));
    let of = u64::from(part.of.max(1));
    workload.data_set.working_set_bytes = workload.data_set.working_set_bytes.map(|set| set / of);
    Ok(())
}

fn size_of(path: &Path) -> Result<u64, HostPartError> {
    let unreadable = |cause: io::Error| HostPartError::Unreadable {
        path: path.to_owned(),
        cause,
    };
    let facts = paths::metadata(path).map_err(unreadable)?;
    if !facts.file_type().is_block_device() {
        return Ok(facts.len());
    }
    let size = paths::on_device(path, |path| File::open(path)?.seek(SeekFrom::End(0)));
    size.map_err(unreadable)
}

/// Whether the trial uses files of another host.
pub(crate) fn of_another(spec: &ScheduledTrial) -> bool {
    spec.part.is_some_and(|part| Some(part.whose) != spec.host)
}

/// What to say when those files are not there.
pub(crate) fn unseen(target: &Target) -> String {
    format!(
        "the files that another host has written to {target} are not seen on this one; rotated \
         data need a directory that all hosts share"
    )
}

#[cfg(test)]
mod tests {
    use fathom_model::Workload;
    use fathom_model::workload::{BlockSizes, DataSet, MetaTree, MetaWork, Work};

    use super::*;
    use crate::test_trial::trial;

    fn spec(target: &Path, number: u32) -> ScheduledTrial {
        let target = Target::Path(target.to_owned());
        ScheduledTrial {
            host: Some(number),
            part: Some(HostPart {
                whose: number,
                number,
                of: 3,
                divided: true,
            }),
            workload: Workload {
                block: BlockSizes::Fixed(4096),
                data_set: DataSet {
                    size_bytes: None,
                    ..DataSet::example()
                },
                ..Workload::example("w")
            },
            ..trial(target)
        }
    }

    #[test]
    fn ranges_of_a_file_do_not_meet_and_lose_less_than_a_block_each() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1_000_003).unwrap();
        let mut end = 0;
        for number in 0..3 {
            let mut spec = spec(file.path(), number);
            take(&mut spec).unwrap();
            let from = spec.workload.data_set.offset_bytes;
            assert_eq!(from, end);
            assert_eq!(from % 4096, 0);
            end = spec.workload.data_set.size_bytes.unwrap();
        }
        assert!(1_000_003 - end < 3 * 4096, "{end}");
        file.as_file().set_len(8192).unwrap();
        let error = take(&mut spec(file.path(), 0)).unwrap_err().to_string();
        assert!(error.contains("too little for 3 hosts"), "{error}");
    }

    #[test]
    fn in_a_directory_sizes_files_and_bounds_are_shared_out() {
        let directory = tempfile::tempdir().unwrap();
        let mut spec = spec(directory.path(), 1);
        spec.workload.data_set.size_bytes = Some(3 << 20);
        spec.workload.bounds.ops = Some(300);
        let mut meta = spec.clone();
        take(&mut spec).unwrap();
        assert_eq!(spec.workload.data_set.size_bytes, Some(1 << 20));
        assert_eq!(spec.workload.bounds.ops, Some(100));
        assert_eq!(spec.workload.data_set.offset_bytes, 0);
        let work = MetaWork::new([], MetaTree::flat(10, 0));
        meta.workload.work = Work::files(work);
        take(&mut meta).unwrap();
        assert_eq!(meta.workload.files_work().unwrap().tree.files, 4);
    }

    #[test]
    fn a_simulated_drive_is_not_shared() {
        let mut spec = spec(Path::new("/"), 0);
        spec.target = "sim:ssd".parse().unwrap();
        assert!(take(&mut spec).is_err());
    }
}
