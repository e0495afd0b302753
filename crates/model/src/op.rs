//! What one operation is, and how it can fail.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of an operation, as counted and timed.
///
/// `Commit` is derived: from the submission of the first write of a batch to
/// the return of the flush that made it durable. It has a latency and a count
/// but no bytes of its own, and is never added to ops or bytes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum OpKind {
    /// A read of one block.
    Read,
    /// A write of one block.
    Write,
    /// A discard of one block range.
    Trim,
    /// An `fsync` or `fdatasync`.
    Sync,
    /// First write of a batch to the end of its flush.
    Commit,
    /// A file created, its content written, and closed.
    Create,
    /// A file opened and closed.
    Open,
    /// A file opened, read to its end, and closed.
    ReadFile,
    /// A file opened, a record added at its end, and closed.
    Append,
    /// A file opened, its content written again, and closed.
    Overwrite,
    /// The facts of a file by its name.
    Stat,
    /// The facts of a file by its whole path, one component after the other.
    Lookup,
    /// The names in a directory.
    Readdir,
    /// The names in a directory, and the facts of each (`ls -l`).
    ReaddirStat,
    /// A file given another name.
    Rename,
    /// A second name for a file.
    Link,
    /// A symbolic link made.
    Symlink,
    /// Where a symbolic link leads.
    Readlink,
    /// The permissions of a file changed.
    Chmod,
    /// An extended attribute of a file set.
    Setxattr,
    /// An extended attribute of a file read.
    Getxattr,
    /// The length of a file changed.
    Truncate,
    /// A file opened, made durable, and closed.
    Fsync,
    /// A directory made.
    Mkdir,
    /// The facts of a directory by its name.
    Statdir,
    /// A directory removed.
    Rmdir,
    /// A file removed.
    Unlink,
    /// A file opened and cut to nothing, its content written again, and closed.
    TruncateOverwrite,
    /// A file written as object servers do: under another name, with room
    /// reserved, an attribute set, made durable, then renamed.
    SwiftPut,
    /// A file opened, read to its end, its attribute read, and closed.
    SwiftGet,
    /// An object put.
    Put,
    /// An object read to its end.
    Get,
    /// A range of an object read.
    GetRange,
    /// The facts of an object.
    Head,
    /// A page of keys below a prefix.
    List,
    /// An object removed.
    Delete,
    /// Several objects removed by one request.
    DeleteMany,
    /// An object put in parts: begun, its parts sent, and completed.
    PutMultipart,
    /// An object read in ranges, several at a time.
    GetParallel,
    /// An object copied within the store.
    Copy,
    /// An object put again: a version more of it.
    PutVersion,
    /// A page of versions below a prefix.
    ListVersions,
    /// The tags of an object set.
    PutTags,
    /// The tags of an object read.
    GetTags,
    /// A part of an object that is put or read in parts.
    Part,
    /// A connection made.
    Connect,
    /// A TLS handshake.
    Handshake,
    /// From the start of a request to the first byte of its answer.
    FirstByte,
    /// From the first byte of an answer to its last.
    Transfer,
    /// From the failure of a request to when it was sent again.
    Retry,
    /// From when one host began to create a file until another one could read it.
    AwaitCreate,
    /// An object kept from being removed for a time.
    PutRetention,
    /// A given version of an object read to its end.
    GetVersion,
    /// The facts of a given version of an object.
    HeadVersion,
    /// A given version of an object removed.
    DeleteVersion,
}

impl OpKind {
    /// Every kind, in the order in which they are stored and shown.
    pub const ALL: [OpKind; 55] = [
        OpKind::Read,
        OpKind::Write,
        OpKind::Trim,
        OpKind::Sync,
        OpKind::Commit,
        OpKind::Create,
        OpKind::Open,
        OpKind::ReadFile,
        OpKind::Append,
        OpKind::Overwrite,
        OpKind::Stat,
        OpKind::Lookup,
        OpKind::Readdir,
        OpKind::ReaddirStat,
        OpKind::Rename,
        OpKind::Link,
        OpKind::Symlink,
        OpKind::Readlink,
        OpKind::Chmod,
        OpKind::Setxattr,
        OpKind::Getxattr,
        OpKind::Truncate,
        OpKind::Fsync,
        OpKind::Mkdir,
        OpKind::Statdir,
        OpKind::Rmdir,
        OpKind::Unlink,
        OpKind::TruncateOverwrite,
        OpKind::SwiftPut,
        OpKind::SwiftGet,
        OpKind::Put,
        OpKind::Get,
        OpKind::GetRange,
        OpKind::Head,
        OpKind::List,
        OpKind::Delete,
        OpKind::DeleteMany,
        OpKind::PutMultipart,
        OpKind::GetParallel,
        OpKind::Copy,
        OpKind::PutVersion,
        OpKind::ListVersions,
        OpKind::PutTags,
        OpKind::GetTags,
        OpKind::Part,
        OpKind::Connect,
        OpKind::Handshake,
        OpKind::FirstByte,
        OpKind::Transfer,
        OpKind::Retry,
        OpKind::AwaitCreate,
        OpKind::PutRetention,
        OpKind::GetVersion,
        OpKind::HeadVersion,
        OpKind::DeleteVersion,
    ];

