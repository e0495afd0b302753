//! All pairs of several hosts.

use serde::{Deserialize, Serialize};

use super::{HostFacts, NetRemark};

/// Which pairs run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatrixMode {
    /// Rounds of pairs that share no host.
    Alone,
    /// All pairs.
    Together,
    /// All other hosts send to one, each in turn.
    Incast,
    /// One host sends to all others, each in turn.
    Outcast,
}

impl MatrixMode {
    /// All of them, in order.
    pub const ALL: [MatrixMode; 4] = [
        MatrixMode::Alone,
        MatrixMode::Together,
        MatrixMode::Incast,
        MatrixMode::Outcast,
    ];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            MatrixMode::Alone => "each pair alone",
            MatrixMode::Together => "all pairs at once",
            MatrixMode::Incast => "all to one",
            MatrixMode::Outcast => "one to all",
        }
    }
}

/// One direction between two hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatrixCell {
    /// Index of the sender.
    pub from: usize,
    /// Index of the receiver.
    pub to: usize,
    /// Payload that arrived, bits per second.
    pub bits_per_second: Option<f64>,
    /// Segments sent again.
    pub retransmits: u64,
    /// Share of the segments that were sent again.
    pub retransmit_share: Option<f64>,
    /// Median round trip without load, nanoseconds.
    pub idle_ns: Option<u64>,
    /// Median round trip beside the load, nanoseconds.
    pub loaded_ns: Option<u64>,
    /// Why there is no figure, in words.
    pub error: Option<String>,
    /// What it gave when it was looked at again, alone, because the first
    /// figure stood out; bits per second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again_bits: Vec<f64>,
}

impl MatrixCell {
    /// The best of all looks, bits per second: a way is slow where it is slow
    /// each time, while a host that stands still for a moment slows one look.
    pub fn best_bits(&self) -> Option<f64> {
        let again = self.again_bits.iter().copied();
        self.bits_per_second
            .map(|first| again.fold(first, f64::max))
    }
}

/// The sum of a host's cells of one kind of round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeSum {
    /// What the host sent at the same time, bits per second.
    pub sent_bits: f64,
    /// What it received at the same time, bits per second.
    pub received_bits: f64,
}

/// All cells of one kind of round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatrixRound {
    /// Which pairs ran at the same time.
    pub mode: MatrixMode,
    /// Rounds that were made.
    pub rounds: u32,
    /// Every direction between two hosts that was measured.
    pub cells: Vec<MatrixCell>,
    /// Per host, where several of its cells ran at the same time.
    pub sums: Vec<NodeSum>,
}

/// A link that is slower than the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkOutlier {
    /// Index of the sender.
    pub from: usize,
    /// Index of the receiver.
    pub to: usize,
    /// Its rate over what its two hosts reach otherwise.
    pub ratio: f64,
    /// In robust standard deviations (1.4826 × MAD) below it.
    pub deviations: f64,
}

/// A host whose links are all slower than those of others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeOutlier {
    /// Index of the host.
    pub node: usize,
    /// Whether what it sends is slow; otherwise what it receives.
    pub sending: bool,
    /// Its median rate over that of all.
    pub ratio: f64,
}

/// What stands out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outliers {
    /// Median of all links, bits per second.
    pub median_bits: Option<f64>,
    /// Hosts.
    pub nodes: Vec<NodeOutlier>,
    /// Links that are slow beyond what their hosts explain.
    pub links: Vec<LinkOutlier>,
}

/// All pairs of several hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatrixReport {
    /// [`super::MATRIX_SCHEMA`].
    pub schema: String,
    /// When it began, seconds since 1970.
    pub started_unix_s: u64,
    /// The hosts as the user named them.
    pub hosts: Vec<String>,
    /// What each says of itself.
    pub facts: Vec<HostFacts>,
    /// Seconds that each round measured.
    pub seconds: u32,
    /// Streams of each pair.
    pub streams: u32,
    /// The kinds of rounds that were made.
    pub rounds: Vec<MatrixRound>,
    /// What stands out among pairs that ran alone.
    pub outliers: Outliers,
    /// What else a user should know.
    pub remarks: Vec<NetRemark>,
}
