//! The kinds of operations: one table, from which everything about a kind follows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a kind belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    /// Blocks of a device or file.
    Block,
    /// What makes the work of others durable.
    Flush,
    /// Names, directories and whole small files: the metadata engine.
    File,
    /// Requests to an object store.
    Object,
    /// Parts of such a request, or what comes with it.
    RequestPart,
}

/// Bytes belong to it, so that it has a throughput.
const BYTES: u8 = 1;
/// It changes nothing on the target.
const LOOKS: u8 = 2;
/// The answer holds what was put.
const CONTENTS: u8 = 4;
/// It is a request for a given version of an object.
const VERSION: u8 = 8;

/// A row of the table.
struct KindRow {
    name: &'static str,
    family: Family,
    properties: u8,
}

/// Declares the kinds. The order is that in which they are stored and shown, so
/// new ones come last.
macro_rules! operations {
    ($($(#[doc = $doc:literal])+ $Kind:ident $name:literal $Family:ident
        $([$($property:ident)+])?;)+) => {
        /// The kind of an operation, as counted and timed.
        ///
        /// `Commit` is derived: from the submission of the first write of a batch to
        /// the return of the flush that made it durable. It has a latency and a count
        /// but no bytes of its own, and is never added to ops or bytes.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
            JsonSchema,
        )]
        #[serde(rename_all = "snake_case")]
        #[repr(u8)]
        pub enum OpKind {
            $($(#[doc = $doc])+ $Kind,)+
        }

        const KINDS: [KindRow; [$($name),+].len()] = [$(KindRow {
            name: $name,
            family: Family::$Family,
            properties: 0 $($(| $property)+)?,
        }),+];

        impl OpKind {
            /// Every kind, in the order in which they are stored and shown.
            pub const ALL: [OpKind; KINDS.len()] = [$(OpKind::$Kind),+];
        }
    };
}

operations! {
    /// A read of one block.
    Read "read" Block [BYTES];
    /// A write of one block.
    Write "write" Block [BYTES];
    /// A discard of one block range.
    Trim "trim" Block [BYTES];
    /// An `fsync` or `fdatasync`.
    Sync "sync" Flush;
    /// First write of a batch to the end of its flush.
    Commit "commit" Flush;
    /// A file created, its content written, and closed.
    Create "create" File [BYTES];
    /// A file opened and closed.
    Open "open" File [LOOKS];
    /// A file opened, read to its end, and closed.
    ReadFile "read_file" File [BYTES LOOKS];
    /// A file opened, a record added at its end, and closed.
    Append "append" File [BYTES];
    /// A file opened, its content written again, and closed.
    Overwrite "overwrite" File [BYTES];
    /// The facts of a file by its name.
    Stat "stat" File [LOOKS];
    /// The facts of a file by its whole path, one component after the other.
    Lookup "lookup" File [LOOKS];
    /// The names in a directory.
    Readdir "readdir" File [LOOKS];
    /// The names in a directory, and the facts of each (`ls -l`).
    ReaddirStat "readdir_stat" File [LOOKS];
    /// A file given another name.
    Rename "rename" File;
    /// A second name for a file.
    Link "link" File;
    /// A symbolic link made.
    Symlink "symlink" File;
    /// Where a symbolic link leads.
    Readlink "readlink" File [LOOKS];
    /// The permissions of a file changed.
    Chmod "chmod" File;
    /// An extended attribute of a file set.
    Setxattr "setxattr" File;
    /// An extended attribute of a file read.
    Getxattr "getxattr" File [LOOKS];
    /// The length of a file changed.
    Truncate "truncate" File;
    /// A file opened, made durable, and closed.
    Fsync "fsync" File;
    /// A directory made.
    Mkdir "mkdir" File;
    /// The facts of a directory by its name.
    Statdir "statdir" File [LOOKS];
    /// A directory removed.
    Rmdir "rmdir" File;
    /// A file removed.
    Unlink "unlink" File;
    /// A file opened and cut to nothing, its content written again, and closed.
    TruncateOverwrite "truncate_overwrite" File [BYTES];
    /// A file written as object servers do: under another name, with room
    /// reserved, an attribute set, made durable, then renamed.
    SwiftPut "swift_put" File [BYTES];
    /// A file opened, read to its end, its attribute read, and closed.
    SwiftGet "swift_get" File [BYTES LOOKS];
    /// An object put.
    Put "put" Object [BYTES];
    /// An object read to its end.
    Get "get" Object [BYTES LOOKS CONTENTS];
    /// A range of an object read.
    GetRange "get_range" Object [BYTES LOOKS CONTENTS];
    /// The facts of an object.
    Head "head" Object [LOOKS];
    /// A page of keys below a prefix.
    List "list" Object [LOOKS];
    /// An object removed.
    Delete "delete" Object;
    /// Several objects removed by one request.
    DeleteMany "delete_many" Object;
    /// An object put in parts: begun, its parts sent, and completed.
    PutMultipart "put_multipart" Object [BYTES];
    /// An object read in ranges, several at a time.
    GetParallel "get_parallel" Object [BYTES LOOKS CONTENTS];
    /// An object copied within the store.
    Copy "copy" Object;
    /// An object put again: a version more of it.
    PutVersion "put_version" Object [BYTES];
    /// A page of versions below a prefix.
    ListVersions "list_versions" Object [LOOKS];
    /// The tags of an object set.
    PutTags "put_tags" Object;
    /// The tags of an object read.
    GetTags "get_tags" Object [LOOKS];
    /// A part of an object that is put or read in parts.
    Part "part" RequestPart;
    /// A connection made.
    Connect "connect" RequestPart;
    /// A TLS handshake.
    Handshake "handshake" RequestPart;
    /// From the start of a request to the first byte of its answer.
    FirstByte "first_byte" RequestPart;
    /// From the first byte of an answer to its last.
    Transfer "transfer" RequestPart;
    /// From the failure of a request to when it was sent again.
    Retry "retry" RequestPart;
    /// From when one host began to create a file until another one could read it.
    AwaitCreate "await_create" File;
    /// An object kept from being removed for a time.
    PutRetention "put_retention" Object;
    /// A given version of an object read to its end.
    GetVersion "get_version" Object [BYTES LOOKS CONTENTS VERSION];
    /// The facts of a given version of an object.
    HeadVersion "head_version" Object [LOOKS VERSION];
    /// A given version of an object removed.
    DeleteVersion "delete_version" Object [VERSION];
}

impl OpKind {
    fn family(self) -> Family {
        KINDS[self.index()].family
    }

    fn has(self, property: u8) -> bool {
        KINDS[self.index()].properties & property != 0
    }

    /// The lower-case name used in files, JSON and text.
    pub fn name(self) -> &'static str {
        KINDS[self.index()].name
    }

    /// Whether the kind is work in itself and so counts in ops and bytes
    /// totals; flushes and commits are part of the work of others.
    #[inline]
    pub fn is_data(self) -> bool {
        !matches!(self.family(), Family::Flush | Family::RequestPart)
    }

    /// Whether the kind is a part of a request to an object store, or what comes
    /// with it.
    pub fn is_part_of_request(self) -> bool {
        self.family() == Family::RequestPart
    }

    /// Whether the kind is a request to an object store.
    pub fn is_object(self) -> bool {
        self.family() == Family::Object
    }

    /// Whether the kind is a request for a given version of an object.
    pub fn is_of_version(self) -> bool {
        self.has(VERSION)
    }

    /// Whether the answer to the request holds what was put.
    pub fn gives_contents(self) -> bool {
        self.has(CONTENTS)
    }

    /// Whether a request to an object store changes nothing in it.
    pub fn reads_objects(self) -> bool {
        self.is_object() && self.has(LOOKS)
    }

    /// Whether bytes belong to the kind, so that it has a throughput.
    pub fn moves_bytes(self) -> bool {
        self.has(BYTES)
    }

    /// Whether the kind is an operation on names, directories or whole small
    /// files: those of the metadata engine.
    pub fn is_metadata(self) -> bool {
        self.family() == Family::File
    }

    /// Whether an operation on a tree of files only looks at what is there.
    pub fn looks(self) -> bool {
        self.is_metadata() && self.has(LOOKS)
    }

    /// Stable index of the kind in stored blobs and in [`OpKind::ALL`].
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }

    /// The kind at a stored index.
    #[inline]
    pub fn from_index(index: usize) -> Option<OpKind> {
        OpKind::ALL.get(index).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_stored_results() {
        for kind in OpKind::ALL {
            let stored = serde_json::to_value(kind).unwrap();
            assert_eq!(stored, kind.name());
            assert_eq!(OpKind::from_index(kind.index()), Some(kind));
        }
    }

    #[test]
    fn stored_indices_stay() {
        for (index, kind) in [
            (0, OpKind::Read),
            (4, OpKind::Commit),
            (29, OpKind::SwiftGet),
            (44, OpKind::Part),
            (50, OpKind::AwaitCreate),
            (54, OpKind::DeleteVersion),
        ] {
            assert_eq!(kind.index(), index);
        }
    }
}
