//! The root of the file trees that this room reads.
//!
//! On the running host that is `/`. A recorded tree of another machine has its
//! `/proc`, `/sys` and `/dev` below a folder; then nothing is asked of the
//! running kernel, and what a system call would tell comes from files:
//! `/statfs` holds lines of `mount-point block-bytes blocks available`.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use fathom_deadline::{ask, paths};

/// Longest file that is read as text. `/proc/stat` and `/proc/mountinfo` of
/// very large hosts stay far below.
const TEXT_LIMIT_BYTES: u64 = 8 << 20;

/// Where `/proc`, `/sys` and `/dev` are read from.
#[derive(Debug, Clone)]
pub struct Sysroot {
    root: PathBuf,
    host: bool,
}

/// Size and free space of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Space {
    /// Unit of `blocks` and `available`.
    pub(crate) block_bytes: u64,
    /// Size in blocks.
    pub(crate) blocks: u64,
    /// Blocks that this user may still fill.
    pub(crate) available: u64,
    /// Inodes; part of what identifies a file system. 0 where not recorded.
    pub(crate) inodes: u64,
    /// Inodes that are free; not known of a recorded tree.
    pub(crate) inodes_free: Option<u64>,
}

impl Space {
    /// Whether both describe the same file system, as far as sizes can tell.
    pub(crate) fn same_size(&self, other: &Space) -> bool {
        (self.block_bytes, self.blocks, self.inodes)
            == (other.block_bytes, other.blocks, other.inodes)
    }
}

impl Sysroot {
    /// The running host.
    pub fn host() -> Self {
        Sysroot {
            root: PathBuf::from("/"),
            host: true,
        }
    }

    /// A recorded tree; nothing is asked of the running kernel.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Sysroot {
            root: root.into(),
            host: false,
        }
    }

    /// Whether this is the running host and its kernel may be asked.
    pub fn is_host(&self) -> bool {
        self.host
    }

    /// Where `path`, absolute on the described machine, is to be read.
    pub fn locate(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        if self.host {
            return path.to_path_buf();
        }
        // `..` must not lead out of a recorded tree.
        let inside = path
            .components()
            .filter(|c| matches!(c, Component::Normal(_)));
        let mut located = self.root.clone();
        located.extend(inside);
        located
    }

    /// The content of a small file, trimmed. `None` when it cannot be read or
    /// is empty; bytes that are not UTF-8 are replaced.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = self.bytes(path)?;
        let text = String::from_utf8_lossy(&bytes);
        let trimmed = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!trimmed.is_empty()).then(|| trimmed.to_owned())
    }

    /// The content of a small file as it is.
    pub(crate) fn bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        self.call(path.as_ref(), |path| {
            let mut bytes = Vec::new();
            let file = fs::File::open(path)?;
            file.take(TEXT_LIMIT_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        })
        .ok()
    }

    /// A file that holds one number.
    pub fn number(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// Names in a folder, sorted; none when it cannot be read.
    pub fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let found = self.call(path.as_ref(), |path| {
            let entries = fs::read_dir(path)?;
            let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            Ok(names.collect())
        });
        let mut names: Vec<String> = found.unwrap_or_default();
        names.sort();
        names
    }

    /// Whether the path exists (a symbolic link is followed).
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.call(path.as_ref(), |path| fs::metadata(path)).is_ok()
    }

    /// The path with all symbolic links resolved, as the described machine
    /// names it. Only relative links resolve in a recorded tree.
    pub fn resolve(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        let real = self.call(path.as_ref(), |path| fs::canonicalize(path));
        let real = real.ok()?;
        if self.host {
            return Some(real);
        }
        let root = fs::canonicalize(&self.root).ok()?;
        real.strip_prefix(root)
            .ok()
            .map(|inside| Path::new("/").join(inside))
    }

    /// Size and free space of the file system that holds `path`; in a recorded
    /// tree `path` must be the mount point.
    pub(crate) fn space(&self, path: &Path) -> Option<Space> {
        if self.host {
            return paths::space(path).ok().map(Space::from);
        }
        parse_space(&self.text("/statfs")?, path.to_str()?)
    }
}

