//! Values that are one word out of a few.

use fathom_model::host_mode::{HostData, HostTurns};
use fathom_model::workload::{
    Allocation, Arrival, Between, Handing, MetaOrder, MetaPaths, ObjectChecksum, OnError,
    Precondition, SyncOpen,
};
use schemars::{Schema, json_schema};

use super::Value;
use crate::node::Out;
use fathom_model::nearest::nearest;

/// Defines a choice: variants with their canonical word and other words that
/// are understood.
macro_rules! choice {
    (
        $(#[$meta:meta])*
        $Name:ident, $kind:literal, example $example:literal {
            $($(#[doc = $doc:literal])+ $Variant:ident = $word:literal $(| $other:literal)*,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $Name {
            $($(#[doc = $doc])+ $Variant,)+
        }

        impl $Name {
            const WORDS: &'static [&'static str] = &[$($word),+];

            /// The canonical word.
            pub(crate) fn word(self) -> &'static str {
                match self {
                    $($Name::$Variant => $word,)+
                }
            }
        }

        impl Value for $Name {
            const KIND: &'static str = $kind;

            fn from_text(text: &str) -> Result<Self, String> {
                match text.trim().to_ascii_lowercase().as_str() {
                    $($word $(| $other)* => Ok($Name::$Variant),)+
                    _ => Err(not_one_of(text, $kind, $Name::WORDS)),
                }
            }

            fn to_out(&self) -> Out {
                Out::Text(self.word().to_owned())
            }

            fn example() -> &'static str {
                $example
            }

            fn schema() -> Schema {
                json_schema!({ "enum": [$($word $(, $other)*),+] })
            }
        }
    };
}

pub(super) fn not_one_of(text: &str, kind: &str, words: &[&str]) -> String {
    let all = words.join(", ");
    match nearest(text, words.iter().copied()) {
        Some(word) => format!("'{text}' is not a known {kind}; did you mean {word}? Known: {all}"),
        None => format!("'{text}' is not a known {kind}; known: {all}"),
    }
}

choice! {
    /// In which order files are visited.
    VisitChoice, "order of visits", example "random" {
        /// As they were made.
        AsMade = "as_made" | "as-made",
        /// At random, each once.
        Random = "random",
    }
}

impl VisitChoice {
    pub(crate) fn order(self) -> MetaOrder {
        match self {
            VisitChoice::AsMade => MetaOrder::AsMade,
            VisitChoice::Random => MetaOrder::Random,
        }
    }
}

choice! {
    /// How names are told to the system.
    PathsChoice, "kind of path", example "whole" {
        /// Relative to the directory, which is held open.
        Near = "near",
        /// From the top of the tree.
        Whole = "whole",
    }
}

impl PathsChoice {
    pub(crate) fn paths(self) -> MetaPaths {
        match self {
            PathsChoice::Near => MetaPaths::Near,
            PathsChoice::Whole => MetaPaths::Whole,
        }
    }
}

choice! {
    /// How records get from the program to the file.
    HandoverChoice, "way of handing over", example "buffered" {
        /// Each by a system call.
        Direct = "direct" | "unbuffered",
        /// Gathered in memory.
        Buffered = "buffered",
        /// Through a pipe.
        Stream = "stream" | "pipe",
    }
}

impl HandoverChoice {
    pub(crate) fn handing(self) -> Handing {
        match self {
            HandoverChoice::Direct => Handing::Direct,
            HandoverChoice::Buffered => Handing::Buffered,
            HandoverChoice::Stream => Handing::Stream,
        }
    }
}

choice! {
    /// A checksum of what is put.
    ChecksumChoice, "checksum", example "crc32c" {
        /// CRC-32.
        Crc32 = "crc32",
        /// CRC-32C.
        Crc32c = "crc32c",
        /// CRC-64/NVME.
        Crc64nvme = "crc64nvme",
        /// SHA-1.
        Sha1 = "sha1",
        /// SHA-256.
        Sha256 = "sha256",
    }
}

impl ChecksumChoice {
    pub(crate) fn checksum(self) -> ObjectChecksum {
        match self {
            ChecksumChoice::Crc32 => ObjectChecksum::Crc32,
            ChecksumChoice::Crc32c => ObjectChecksum::Crc32c,
            ChecksumChoice::Crc64nvme => ObjectChecksum::Crc64nvme,
            ChecksumChoice::Sha1 => ObjectChecksum::Sha1,
            ChecksumChoice::Sha256 => ObjectChecksum::Sha256,
        }
    }
}

choice! {
    /// What is done, in one word.
    Rw, "access pattern", example "randread" {
        /// Sequential reads.
        Read = "read",
        /// Sequential writes.
        Write = "write",
        /// Sequential discards.
        Trim = "trim",
        /// Sequential reads and writes, mixed.
        Mixed = "rw" | "readwrite",
        /// Random reads.
        RandRead = "randread",
        /// Random writes.
        RandWrite = "randwrite",
        /// Random discards.
        RandTrim = "randtrim",
        /// Random reads and writes, mixed.
        RandMixed = "randrw",
        /// Each block trimmed, then written, in sequence.
        TrimWrite = "trimwrite",
        /// Each block trimmed, then written, at random.
        RandTrimWrite = "randtrimwrite",
    }
}

impl Rw {
    pub(crate) fn is_random(self) -> bool {
        matches!(
            self,
            Rw::RandRead | Rw::RandWrite | Rw::RandTrim | Rw::RandMixed | Rw::RandTrimWrite
        )
    }

    pub(crate) fn is_pairs(self) -> bool {
        matches!(self, Rw::TrimWrite | Rw::RandTrimWrite)
    }

    pub(crate) fn is_mixed(self) -> bool {
        matches!(self, Rw::Mixed | Rw::RandMixed)
    }
}

choice! {
    /// Where operations between two random draws go.
    BetweenChoice, "way", example "again" {
        /// Each starts where the one before ended.
        Onward = "onward" | "sequential",
        /// To the same offset again.
        Again = "again" | "identical",
    }
}

impl BetweenChoice {
    pub(crate) fn between(self) -> Between {
        match self {
            BetweenChoice::Onward => Between::Onward,
            BetweenChoice::Again => Between::Again,
        }
    }
}

choice! {
    /// Which part of shared files a worker uses.
    RegionChoice, "region", example "whole" {
        /// Workers divide them.
        Split = "split",
        /// Each uses all of them.
        Whole = "whole",
    }
}

choice! {
    /// How intended starts are spaced.
    ArrivalChoice, "arrival", example "poisson" {
        /// Evenly.
        Constant = "constant" | "linear",
        /// As independent users arrive.
        Poisson = "poisson",
    }
}

impl ArrivalChoice {
    pub(crate) fn arrival(self) -> Arrival {
        match self {
            ArrivalChoice::Constant => Arrival::Constant,
            ArrivalChoice::Poisson => Arrival::Poisson,
        }
    }
}

choice! {
    /// Synchronous flags at open.
    SyncChoice, "sync mode", example "dsync" {
        /// None.
        No = "no" | "none" | "false" | "0" | "off",
        /// `O_DSYNC`.
        Dsync = "dsync",
        /// `O_SYNC`.
        Sync = "sync" | "true" | "1" | "yes" | "on",
    }
}

impl SyncChoice {
    pub(crate) fn open(self) -> SyncOpen {
        match self {
            SyncChoice::No => SyncOpen::No,
            SyncChoice::Dsync => SyncOpen::Dsync,
            SyncChoice::Sync => SyncOpen::Sync,
        }
    }
}

choice! {
    /// What is done to the target before the trial.
    PreconditionChoice, "precondition", example "fill" {
        /// Only what is read is written first.
        No = "none" | "no" | "false",
        /// What was never written is written, also when nothing is read.
        Written = "written",
        /// The whole size once in sequence.
        Fill = "fill",
        /// In sequence, then once more at random.
        RandomFill = "random_fill" | "random-fill",
    }
}

impl PreconditionChoice {
    pub(crate) fn precondition(self) -> Precondition {
        match self {
            PreconditionChoice::No => Precondition::None,
            PreconditionChoice::Written => Precondition::Written,
            PreconditionChoice::Fill => Precondition::Fill,
            PreconditionChoice::RandomFill => Precondition::RandomFill,
        }
    }
}

choice! {
    /// After a failed operation.
    OnErrorChoice, "error policy", example "continue" {
        /// The trial ends.
        Stop = "stop" | "none",
        /// The failure is counted and the trial goes on.
        Continue = "continue" | "all",
    }
}

impl OnErrorChoice {
    pub(crate) fn on_error(self) -> OnError {
        match self {
            OnErrorChoice::Stop => OnError::Stop,
            OnErrorChoice::Continue => OnError::Continue,
        }
    }
}

choice! {
    /// Which contents are checked, and when.
    VerifyChoice, "verification", example "both" {
        /// Nothing is checked.
        No = "no" | "none" | "false" | "0" | "off",
        /// Every read of the measure phase.
        OnRead = "on_read" | "on-read",
        /// All that was written, after the measure phase.
        After = "after",
        /// What is written is marked for a later trial to check.
        Stamp = "stamp",
        /// Whatever applies of the two.
        Both = "both" | "true" | "yes" | "1" | "on",
    }
}

choice! {
    /// By what contents are checked.
    VerifyByChoice, "check", example "content" {
        /// By stamps in every sector.
        Stamps = "stamps" | "stamp",
        /// Byte by byte against the content of the payload.
        Content = "content" | "pattern",
    }
}

choice! {
    /// How the space of test files is allocated.
    AllocationChoice, "allocation", example "none" {
        /// By the file system's own means where it has any.
        Auto = "auto" | "native" | "1",
        /// Not at all.
        No = "none" | "0",
        /// `posix_fallocate`.
        Posix = "posix",
        /// Behind the end of the file.
        KeepSize = "keep_size" | "keep",
        /// A hole.
        Truncate = "truncate",
    }
}

impl AllocationChoice {
    pub(crate) fn allocation(self) -> Allocation {
        match self {
            AllocationChoice::Auto => Allocation::Auto,
            AllocationChoice::No => Allocation::None,
            AllocationChoice::Posix => Allocation::Posix,
            AllocationChoice::KeepSize => Allocation::KeepSize,
            AllocationChoice::Truncate => Allocation::Truncate,
        }
    }
}

choice! {
    /// The order of the trials.
    Order, "order", example "interleaved" {
        /// All iterations of a row, then the next row.
        Fixed = "fixed",
        /// One iteration of every row, then the next iteration of each.
        Interleaved = "interleaved",
    }
}

choice! {
    /// Whose data each of several hosts uses.
    HostDataChoice, "data", example "divided" {
        /// Test files of its own, all of the size that was asked for.
        Own = "own",
        /// An equal part of one data set.
        Divided = "divided" | "shared",
        /// Who reads uses what another host wrote.
        Rotated = "rotated" | "rotate",
    }
}

impl HostDataChoice {
    pub(crate) fn data(self) -> HostData {
        match self {
            HostDataChoice::Own => HostData::Own,
            HostDataChoice::Divided => HostData::Divided,
            HostDataChoice::Rotated => HostData::Rotated,
        }
    }
}

choice! {
    /// Which of several hosts work when.
    HostTurnsChoice, "turns", example "growing" {
        /// All at the same time.
        Together = "together" | "all",
        /// Each alone, one after the other.
        OneByOne = "one_by_one" | "one-by-one",
        /// 1, 2, 4 and so on, in the end all.
        Growing = "growing",
    }
}

impl HostTurnsChoice {
    pub(crate) fn turns(self) -> HostTurns {
        match self {
            HostTurnsChoice::Together => HostTurns::Together,
            HostTurnsChoice::OneByOne => HostTurns::OneByOne,
            HostTurnsChoice::Growing => HostTurns::Growing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_other_tools_taught_are_understood() {
        assert_eq!(Rw::from_text("readwrite"), Ok(Rw::Mixed));
        assert_eq!(SyncChoice::from_text("1"), Ok(SyncChoice::Sync));
        assert_eq!(Rw::RandRead.to_text(), "randread");
    }

    #[test]
    fn a_wrong_word_is_answered_with_the_nearest() {
        let message = Rw::from_text("randraed").unwrap_err();
        assert!(message.contains("did you mean randread?"), "{message}");
    }
}
