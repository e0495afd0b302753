//! The map of a mix curve: share of reads by offered load.

use fathom_model::Validity;
use fathom_model::curve::{Curve, CurvePoint};
use fathom_model::verdict::Fit;

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    /// 99th percentile in nanoseconds, where the data support it.
    pub(crate) latency_ns: Option<f64>,
    pub(crate) saturated: bool,
    pub(crate) untrusted: bool,
    /// Whether the figures hold the target, where one was set and they tell.
    pub(crate) holds: Option<bool>,
}

/// Rows are shares of reads, columns loads.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Map {
    /// Shares of reads in percent, descending.
    pub(crate) mixes: Vec<u8>,
    /// Loads, operations per second, ascending.
    pub(crate) loads: Vec<f64>,
    /// Row by row; what was beyond a mix's ceiling was not measured.
    pub(crate) cells: Vec<Vec<Option<Cell>>>,
    /// Highest load that holds, by mix, where a target was set.
    pub(crate) held: Vec<Option<f64>>,
    /// The target.
    pub(crate) target: Option<String>,
}

impl Map {
    /// The map of a curve's open-loop points.
    pub(crate) fn of(curve: &Curve) -> Map {
        let open = || {
            curve
                .points
                .iter()
                .filter(|p| p.offered_per_second.is_some())
        };
        let mut mixes: Vec<u8> = open().map(|p| p.read_percent).collect();
        mixes.sort_unstable_by(|a, b| b.cmp(a));
        mixes.dedup();
        let mut loads: Vec<f64> = open().filter_map(|p| p.offered_per_second).collect();
        loads.sort_by(f64::total_cmp);
        loads.dedup_by(|a, b| (*a / *b - 1.0).abs() < 1e-3);
        let cell = |mix: u8, load: f64| {
            open()
                .find(|p| {
                    let offered = p.offered_per_second.unwrap_or(0.0);
                    p.read_percent == mix && (offered / load - 1.0).abs() < 1e-3
                })
                .map(cell_of)
        };
        Map {
            cells: mixes
                .iter()
                .map(|mix| loads.iter().map(|load| cell(*mix, *load)).collect())
                .collect(),
            held: mixes
                .iter()
                .map(|mix| {
                    let answer = curve.holds.iter().find(|h| h.read_percent == *mix);
                    answer.and_then(|h| h.held_per_second)
                })
                .collect(),
            target: curve.holds.first().map(|h| h.target.clone()),
            mixes,
            loads,
        }
    }

    /// Smallest and largest latency of cells that are not saturated.
    pub(crate) fn extent(&self) -> Option<(f64, f64)> {
        let all = || {
            let cells = self.cells.iter().flatten().flatten();
            cells.filter(|c| !c.saturated).filter_map(|c| c.latency_ns)
        };
        let low = all().min_by(f64::total_cmp)?;
        Some((low, all().max_by(f64::total_cmp)?))
    }
}

fn cell_of(point: &CurvePoint) -> Cell {
    let latency = point.latency.as_ref();
    Cell {
        latency_ns: latency.and_then(|l| l.p99_ns.value),
        saturated: point.saturated,
        untrusted: point.validity == Validity::NotTrusted,
        holds: point.fitness.as_ref().and_then(|f| match f.outcome {
            Fit::Met => Some(true),
            Fit::NotMet => Some(false),
            Fit::NotProven => f.worst_ratio.map(|ratio| ratio <= 1.0),
        }),
    }
}
