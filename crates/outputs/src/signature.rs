//! A sign on files of which other programs write the very same kind: an extended
//! attribute (xattr(7)), which stays with the file and is no part of its content.

use std::fs::File;
use std::path::Path;

use rustix::fs::{XattrFlags, fsetxattr, lgetxattr};

const NAME: &str = "user.fathom.wrote";
const VALUE: &[u8] = b"1";

/// Signs a file. Where the file system keeps no attributes the file stays
/// unsigned, and takes `--force` to be replaced.
pub(crate) fn sign(file: &File) {
    let _ = fsetxattr(file, NAME, VALUE, XattrFlags::empty());
}

/// Whether what is at the path is signed.
pub(crate) fn is_signed(path: &Path) -> bool {
    let mut value = [0; VALUE.len()];
    lgetxattr(path, NAME, &mut value).is_ok_and(|_| value == *VALUE)
}
