//! Did a trial come to a state in which one number describes it, and if not,
//! which numbers do?
//!
//! A trial is looked at on two axes: time, and the bytes that it moved, on
//! which caches fill and burst credits run out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::OpKind;
use crate::estimate::Estimate;
use crate::figure::{Figure, Throughput};
use crate::summary::OpSummary;

/// How the rate of a trial went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SteadinessClass {
    /// One level from beginning to end.
    Flat,
    /// Slower at the beginning, then one level.
    WarmupThenFlat,
    /// Faster at the beginning, then one level: a cache filled, credits ran
    /// out, or the device became warm.
    Slowdown,
    /// It moved steadily in one direction.
    Drifting,
    /// It went back and forth between two levels.
    TwoModes,
    /// It had not settled when the trial ended.
    NeverSteady,
    /// The trial does not say.
    TooShort,
}

impl SteadinessClass {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            SteadinessClass::Flat => "flat",
            SteadinessClass::WarmupThenFlat => "warm-up, then flat",
            SteadinessClass::Slowdown => "slowdown",
            SteadinessClass::Drifting => "drifting",
            SteadinessClass::TwoModes => "two modes",
            SteadinessClass::NeverSteady => "never steady",
            SteadinessClass::TooShort => "too short",
        }
    }
}

/// Which bytes the axis counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BytesAxis {
    /// Bytes written: the workload changes data.
    Written,
    /// Bytes moved in any direction.
    Moved,
}

/// Whether a rung of the ladder holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RungStatus {
    /// It holds.
    Held,
    /// It does not.
    NotHeld,
    /// It has no meaning here, or the trial is too short to say.
    NotApplicable,
}

/// One rung of the ladder of steady state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rung {
    /// `bytes`, `segment`, `snia`, `drift` or `precision`.
    pub name: String,
    /// Whether it holds.
    pub status: RungStatus,
    /// What was measured, where it is one number.
    pub measured: Option<f64>,
    /// What it is held against, in the same unit.
    pub threshold: Option<f64>,
    /// One sentence with the figures.
    pub evidence: String,
}

/// The steady state rule of the SNIA Performance Test Specification, in its
/// own terms: the last five rounds as y(1) to y(5), their range, and the
/// least-squares line through them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SniaWindow {
    /// Length of a round.
    pub round_ns: u64,
    /// The tracked variable in each round of the measurement window: bytes per
    /// second (operations per second where nothing moves), or that of the test
    /// of the standard.
    pub rounds: Vec<f64>,
    /// Their average.
    pub average: f64,
    /// Largest minus smallest, over the average. At most 0.20 is asked for.
    pub range: f64,
    /// Slope of the line, per round.
    pub slope: f64,
    /// The line at x = 0, where the first round is x = 1.
    pub intercept: f64,
    /// Excursion of the line over the window (slope × 4), over the average.
    /// At most 0.10 is asked for.
    pub excursion: f64,
    /// Both hold.
    pub steady: bool,
}

impl SniaWindow {
    /// The line, `y = 412.3·x + 98012`, in the unit of the rounds over `scale`.
    pub fn formula(&self, scale: f64) -> String {
        let (slope, intercept) = (self.slope / scale, self.intercept / scale);
        let sign = if intercept < 0.0 { '-' } else { '+' };
        format!("y = {slope:.3}·x {sign} {:.1}", intercept.abs())
    }
}

/// A part of a trial in which the rate kept one level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Regime {
    /// Start, from the start of the load.
    pub start_ns: u64,
    /// End, from the start of the load.
    pub end_ns: u64,
    /// Bytes on the axis when it began.
    pub start_bytes: u64,
    /// Bytes on the axis when it ended.
    pub end_bytes: u64,
    /// Results by kind of operation over its whole seconds; the second in
    /// which the level changed belongs to neither side.
    pub ops: Vec<OpSummary>,
}

