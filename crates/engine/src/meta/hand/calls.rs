//! How many system calls a worker makes on its files, by kind: what the client
//! asks of the file system, without tracing it.

/// A call that operations on files are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Call {
    Open,
    Close,
    Read,
    Write,
    Stat,
    Getdents,
    Rename,
    Link,
    Symlink,
    Readlink,
    Chmod,
    Setxattr,
    Getxattr,
    Truncate,
    Allocate,
    Fsync,
    Mkdir,
    Rmdir,
    Unlink,
}

/// Every call with the name that the manual has for it.
const NAMES: [(Call, &str); 19] = [
    (Call::Open, "openat"),
    (Call::Close, "close"),
    (Call::Read, "read"),
    (Call::Write, "write"),
    (Call::Stat, "newfstatat"),
    (Call::Getdents, "getdents64"),
    (Call::Rename, "renameat"),
    (Call::Link, "linkat"),
    (Call::Symlink, "symlinkat"),
    (Call::Readlink, "readlinkat"),
    (Call::Chmod, "fchmodat"),
    (Call::Setxattr, "setxattr"),
    (Call::Getxattr, "getxattr"),
    (Call::Truncate, "ftruncate"),
    (Call::Allocate, "fallocate"),
    (Call::Fsync, "fsync"),
    (Call::Mkdir, "mkdirat"),
    (Call::Rmdir, "rmdir"),
    (Call::Unlink, "unlinkat"),
];

/// Calls by kind, and the records among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    counts: [u64; NAMES.len()],
    /// Records that were moved, whatever number of calls that took.
    pub(crate) records: u64,
}

impl Calls {
    #[inline]
    pub(crate) fn count(&mut self, call: Call) {
        self.counts[call as usize] += 1;
    }

    /// Adds those of another worker.
    pub(crate) fn add(&mut self, other: &Calls) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine += theirs;
        }
        self.records += other.records;
    }

    /// Those that were made, by name.
    pub(crate) fn named(&self) -> Vec<(String, u64)> {
        NAMES
            .iter()
            .map(|(call, name)| ((*name).to_owned(), self.counts[*call as usize]))
            .filter(|(_, count)| *count > 0)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_has_a_place_of_its_own() {
        for (at, (call, _)) in NAMES.iter().enumerate() {
            assert_eq!(*call as usize, at);
        }
        let mut calls = Calls::default();
        calls.count(Call::Stat);
        let mut all = calls;
        all.add(&calls);
        assert_eq!(all.named(), [("newfstatat".to_owned(), 2)]);
    }
}
