//! A sign on files of which other programs write the very same kind: an extended
//! attribute (xattr(7)), which stays with the file and is no part of its content.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{XattrFlags, fremovexattr, fsetxattr, lgetxattr};
use rustix::io::Errno;

use crate::digest::Digest;

const NAME: &str = "user.fathom.wrote";
const VALUE: &[u8] = b"1";
/// What was written, where nobody else goes on writing.
const DIGEST: &str = "user.fathom.digest";
/// The longest is shorter.
const DIGEST_BYTES: usize = 64;

/// Signs a file. Where the file system keeps no attributes the file stays
/// unsigned, and takes `--force` to be replaced.
pub(crate) fn sign(file: &File) {
    let _ = fsetxattr(file, NAME, VALUE, XattrFlags::empty());
}

/// What the attributes of a file say of who wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signature {
    /// Fathom did.
    Ours,
    /// Somebody else did, or copied what fathom wrote.
    Missing,
    /// This file system keeps no attributes.
    NotKept,
}

impl Signature {
    /// Who wrote what is at the path.
    pub(crate) fn of(path: &Path) -> Signature {
        let mut value = [0; VALUE.len()];
        match lgetxattr(path, NAME, &mut value) {
            Ok(_) if value == *VALUE => Signature::Ours,
            Err(Errno::NOTSUP | Errno::NOSYS) => Signature::NotKept,
            _ => Signature::Missing,
        }
    }
}

/// Notes what a file holds.
pub(crate) fn note_digest(file: &File, digest: &Digest) {
    let _ = fsetxattr(file, DIGEST, digest.text().as_bytes(), XattrFlags::empty());
}

/// Somebody goes on writing to the file.
pub(crate) fn forget_digest(file: &File) {
    let _ = fremovexattr(file, DIGEST);
}

/// Whether fathom wrote the file and noted what it holds.
pub(crate) fn is_noted(path: &Path) -> bool {
    let mut value = [0; DIGEST_BYTES];
    let noted = lgetxattr(path, DIGEST, &mut value).is_ok();
    noted && matches!(Signature::of(path), Signature::Ours)
}

/// Whether what was noted of a file is something else than this.
pub(crate) fn differs(
    path: &Path,
    digest: impl FnOnce() -> io::Result<Digest>,
) -> io::Result<bool> {
    let mut value = [0; DIGEST_BYTES];
    let Ok(length) = lgetxattr(path, DIGEST, &mut value) else {
        return Ok(false);
    };
    Ok(value[..length] != *digest()?.text().as_bytes())
}
