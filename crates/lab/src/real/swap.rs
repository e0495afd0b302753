//! A swap file of the laboratory: small, and used before others so that what is
//! paged out goes there.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::tool;
use crate::Error;

/// A swap file in use. Dropping it takes it out of use and removes it.
#[derive(Debug)]
pub struct SwapFile {
    path: PathBuf,
    swapoff: PathBuf,
}

impl SwapFile {
    /// Makes `folder/swap` of `bytes`, every one written, and uses it. The
    /// folder must be on a file system that can hold one, not in memory.
    ///
    /// # Errors
    /// [`Error::Absent`] without root or where the kernel refuses.
    pub fn start(folder: &Path, bytes: u64) -> Result<SwapFile, Error> {
        tool::need_root("a swap file")?;
        let mkswap = tool::need("mkswap", "util-linux")?;
        let swapon = tool::need("swapon", "mount")?;
        let swapoff = tool::need("swapoff", "mount")?;
        let path = folder.join("swap");
        fill(&path, bytes).map_err(Error::io("write", &path))?;
        let file = [path.as_os_str()];
        tool::run(&mkswap, file)?;
        if let Err(error) = tool::run(&swapon, file) {
            let _ = fs::remove_file(&path);
            return Err(Error::Absent(format!(
                "no swap file can be used here: {error}"
            )));
        }
        Ok(SwapFile { path, swapoff })
    }
}

fn fill(path: &Path, bytes: u64) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    let zeros = vec![0_u8; 1 << 20];
    let mut left = bytes;
    while left > 0 {
        let part = left.min(zeros.len() as u64);
        file.write_all(&zeros[..part as usize])?;
        left -= part;
    }
    file.sync_all()
}

impl Drop for SwapFile {
    fn drop(&mut self) {
        let _ = tool::run(&self.swapoff, [self.path.as_os_str()]);
        let _ = fs::remove_file(&self.path);
    }
}
