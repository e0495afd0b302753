//! Ways of doing I/O, really tried.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, fcntl_getfl, fcntl_setfl, fstat, statat, unlinkat};

use super::{Capability, CapabilityStatus as Status};
use crate::Sysroot;
use crate::kernel_calls::{extents, try_io_uring, try_libaio};

const FILE_BYTES: usize = 64 << 10;

pub(super) fn io_uring(sys: &Sysroot) -> Capability {
    let meaning = "deep queues from few threads at the lowest CPU cost; without it the engines libaio and psync are used";
    let setting = sys.number("/proc/sys/kernel/io_uring_disabled");
    let error = match try_io_uring() {
        Ok(()) => return Capability::new("io_uring", Status::Ok, "io_uring_setup works", meaning),
        Err(error) => error,
    };
    let (found, remedy) = match (error.raw_os_error(), setting) {
        (Some(libc::ENOSYS), _) => (
            "the kernel or a seccomp filter does not know io_uring_setup".to_owned(),
            "use Linux 5.6 or later; in a container run with a seccomp profile that allows io_uring",
        ),
        (Some(libc::EPERM), Some(1 | 2)) => (
            format!(
                "switched off: kernel.io_uring_disabled = {}",
                setting.unwrap_or(0)
            ),
            "sysctl kernel.io_uring_disabled=0",
        ),
        (Some(libc::EPERM), _) => (
            "refused, although the kernel allows it: a seccomp filter (container default)"
                .to_owned(),
            "run the container with a seccomp profile that allows io_uring, or outside of it",
        ),
        (Some(libc::ENOMEM), _) => (
            format!("no memory for the rings: {error}"),
            "raise the locked memory limit (ulimit -l)",
        ),
        _ => (
            format!("io_uring_setup: {error}"),
            "look at the kernel's log",
        ),
    };
    Capability::new("io_uring", Status::Missing, found, meaning).remedy(remedy)
}

pub(super) fn libaio(sys: &Sysroot) -> Capability {
    let meaning = "deep queues where io_uring is missing; asynchronous with direct I/O only";
    let used = sys.number("/proc/sys/fs/aio-nr");
    let limit = sys.number("/proc/sys/fs/aio-max-nr");
    match try_libaio() {
        Ok(()) => {
            let found = match used.zip(limit) {
                Some((used, limit)) => format!("io_setup works; {used} of {limit} events in use"),
                None => "io_setup works".to_owned(),
            };
            Capability::new("libaio", Status::Ok, found, meaning)
        }
        Err(error) => {
            let found = format!("io_setup: {error}");
            let full = error.raw_os_error() == Some(libc::EAGAIN);
            let remedy = if full {
                "sysctl fs.aio-max-nr=1048576"
            } else {
                "use a kernel with CONFIG_AIO, or a seccomp profile that allows io_setup"
            };
            Capability::new("libaio", Status::Missing, found, meaning).remedy(remedy)
        }
    }
}

/// A file without a name, which is gone when it is closed.
///
/// # Errors
/// What the system says.
fn scratch_in(directory: &Path) -> io::Result<File> {
    let mode = Mode::RUSR | Mode::WUSR;
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    match rustix::fs::open(directory, flags | OFlags::TMPFILE, mode) {
        Ok(file) => Ok(file.into()),
        Err(_) => named_for_a_moment(directory),
    }
}

/// The same where a file system has no files without a name.
fn named_for_a_moment(directory: &Path) -> io::Result<File> {
    let place = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let place = rustix::fs::open(directory, place, Mode::empty())?;
    let name = format!(".fathom-doctor-{}", std::process::id());
    let file = fathom_outputs::create_new(&directory.join(&name))?;
    let made = fstat(&file)?;
    // Somebody else's file that has taken the name stays.
    let named = statat(&place, &name, AtFlags::SYMLINK_NOFOLLOW);
    if named.is_ok_and(|found| (found.st_dev, found.st_ino) == (made.st_dev, made.st_ino)) {
        unlinkat(&place, &name, AtFlags::empty())?;
    }
    Ok(file)
}