impl From<fathom_deadline::MountSpace> for Space {
    fn from(found: fathom_deadline::MountSpace) -> Space {
        Space {
            block_bytes: found.block_bytes,
            blocks: found.blocks,
            available: found.available,
            inodes: found.inodes,
            inodes_free: Some(found.inodes_free),
        }
    }
}

impl Sysroot {
    /// Makes a call on a path. What the kernel has to look up for itself is read
    /// at once; a driver is given a deadline, and so is everything outside of
    /// /proc and /sys.
    fn call<T: Send + 'static>(
        &self,
        path: &Path,
        call: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let located = self.locate(path);
        if !self.host || reads_at_once(path) {
            return call(&located);
        }
        match driver(path) {
            Some(what) => ask(&what, move || call(&located))?,
            None => paths::on(path, call),
        }
    }
}

/// Whether a file of /proc is answered from the kernel's own tables. Those of a
/// process that need its memory are not: its lock may be held by an operation
/// that hangs.
fn reads_at_once(path: &Path) -> bool {
    const MEMORY: [&str; 6] = ["cmdline", "environ", "maps", "smaps", "smaps_rollup", "io"];
    let Ok(inside) = path.strip_prefix("/proc") else {
        return false;
    };
    let of_process = inside
        .iter()
        .next()
        .is_some_and(|name| name.as_encoded_bytes().iter().all(u8::is_ascii_digit));
    let name = inside.file_name().unwrap_or_default();
    !(of_process && MEMORY.iter().any(|memory| name == *memory))
}

/// What is behind a file of /sys, by its class and name: reading one may ask
/// the hardware. A process, where a file of /proc needs its memory.
fn driver(path: &Path) -> Option<String> {
    let mut parts = path.iter().map(|part| part.to_string_lossy());
    let parts: Vec<_> = parts.by_ref().skip(1).take(5).collect();
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    match parts[..] {
        ["sys", "block", name, ..] | ["sys", "class", "block", name, ..] => {
            Some(format!("/dev/{}", name.replace('!', "/")))
        }
        ["proc", process, ..] => Some(format!("process {process}")),
        ["sys", ..] => Some(format!("/{}", parts[..parts.len().min(4)].join("/"))),
        _ => None,
    }
}

fn parse_space(table: &str, mount_point: &str) -> Option<Space> {
    let line = table
        .lines()
        .find(|line| line.split(' ').next() == Some(mount_point))?;
    let mut numbers = line.split_whitespace().skip(1).map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some(Space {
        block_bytes: next()?,
        blocks: next()?,
        available: next()?,
        inodes: next().unwrap_or(0),
        inodes_free: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_tree_keeps_every_path_inside_itself() {
        let sys = Sysroot::at("/recorded");
        assert_eq!(sys.locate("/proc/stat"), Path::new("/recorded/proc/stat"));
        assert_eq!(
            sys.locate("/../../etc/passwd"),
            Path::new("/recorded/etc/passwd")
        );
        assert_eq!(
            Sysroot::host().locate("/proc/stat"),
            Path::new("/proc/stat")
        );
    }

    #[test]
    fn text_is_trimmed_and_missing_files_are_none() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "tsc \n").unwrap();
        fs::write(dir.path().join("b"), "\n").unwrap();
        let sys = Sysroot::at(dir.path());
        assert_eq!(sys.text("/a").as_deref(), Some("tsc"));
        assert_eq!(sys.text("/b"), None);
        assert_eq!(sys.text("/c"), None);
        assert_eq!(sys.number("/a"), None);
        assert_eq!(sys.names("/"), ["a", "b"]);
    }

    #[test]
    fn recorded_space_is_found_by_mount_point() {
        let table = "/ 4096 1000 500 77\n/mnt 512 8 4";
        assert_eq!(parse_space(table, "/").unwrap().inodes, 77);
        assert_eq!(parse_space(table, "/mnt").unwrap().available, 4);
        assert_eq!(parse_space(table, "/home"), None);
    }
}
