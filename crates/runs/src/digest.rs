//! What a list shows of the result of a run: one figure and the verdict. It is kept in
//! the store, because judging every run of a list again would take seconds.

use std::path::Path;

use fathom_analysis::network::{NetworkReport, judge_network};
use fathom_model::curve::{Curve, CurvePoint, Sweep};
use fathom_model::judged::ResultRow;
use fathom_model::network::MatrixCell;
use fathom_model::schedule::TrialRole;
use fathom_model::summary::OpSummary;
use fathom_model::verdict::Fit;
use fathom_model::{JudgedRun, OpKind, RunRecord, Unit, Validity, unit};
use fathom_store::{RunListing, Store, StoredDigest};
use serde::{Deserialize, Serialize};

/// To be raised when another figure is chosen or runs are judged in another way.
const VERSION: u32 = 5;

/// Operations that move more on average are listed by throughput.
const LARGE_BYTES: u64 = 128 << 10;

/// One figure of a run, and how far to trust it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Digest {
    /// The verdict on the run; networks have none.
    pub validity: Option<Validity>,
    /// What was found, where a figure stands for it.
    pub figure: Option<Figure>,
    /// How a comparison ended.
    pub outcome: Option<String>,
    /// Whether the service level that the run was given is held.
    pub fit: Option<Fit>,
}

/// A figure with its 95 % interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The row of the result.
    pub row: String,
    /// The kind of operation.
    pub kind: String,
    /// Operations or bytes per second.
    pub unit: Unit,
    /// The number.
    pub value: f64,
    /// Lower end.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

impl Digest {
    /// Of a judged run.
    #[must_use]
    pub fn of(run: &JudgedRun) -> Digest {
        let outcome = run.comparison.as_ref().and_then(|comparison| {
            let outcome = serde_json::to_value(comparison.outcome).ok()?;
            Some(outcome.as_str()?.replace('_', " "))
        });
        Digest {
            validity: Some(run.verdict.validity),
            figure: figure(run),
            outcome,
            fit: run.verdict.fitness.as_ref().map(|fitness| fitness.outcome),
        }
    }

    /// Of a run as it is stored.
    #[must_use]
    pub fn of_record(record: &RunRecord) -> Digest {
        match judge_network(record) {
            Some(report) => Digest {
                validity: None,
                figure: of_network(&report),
                outcome: None,
                fit: None,
            },
            None => Digest::of(&fathom_studies::judge(record)),
        }
    }

    /// As it was kept, where that is not out of date.
    #[must_use]
    pub fn kept(listing: &RunListing) -> Option<Digest> {
        let kept = listing.digest.as_ref()?;
        let current = kept.version == VERSION;
        serde_json::from_str(&kept.content).ok().filter(|_| current)
    }

    /// Keeps it in the store. One that cannot be written shows it all the same.
    pub fn keep(&self, store: &Path, run: &str) {
        let Ok(content) = serde_json::to_string(self) else {
            return;
        };
        let digest = StoredDigest {
            version: VERSION,
            content,
        };
        if let Ok(mut store) = Store::open(store) {
            // The next list judges the run again.
            let _ = store.keep_digest(run, &digest);
        }
    }
}

/// The answer of a curve; the figure of the only row; of several, that of the fastest
/// reads, or of the fastest operations where none reads. Of files it is how many are
/// made: what follows may be answered by the memory of the host.
fn figure(run: &JudgedRun) -> Option<Figure> {
    if let Some(figure) = run.curve.as_ref().and_then(of_curve) {
        return Some(figure);
    }
    let results: Vec<(&ResultRow, &OpSummary)> = run
        .rows
        .iter()
        .filter(|row| row.role != TrialRole::Control)
        .filter_map(|row| Some((row, main(row)?)))
        .collect();
    let by_rate = |one: &&(&ResultRow, &OpSummary), other: &&(&ResultRow, &OpSummary)| {
        let rate = |found: &(&ResultRow, &OpSummary)| found.1.ops_per_second.value.unwrap_or(0.0);
        rate(one).total_cmp(&rate(other))
    };
    // Writes of a short run may go to a cache, so that reads stand for the whole.
    let (row, ops) = match &results[..] {
        [only] => only,
        several => {
            let of_kind = |kind| several.iter().filter(move |found| found.1.kind == kind);
            let made = of_kind(OpKind::Create).max_by(by_rate);
            let fastest_read = || of_kind(OpKind::Read).max_by(by_rate);
            let fastest = || several.iter().max_by(by_rate);
            made.or_else(fastest_read).or_else(fastest)?
        }
    };
    // What a run settles at stands for it: the mean over levels is a rate that it never had.
    let settled = run.levels_of(row).and_then(|levels| {
        let last = levels.level_ops().into_iter().next_back()?;
        let of_kind = last.iter().find(|of_level| of_level.kind == ops.kind);
        of_kind.filter(|of_level| of_level.ops_per_second.value.is_some())
    });
    let ops = settled.unwrap_or(ops);
    let bytes_each = ops.bytes.checked_div(ops.ops).unwrap_or(0);
    let estimate = match bytes_each > LARGE_BYTES {
        true => &ops.bytes_per_second,
        false => &ops.ops_per_second,
    };
    let kind = serde_json::to_value(ops.kind).ok()?;
    Some(Figure {
        row: row.label.clone(),
        kind: kind.as_str().unwrap_or_default().to_owned(),
        unit: estimate.unit,
        value: estimate.value?,
        low: estimate.low,
        high: estimate.high,
    })
}

