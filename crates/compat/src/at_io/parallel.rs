//! The settings of `at_io_parallel.sh`, which runs `at_io_iops` on many hosts
//! at the same time, as sections of a run.
//!
//! Names and defaults are those of the *I/O Benchmarking Guide* of Virtuozzo
//! Storage ("Preparations for Benchmarking"); the workloads are the commands
//! that it recommends ("Running the Benchmark"), and the pauses those of its
//! recommendations.

use std::path::Path;

use super::iops::{AtIoIops, NoSize, parse_size};
use fathom_plan::Diagnostics;
use fathom_plan::Plan;

/// Seconds of the warm-up, which makes the files.
const WARM_UP_SECONDS: u32 = 1;

/// Its name.
const WARMING: &str = "Warming";

/// Writes to a sync in the workload of a database.
const WRITES_PER_SYNC: u32 = 32;

const MAX_ITERATIONS: u64 = 1000;
const MAX_THREADS: u64 = 4096;
const MAX_SECONDS: u64 = 31_536_000;

/// A setting with a value that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}={value}: {problem}")]
pub struct SettingError {
    name: String,
    value: String,
    problem: SettingProblem,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum SettingProblem {
    #[error("{0}")]
    NoSize(#[from] NoSize),
    #[error("'{0}' is not a number from 1 to {1}")]
    NoNumber(String, u64),
    #[error("give one to 64 numbers of threads")]
    ThreadCounts,
}

/// The settings, under the names of the guide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtIoParallel {
    /// `TIME`: seconds of a test.
    pub seconds: u32,
    /// `FILE_SIZE`: bytes of all test files of a host together.
    pub file_bytes: u64,
    /// `THREADS`: numbers of threads, one after the other.
    pub threads: Vec<u32>,
    /// `ITERATIONS`: of each test.
    pub iterations: u32,
    /// `BLOCKSIZE`: bytes of a block at random.
    pub block_bytes: u64,
    /// Seconds between two tests; the guide recommends 30 to 60.
    pub pause_seconds: u32,
    /// `REMOTE_PCS_MOUNT_PATH`: where the test files are made.
    pub mount_path: Option<String>,
}

impl Default for AtIoParallel {
    fn default() -> AtIoParallel {
        AtIoParallel {
            seconds: 60,
            file_bytes: 16 << 30,
            threads: vec![1, 4, 16],
            iterations: 3,
            block_bytes: 4096,
            pause_seconds: 30,
            mount_path: None,
        }
    }
}

/// What became of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtIoSetting {
    /// It holds.
    Taken,
    /// The script needs it, fathom does not.
    Needless,
    /// There is none of that name.
    Unknown,
}

impl AtIoParallel {
    /// The names of the settings.
    pub const NAMES: [&'static str; 9] = [
        "TIME",
        "FILE_SIZE",
        "THREADS",
        "ITERATIONS",
        "BLOCKSIZE",
        "PAUSE",
        "REMOTE_PCS_MOUNT_PATH",
        "REMOTE_BINARIES_PATH",
        "AT_IO_LOCAL_PATH",
    ];

