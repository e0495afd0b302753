//! The operations of smallfile.

use fathom_model::OpKind;

use fathom_model::nearest::nearest;

/// One of smallfile's operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmallfileOperation {
    name: &'static str,
    does: Does,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Phase(OpKind),
    /// Removes everything.
    Cleanup,
}

const fn phase(name: &'static str, kind: OpKind) -> SmallfileOperation {
    SmallfileOperation {
        name,
        does: Does::Phase(kind),
    }
}

const CLEANUP: SmallfileOperation = SmallfileOperation {
    name: "cleanup",
    does: Does::Cleanup,
};

/// All of them, in smallfile's order.
const ALL: [SmallfileOperation; 21] = [
    phase("create", OpKind::Create),
    phase("delete", OpKind::Unlink),
    phase("append", OpKind::Append),
    phase("overwrite", OpKind::Overwrite),
    phase("read", OpKind::ReadFile),
    phase("readdir", OpKind::Readdir),
    phase("rename", OpKind::Rename),
    phase("delete-renamed", OpKind::Unlink),
    CLEANUP,
    phase("symlink", OpKind::Symlink),
    phase("mkdir", OpKind::Mkdir),
    phase("rmdir", OpKind::Rmdir),
    phase("stat", OpKind::Stat),
    phase("chmod", OpKind::Chmod),
    phase("setxattr", OpKind::Setxattr),
    phase("getxattr", OpKind::Getxattr),
    phase("swift-get", OpKind::SwiftGet),
    phase("swift-put", OpKind::SwiftPut),
    phase("ls-l", OpKind::ReaddirStat),
    phase("await-create", OpKind::AwaitCreate),
    phase("truncate-overwrite", OpKind::TruncateOverwrite),
];

impl Default for SmallfileOperation {
    fn default() -> Self {
        CLEANUP
    }
}

impl SmallfileOperation {
    /// The operation of that name.
    ///
    /// # Errors
    /// There is none.
    pub fn of_name(name: &str) -> Result<SmallfileOperation, OperationError> {
        let found = ALL.into_iter().find(|operation| operation.name == name);
        found.ok_or_else(|| OperationError {
            name: name.to_owned(),
        })
    }

    /// Every operation.
    pub fn all() -> impl Iterator<Item = SmallfileOperation> {
        ALL.into_iter()
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// What is done to each file; `None` for `cleanup`.
    pub fn kind(self) -> Option<OpKind> {
        match self.does {
            Does::Phase(kind) => Some(kind),
            Does::Cleanup => None,
        }
    }

    /// Whether everything is removed.
    pub fn is_cleanup(self) -> bool {
        self.does == Does::Cleanup
    }

    /// Whether it waits for what another run makes.
    pub fn is_wait(self) -> bool {
        self.kind() == Some(OpKind::AwaitCreate)
    }

    /// Whether it works on directories and counts what is in them.
    pub fn lists(self) -> bool {
        matches!(self.kind(), Some(OpKind::Readdir | OpKind::ReaddirStat))
    }

    /// Whether all files must be done, so that later operations find them.
    pub fn must_finish(self) -> bool {
        matches!(self.name, "create" | "cleanup" | "mkdir")
    }
}

/// A name that is no operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{name}' is not an operation of smallfile; {}", instead(name))]
pub struct OperationError {
    /// The name.
    name: String,
}

fn instead(name: &str) -> String {
    let names = || SmallfileOperation::all().map(SmallfileOperation::name);
    match nearest(name, names()) {
        Some(word) => format!("did you mean {word}?"),
        None => format!("it has {}", names().collect::<Vec<_>>().join(", ")),
    }
}
