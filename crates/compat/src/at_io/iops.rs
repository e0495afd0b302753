//! The command line of `at_io_iops`, the benchmark of Virtuozzo Storage, as a
//! plan.
//!
//! The options and their meanings are those of its *I/O Benchmarking Guide*
//! ("Benchmark Options"). What the guide leaves open is settled here: an
//! `-s` that is not given is what the guide recommends (16M in sequence, 4K at
//! random), `-t` is 60, `-u` is 16G, and the page cache is used. With `-n` the
//! files are shared by all threads unless there is one for each.

use std::path::{Path, PathBuf};

use clap::Args;
use fathom_model::workload::EngineKind;
use fathom_model::{Target, unit};

use fathom_plan::Located;
use fathom_plan::Plan;
use fathom_plan::keys::{PauseKeys, WorkloadKeys};
use fathom_plan::value::{
    Blocks, Count, Name, PreconditionChoice, Rw, Seconds, Size, Switch, Targets, Time,
};
use fathom_plan::{Diagnostics, Problems, Source};
use fathom_plan::{Spelling, ToolOptions};

const MIB: u64 = 1 << 20;

/// How test files are called in a directory.
const FILE_PREFIX: &str = "at_io_iops";

/// The options of `at_io_iops`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(group(clap::ArgGroup::new("operation").required(true)))]
#[command(group(clap::ArgGroup::new("order").required(true)))]
pub struct AtIoIops {
    /// Read.
    #[arg(long, group = "operation")]
    pub read: bool,
    /// Write.
    #[arg(long, group = "operation")]
    pub write: bool,
    /// Write, and call fsync after each write (or after as many as -q says).
    #[arg(long, group = "operation")]
    pub fsync: bool,
    /// Write, and call fdatasync after each write (or after as many as -q says).
    #[arg(long, group = "operation")]
    pub fdatasync: bool,
    /// One block after the other.
    #[arg(long, group = "order")]
    pub seq: bool,
    /// Blocks at random.
    #[arg(long, group = "order")]
    pub rand: bool,
    /// Report megabytes per second. The default with --seq.
    #[arg(long, group = "unit")]
    pub mbs: bool,
    /// Report operations per second; with --fsync and --fdatasync these are
    /// syncs. The default with --rand.
    #[arg(long, group = "unit")]
    pub iops: bool,
    /// Size of a block: bytes, or with K, M or G. Default: 16M with --seq, 4K
    /// with --rand.
    #[arg(short = 's', value_name = "SIZE", value_parser = parse_size)]
    pub block_bytes: Option<u64>,
    /// Threads, and files unless -n is given.
    #[arg(short = 'p', value_name = "NUM", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: u32,
    /// Files for all threads. Default: one for each thread.
    #[arg(short = 'n', value_name = "COUNT")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub files: Option<u32>,
    /// Seconds to measure.
    #[arg(short = 't', value_name = "SEC", default_value_t = 60)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=31_536_000))]
    pub seconds: u32,
    /// Size of all files together: bytes, or with K, M or G.
    #[arg(short = 'u', value_name = "SIZE", default_value = "16G", value_parser = parse_size)]
    pub total_bytes: u64,
    /// Writes that a sync follows. Default: 1 with --fsync and --fdatasync,
    /// none with --write.
    #[arg(short = 'q', value_name = "WRITES")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub writes_per_sync: Option<u32>,
    /// Do not wait for a sync at the end of the test.
    #[arg(short = 'S')]
    pub no_final_sync: bool,
    /// Directory for the test files, or how their names begin.
    #[arg(short = 'f', value_name = "PATH", default_value = ".")]
    pub place: PathBuf,
    /// Through the page cache. The default.
    #[arg(long, group = "cache")]
    pub cached: bool,
    /// Past the page cache (direct I/O).
    #[arg(long, group = "cache")]
    pub uncached: bool,
}

/// How messages name the options of this tool.
const OPTIONS: ToolOptions = ToolOptions {
    keys: &[
        ("bs", "-s"),
        ("size", "-u"),
        ("numjobs", "-p"),
        ("files", "-n"),
        ("runtime", "-t"),
        ("fsync", "-q"),
        ("fdatasync", "-q"),
        ("direct", "--uncached"),
    ],
    pairs: &[
        ("direct", "false", "--cached"),
        ("direct", "true", "--uncached"),
        ("rw", "read", "--read --seq"),
        ("rw", "write", "--write --seq"),
        ("rw", "randread", "--read --rand"),
        ("rw", "randwrite", "--write --rand"),
    ],
};

/// What the rate of the result line counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtIoIopsUnit {
    /// Megabytes of 2^20 bytes: the tool's own.
    MegabytesPerSecond,
    /// Reads and writes.
    OperationsPerSecond,
    /// Calls of fsync or fdatasync.
    SyncsPerSecond,
}

impl AtIoIopsUnit {
    /// As the result line names it.
    pub fn name(self) -> &'static str {
        match self {
            AtIoIopsUnit::MegabytesPerSecond => "MB/s",
            AtIoIopsUnit::OperationsPerSecond => "iops",
            AtIoIopsUnit::SyncsPerSecond => "sync/s",
        }
    }
}

