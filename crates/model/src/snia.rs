//! The tests of the SNIA Solid State Storage Performance Test Specification
//! (SSS PTS 2.0.2): what is asked of a run, and the standard's report.
//!
//! A round carries out every cell of the test's matrix once. Rounds follow one
//! another until the tracked variable is steady over the last five of them:
//! the measurement window, whose figures are the result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::estimate::Unit;
use crate::steadiness::SniaWindow;
use crate::summary::LatencySummary;

/// Rounds of a measurement window.
pub const WINDOW_ROUNDS: usize = 5;

/// A test of the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SniaTest {
    /// Random operations per second by mix and block size.
    Iops,
    /// Sequential throughput.
    Throughput,
    /// Latency with one operation outstanding.
    Latency,
    /// Write saturation: random writes for a day or four capacities.
    Wsat,
}

impl SniaTest {
    /// Every test.
    pub const ALL: [SniaTest; 4] = [
        SniaTest::Iops,
        SniaTest::Throughput,
        SniaTest::Latency,
        SniaTest::Wsat,
    ];

    /// The word that is stored with a run and typed on a command line.
    pub fn name(self) -> &'static str {
        match self {
            SniaTest::Iops => "iops",
            SniaTest::Throughput => "throughput",
            SniaTest::Latency => "latency",
            SniaTest::Wsat => "wsat",
        }
    }

    /// The test of that name.
    pub fn of_name(name: &str) -> Option<SniaTest> {
        SniaTest::ALL.into_iter().find(|test| test.name() == name)
    }

    /// The standard's name of it.
    pub fn title(self) -> &'static str {
        match self {
            SniaTest::Iops => "IOPS test",
            SniaTest::Throughput => "Throughput test",
            SniaTest::Latency => "Latency test",
            SniaTest::Wsat => "Write saturation test",
        }
    }
}

/// What was decided before the run began, stored with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SniaSettings {
    /// Size of the whole target; 0 where nobody knew.
    pub capacity_bytes: u64,
    /// Bytes that the test may access, from the start of the target.
    pub active_bytes: u64,
    /// Length of a round's cell.
    pub round_ns: u64,
    /// Rounds at most.
    pub rounds_max: u32,
    /// How often the active range is written before the rounds.
    pub passes: u32,
    /// Threads.
    pub threads: u32,
    /// Operations outstanding per thread.
    pub outstanding: u32,
    /// The kind of target.
    pub on: SniaTarget,
    /// The whole device is discarded first.
    pub discards: bool,
    /// Block sizes of the standard that the target does not take.
    pub skipped_blocks: Vec<u64>,
    /// Why they are left out.
    pub skipped_because: String,
}

/// What kind of target a test ran on; the standard knows whole devices only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SniaTarget {
    /// A block device.
    Device,
    /// A test file in a directory, or a file.
    #[default]
    File,
    /// A simulated drive.
    Simulated,
}

/// The standard's report of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SniaReport {
    /// Which test.
    pub test: SniaTest,
    /// Every requirement was kept. Never on a file or a simulated drive.
    pub conforming: bool,
    /// What may be claimed, in one sentence.
    pub claim: String,
    /// What the standard asks for, and whether it was kept.
    pub requirements: Vec<SniaRequirement>,
    /// What the standard wants to be reported, by name.
    pub facts: Vec<SniaFact>,
    /// The parts of the test, each with rounds of its own: one for each block
    /// size in the throughput test, else one.
    pub parts: Vec<SniaPart>,
}

/// One requirement of the standard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SniaRequirement {
    /// What is asked for.
    pub name: String,
    /// Whether it was kept.
    pub kept: bool,
    /// What was done, or why it was not.
    pub evidence: String,
}

/// One fact of the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SniaFact {
    /// What it is.
    pub name: String,
    /// The fact in words; `not known` where it could not be read.
    pub value: String,
}

/// Rounds that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SniaPart {
    /// What it is about.
    pub name: String,
    /// The tracked variable in words, for example `4 KiB random writes, IOPS`.
    pub tracked: String,
    /// Its unit.
    pub unit: Unit,
    /// Values by complete round, the tracked variable first.
    pub series: Vec<SniaSeries>,
    /// Bytes written up to the end of each round; write saturation only.
    pub written_bytes: Vec<u64>,
    /// The last rounds and the rule; missing with fewer than five.
    pub window: Option<SniaWindow>,
    /// Number of the window's first round, from 1.
    pub window_from: Option<u32>,
    /// The rule held at the end.
    pub steady: bool,
    /// The result by cell: over the measurement window, or the last rounds
    /// where steady state was not achieved.
    pub cells: Vec<SniaCell>,
}

/// One line of a convergence plot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SniaSeries {
    /// What it is, for example `4 KiB`.
    pub label: String,
    /// One value a round in the part's unit; missing where nothing succeeded.
    pub values: Vec<Option<f64>>,
}

/// One cell of the matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SniaCell {
    /// Share of reads in percent.
    pub read_percent: u8,
    /// Block size.
    pub block_bytes: u64,
    /// Rounds that the figures are taken over.
    pub rounds: u32,
    /// Operations per second.
    pub ops_per_second: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Latency of all operations. The standard asks for mean and largest.
    pub latency: LatencySummary,
}

impl SniaPart {
    /// Complete rounds.
    pub fn rounds(&self) -> usize {
        self.series.first().map_or(0, |series| series.values.len())
    }

    /// A cell of the matrix.
    pub fn cell(&self, read_percent: u8, block_bytes: u64) -> Option<&SniaCell> {
        self.cells
            .iter()
            .find(|c| c.read_percent == read_percent && c.block_bytes == block_bytes)
    }

    /// The fitted line with R, the number of the round: `y = 412.3·R + 98012`,
    /// in the unit over `scale`.
    pub fn formula(&self, scale: f64) -> Option<String> {
        let mut window = self.window.clone()?;
        let before = f64::from(self.window_from?.saturating_sub(1));
        window.intercept -= window.slope * before;
        Some(window.formula(scale).replace('x', "R"))
    }
}
