//! A curve made ready to be shown: its charts, its points as a table, and how it was
//! measured.

mod figures;
mod map;
mod plot;
mod table;

use fathom_model::curve::{Curve, Sweep};
use fathom_model::view::View;
use fathom_model::{JudgedRun, unit};

use super::holds::{self, Standing};
use super::knee;

/// The curve of a run, where it has a point.
pub(super) fn view(run: &JudgedRun) -> Option<View> {
    let curve = run
        .curve
        .as_ref()
        .filter(|curve| !curve.points.is_empty())?;
    let charts = plot::of(curve);
    let map = (curve.sweep == Sweep::Mix).then(|| map::of(curve));
    let has_picture = map.as_ref().is_some_and(|map| map.extent().is_some());
    Some(View {
        anchor: "curve",
        title: title(curve.sweep).to_owned(),
        answers: curve.answers.clone(),
        figures: figures::of(curve),
        next_step: next_step(curve),
        says_fitness: true,
        charts_hold_rows: has_picture || !charts.is_empty(),
        charts,
        map,
        tables: vec![table::of(curve)],
        notes: notes(run, curve),
        has_signs: true,
        ..View::default()
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
        let short = match table::has_intervals(curve) {
            true => "",
            false => ", too short for 95 % intervals of IOPS",
        };
        notes.extend(last.map(|ns| format!("{} a trial{depth}{short}.", unit::span(ns))));
    }
    if curve.sweep == Sweep::Depth {
        notes.push(
            "Dotted lines are lines of constant latency (Little's law: in flight = throughput × \
             latency)."
                .to_owned(),
        );
    }
    notes.extend(why_not_proven(curve));
    if trials().any(|t| t.iteration > 0) {
        notes.push("×n: n trials.".to_owned());
    }
    if curve.points.iter().any(|p| p.saturated) {
        notes.push("A saturated point's latency grows with the length of its trial.".to_owned());
    }
    notes
}

/// A curve that still rises goes on.
fn next_step(curve: &Curve) -> Option<String> {
    let deeper = knee::deeper(&curve.points).filter(|_| curve.sweep == Sweep::Depth);
    deeper.map(|depth| format!("`--max-depth {depth}` shows whether the rate rises further"))
}

/// Why the target is not proven at a point, by the first that has a remark on it.
fn why_not_proven(curve: &Curve) -> Option<String> {
    let is_open = matches!(curve.sweep, Sweep::Load | Sweep::Mix);
    let mut points = curve.points.iter().filter(|point| {
        let is_shown = !is_open || point.offered_per_second.is_some();
        is_shown && !point.saturated
    });
    points.find_map(|point| {
        let fitness = point.fitness.as_ref()?;
        let is_open = holds::standing_among(curve, point) == Standing::Open;
        is_open.then(|| {
            let reason = fitness.evidence.trim_end_matches('.');
            format!("Not proven, for example: {reason}.")
        })
    })
}
