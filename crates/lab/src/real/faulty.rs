//! A file with injected delays and errors and an operation count of its own:
//! nbdkit in memory, as a file through nbdfuse.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::server::{PATIENCE, Server};
use super::tool;
use crate::Error;

/// What is injected into each operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Faults {
    /// Added to each read.
    pub read_delay: Duration,
    /// Added to each write.
    pub write_delay: Duration,
}

/// A file with faults. Dropping it ends its servers.
#[derive(Debug)]
pub struct FaultyFile {
    path: PathBuf,
    trigger: PathBuf,
    counts: PathBuf,
    /// Ended first: it is a client of the other.
    door: Server,
    server: Server,
}

impl FaultyFile {
    /// Makes `folder/faulty` of `bytes` in memory. The folder must exist and
    /// have no files named `faulty`, `socket`, `fail` or `counts`.
    ///
    /// # Errors
    /// [`Error::Absent`] without nbdkit, nbdfuse or FUSE, [`Error::Program`]
    /// when they do not come up.
    pub fn start(folder: &Path, bytes: u64, faults: Faults) -> Result<FaultyFile, Error> {
        let nbdkit = tool::need("nbdkit", "nbdkit")?;
        let nbdfuse = tool::need("nbdfuse", "nbdfuse")?;
        tool::need_fuse()?;
        let path = folder.join("faulty");
        let socket = folder.join("socket");
        let trigger = folder.join("fail");
        let counts = folder.join("counts");
        fs::write(&path, b"").map_err(Error::io("make", &path))?;
        let ms = |delay: Duration| format!("{}ms", delay.as_millis());
        let mut server = Server::start(
            &nbdkit,
            [
                "--foreground".to_owned(),
                "--unix".to_owned(),
                socket.display().to_string(),
                // The count sees what came of it: errors do not count.
                "--filter=stats".to_owned(),
                "--filter=error".to_owned(),
                "--filter=delay".to_owned(),
                "memory".to_owned(),
                format!("size={bytes}"),
                format!("rdelay={}", ms(faults.read_delay)),
                format!("wdelay={}", ms(faults.write_delay)),
                "error=EIO".to_owned(),
                "error-rate=100%".to_owned(),
                format!("error-file={}", trigger.display()),
                format!("statsfile={}", counts.display()),
            ],
        )?;
        let name = server.name().to_owned();
        tool::wait_for(&name, "its socket", PATIENCE, || {
            server.check()?;
            Ok(socket.exists().then_some(()))
        })?;
        let mut door = Server::start(
            &nbdfuse,
            [path.as_os_str(), "--unix".as_ref(), socket.as_os_str()],
        )?;
        let name = door.name().to_owned();
        let served = tool::wait_for(&name, "the file", PATIENCE, || {
            door.check()?;
            Ok(fs::metadata(&path)
                .is_ok_and(|file| file.len() == bytes)
                .then_some(()))
        });
        let faulty = FaultyFile {
            path,
            trigger,
            counts,
            door,
            server,
        };
        // The guard exists from here on, and cleans up.
        served.map(|()| faulty)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// From now on every operation fails with EIO, or none.
    ///
    /// # Errors
    /// [`Error::Io`] when the trigger cannot be set.
    pub fn fail(&self, fail: bool) -> Result<(), Error> {
        if fail {
            fs::write(&self.trigger, b"").map_err(Error::io("make", &self.trigger))
        } else {
            match fs::remove_file(&self.trigger) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(Error::io("remove", &self.trigger)(error))
                }
                _ => Ok(()),
            }
        }
    }

    /// Ends the servers and gives the operations that went well, as they
    /// counted them, by the name that nbdkit gives them: `read`, `write`, `flush`, ….
    ///
    /// # Errors
    /// [`Error::Io`] when the count was not written.
    pub fn counts(mut self) -> Result<BTreeMap<String, u64>, Error> {
        self.stop();
        let text = fs::read_to_string(&self.counts).map_err(Error::io("read", &self.counts))?;
        Ok(parse_counts(&text))
    }

    fn stop(&mut self) {
        unmount_then_stop(&self.path, &mut self.door);
        self.server.stop();
    }
}

/// `nbdfuse` ends with its mount.
fn unmount_then_stop(path: &Path, door: &mut Server) {
    tool::unmount_leftover(path);
    door.stop();
}

impl Drop for FaultyFile {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Reads lines like `read: 100 ops, 0.5 s, 400.00 KiB, …`.
fn parse_counts(text: &str) -> BTreeMap<String, u64> {
    let line = |line: &str| {
        let (name, rest) = line.split_once(": ")?;
        let (count, _) = rest.split_once(" ops")?;
        Some((name.trim().to_owned(), count.trim().parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::parse_counts;

    #[test]
    fn counts_are_read_from_nbdkits_own_words() {
        let text = "elapsed time: 1.2 s\nread: 100 ops, 0.523 s, 400.00 KiB, 765.30 KiB/s op\n\
                    write: 7 ops, 0.1 s, 28.00 KiB, 1.0 MiB/s op\n";
        let counts = parse_counts(text);
        assert_eq!(counts["read"], 100);
        assert_eq!(counts["write"], 7);
        assert_eq!(counts.len(), 2);
    }
}
