//! A file that is read piece by piece, each with a deadline: a mount that answered
//! when the file was opened may stand still while it is read.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::bounded_call::ask_within;
use crate::mount_table::MountTable;

/// How much is read at once.
const PIECE_BYTES: usize = 1 << 20;
/// How long a piece may take to come, from a slow network mount. Whether the mount
/// answers at all is asked before each.
const PATIENCE_FOR_A_PIECE: Duration = Duration::from_secs(20);

/// A file that is read piece by piece, each with a deadline. Pipes and devices of
/// characters, which may well have nothing to say for a while, have none.
#[derive(Debug)]
pub struct BoundedFile {
    path: PathBuf,
    file: Arc<File>,
    /// Whether pieces have a deadline.
    bounded: bool,
    /// What was read and not yet taken.
    piece: Vec<u8>,
    taken: usize,
}

impl BoundedFile {
    /// A file that was opened at a path.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub(crate) fn of(path: &Path, file: File) -> io::Result<BoundedFile> {
        Ok(BoundedFile {
            path: path.to_owned(),
            bounded: file.metadata()?.is_file(),
            file: Arc::new(file),
            piece: Vec::new(),
            taken: 0,
        })
    }

    fn next_piece(&mut self) -> io::Result<()> {
        let name = MountTable::recent().enter(&self.path)?;
        let file = Arc::clone(&self.file);
        let mut piece = std::mem::take(&mut self.piece);
        self.taken = 0;
        self.piece = ask_within(PATIENCE_FOR_A_PIECE, &name, move || {
            piece.resize(PIECE_BYTES, 0);
            let read = (&*file).read(&mut piece)?;
            piece.truncate(read);
            Ok::<_, io::Error>(piece)
        })??;
        Ok(())
    }
}

impl Read for BoundedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.bounded {
            return (&*self.file).read(buffer);
        }
        if self.taken == self.piece.len() && !buffer.is_empty() {
            self.next_piece()?;
        }
        let left = &self.piece[self.taken..];
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(path: &Path) -> BoundedFile {
        BoundedFile::of(path, File::open(path).unwrap()).unwrap()
    }

    #[test]
    fn what_is_read_is_what_is_in_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let bytes: Vec<u8> = (0..3 * PIECE_BYTES + 7).map(|n| (n % 251) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let mut read = Vec::new();
        opened(&path).read_to_end(&mut read).unwrap();
        assert!(read == bytes);
        let mut few = [0; 3];
        let mut file = opened(&path);
        file.read_exact(&mut few).unwrap();
        assert_eq!(few, [0, 1, 2]);
    }

    #[test]
    fn what_has_no_length_is_read_as_it_comes() {
        let mut zeros = opened(Path::new("/dev/zero"));
        assert!(!zeros.bounded);
        let mut some = [1; 5];
        zeros.read_exact(&mut some).unwrap();
        assert_eq!(some, [0; 5]);
    }
}
