//! A file that is looked at, and how it is opened: by its path, or through
//! somebody who knows which file is meant when others may change what the path
//! leads to.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A file or block device to be looked at.
pub struct DataFile<'a> {
    path: PathBuf,
    open: Box<dyn Fn() -> io::Result<File> + 'a>,
}

impl<'a> DataFile<'a> {
    /// One that `open` opens for reading; the path is for messages.
    pub fn new(path: &Path, open: impl Fn() -> io::Result<File> + 'a) -> DataFile<'a> {
        DataFile {
            path: path.to_owned(),
            open: Box::new(open),
        }
    }

    /// What a path leads to.
    pub fn by_path(path: &Path) -> DataFile<'a> {
        let named = path.to_owned();
        DataFile::new(path, move || {
            // A FIFO would wait for a writer for ever.
            File::options()
                .read(true)
                .custom_flags(libc::O_NONBLOCK)
                .open(&named)
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn open(&self) -> io::Result<File> {
        (self.open)()
    }
}

/// Files that paths lead to.
pub(crate) fn by_paths(paths: &[PathBuf]) -> Vec<DataFile<'static>> {
    paths.iter().map(|path| DataFile::by_path(path)).collect()
}

/// Whether something holds data: a regular file or a block device.
pub(crate) fn holds_data(file: &File) -> io::Result<bool> {
    let kind = file.metadata()?.file_type();
    Ok(kind.is_file() || kind.is_block_device())
}