/// The load that holds the target, or the highest throughput of any size of blocks.
fn of_curve(curve: &Curve) -> Option<Figure> {
    let kind = |point: &CurvePoint| {
        let kind = serde_json::to_value(point.latency.as_ref()?.kind).ok()?;
        kind.as_str().map(str::to_owned)
    };
    let figure = |point: &CurvePoint, unit: Unit, value: f64| Figure {
        row: point.label.clone(),
        kind: kind(point).unwrap_or_default(),
        unit,
        value,
        low: None,
        high: None,
    };
    let of_row = |row: u32| curve.points.iter().find(|point| point.row == row);
    match curve.sweep {
        Sweep::Load => {
            let held = curve.holds.first()?;
            let point = of_row(held.held_row?)?;
            Some(figure(point, Unit::OpsPerSecond, held.held_per_second?))
        }
        Sweep::Block => {
            let known = curve
                .points
                .iter()
                .filter(|p| p.validity != Validity::NotTrusted);
            let known = known.filter_map(|point| Some((point, point.bytes_per_second.value?)));
            let most = known.max_by(|a, b| a.1.total_cmp(&b.1))?;
            Some(figure(most.0, Unit::BytesPerSecond, most.1))
        }
        _ => None,
    }
}

/// The kind of the figure of a network.
const NETWORK: &str = "network";

/// The fastest load of a pair, or the fastest pair of a matrix.
fn of_network(report: &NetworkReport) -> Option<Figure> {
    let (row, bits) = match report {
        NetworkReport::Pair(pair) => {
            let loads = pair.loads.iter();
            let rates = loads.filter_map(|load| Some((load.name.clone(), load.bits_per_second()?)));
            rates.max_by(|a, b| a.1.total_cmp(&b.1))?
        }
        NetworkReport::Matrix(matrix) => {
            let cells = matrix.rounds.iter().flat_map(|round| &round.cells);
            let fastest = cells
                .filter_map(MatrixCell::best_bits)
                .max_by(f64::total_cmp);
            ("fastest pair".to_owned(), fastest?)
        }
    };
    Some(Figure {
        row,
        kind: NETWORK.to_owned(),
        unit: Unit::BytesPerSecond,
        value: bits / 8.0,
        low: None,
        high: None,
    })
}

/// The kind of operation that a row did most of; of equal ones the first, as others are
/// parts of it.
fn main(row: &ResultRow) -> Option<&OpSummary> {
    row.ops.iter().rev().max_by_key(|ops| ops.ops)
}

impl Figure {
    /// `78,100 IOPS ±2.0 %`.
    #[must_use]
    pub fn text(&self) -> String {
        let value = match self.unit {
            Unit::BytesPerSecond if self.kind == NETWORK => unit::bits(self.value * 8.0),
            Unit::BytesPerSecond => unit::throughput(self.value),
            _ if matches!(self.kind.as_str(), "read" | "write" | "trim") => {
                format!("{} IOPS", unit::count(self.value))
            }
            _ if self.kind == "create" => format!("create {}/s", unit::count(self.value)),
            _ => format!("{}/s", unit::count(self.value)),
        };
        match (self.low, self.high) {
            (Some(low), Some(high)) if self.value > 0.0 => {
                let half = (high - low) / 2.0 / self.value * 100.0;
                match half >= 10.0 {
                    true => format!("{value} ±{half:.0} %"),
                    false => format!("{value} ±{half:.1} %"),
                }
            }
            _ => value,
        }
    }
}
