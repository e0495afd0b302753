//! A small kernel file that is read again and again without opening it anew.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::Sysroot;

/// First size of a buffer; it grows to the largest content seen.
const FIRST_BYTES: usize = 4096;
/// Content beyond this is not read.
const LIMIT_BYTES: usize = 8 << 20;

/// An open file below `/proc` or `/sys`, read from its start each time.
#[derive(Debug)]
pub struct KeptFile {
    path: PathBuf,
    file: Option<File>,
    reopens: bool,
}

impl KeptFile {
    /// Opens the file; a missing file stays missing.
    pub fn open(sys: &Sysroot, path: impl AsRef<Path>) -> Self {
        let path = sys.locate(path);
        let file = File::open(&path).ok();
        KeptFile {
            path,
            file,
            reopens: false,
        }
    }

    /// The same for a file that may vanish and come back with its device.
    pub fn open_of_device(sys: &Sysroot, path: impl AsRef<Path>) -> Self {
        KeptFile {
            reopens: true,
            ..KeptFile::open(sys, path)
        }
    }

    /// Whether the file could be opened.
    pub fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// The content now, in `buffer`. `None` when there is none.
    pub fn read<'a>(&mut self, buffer: &'a mut Vec<u8>) -> Option<&'a str> {
        let mut length = self.file.as_ref().and_then(|file| read_whole(file, buffer));
        if length.is_none() && self.reopens {
            // The file of a device that was taken away stays dead after the
            // device is back; a new one took its place.
            self.file = File::open(&self.path).ok();
            length = self.file.as_ref().and_then(|file| read_whole(file, buffer));
        }
        std::str::from_utf8(&buffer[..length?]).ok()
    }
}

/// Reads from the start until the end; kernel files give a consistent picture
/// only per call, so the buffer is grown until one call takes all.
fn read_whole(file: &File, buffer: &mut Vec<u8>) -> Option<usize> {
    if buffer.is_empty() {
        buffer.resize(FIRST_BYTES, 0);
    }
    let mut length = 0;
    loop {
        let read = file.read_at(&mut buffer[length..], length as u64).ok()?;
        length += read;
        if read == 0 {
            return (length > 0).then_some(length);
        }
        if length == buffer.len() {
            if length >= LIMIT_BYTES {
                return None;
            }
            buffer.resize(length * 2, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_read_whole_and_changes_are_seen() {
        let dir = tempfile::tempdir().unwrap();
        let sys = Sysroot::at(dir.path());
        let long = "0123456789\n".repeat(5_000);
        std::fs::write(dir.path().join("stat"), &long).unwrap();
        let mut buffer = Vec::new();
        let mut kept = KeptFile::open(&sys, "/stat");
        assert_eq!(kept.read(&mut buffer), Some(long.as_str()));
        std::fs::write(dir.path().join("stat"), "short").unwrap();
        assert_eq!(kept.read(&mut buffer), Some("short"));
    }

    #[test]
    fn missing_files_are_none_and_a_device_may_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let sys = Sysroot::at(dir.path());
        let mut buffer = Vec::new();
        let mut kept = KeptFile::open(&sys, "/stat");
        let mut device = KeptFile::open_of_device(&sys, "/stat");
        assert_eq!(device.read(&mut buffer), None);
        std::fs::write(dir.path().join("stat"), "1 2 3").unwrap();
        assert_eq!(kept.read(&mut buffer), None);
        assert_eq!(device.read(&mut buffer), Some("1 2 3"));
    }
}
