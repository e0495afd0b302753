//! A file whose operations, bytes or latency are limited by QEMU's storage
//! daemon, smoothly and for every program; the limits can change while it is
//! in use. With [`LoopDevice`](super::LoopDevice) over it, a disk with known
//! properties.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::qmp;
use super::server::{PATIENCE, Server};
use super::tool;
use crate::Error;

/// What a limited file may do per second; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Operations.
    pub iops: Option<u64>,
    /// Bytes.
    pub bytes_per_second: Option<u64>,
}

/// What lies behind the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// A sparse file, which keeps what is written.
    File,
    /// Nothing: zeros, each operation this much later.
    Nothing {
        /// Latency of each operation.
        latency_ns: u64,
    },
}

/// A file with limits. Dropping it ends the daemon.
#[derive(Debug)]
pub struct LimitedFile {
    path: PathBuf,
    socket: PathBuf,
    server: Server,
}

impl LimitedFile {
    /// Makes `folder/limited` of `bytes`. The folder must exist and be empty of
    /// the names `limited`, `behind` and `control`.
    ///
    /// # Errors
    /// [`Error::Absent`] without the daemon or FUSE, [`Error::Program`] when it
    /// does not come up.
    pub fn start(
        folder: &Path,
        bytes: u64,
        behind: Behind,
        limits: Limits,
    ) -> Result<LimitedFile, Error> {
        let program = tool::need("qemu-storage-daemon", "qemu-system-common")?;
        tool::need_fuse()?;
        let path = folder.join("limited");
        let socket = folder.join("control");
        fs::write(&path, b"").map_err(Error::io("make", &path))?;
        let node = match behind {
            Behind::Nothing { latency_ns } => format!(
                "driver=null-co,node-name=behind,size={bytes},read-zeroes=on,latency-ns={latency_ns}"
            ),
            Behind::File => {
                let file = folder.join("behind");
                fs::File::create(&file)
                    .and_then(|file| file.set_len(bytes))
                    .map_err(Error::io("make", &file))?;
                format!(
                    "driver=file,node-name=behind,filename={},cache.direct=off",
                    file.display()
                )
            }
        };
        let server = Server::start(
            &program,
            [
                "--chardev".to_owned(),
                format!("socket,id=c,path={},server=on,wait=off", socket.display()),
                "--monitor".to_owned(),
                "chardev=c".to_owned(),
                "--object".to_owned(),
                "throttle-group,id=limits".to_owned(),
                "--blockdev".to_owned(),
                node,
                "--blockdev".to_owned(),
                "driver=throttle,node-name=top,file=behind,throttle-group=limits".to_owned(),
                "--export".to_owned(),
                format!(
                    "type=fuse,id=e,node-name=top,mountpoint={},writable=on",
                    path.display()
                ),
            ],
        )?;
        let mut limited = LimitedFile {
            path,
            socket,
            server,
        };
        limited.wait_until_served(bytes)?;
        limited.set_limits(limits)?;
        Ok(limited)
    }

    fn wait_until_served(&mut self, bytes: u64) -> Result<(), Error> {
        let name = self.server.name().to_owned();
        tool::wait_for(&name, "the file", PATIENCE, || {
            self.server.check()?;
            let served = fs::metadata(&self.path).is_ok_and(|file| file.len() == bytes);
            let heard = fs::metadata(&self.socket).is_ok_and(|s| s.file_type().is_socket());
            Ok((served && heard).then_some(()))
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Changes the limits at once, also under load.
    ///
    /// # Errors
    /// [`Error::Program`] when the daemon refuses.
    pub fn set_limits(&self, limits: Limits) -> Result<(), Error> {
        let value = json!({
            "iops-total": limits.iops.unwrap_or(0),
            "bps-total": limits.bytes_per_second.unwrap_or(0),
        });
        qmp::execute(
            &self.socket,
            "qom-set",
            &json!({"path": "/objects/limits", "property": "limits", "value": value}),
        )
    }
}

impl Drop for LimitedFile {
    fn drop(&mut self) {
        self.server.stop();
        tool::unmount_leftover(&self.path);
    }
}
