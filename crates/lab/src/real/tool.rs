//! System programs that the laboratory starts.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::Error;

/// Where system programs are that are on nobody's path.
const SYSTEM_FOLDERS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Where a program is.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(SYSTEM_FOLDERS.map(PathBuf::from));
    folders
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
}

/// Where a program is.
///
/// # Errors
/// [`Error::Absent`] with the package that has it.
pub fn need(program: &str, package: &str) -> Result<PathBuf, Error> {
    find(program).ok_or_else(|| {
        Error::Absent(format!(
            "{program} is not installed: it comes with the package {package}"
        ))
    })
}

/// That this process is root's.
///
/// # Errors
/// [`Error::Absent`] with what needs it.
pub fn need_root(what: &str) -> Result<(), Error> {
    if rustix::process::geteuid().is_root() {
        Ok(())
    } else {
        Err(Error::Absent(format!("{what} needs root")))
    }
}

/// That a user-space file system can be mounted.
///
/// # Errors
/// [`Error::Absent`] with what is missing and what to do.
pub fn need_fuse() -> Result<(), Error> {
    if !Path::new("/dev/fuse").exists() {
        return Err(Error::Absent(
            "/dev/fuse is missing: load the kernel module (modprobe fuse), or give the container \
             the device (--device /dev/fuse --cap-add SYS_ADMIN)"
                .to_owned(),
        ));
    }
    if !rustix::process::geteuid().is_root() && find("fusermount3").is_none() {
        return Err(Error::Absent(
            "fusermount3 is missing, without which only root can mount: install the package fuse3"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Unmounts a FUSE file or folder that its server may have left.
pub(crate) fn unmount_leftover(at: &Path) {
    use rustix::mount::{UnmountFlags, unmount};
    if unmount(at, UnmountFlags::DETACH).is_ok() {
        return;
    }
    // Users unmount through the helper that mounted for them.
    if let Some(program) = find("fusermount3") {
        let args = ["-u", "-z", "-q", "--"].map(OsStr::new);
        let _ = run(&program, args.into_iter().chain([at.as_os_str()]));
    }
}

/// Runs a program to its end and gives its standard output.
///
/// # Errors
/// [`Error::Program`] with what it said when it fails.
pub fn run<S: AsRef<OsStr>>(
    program: &Path,
    args: impl IntoIterator<Item = S>,
) -> Result<String, Error> {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let output = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Error::program(&name, error.to_string()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Error::program(&name, said.trim().to_owned()))
}

/// Waits until `ready` gives something, at most `patience`.
///
/// # Errors
/// [`Error::Program`] when it does not come, or with what `ready` found wrong.
pub fn wait_for<T>(
    program: &str,
    what: &str,
    patience: Duration,
    mut ready: impl FnMut() -> Result<Option<T>, Error>,
) -> Result<T, Error> {
    let start = Instant::now();
    loop {
        if let Some(found) = ready()? {
            return Ok(found);
        }
        if start.elapsed() > patience {
            let message = format!("{what} did not come within {patience:?}");
            return Err(Error::program(program, message));
        }
        thread::sleep(Duration::from_millis(5));
    }
}