impl AtIoIops {
    /// Size of a block in bytes.
    pub fn block(&self) -> u64 {
        self.block_bytes
            .unwrap_or(if self.seq { 16 * MIB } else { 4096 })
    }

    /// Number of test files.
    pub fn file_count(&self) -> u32 {
        self.files.unwrap_or(self.threads)
    }

    /// Whether all threads use all files.
    pub fn shares_files(&self) -> bool {
        self.file_count() != self.threads
    }

    /// Size of one file in bytes: a whole number of blocks.
    pub fn file_bytes(&self) -> u64 {
        let block = self.block().max(1);
        self.total_bytes / u64::from(self.file_count()) / block * block
    }

    /// Writes that a sync follows, where one does.
    pub fn sync_every(&self) -> Option<u32> {
        match (self.read, self.write) {
            (true, _) => None,
            (_, true) => self.writes_per_sync,
            _ => Some(self.writes_per_sync.unwrap_or(1)),
        }
    }

    /// What the result line counts.
    pub fn unit(&self) -> AtIoIopsUnit {
        if self.mbs || (self.seq && !self.iops) {
            AtIoIopsUnit::MegabytesPerSecond
        } else if self.fsync || self.fdatasync {
            AtIoIopsUnit::SyncsPerSecond
        } else {
            AtIoIopsUnit::OperationsPerSecond
        }
    }

    /// The directory of the test files, and how their names begin. What `-f`
    /// names is the directory if it is one (`is_directory`), else the
    /// beginning of the names, as scripts have it that give `-f DIR/temp` and
    /// remove `DIR/temp*` after.
    pub fn place(&self, is_directory: impl Fn(&Path) -> bool) -> (PathBuf, String) {
        let parent = self.place.parent().map(|parent| match parent {
            empty if empty.as_os_str().is_empty() => Path::new("."),
            parent => parent,
        });
        let name = self.place.file_name().and_then(|name| name.to_str());
        match (parent, name) {
            (Some(parent), Some(name)) if !is_directory(&self.place) && is_directory(parent) => {
                (parent.to_owned(), name.to_owned())
            }
            _ => (self.place.clone(), FILE_PREFIX.to_owned()),
        }
    }

    /// The plan for test files in `directory`.
    ///
    /// # Errors
    /// A value is out of its bounds, or the files would be smaller than a block.
    pub fn to_plan(&self, directory: &Path) -> Result<Plan, Diagnostics> {
        self.build_plan(directory, 1, None)
    }

    /// The same several times, with a pause between of so many seconds.
    ///
    /// # Errors
    /// As [`AtIoIops::to_plan`].
    pub(crate) fn to_repeated_plan(
        &self,
        directory: &Path,
        iterations: u32,
        pause_seconds: u32,
    ) -> Result<Plan, Diagnostics> {
        self.build_plan(directory, iterations, Some(pause_seconds))
    }

    fn build_plan(
        &self,
        directory: &Path,
        iterations: u32,
        pause_seconds: Option<u32>,
    ) -> Result<Plan, Diagnostics> {
        let mut problems = Problems::default();
        let source = Source::new("command line", "");
        if self.block() == 0 {
            problems.error("limit", None, "-s must be at least 1");
            return Err(problems.finish(&source));
        }
        if self.file_bytes() == 0 {
            let message = format!(
                "-u {} is less than a block of {} for each of {} files",
                unit::bytes_exact(self.total_bytes),
                unit::bytes_exact(self.block()),
                self.file_count()
            );
            problems.error("limit", None, message);
            return Err(problems.finish(&source));
        }
        let mut plan = Plan::build(FILE_PREFIX, vec![self.keys()]);
        let target = Target::Path(directory.to_owned());
        plan.targets = Some(Located::new(Targets(vec![Located::new(target)])));
        plan.iterations = Some(Located::new(Count(u64::from(iterations))));
        plan.pause = pause_seconds.map(|seconds| Located::new(fixed_pause(seconds)));
        plan.keep_files = Some(Located::new(Switch(true)));
        // The load that was asked for, and no other.
        plan.probe = Some(Located::new(Switch(false)));
        Plan::checked(plan, source, Spelling::Tool(&OPTIONS), problems)
    }

    fn keys(&self) -> WorkloadKeys {
        let some = |on: bool| on.then(|| Located::new(Switch(true)));
        let rw = match (self.read, self.seq) {
            (true, true) => Rw::Read,
            (true, false) => Rw::RandRead,
            (false, true) => Rw::Write,
            (false, false) => Rw::RandWrite,
        };
        let sync = self
            .sync_every()
            .map(|writes| Located::new(Count(u64::from(writes))));
        let size = self
            .file_bytes()
            .saturating_mul(u64::from(self.file_count()));
        let files = if self.shares_files() {
            self.file_count()
        } else {
            1
        };
        WorkloadKeys {
            name: Some(Located::new(Name(FILE_PREFIX.to_owned()))),
            rw: Some(Located::new(rw)),
            bs: Some(Located::new(Blocks::Fixed(self.block()))),
            norandommap: some(self.rand),
            engine: Some(Located::new(EngineKind::Psync)),
            numjobs: Some(Located::new(Count(u64::from(self.threads)))),
            size: Some(Located::new(Size(size))),
            nrfiles: Some(Located::new(Count(u64::from(files)))),
            shared_files: some(self.shares_files()),
            precondition: Some(Located::new(PreconditionChoice::Written)),
            direct: Some(Located::new(Switch(self.uncached))),
            fdatasync: sync.clone().filter(|_| self.fdatasync),
            fsync: sync.filter(|_| !self.fdatasync),
            end_fsync: some(!self.read && !self.no_final_sync),
            runtime: Some(Located::new(Seconds(
                u64::from(self.seconds) * 1_000_000_000,
            ))),
            ..WorkloadKeys::default()
        }
    }

