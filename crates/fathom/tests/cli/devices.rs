//! Loop devices and mounts for tests that run as root; they go when dropped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::is_root;

/// Runs a system tool that the test needs.
#[track_caller]
pub(crate) fn tool(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output();
    let output = output.unwrap_or_else(|error| panic!("{program} cannot be run: {error}"));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args:?}: {message}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A loop device over a file, detached when dropped.
pub(crate) struct Loop {
    pub(crate) device: String,
}

impl Loop {
    pub(crate) fn over(file: &Path) -> Loop {
        let file = file.to_str().expect("a UTF-8 path");
        Loop {
            device: tool("losetup", &["-f", "--show", file]),
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.device]).status();
    }
}

/// A mount, taken away when dropped.
pub(crate) struct Mount {
    place: PathBuf,
}

impl Mount {
    pub(crate) fn new(args: &[&str], place: &Path) -> Mount {
        fs::create_dir_all(place).expect("a mount point");
        let mut all = args.to_vec();
        all.push(place.to_str().expect("a UTF-8 path"));
        tool("mount", &all);
        Mount {
            place: place.to_owned(),
        }
    }

    pub(crate) fn place(&self) -> &Path {
        &self.place
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.place).status();
    }
}

pub(crate) fn sparse_file(path: &Path, bytes: u64) {
    fs::File::create(path)
        .and_then(|file| file.set_len(bytes))
        .expect("a file");
}

pub(crate) fn can_use_devices() -> bool {
    let usable = is_root() && Path::new("/dev/loop-control").exists();
    if !usable {
        println!("skipped: loop devices and mounts need root");
    }
    usable
}