/// Two levels between which the rate goes back and forth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TwoModes {
    /// The lower level, bytes per second (operations per second where nothing
    /// moves).
    pub low_rate: f64,
    /// The higher level.
    pub high_rate: f64,
    /// Share of time at the lower level, 0 to 1.
    pub low_share: f64,
    /// Ashman's D: distance of the levels over their spread.
    pub ashman_d: f64,
    /// How often the rate went from one level to the other.
    pub changes: u32,
    /// Results by kind of operation over the seconds at the lower level.
    pub low_ops: Vec<OpSummary>,
    /// The same at the higher level.
    pub high_ops: Vec<OpSummary>,
}

/// Rate by position of a sequential pass: the zones of a hard disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ZoneProfile {
    /// Ascending by offset, of equal length.
    pub zones: Vec<Zone>,
    /// Rate at the start of the range (outer tracks) over that at its end.
    pub outer_over_inner: Estimate,
    /// Share of the range that the pass covered, 0 to 1.
    pub covered: f64,
}

/// One part of the range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Zone {
    /// First byte, from the start of the accessed range.
    pub start_bytes: u64,
    /// End.
    pub end_bytes: u64,
    /// Bytes per second in it.
    pub bytes_per_second: f64,
}

/// What is known about the steadiness of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Steadiness {
    /// How the rate went.
    pub class: SteadinessClass,
    /// One sentence with the figures, for example `2.9 GB/s for the first
    /// 23 GB, then 414 MB/s`.
    pub sentence: String,
    /// Which bytes the axis counts.
    pub axis: BytesAxis,
    /// The ladder of steady state, in order.
    pub ladder: Vec<Rung>,
    /// Where the last level begins, warm-up cut, from the start of the load.
    pub steady_from_ns: Option<u64>,
    /// The levels in order; empty when there is one level or none.
    pub regimes: Vec<Regime>,
    /// Bytes moved before the rate first fell for good.
    pub burst_bytes: Option<u64>,
    /// Two levels without order in time.
    pub modes: Option<TwoModes>,
    /// The SNIA rule, where five rounds were measured.
    pub snia: Option<SniaWindow>,
    /// Rate by position, for a sequential pass over a hard disk.
    pub zones: Option<ZoneProfile>,
}

impl Steadiness {
    /// Whether one mean over the whole trial would describe a state that the
    /// trial was never in.
    pub fn has_no_single_rate(&self) -> bool {
        self.regimes.len() > 1 || self.modes.is_some()
    }

    /// The results of each level, in the order in which they are told; none where one
    /// rate describes the trial.
    pub fn level_ops(&self) -> Vec<&[OpSummary]> {
        match &self.modes {
            Some(modes) => vec![&modes.high_ops, &modes.low_ops],
            None if self.regimes.len() > 1 => {
                let regimes = self.regimes.iter();
                regimes.map(|regime| regime.ops.as_slice()).collect()
            }
            None => Vec::new(),
        }
    }

    /// A figure of each level, `2,400→150`; nothing where one figure describes the trial.
    pub fn level_text(
        &self,
        kind: OpKind,
        estimate: fn(&OpSummary) -> &Estimate,
        unit: Throughput,
    ) -> Option<String> {
        let levels = self.level_ops().into_iter();
        let of_kind = levels.filter_map(|ops| ops.iter().find(|op| op.kind == kind));
        let figures = of_kind.map(|op| Figure::of(estimate(op), unit).number());
        let figures: Vec<String> = figures.collect();
        let between = if self.modes.is_some() { "/" } else { "→" };
        match figures.as_slice() {
            [] => None,
            // There is room for three.
            [first, _, _, .., last] => Some([first, "…", last].join(between)),
            figures => Some(figures.join(between)),
        }
    }

    /// A rung of the ladder by name.
    pub fn rung(&self, name: &str) -> Option<&Rung> {
        self.ladder.iter().find(|rung| rung.name == name)
    }
}