    /// No option at all.
    pub(crate) fn nothing() -> AtIoIops {
        AtIoIops {
            read: false,
            write: false,
            fsync: false,
            fdatasync: false,
            seq: false,
            rand: false,
            mbs: false,
            iops: false,
            block_bytes: None,
            threads: 1,
            files: None,
            seconds: 60,
            total_bytes: 16 << 30,
            writes_per_sync: None,
            no_final_sync: false,
            place: PathBuf::from("."),
            cached: false,
            uncached: false,
        }
    }

    /// The options as they would be typed.
    pub fn command_line(&self) -> String {
        let on = |set: bool, word: &str| set.then(|| word.to_owned());
        let size = |bytes: u64| match bytes.trailing_zeros() {
            30.. => format!("{}G", bytes >> 30),
            20.. => format!("{}M", bytes >> 20),
            10.. => format!("{}K", bytes >> 10),
            _ => bytes.to_string(),
        };
        let words = [
            on(self.read, "--read"),
            on(self.write, "--write"),
            on(self.fsync, "--fsync"),
            on(self.fdatasync, "--fdatasync"),
            on(self.seq, "--seq"),
            on(self.rand, "--rand"),
            self.block_bytes.map(|bytes| format!("-s {}", size(bytes))),
            self.writes_per_sync.map(|writes| format!("-q {writes}")),
            on(self.mbs, "--mbs"),
            on(self.iops, "--iops"),
            Some(format!("-p {}", self.threads)),
            self.files.map(|files| format!("-n {files}")),
            Some(format!("-t {}", self.seconds)),
            on(self.cached, "--cached"),
            on(self.uncached, "--uncached"),
            Some(format!("-u {}", size(self.total_bytes))),
            on(self.no_final_sync, "-S"),
            Some(format!("-f {}", self.place.display())),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// The settings as `-a` prints them; `files` names the files.
    pub fn settings(&self, command_line: &str, version: &str, files: &str) -> String {
        let cached = if self.uncached { "uncached" } else { "cached" };
        let order = if self.seq { "sequential" } else { "random" };
        let operation = match self.sync_every() {
            None if self.read => "read".to_owned(),
            None => "write".to_owned(),
            Some(writes) => {
                let call = if self.fdatasync { "fdatasync" } else { "fsync" };
                format!("write with {call} after every {writes}")
            }
        };
        let block = self.block();
        let block = match block % 1024 {
            0 => format!("{}KB", block / 1024),
            _ => format!("{block}B"),
        };
        let count = self.file_count();
        let total = self.file_bytes().saturating_mul(u64::from(count)) as f64 / MIB as f64;
        format!(
            "Title:          at_io_iops\n\
             Cmdline:        {command_line}\n\
             Version:        {version}\n\
             Processes:      1\n\
             Time:           {} sec\n\
             Warmup:         0 sec\n\
             Testcase:       create/open {count} file(s) of total size {total:.2} MB named \
             {files}, start {} thread(s) and do {cached} {order} {operation} by {block} blocks\n",
            self.seconds, self.threads
        )
    }
}

fn fixed_pause(seconds: u32) -> PauseKeys {
    let time = Time(u64::from(seconds) * 1_000_000_000);
    PauseKeys {
        floor: Some(Located::new(time)),
        ceiling: Some(Located::new(time)),
        until_quiet: Some(Located::new(Switch(false))),
    }
}

/// A text that is no size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a size; write for example 4K, 16M or 16G")]
pub(crate) struct NoSize(String);

/// A size as the tool takes it: bytes, or with K, M or G (powers of 1024).
pub(crate) fn parse_size(text: &str) -> Result<u64, NoSize> {
    let wrong = || NoSize(text.to_owned());
    let upper = text.trim().to_ascii_uppercase();
    let (digits, scale) = match upper.strip_suffix(['K', 'M', 'G', 'T']) {
        Some(digits) => (digits, upper.chars().last()),
        None => (upper.as_str(), None),
    };
    let scale: u64 = match scale {
        Some('K') => 1 << 10,
        Some('M') => 1 << 20,
        Some('G') => 1 << 30,
        Some('T') => 1 << 40,
        _ => 1,
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    match number.checked_mul(scale) {
        Some(bytes) if (1..=1 << 60).contains(&bytes) => Ok(bytes),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
#[path = "iops_tests.rs"]
mod tests;
