//! The map of a mix curve: share of reads by offered load.

use fathom_model::curve::{Curve, CurvePoint};
use fathom_model::verdict::Fit;
use fathom_model::view::{LatencyMap, MapCell};
use fathom_model::{Validity, unit};

/// The map of a curve's open-loop points.
pub(super) fn of(curve: &Curve) -> LatencyMap {
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
    let holding = |mix: &u8| {
        let answer = curve.holds.iter().find(|h| h.read_percent == *mix);
        let held = answer.and_then(|h| h.held_per_second);
        held.map_or(0, |held| {
            loads.iter().filter(|load| **load <= held * 1.001).count()
        })
    };
    LatencyMap {
        title: "p99 of the response by mix and load".to_owned(),
        description: "99th percentile of the response latency by share of reads and offered load"
            .to_owned(),
        heading: "p99 of the response by share of reads and offered load (ops/s)".to_owned(),
        x_title: "offered operations per second".to_owned(),
        y_title: "reads".to_owned(),
        columns: loads.iter().map(|load| unit::count(*load)).collect(),
        rows: mixes.iter().map(|mix| format!("{mix} %")).collect(),
        cells: mixes
            .iter()
            .map(|mix| loads.iter().map(|load| cell(*mix, *load)).collect())
            .collect(),
        holding: mixes.iter().map(holding).collect(),
        target: curve.holds.first().map(|h| h.target.clone()),
    }
}

fn cell_of(point: &CurvePoint) -> MapCell {
    let latency = point.latency.as_ref();
    MapCell {
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
