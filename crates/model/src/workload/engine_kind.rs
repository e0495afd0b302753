//! The ways by which operations reach a target, and what each is capable of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is known of an engine before it is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EngineTraits {
    /// Words of plans and flags that mean it too.
    pub other_words: &'static [&'static str],
    /// Blocks reach it only by a job file of another tool, never by a plan.
    pub by_job_file_only: bool,
    /// A worker has one operation in flight: it waits inside each.
    pub one_at_a_time: bool,
    /// Operations go on while the worker does something else.
    pub goes_on: bool,
    /// The contents of blocks do not reach the target.
    pub without_data: bool,
    /// Uses the page cache unless direct I/O is requested.
    pub buffered: bool,
}

/// Defines the engines: a variant, its canonical name, and what differs from
/// [`EngineTraits::default`].
macro_rules! engines {
    ($(
        $(#[doc = $doc:literal])+
        $Variant:ident = $name:literal { $($field:ident: $value:expr),* $(,)? },
    )+) => {
        /// How operations reach the target.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
            JsonSchema,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum EngineKind {
            $($(#[doc = $doc])+ $Variant,)+
        }

        impl EngineKind {
            /// Every engine.
            pub const ALL: [EngineKind; [$($name),+].len()] = [$(EngineKind::$Variant),+];

            /// The name used in plans, flags and results.
            pub const fn name(self) -> &'static str {
                match self {
                    $(EngineKind::$Variant => $name,)+
                }
            }

            /// What it is capable of.
            pub fn traits(self) -> EngineTraits {
                match self {
                    $(EngineKind::$Variant => EngineTraits {
                        $($field: $value,)*
                        ..EngineTraits::default()
                    },)+
                }
            }
        }
    };
}

engines! {
    /// io_uring.
    Uring = "uring" { other_words: &["io_uring"], goes_on: true },
    /// Linux native asynchronous I/O (`io_submit`).
    Libaio = "libaio" { other_words: &["aio"], goes_on: true },
    /// `pread`/`pwrite`, one operation at a time per worker.
    Psync = "psync" { other_words: &["sync", "pvsync", "vsync", "pvsync2"], one_at_a_time: true },
    /// Loads and stores on a memory map, `msync` as the flush.
    Mmap = "mmap" { one_at_a_time: true, buffered: true },
    /// Blocks over a connection to another workload.
    Net = "net" { by_job_file_only: true, one_at_a_time: true },
    /// Nothing is done. Measures the generator.
    Null = "null" { without_data: true },
    /// A simulated drive under a virtual clock.
    Sim = "sim" { without_data: true },
    /// Operations on many files: names, directories, attributes, small contents.
    Meta = "meta" { one_at_a_time: true },
    /// `fallocate` in place of each block: a write allocates, a read allocates
    /// without changing the length, a trim punches a hole.
    Falloc = "falloc" { one_at_a_time: true, without_data: true },
    /// `ftruncate` to the offset of each write.
    Ftruncate = "ftruncate" { one_at_a_time: true, without_data: true },
    /// Objects of a store over HTTP.
    S3 = "s3" { goes_on: true },
}

impl EngineKind {
    /// Whether the contents of blocks reach the target. Null and simulated
    /// targets keep none, and some engines change files without moving data.
    pub fn keeps_data(self) -> bool {
        !self.traits().without_data
    }

    /// Whether only more workers put more operations in flight.
    pub fn one_at_a_time(self) -> bool {
        self.traits().one_at_a_time
    }
}
