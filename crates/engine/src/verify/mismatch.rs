//! What can be wrong with a block.

use std::fmt;

/// In which way a block is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MismatchKind {
    /// The bytes are no block of fathom's, or were changed.
    Wrong,
    /// An older version of the right block.
    Stale,
    /// A block of this trial that belongs elsewhere.
    Misplaced,
    /// Part of the block is of another version than the rest.
    Torn,
    /// A block that another trial wrote.
    Foreign,
    /// All zeros.
    Zeroed,
}

impl MismatchKind {
    /// The lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            MismatchKind::Wrong => "wrong",
            MismatchKind::Stale => "stale",
            MismatchKind::Misplaced => "misplaced",
            MismatchKind::Torn => "torn",
            MismatchKind::Foreign => "foreign",
            MismatchKind::Zeroed => "zeroed",
        }
    }
}

/// One block that is not what was written there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// In which way.
    pub kind: MismatchKind,
    /// Index of the file in the layout.
    pub file: u32,
    /// Offset of the first wrong bytes in the file.
    pub offset: u64,
    /// What should have been there, in words.
    pub expected: String,
    /// What was there, in words.
    pub found: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} data in file {} at offset {}: expected {}, found {}",
            self.kind.name(),
            self.file,
            self.offset,
            self.expected,
            self.found
        )
    }
}

impl std::error::Error for Mismatch {}