    /// Takes a setting as it stands in the script.
    ///
    /// # Errors
    /// What is wrong with the value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<AtIoSetting, SettingError> {
        let wrong = |problem: SettingProblem| SettingError {
            name: name.to_owned(),
            value: value.to_owned(),
            problem,
        };
        let size = |text: &str| parse_size(text).map_err(|error| wrong(error.into()));
        let number = |text: &str, max: u64| match text.parse::<u64>() {
            Ok(number) if (1..=max).contains(&number) => Ok(number as u32),
            _ => Err(wrong(SettingProblem::NoNumber(text.to_owned(), max))),
        };
        match name {
            "TIME" => self.seconds = number(value, MAX_SECONDS)?,
            "FILE_SIZE" => self.file_bytes = size(value)?,
            "BLOCKSIZE" => self.block_bytes = size(value)?,
            "ITERATIONS" => self.iterations = number(value, MAX_ITERATIONS)?,
            "PAUSE" => {
                self.pause_seconds = match value {
                    "0" => 0,
                    _ => number(value, 86_400)?,
                }
            }
            "THREADS" => {
                let numbers = value.split_whitespace();
                let numbers: Result<Vec<u32>, SettingError> =
                    numbers.map(|text| number(text, MAX_THREADS)).collect();
                self.threads = numbers?;
                if self.threads.is_empty() || self.threads.len() > 64 {
                    return Err(wrong(SettingProblem::ThreadCounts));
                }
            }
            "REMOTE_PCS_MOUNT_PATH" => self.mount_path = Some(value.to_owned()),
            "REMOTE_BINARIES_PATH" | "AT_IO_LOCAL_PATH" => return Ok(AtIoSetting::Needless),
            _ => return Ok(AtIoSetting::Unknown),
        }
        Ok(AtIoSetting::Taken)
    }

    /// The sections for a number of threads, in the order in which they are
    /// run and printed.
    pub fn sections(&self, threads: u32) -> Vec<AtIoSection> {
        let section = |title: &'static str, options: AtIoIops| AtIoSection {
            title: format!("{title} ({threads}thr)"),
            options,
            iterations: self.iterations,
        };
        let base = AtIoIops {
            threads,
            files: Some(threads),
            seconds: self.seconds,
            total_bytes: self.file_bytes,
            no_final_sync: true,
            cached: true,
            place: self.mount_path.clone().unwrap_or_default().into(),
            ..AtIoIops::nothing()
        };
        let in_sequence = AtIoIops {
            seq: true,
            mbs: true,
            block_bytes: Some(16 << 20),
            ..base.clone()
        };
        let at_random = AtIoIops {
            rand: true,
            iops: true,
            block_bytes: Some(self.block_bytes),
            ..base
        };
        let read = |options: &AtIoIops| AtIoIops {
            read: true,
            ..options.clone()
        };
        vec![
            AtIoSection {
                iterations: 1,
                ..section(
                    WARMING,
                    AtIoIops {
                        seconds: WARM_UP_SECONDS,
                        ..read(&in_sequence)
                    },
                )
            },
            section("Sequential read", read(&in_sequence)),
            section(
                "Sequential write",
                AtIoIops {
                    write: true,
                    ..in_sequence
                },
            ),
            section("Random read", read(&at_random)),
            section(
                "Random write",
                AtIoIops {
                    fdatasync: true,
                    ..at_random.clone()
                },
            ),
            section(
                "Random write with sync",
                AtIoIops {
                    fsync: true,
                    writes_per_sync: Some(WRITES_PER_SYNC),
                    ..at_random
                },
            ),
        ]
    }
}

/// One test: a command line of `at_io_iops` on all hosts, some times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtIoSection {
    /// As the script names it: `Sequential read (4thr)`.
    pub title: String,
    /// The command line.
    pub options: AtIoIops,
    /// How often.
    pub iterations: u32,
}

impl AtIoSection {
    /// Whether it is there to make the files, and its figures are no result.
    pub fn is_warm_up(&self) -> bool {
        self.title.starts_with(WARMING)
    }

    /// The plan for test files in `directory`, with so many seconds between
    /// the iterations.
    ///
    /// # Errors
    /// As [`AtIoIops::to_plan`].
    pub fn to_plan(&self, directory: &Path, pause_seconds: u32) -> Result<Plan, Diagnostics> {
        self.options
            .to_repeated_plan(directory, self.iterations, pause_seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_of_the_script() {
        let mut settings = AtIoParallel::default();
        assert_eq!(settings.threads, [1, 4, 16]);
        for (name, value) in [("TIME", "30"), ("FILE_SIZE", "4G"), ("THREADS", " 2  8 ")] {
            assert_eq!(settings.set(name, value), Ok(AtIoSetting::Taken));
        }
        assert_eq!((settings.seconds, settings.file_bytes), (30, 4 << 30));
        assert_eq!(settings.threads, [2, 8]);
        let needless = settings.set("REMOTE_BINARIES_PATH", "/root");
        assert_eq!(needless, Ok(AtIoSetting::Needless));
        assert_eq!(settings.set("TIMES", "3"), Ok(AtIoSetting::Unknown));
        for (name, value) in [
            ("TIME", "0"),
            ("THREADS", ""),
            ("THREADS", "x"),
            ("FILE_SIZE", "-1"),
        ] {
            let why = settings.set(name, value).unwrap_err().to_string();
            assert!(why.contains(&format!("{name}={value}")), "{why}");
        }
    }

    #[test]
    fn sections_are_the_commands_that_the_guide_recommends() {
        let settings = AtIoParallel {
            mount_path: Some("/mnt/x".to_owned()),
            ..AtIoParallel::default()
        };
        let sections = settings.sections(4);
        let line = |at: usize| sections[at].options.command_line();
        assert_eq!(sections[0].title, "Warming (4thr)");
        assert_eq!(
            line(0),
            "--read --seq -s 16M --mbs -p 4 -n 4 -t 1 --cached -u 16G -S -f /mnt/x"
        );
        assert_eq!(
            line(1),
            "--read --seq -s 16M --mbs -p 4 -n 4 -t 60 --cached -u 16G -S -f /mnt/x"
        );
        assert!(line(2).starts_with("--write --seq -s 16M --mbs"));
        assert!(line(3).starts_with("--read --rand -s 4K --iops"));
        assert!(line(4).starts_with("--fdatasync --rand -s 4K --iops"));
        assert!(line(5).starts_with("--fsync --rand -s 4K -q 32 --iops"));
        for section in &sections {
            assert!(section.to_plan(Path::new("/mnt/x"), 0).is_ok());
        }
    }
}
