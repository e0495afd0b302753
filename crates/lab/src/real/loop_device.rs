//! A loop device over a file: a block device with its own statistics.

use std::path::{Path, PathBuf};

use super::tool;
use crate::Error;

/// A loop device. Dropping it detaches it.
#[derive(Debug)]
pub struct LoopDevice {
    device: PathBuf,
    losetup: PathBuf,
}

impl LoopDevice {
    /// Puts a device over `file`, with direct I/O to it. `sector_bytes` is its
    /// logical block size, 512 when `None`.
    ///
    /// # Errors
    /// [`Error::Absent`] without root, `losetup` or loop devices,
    /// [`Error::Program`] when the file cannot be used.
    pub fn over(file: &Path, sector_bytes: Option<u32>) -> Result<LoopDevice, Error> {
        tool::need_root("a loop device")?;
        if !Path::new("/dev/loop-control").exists() {
            return Err(Error::Absent(
                "/dev/loop-control is missing: this kernel or container has no loop devices"
                    .to_owned(),
            ));
        }
        let losetup = tool::need("losetup", "util-linux")?;
        let mut args = vec!["--find".to_owned(), "--show".to_owned()];
        args.push("--direct-io=on".to_owned());
        args.extend(sector_bytes.map(|bytes| format!("--sector-size={bytes}")));
        args.push(file.display().to_string());
        let device = PathBuf::from(tool::run(&losetup, &args)?);
        Ok(LoopDevice { device, losetup })
    }

    /// The device, `/dev/loopN`.
    pub fn path(&self) -> &Path {
        &self.device
    }

    /// Major and minor number as the kernel's throttles want them, `7:3`.
    ///
    /// # Errors
    /// [`Error::Io`] when the kernel's folder of it cannot be read.
    pub fn number(&self) -> Result<String, Error> {
        let name = self.device.file_name().unwrap_or_default();
        let path = Path::new("/sys/block").join(name).join("dev");
        let text = std::fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        Ok(text.trim().to_owned())
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let device = [self.device.as_os_str()];
        // Detaching is lazy: the kernel does it when the last user is gone.
        let _ = tool::run(&self.losetup, [std::ffi::OsStr::new("-d"), device[0]]);
    }
}