/// What files in a directory can do.
pub(super) fn in_directory(directory: &Path) -> Vec<Capability> {
    let shown = directory.display();
    let scratch = match scratch_in(directory) {
        Ok(scratch) => scratch,
        Err(error) => {
            let found = format!("cannot make a file in {shown}: {error}");
            let meaning = "test files are made in the target directory";
            let capability = Capability::new("write access", Status::Missing, found, meaning);
            return vec![capability.remedy("name a directory that this user may write")];
        }
    };
    let written = scratch.write_all_at(&vec![1; FILE_BYTES], 0);
    if let Err(error) = written.and_then(|()| scratch.sync_data()) {
        let found = format!("cannot write 64 KiB in {shown}: {error}");
        let meaning = "test files are made in the target directory";
        let capability = Capability::new("write access", Status::Missing, found, meaning);
        return vec![capability.remedy("free some space, or name another directory")];
    }
    vec![
        direct_io(&scratch),
        fallocate(&scratch),
        extent_map(&scratch),
    ]
}

fn direct_io(scratch: &File) -> Capability {
    let meaning =
        "reads and writes that bypass the page cache; without it the cache is measured too";
    let result = try_direct(scratch);
    let remedy = "measure with buffered I/O and a data set larger than memory, or choose another file system";
    match result {
        Ok(block) => {
            let found = format!("works with blocks of {block} bytes");
            let status = if block <= 4096 {
                Status::Ok
            } else {
                Status::Limited
            };
            Capability::new("direct I/O", status, found, meaning)
                .remedy("use block sizes that are a multiple of it")
        }
        Err(error) => {
            let found = format!("O_DIRECT does not work: {error}");
            Capability::new("direct I/O", Status::Missing, found, meaning).remedy(remedy)
        }
    }
}

/// The smallest block that a direct read takes.
fn try_direct(file: &File) -> io::Result<usize> {
    let flags = fcntl_getfl(file)?;
    fcntl_setfl(file, flags | OFlags::DIRECT)?;
    let block = smallest_block(file);
    fcntl_setfl(file, flags)?;
    block
}

fn smallest_block(file: &File) -> io::Result<usize> {
    let mut memory = vec![0_u8; FILE_BYTES * 2];
    let start = memory.as_ptr().align_offset(FILE_BYTES).min(FILE_BYTES);
    let mut last = io::Error::from_raw_os_error(libc::EINVAL);
    for block in [512, 4096, 16 << 10, FILE_BYTES] {
        match file.read_exact_at(&mut memory[start..start + block], 0) {
            Ok(()) => return Ok(block),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn fallocate(scratch: &File) -> Capability {
    use rustix::fs::{FallocateFlags, fallocate};
    let meaning = "test files get their space at once and mostly in one piece";
    let length = FILE_BYTES as u64;
    match fallocate(scratch, FallocateFlags::KEEP_SIZE, length, length) {
        Ok(()) => Capability::new("fallocate", Status::Ok, "works", meaning),
        Err(error) => {
            let found = format!("does not work: {error}");
            Capability::new("fallocate", Status::Limited, found, meaning)
                .remedy("nothing is needed: files are laid out by writing them")
        }
    }
}

fn extent_map(scratch: &File) -> Capability {
    let meaning = "tells whether a file was really written; holes are read without the device";
    match extents(scratch, 0, FILE_BYTES as u64) {
        Ok(_) => Capability::new("FIEMAP", Status::Ok, "works", meaning),
        Err(error) => {
            let found = format!("does not work: {error}; SEEK_HOLE is used, which is coarser");
            Capability::new("FIEMAP", Status::Limited, found, meaning)
                .remedy("let fathom write its own files instead of reusing others")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_left_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let capabilities = in_directory(directory.path());
        assert_eq!(capabilities.len(), 3, "{capabilities:?}");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_scratch_file_has_no_name_that_could_lead_elsewhere() {
        let directory = tempfile::tempdir().unwrap();
        for make in [scratch_in, named_for_a_moment] {
            let file = make(directory.path()).unwrap();
            assert_eq!(fstat(&file).unwrap().st_nlink, 0);
            assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        }
        // A file of somebody else that has its name is in the way, and stays.
        let name = format!(".fathom-doctor-{}", std::process::id());
        let theirs = directory.path().join(name);
        std::fs::write(&theirs, "theirs").unwrap();
        assert!(named_for_a_moment(directory.path()).is_err());
        assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "theirs");
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let capabilities = in_directory(Path::new("/no/such/directory"));
        assert_eq!(capabilities[0].status, Status::Missing);
        assert!(capabilities[0].found.contains("/no/such/directory"));
        assert!(capabilities[0].remedy.is_some());
    }
}
