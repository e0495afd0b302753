//! What is written to the drive: in memory or in an unnamed file, as large as
//! what was written, up to a limit; or nowhere.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FallocateFlags, MemfdFlags, Mode, OFlags};

/// Where written data go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Storing {
    /// Into memory.
    Memory,
    /// Into an unnamed file in this folder.
    Folder(PathBuf),
    /// Nowhere: reads give zeros.
    Discard,
}

/// After how many written bytes the size is looked at again.
const LOOK_BYTES: u64 = 16 << 20;

/// The data of a drive.
#[derive(Debug)]
pub(super) struct Store {
    file: Option<File>,
    limit_bytes: u64,
    since_look: AtomicU64,
    refused: AtomicU64,
}

impl Store {
    pub(super) fn new(storing: &Storing, capacity: u64, limit_bytes: u64) -> io::Result<Store> {
        let file = match storing {
            Storing::Discard => None,
            Storing::Memory => Some(File::from(rustix::fs::memfd_create(
                "fathom-lab",
                MemfdFlags::CLOEXEC,
            )?)),
            Storing::Folder(folder) => Some(File::from(rustix::fs::open(
                folder,
                OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC,
                Mode::RUSR | Mode::WUSR,
            )?)),
        };
        if let Some(file) = &file {
            file.set_len(capacity)?;
        }
        Ok(Store {
            file,
            limit_bytes,
            since_look: AtomicU64::new(LOOK_BYTES),
            refused: AtomicU64::new(0),
        })
    }

    /// Fills `data` with what stands at `offset`, zeros where nothing does.
    pub(super) fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        match &self.file {
            Some(file) => file.read_exact_at(data, offset),
            None => {
                data.fill(0);
                Ok(())
            }
        }
    }

    /// Writes `data`, unless that would go over the limit.
    pub(super) fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let bytes = data.len() as u64;
        if self.since_look.fetch_add(bytes, Ordering::Relaxed) + bytes >= LOOK_BYTES {
            if file.metadata()?.blocks() * 512 + LOOK_BYTES > self.limit_bytes {
                self.refused.fetch_add(1, Ordering::Relaxed);
                return Err(io::Error::from_raw_os_error(libc::ENOSPC));
            }
            self.since_look.store(0, Ordering::Relaxed);
        }
        file.write_all_at(data, offset)
    }

    /// Forgets a range.
    pub(super) fn trim(&self, offset: u64, bytes: u64) -> io::Result<()> {
        if let Some(file) = &self.file {
            let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            rustix::fs::fallocate(file, how, offset, bytes)?;
        }
        Ok(())
    }

    pub(super) fn stores(&self) -> bool {
        self.file.is_some()
    }

    /// Writes that found no room.
    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::{LOOK_BYTES, Store, Storing};

    #[test]
    fn keeps_what_is_written_and_forgets_what_is_trimmed() {
        let folder = tempfile::tempdir().expect("a folder");
        for storing in [Storing::Memory, Storing::Folder(folder.path().to_owned())] {
            let store = Store::new(&storing, 1 << 40, 1 << 30).expect("a store");
            store.write(1 << 39, b"abc").expect("room");
            let mut data = [1u8; 5];
            store.read((1 << 39) - 1, &mut data).expect("data");
            assert_eq!(&data, b"\0abc\0");
            store.trim(1 << 39, 4096).expect("trimmed");
            store.read(1 << 39, &mut data).expect("data");
            assert_eq!(data, [0; 5]);
        }
    }

    #[test]
    fn refuses_what_is_over_the_limit() {
        let store = Store::new(&Storing::Memory, 1 << 40, 2 * LOOK_BYTES).expect("a store");
        let data = vec![7; 1 << 20];
        let fitted = (0..64)
            .take_while(|n| store.write(n << 20, &data).is_ok())
            .count();
        assert!((8..48).contains(&fitted), "{fitted} MiB of 32 fitted");
        assert_eq!(store.refused(), 1);
    }

    #[test]
    fn a_drive_without_storage_reads_zeros() {
        let store = Store::new(&Storing::Discard, 1 << 40, 0).expect("a store");
        store.write(0, b"abc").expect("nothing to refuse");
        let mut data = [1u8; 3];
        store.read(0, &mut data).expect("zeros");
        assert_eq!(data, [0; 3]);
    }
}
