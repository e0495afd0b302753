//! Whether and how a file takes direct I/O.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::fs::{Advice, OFlags, StatxFlags, fadvise, fdatasync};

use super::aligned::{AlignedBuffer, PAGE_BYTES};
use crate::Error;
use crate::target_file::TargetFile;

/// `STATX_DIOALIGN`, Linux 6.1.
const STATX_DIOALIGN: StatxFlags = StatxFlags::from_bits_retain(0x2000);

/// Opens a file for reading, past the page cache if `direct`.
pub(crate) fn open_to_read(file: &TargetFile, direct: bool) -> Result<File, Error> {
    let mut flags = OFlags::RDONLY;
    if direct {
        flags |= OFlags::DIRECT;
    }
    file.open(flags).map_err(Error::io("open", file.path()))
}

/// Opens a file for writing, past the page cache if `direct`. `None` when the
/// file system does not know direct I/O.
pub(crate) fn open_to_write(file: &TargetFile, direct: bool) -> Result<Option<File>, Error> {
    let mut flags = OFlags::WRONLY;
    if direct {
        flags |= OFlags::DIRECT;
    }
    match file.open(flags) {
        Ok(file) => Ok(Some(file)),
        Err(error) if direct && error.kind() == std::io::ErrorKind::InvalidInput => Ok(None),
        Err(error) => Err(Error::io("open", file.path())(error)),
    }
}

/// Opens a file for writing through the page cache; `None` when it is as long
/// as it is to be.
pub(crate) fn open_to_write_if_shorter(
    file: &TargetFile,
    size_bytes: u64,
) -> Result<Option<File>, Error> {
    let there = file.open(OFlags::RDONLY).and_then(|file| file.metadata());
    let facts = there.map_err(Error::io("examine", file.path()))?;
    match facts.len() < size_bytes {
        true => open_to_write(file, false),
        false => Ok(None),
    }
}

/// The alignment that direct I/O needs on a readable file, or `None` when it
/// does not work.
///
/// Asks the kernel (6.1 and later know it); otherwise reads at falling
/// alignments until one is refused.
pub(crate) fn direct_align(file: &TargetFile) -> Option<u32> {
    let file = open_to_read(file, true).ok()?;
    let stat = rustix::fs::statx(&file, "", rustix::fs::AtFlags::EMPTY_PATH, STATX_DIOALIGN);
    if let Ok(stat) = stat
        && stat.stx_mask & STATX_DIOALIGN.bits() != 0
    {
        return (stat.stx_dio_offset_align > 0).then_some(stat.stx_dio_offset_align);
    }
    let mut buffer = AlignedBuffer::new(PAGE_BYTES);
    let mut works = |align: usize| {
        let block = &mut buffer.bytes_mut()[..align];
        file.read_at(block, align as u64).is_ok()
    };
    if works(512) {
        return Some(512);
    }
    works(PAGE_BYTES).then_some(PAGE_BYTES as u32)
}

/// Writes back and then drops what the page cache holds of a file. Best
/// effort: the share that stayed is measured, not assumed.
pub(crate) fn forget_cached(file: &TargetFile) {
    if let Ok(file) = file.open(OFlags::RDONLY) {
        let _ = fdatasync(&file);
        let _ = fadvise(&file, 0, None, Advice::DontNeed);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn target(path: &Path) -> TargetFile {
        TargetFile::look(&path.canonicalize().unwrap()).unwrap().0
    }

    #[test]
    fn the_alignment_that_is_named_works() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), vec![7; 64 << 10]).unwrap();
        let target = target(file.path());
        match direct_align(&target) {
            None => println!("skipped: no direct I/O on the file system of the temporary files"),
            Some(align) => {
                assert!(align.is_power_of_two() && align <= 64 << 10);
                let mut buffer = AlignedBuffer::new(64 << 10);
                let block = &mut buffer.bytes_mut()[..align as usize];
                let file = open_to_read(&target, true).unwrap();
                let got = file.read_at(block, u64::from(align)).unwrap();
                assert_eq!(got, align as usize);
                assert!(block.iter().all(|b| *b == 7));
            }
        }
    }

    #[test]
    fn what_cannot_be_read_has_no_alignment() {
        let gone = tempfile::NamedTempFile::new().unwrap();
        let gone = target(&gone.into_temp_path());
        assert_eq!(direct_align(&gone), None);
        assert_eq!(direct_align(&target(Path::new("/proc/version"))), None);
    }
}