    /// The lower-case name used in files, JSON and text.
    pub fn name(self) -> &'static str {
        match self {
            OpKind::Read => "read",
            OpKind::Write => "write",
            OpKind::Trim => "trim",
            OpKind::Sync => "sync",
            OpKind::Commit => "commit",
            OpKind::Create => "create",
            OpKind::Open => "open",
            OpKind::ReadFile => "read_file",
            OpKind::Append => "append",
            OpKind::Overwrite => "overwrite",
            OpKind::Stat => "stat",
            OpKind::Lookup => "lookup",
            OpKind::Readdir => "readdir",
            OpKind::ReaddirStat => "readdir_stat",
            OpKind::Rename => "rename",
            OpKind::Link => "link",
            OpKind::Symlink => "symlink",
            OpKind::Readlink => "readlink",
            OpKind::Chmod => "chmod",
            OpKind::Setxattr => "setxattr",
            OpKind::Getxattr => "getxattr",
            OpKind::Truncate => "truncate",
            OpKind::Fsync => "fsync",
            OpKind::Mkdir => "mkdir",
            OpKind::Statdir => "statdir",
            OpKind::Rmdir => "rmdir",
            OpKind::Unlink => "unlink",
            OpKind::Put => "put",
            OpKind::Get => "get",
            OpKind::GetRange => "get_range",
            OpKind::Head => "head",
            OpKind::List => "list",
            OpKind::Delete => "delete",
            OpKind::DeleteMany => "delete_many",
            OpKind::PutMultipart => "put_multipart",
            OpKind::GetParallel => "get_parallel",
            OpKind::Copy => "copy",
            OpKind::PutVersion => "put_version",
            OpKind::ListVersions => "list_versions",
            OpKind::PutTags => "put_tags",
            OpKind::GetTags => "get_tags",
            OpKind::Part => "part",
            OpKind::Connect => "connect",
            OpKind::Handshake => "handshake",
            OpKind::FirstByte => "first_byte",
            OpKind::Transfer => "transfer",
            OpKind::Retry => "retry",
            OpKind::AwaitCreate => "await_create",
            OpKind::PutRetention => "put_retention",
            OpKind::GetVersion => "get_version",
            OpKind::HeadVersion => "head_version",
            OpKind::DeleteVersion => "delete_version",
            OpKind::TruncateOverwrite => "truncate_overwrite",
            OpKind::SwiftPut => "swift_put",
            OpKind::SwiftGet => "swift_get",
        }
    }

    /// Whether the kind is work in itself and so counts in ops and bytes
    /// totals; flushes and commits are part of the work of others.
    pub fn is_data(self) -> bool {
        !matches!(self, OpKind::Sync | OpKind::Commit) && !self.is_part_of_request()
    }

    /// Whether the kind is a part of a request to an object store, or what comes
    /// with it.
    pub fn is_part_of_request(self) -> bool {
        (OpKind::Part.index()..=OpKind::Retry.index()).contains(&self.index())
    }

    /// Whether the kind is a request to an object store.
    pub fn is_object(self) -> bool {
        (OpKind::Put.index()..OpKind::Part.index()).contains(&self.index())
            || (OpKind::PutRetention.index()..=OpKind::DeleteVersion.index())
                .contains(&self.index())
    }

    /// Whether the kind is a request for a given version of an object.
    pub fn is_of_version(self) -> bool {
        matches!(
            self,
            OpKind::GetVersion | OpKind::HeadVersion | OpKind::DeleteVersion
        )
    }

    /// Whether the answer to the request holds what was put.
    pub fn gives_contents(self) -> bool {
        use OpKind::{Get, GetParallel, GetRange, GetVersion};
        matches!(self, Get | GetRange | GetParallel | GetVersion)
    }

    /// Whether a request to an object store changes nothing in it.
    pub fn reads_objects(self) -> bool {
        use OpKind::{
            Get, GetParallel, GetRange, GetTags, GetVersion, Head, HeadVersion, List, ListVersions,
        };
        matches!(
            self,
            Get | GetRange | GetParallel | Head | List | ListVersions | GetTags
        ) || matches!(self, GetVersion | HeadVersion)
    }

    /// Whether bytes belong to the kind, so that it has a throughput.
    pub fn moves_bytes(self) -> bool {
        use OpKind::{
            Append, Create, Get, GetParallel, GetRange, GetVersion, Overwrite, Put, PutMultipart,
            PutVersion, Read, ReadFile, SwiftGet, SwiftPut, Trim, TruncateOverwrite, Write,
        };
        matches!(
            self,
            Read | Write
                | Trim
                | Create
                | ReadFile
                | Append
                | Overwrite
                | Put
                | PutVersion
                | PutMultipart
                | Get
                | GetRange
                | GetParallel
                | GetVersion
                | TruncateOverwrite
                | SwiftPut
                | SwiftGet
        )
    }

    /// Whether the kind is an operation on names, directories or whole small
    /// files: those of the metadata engine.
    pub fn is_metadata(self) -> bool {
        (OpKind::Create.index()..=OpKind::SwiftGet.index()).contains(&self.index())
            || self == OpKind::AwaitCreate
    }

    /// Whether an operation on a tree of files only looks at what is there.
    pub fn looks(self) -> bool {
        use OpKind::{
            Getxattr, Lookup, Open, ReadFile, Readdir, ReaddirStat, Readlink, Stat, Statdir,
            SwiftGet,
        };
        matches!(
            self,
            Open | ReadFile | Stat | Lookup | Readdir | ReaddirStat | Readlink | Getxattr | Statdir
        ) || self == SwiftGet
    }

    /// Stable index of the kind in stored blobs and in [`OpKind::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The kind at a stored index.
    pub fn from_index(index: usize) -> Option<OpKind> {
        OpKind::ALL.get(index).copied()
    }
}

