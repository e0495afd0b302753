//! The mount table: `/proc/self/mountinfo` (proc(5), since Linux 2.6.26).

use std::path::{Path, PathBuf};

/// One line of the mount table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Unique id of the mount.
    pub id: u64,
    /// Device number of the file system; major 0 is anonymous.
    pub device: (u32, u32),
    /// The folder of the file system that is the root of this mount.
    pub root: String,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// Options of the mount, then those of the file system, without repeats.
    pub options: Vec<String>,
    /// Type of the file system, for example `ext4` or `fuse.sshfs`.
    pub kind: String,
    /// What is mounted: a device, `server:/export`, `none`, ….
    pub source: String,
}

impl Mount {
    /// The value of an option `name=value`.
    pub fn option(&self, name: &str) -> Option<&str> {
        let value =
            |option: &'_ String| option.starts_with(name) && option[name.len()..].starts_with('=');
        let option = self.options.iter().find(|option| value(option))?;
        Some(&option[name.len() + 1..])
    }
}

/// Reads the mount table; lines that do not look like one are left out.
pub fn parse_mountinfo(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
fn parse_line(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ');
    let id = fields.next()?.parse().ok()?;
    let (major, minor) = fields.nth(1)?.split_once(':')?;
    let root = unescape(fields.next()?);
    let mount_point = PathBuf::from(unescape(fields.next()?));
    let own_options = fields.next()?;
    let mut tail = after.split(' ');
    let kind = unescape(tail.next()?);
    let source = unescape(tail.next()?);
    let super_options = tail.next().unwrap_or("");
    let mut options: Vec<String> = Vec::new();
    for option in own_options.split(',').chain(super_options.split(',')) {
        let option = unescape(option);
        if !option.is_empty() && !options.contains(&option) {
            options.push(option);
        }
    }
    Some(Mount {
        id,
        device: (major.parse().ok()?, minor.parse().ok()?),
        root,
        mount_point,
        options,
        kind,
        source,
    })
}

/// Space, tab, newline and backslash are octal in the table.
fn unescape(field: &str) -> String {
    let mut bytes = Vec::with_capacity(field.len());
    let raw = field.as_bytes();
    let mut at = 0;
    while at < raw.len() {
        let octal = raw
            .get(at + 1..at + 4)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if raw[at] == b'\\' => {
                bytes.push(byte);
                at += 4;
            }
            _ => {
                bytes.push(raw[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The mount that a path lies on: the deepest mount point above it, and of
/// several on one point the last, which covers the others.
pub fn mount_of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let above = mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.mount_point));
    above.max_by_key(|mount| mount.mount_point.components().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
22 1 259:2 / / rw,relatime shared:1 - xfs /dev/nvme0n1p2 rw,attr2\n\
30 22 0:31 / /mnt/my\\040disk rw,noatime master:1 propagate_from:2 - btrfs /dev/sda rw,noatime,subvol=/\n\
nonsense\n\
31 22 0:50 / /mnt rw - tmpfs tmpfs rw,size=4k\n\
32 22 0:51 / /mnt rw - tmpfs second rw\n";

    #[test]
    fn fields_are_read_and_escapes_undone() {
        let mounts = parse_mountinfo(TABLE);
        assert_eq!(mounts.len(), 4);
        assert_eq!(mounts[0].device, (259, 2));
        assert_eq!(mounts[1].mount_point, Path::new("/mnt/my disk"));
        assert_eq!(mounts[1].options, ["rw", "noatime", "subvol=/"]);
        assert_eq!(mounts[1].option("subvol"), Some("/"));
        assert_eq!(mounts[1].option("sub"), None);
        assert_eq!(mounts[1].kind, "btrfs");
    }

    #[test]
    fn the_deepest_mount_wins_and_the_last_of_equals() {
        let mounts = parse_mountinfo(TABLE);
        let id = |path: &str| mount_of(&mounts, Path::new(path)).unwrap().id;
        assert_eq!(id("/home/x"), 22);
        assert_eq!(id("/mnt/my disk/file"), 30);
        assert_eq!(id("/mnt/other"), 32);
        assert_eq!(id("/mntother"), 22);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(text in "\\PC*( - )?\\PC*\\\\[0-9]{0,3}") {
            let _ = parse_mountinfo(&text).len();
            proptest::prop_assert!(unescape(&text).len() <= text.len() * 3);
        }
    }
}
