//! Files at paths that users name: reports, results, logs, exports.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{Access, OFlags};
use rustix::io::Errno;

use crate::digest::{Digest, Digested, has_digest, is_edited_page};
use crate::mark::{HEAD_BYTES, Mark};
use crate::private::{self, Draft};
use crate::signature::{self, Signature};

/// Why nothing is written at a path.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// Somebody's file is there.
    #[error("{} exists and was not written by fathom; name another file, move it away, or give --force", .0.display())]
    Foreign(PathBuf),
    /// A file is there that somebody edited.
    #[error("{} was changed after fathom wrote it; name another file, move it away, or give --force", .0.display())]
    Edited(PathBuf),
    /// A symbolic link is there.
    #[error("{} is a symbolic link, and links are not followed; name the file itself, or give --force", .0.display())]
    Link(PathBuf),
    /// A folder, block device or socket is there.
    #[error("{} is {what}; name a file", path.display())]
    NoFile {
        /// Where.
        path: PathBuf,
        /// What is there.
        what: &'static str,
    },
    /// The operating system does not let it be written.
    #[error("cannot write {}: {error}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system reports. In the text, and so not its source as well.
        error: io::Error,
    },
}

/// What stands at the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathContent {
    Nothing,
    /// A file that may be replaced.
    Replaceable,
    /// A pipe, terminal or `/dev/null`, which is written to as it is.
    Stream,
}

/// A path at which a file may be written.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    mark: Mark,
    force: bool,
    found: PathContent,
}

impl Output {
    /// Looks whether a file with this mark may be written at `path`: nothing
    /// is there, or an earlier file of fathom's, or a pipe or terminal. Call it
    /// before the work whose result is to be written. With `force` any regular
    /// file is replaced, and a symbolic link is followed.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn admit(path: &Path, mark: Mark, force: bool) -> Result<Output, Refused> {
        let failed = |error| Refused::Io {
            path: path.to_owned(),
            error,
        };
        let output = |path: &Path, found| Output {
            path: path.to_owned(),
            mark,
            force,
            found,
        };
        if is_own_stream(path) {
            return Ok(output(path, PathContent::Stream));
        }
        let facts = match path.symlink_metadata() {
            Ok(facts) => facts,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                may_make(path).map_err(failed)?;
                return Ok(output(path, PathContent::Nothing));
            }
            Err(error) => return Err(failed(error)),
        };
        let kind = facts.file_type();
        let no_file = |what| Refused::NoFile {
            path: path.to_owned(),
            what,
        };
        if kind.is_symlink() {
            if !force {
                return Err(Refused::Link(path.to_owned()));
            }
            let real = match path.canonicalize() {
                // It names what is yet to be made.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let named = path.read_link().map_err(failed)?;
                    path.parent().unwrap_or(Path::new("")).join(named)
                }
                real => real.map_err(failed)?,
            };
            return Output::admit(&real, mark, force);
        }
        if kind.is_dir() {
            return Err(no_file("a folder"));
        }
        if kind.is_block_device() {
            return Err(no_file("a block device"));
        }
        if kind.is_socket() {
            return Err(no_file("a socket"));
        }
        if !kind.is_file() {
            return Ok(output(path, PathContent::Stream));
        }
        if !force && !is_ours(path, mark).map_err(failed)? {
            return Err(Refused::Foreign(path.to_owned()));
        }
        if !force && is_edited(path, mark).map_err(failed)? {
            return Err(Refused::Edited(path.to_owned()));
        }
        may_make(path).map_err(failed)?;
        Ok(output(path, PathContent::Replaceable))
    }

    /// Where it will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file aside and moves it to its place, so that a reader never
    /// sees half of it. What came there meanwhile is looked at again.
    ///
    /// # Errors
    /// Something else stands there now, or it cannot be written.
    pub fn write(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Refused> {
        let failed = |error| Refused::Io {
            path: self.path.clone(),
            error,
        };
        let fill = |file: &File, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>| {
            let mut out = Digested::new(BufWriter::new(file));
            write(&mut out)?;
            if self.mark == Mark::Page
                && self.found != PathContent::Stream
                && !out.digest.is_empty()
            {
                out.end_page()?;
            }
            out.flush()?;
            Ok(out.digest)
        };
        let mut write = Some(write);
        let mut once = |out: &mut dyn Write| match write.take() {
            Some(write) => write(out),
            None => Ok(()),
        };
        if self.found == PathContent::Stream {
            let stream = open_stream(&self.path);
            let filled = fill(&stream.map_err(failed)?, &mut once);
            return filled.map(drop).map_err(failed);
        }
        let draft = Draft::beside(&self.path).map_err(failed)?;
        let digest = fill(&draft.file, &mut once).map_err(failed)?;
        signature::sign(&draft.file);
        // An empty file is one that another program will write.
        if !digest.is_empty() {
            signature::note_digest(&draft.file, &digest);
        }
        match Output::admit(&self.path, self.mark, self.force)?.found {
            PathContent::Nothing => draft.rename_to_free(&self.path).map_err(failed),
            PathContent::Replaceable => draft.rename_to(&self.path).map_err(failed),
            PathContent::Stream => Err(Refused::Foreign(self.path.clone())),
        }
    }

    /// Opens the file to add to it, and makes it when it is missing.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn append(&self) -> Result<File, Refused> {
        let opened = match self.found {
            PathContent::Stream => open_stream(&self.path),
            PathContent::Nothing | PathContent::Replaceable => private::append(&self.path),
        };
        opened.map_err(|error| Refused::Io {
            path: self.path.clone(),
            error,
        })
    }

    /// Makes an empty file at the path and keeps hold of the name: another
    /// program is to write it.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make_empty(&self) -> Result<File, Refused> {
        self.write(|_| Ok(()))?;
        let mut options = OpenOptions::new();
        options
            .write(true)
            .custom_flags(OFlags::NOFOLLOW.bits() as i32);
        options.open(&self.path).map_err(|error| Refused::Io {
            path: self.path.clone(),
            error,
        })
    }
}