/// Why an operation failed. Each failure belongs to exactly one class.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// `EIO`: the device or its driver gave up.
    Io,
    /// `ENOSPC`, `EDQUOT`, `EFBIG`: no room.
    NoSpace,
    /// `EACCES`, `EPERM`, `EROFS`: not allowed.
    Permission,
    /// `EINVAL`, `EOPNOTSUPP`: the request is not one that the target takes.
    Unsupported,
    /// The deadline passed with the operation still outstanding.
    Timeout,
    /// Fewer bytes than asked for, with no error from the kernel.
    Short,
    /// The data read are not what was written there.
    Verify,
    /// Anything else (its errno is in the error log).
    Other,
    /// The store asked to slow down (503, 429).
    SlowDown,
    /// The connection could not be made, or ended before the answer.
    Reset,
    /// The request was refused (400 to 499).
    Refused,
    /// The store failed (500 to 599, except where it asks to slow down).
    Failed,
}

impl ErrorClass {
    /// Every class, in stored order.
    pub const ALL: [ErrorClass; 12] = [
        ErrorClass::Io,
        ErrorClass::NoSpace,
        ErrorClass::Permission,
        ErrorClass::Unsupported,
        ErrorClass::Timeout,
        ErrorClass::Short,
        ErrorClass::Verify,
        ErrorClass::Other,
        ErrorClass::SlowDown,
        ErrorClass::Reset,
        ErrorClass::Refused,
        ErrorClass::Failed,
    ];

    /// The lower-case name used in files, JSON and text.
    pub fn name(self) -> &'static str {
        match self {
            ErrorClass::Io => "io",
            ErrorClass::NoSpace => "no_space",
            ErrorClass::Permission => "permission",
            ErrorClass::Unsupported => "unsupported",
            ErrorClass::Timeout => "timeout",
            ErrorClass::Short => "short",
            ErrorClass::Verify => "verify",
            ErrorClass::Other => "other",
            ErrorClass::SlowDown => "slow_down",
            ErrorClass::Reset => "reset",
            ErrorClass::Refused => "refused",
            ErrorClass::Failed => "failed",
        }
    }
}

/// Failed operations by class. They are never part of ops, bytes or latency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCounts {
    #[serde(deserialize_with = "counts")]
    counts: [u64; ErrorClass::ALL.len()],
}

/// Counts as they were stored, perhaps when there were fewer classes.
fn counts<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<[u64; ErrorClass::ALL.len()], D::Error> {
    let stored = Vec::<u64>::deserialize(from)?;
    let mut counts = [0; ErrorClass::ALL.len()];
    if stored.len() > counts.len() {
        return Err(serde::de::Error::custom("an unknown class of errors"));
    }
    counts[..stored.len()].copy_from_slice(&stored);
    Ok(counts)
}

impl ErrorCounts {
    /// Counts one failure.
    #[inline]
    pub fn add(&mut self, class: ErrorClass) {
        self.add_many(class, 1);
    }

    /// Counts several failures of one class.
    pub fn add_many(&mut self, class: ErrorClass, count: u64) {
        self.counts[class as usize] += count;
    }

    /// Failures of one class.
    pub fn get(&self, class: ErrorClass) -> u64 {
        self.counts[class as usize]
    }

    /// Failures of all classes.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &ErrorCounts) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine += theirs;
        }
    }

    /// The classes that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (ErrorClass, u64)> + '_ {
        ErrorClass::ALL
            .into_iter()
            .map(|class| (class, self.get(class)))
            .filter(|(_, n)| *n > 0)
    }
}
