//! A curve made ready to be shown: what is drawn and what stands in its table,
//! the same for text, Markdown and HTML.

mod mix;
mod plot;
mod table;

pub(crate) use mix::{Cell, Map};
pub(crate) use table::CurveTable;

use fathom_model::curve::{Curve, Sweep};
use fathom_model::view::plot::Plot;
use fathom_model::{JudgedRun, unit};

use fathom_model::figure::Throughput;

/// A curve to be shown.
pub(crate) struct CurveView {
    /// What it is called.
    pub(crate) title: &'static str,
    /// What it says, the most important first.
    pub(crate) answers: Vec<String>,
    /// The charts, the most important first.
    pub(crate) plots: Vec<Plot>,
    /// The map of a mix curve.
    pub(crate) map: Option<Map>,
    /// The points.
    pub(crate) table: CurveTable,
    /// How it was measured and how to read it.
    pub(crate) notes: Vec<String>,
}

/// The curve of a run, where it is one and has a point.
pub(crate) fn view(run: &JudgedRun, throughput: Throughput) -> Option<CurveView> {
    if let Some(study) = crate::scale::view(run, throughput) {
        return Some(study);
    }
    let curve = run
        .curve
        .as_ref()
        .filter(|curve| !curve.points.is_empty())?;
    Some(CurveView {
        title: title(curve.sweep),
        answers: curve.answers.clone(),
        plots: plot::of(curve, throughput),
        map: (curve.sweep == Sweep::Mix).then(|| Map::of(curve)),
        table: table::of(curve, throughput),
        notes: notes(run, curve),
    })
}

fn title(sweep: Sweep) -> &'static str {
    match sweep {
        Sweep::Depth => "Throughput by queue depth",
        Sweep::Load => "Response latency by offered load",
        Sweep::Block => "Throughput by block size",
        Sweep::WorkingSet => "Throughput by working set",
        Sweep::Mix => "Response latency by mix and load",
        Sweep::Position => "Throughput by position",
    }
}

fn notes(run: &JudgedRun, curve: &Curve) -> Vec<String> {
    let mut notes = Vec::new();
    let trials = || run.trials.iter();
    let rate = trials().find_map(|t| t.workload.rate);
    if let Some(rate) = rate {
        let spacing = match rate.arrival {
            fathom_model::workload::Arrival::Poisson => "Poisson arrivals",
            fathom_model::workload::Arrival::Constant => "evenly spaced arrivals",
        };
        notes.push(format!(
            "Open loop with {spacing}; latency counts from when each operation was due."
        ));
    }
    if let Some(first) = trials().next() {
        let workload = &first.workload;
        let depth = match curve.sweep {
            Sweep::Block | Sweep::WorkingSet | Sweep::Position => {
                format!(" at {} in flight", unit::group(workload.total_depth()))
            }
            _ => String::new(),
        };
        let last = trials().last().and_then(|t| t.workload.bounds.time_ns);
        notes.extend(last.map(|ns| format!("{} a trial{depth}.", unit::span(ns))));
    }
    if curve.sweep == Sweep::Depth {
        notes.push(
            "Dotted lines are lines of constant latency (Little's law: in flight = throughput × \
             latency)."
                .to_owned(),
        );
    }
    if trials().any(|t| t.iteration > 0) {
        notes.push("×n: n trials.".to_owned());
    }
    if curve.points.iter().any(|p| p.saturated) {
        notes.push("A saturated point's latency grows with the length of its trial.".to_owned());
    }
    notes
}