/// A name of a stream that this process has open: `/dev/stdout` and the like
/// are links that the system made.
fn is_own_stream(path: &Path) -> bool {
    let named = ["/dev/stdin", "/dev/stdout", "/dev/stderr"];
    named.iter().any(|name| path == Path::new(name))
        || ["/dev/fd", "/proc/self/fd"]
            .iter()
            .any(|folder| path.parent() == Some(Path::new(folder)))
}

/// Whether a file can be made beside what is at `path`.
fn may_make(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if path.file_name().is_none() {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "the path names no file",
        ));
    }
    Ok(rustix::fs::access(
        folder,
        Access::WRITE_OK | Access::EXEC_OK,
    )?)
}

/// Whether fathom wrote the file. An empty one holds nothing that could be lost.
fn is_ours(path: &Path, mark: Mark) -> io::Result<bool> {
    let head = head(path)?;
    if head.is_empty() {
        return Ok(true);
    }
    if !mark.is_on(&head) {
        // A result as text has no mark; what it held when it was written is noted.
        return Ok(mark == Mark::Document && signature::is_noted(path));
    }
    // The mark alone is also on what a user made of a file of fathom's.
    Ok(match (Signature::of(path), mark) {
        (Signature::Ours, _) | (_, Mark::Table(_)) => true,
        (_, Mark::Page) => has_digest(&whole(path)?),
        (Signature::Missing, _) => false,
        (Signature::NotKept, _) => !mark.is_shared(),
    })
}

/// Whether a file of fathom's holds something else than what fathom wrote.
fn is_edited(path: &Path, mark: Mark) -> io::Result<bool> {
    if path.symlink_metadata()?.len() == 0 {
        return Ok(false);
    }
    if signature::differs(path, || Digest::of(open_to_read(path)?))? {
        return Ok(true);
    }
    if mark != Mark::Page {
        return Ok(false);
    }
    Ok(is_edited_page(&whole(path)?))
}

fn whole(path: &Path) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    open_to_read(path)?.read_to_end(&mut page)?;
    Ok(page)
}

fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    open_to_read(path)?
        .take(HEAD_BYTES)
        .read_to_end(&mut head)?;
    Ok(head)
}

fn open_to_read(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path)
}

/// How long a pipe may be without a reader.
const PATIENCE_FOR_READERS: Duration = Duration::from_secs(2);
/// How often it is tried meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Opens a pipe, terminal or `/dev/null` as it is. A pipe from which nobody reads
/// would hold the opening for ever.
fn open_stream(path: &Path) -> io::Result<File> {
    let begun = Instant::now();
    let is_pipe = path.metadata()?.file_type().is_fifo();
    loop {
        let mut options = OpenOptions::new();
        options
            .append(true)
            .custom_flags(OFlags::NONBLOCK.bits() as i32);
        match options.open(path) {
            Err(error) if is_pipe && Errno::from_io_error(&error) == Some(Errno::NXIO) => {
                if begun.elapsed() >= PATIENCE_FOR_READERS {
                    return Err(io::Error::other("nobody reads from this pipe"));
                }
                std::thread::sleep(LOOK_EVERY);
            }
            opened => {
                let stream = opened?;
                let flags = rustix::fs::fcntl_getfl(&stream)?;
                rustix::fs::fcntl_setfl(&stream, flags - OFlags::NONBLOCK)?;
                return Ok(stream);
            }
        }
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
