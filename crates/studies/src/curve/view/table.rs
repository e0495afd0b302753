//! The points of a curve as a table.

use fathom_model::curve::{Curve, CurveLatency, CurvePoint, Sweep};
use fathom_model::estimate::Estimate;
use fathom_model::figure::{Figure, Throughput, digits, percent};
use fathom_model::names::{self, mark};
use fathom_model::view::{Column, Table, UnitText};
use fathom_model::{Limiter, unit};

use crate::curve::holds;

/// A column, and what each point has in it.
struct PointColumn<'a> {
    column: Column,
    cell: Box<dyn Fn(&CurvePoint) -> UnitText + 'a>,
}

impl PointColumn<'_> {
    /// It may be left out where there is little room, in this turn.
    fn spare(mut self, turn: u8) -> Self {
        self.column = self.column.spare(turn);
        self
    }
}

/// The table of a curve.
pub(super) fn of(curve: &Curve) -> Table {
    let columns = columns(curve);
    let row = |point: &CurvePoint| columns.iter().map(|c| (c.cell)(point).into()).collect();
    let table = Table {
        rows: curve.points.iter().map(row).collect(),
        columns: columns.into_iter().map(|c| c.column).collect(),
        ..Table::default()
    };
    table.without_empty_remarks()
}

/// Whether the rate of any point has an interval.
pub(super) fn has_intervals(curve: &Curve) -> bool {
    let mut points = curve.points.iter();
    points.any(|point| point.ops_per_second.relative_half_width().is_some())
}

fn columns(curve: &Curve) -> Vec<PointColumn<'_>> {
    let mut out = vec![first(curve)];
    let open = matches!(curve.sweep, Sweep::Load | Sweep::Mix);
    let position = curve.sweep == Sweep::Position;
    if open {
        out.push(column("share", |p| of_ceiling(curve, p)));
    }
    if !position {
        out.push(column("IOPS", |p| {
            number(&p.ops_per_second, Throughput::Binary)
        }));
    }
    if !open {
        out.push(PointColumn {
            column: Column::number(UnitText::of(|unit| unit.name().to_owned())),
            cell: Box::new(|p| UnitText::of(|unit| number(&p.bytes_per_second, unit))),
        });
    }
    if has_intervals(curve) {
        out.push(column("±", |p| spread(&p.ops_per_second)).spare(2));
    }
    if !open {
        out.push(latency("mean", |l| &l.mean_ns).spare(1));
    }
    out.push(latency("p50", |l| &l.p50_ns));
    out.push(latency("p99", |l| &l.p99_ns));
    if !position {
        out.push(latency("p99.9", |l| &l.p999_ns).spare(4));
    }
    if open {
        let late = column("lag p99", |p| {
            p.lateness_p99_ns.map_or(String::new(), unit::latency)
        });
        out.push(late.spare(3));
    }
    out.push(PointColumn {
        column: Column::remark(remark_head(curve)).spare(5),
        cell: Box::new(move |p| remark(curve, p).into()),
    });
    out
}

fn column<'a>(head: &str, cell: impl Fn(&CurvePoint) -> String + 'a) -> PointColumn<'a> {
    PointColumn {
        column: Column::number(head),
        cell: Box::new(move |p| cell(p).into()),
    }
}

fn latency<'a>(head: &str, pick: impl Fn(&CurveLatency) -> &Estimate + 'a) -> PointColumn<'a> {
    column(head, move |p| match &p.latency {
        Some(latency) => Figure::of(pick(latency), Throughput::Binary).value(),
        None => "-".to_owned(),
    })
}

fn first<'a>(curve: &Curve) -> PointColumn<'a> {
    let sweep = curve.sweep;
    let head = match sweep {
        Sweep::Depth => "depth",
        Sweep::Load => "load/s",
        Sweep::Mix => "reads, load/s",
        Sweep::Block => "block",
        Sweep::WorkingSet => "set",
        Sweep::Position => "offset",
    };
    column(head, move |p| {
        let load = || match p.offered_per_second {
            Some(load) => digits(load),
            None => format!("q{}", unit::group(p.depth)),
        };
        let name = match sweep {
            Sweep::Depth => unit::group(p.depth),
            Sweep::Load => load(),
            Sweep::Mix => format!("{} % {}", p.read_percent, load()),
            Sweep::Block => unit::bytes_exact(p.block_bytes),
            Sweep::WorkingSet => unit::bytes_exact(p.active_bytes),
            Sweep::Position => unit::bytes(p.offset_bytes).to_string(),
        };
        format!("{}{name}", mark(p.validity))
    })
}

fn number(estimate: &Estimate, throughput: Throughput) -> String {
    Figure::of(estimate, throughput).number()
}

/// Half the interval over the value.
fn spread(estimate: &Estimate) -> String {
    estimate
        .relative_half_width()
        .map_or("?".to_owned(), percent)
}

fn of_ceiling(curve: &Curve, point: &CurvePoint) -> String {
    let load = match point.probe {
        true => None,
        false => point.offered_per_second.or(point.ops_per_second.value),
    };
    match (&curve.ceiling, load) {
        (Some(ceiling), Some(load)) => {
            format!("{:.0} %", 100.0 * load / ceiling.ops_per_second)
        }
        _ => String::new(),
    }
}

/// What its remarks are about.
fn remark_head(curve: &Curve) -> &'static str {
    let points = || curve.points.iter();
    let is_open = matches!(curve.sweep, Sweep::Load | Sweep::Mix);
    let has_target = points().any(|point| point.fitness.is_some());
    let mut remarks = points().map(|point| remark(curve, point));
    match points().any(|point| point.trials > 1) {
        _ if is_open || has_target => "remark",
        false => "limiter",
        true if remarks.all(|remark| remark.starts_with('×')) => "trials",
        true => "remark",
    }
}

/// What sets the point apart: saturated, the target, or the limiter.
fn remark(curve: &Curve, point: &CurvePoint) -> String {
    let open = matches!(curve.sweep, Sweep::Load | Sweep::Mix);
    if open && point.offered_per_second.is_none() {
        return "closed loop".to_owned();
    }
    let telling = !matches!(point.limiter, Limiter::Unknown | Limiter::Rate);
    let times = match point.trials {
        0 | 1 => String::new(),
        trials => format!("×{trials}"),
    };
    let words = match (&point.fitness, point.saturated) {
        (_, true) => format!("saturated {times}"),
        (Some(_), _) => holds::words(curve, point),
        (None, _) if telling => format!("{} {times}", names::limiter(point.limiter)),
        _ => times,
    };
    let late = if point.late && !point.saturated {
        "late "
    } else {
        ""
    };
    format!("{late}{words}").trim_end().to_owned()
}
