//! What is drawn of a curve, in the terms of its axes.

use fathom_model::curve::{Curve, CurvePoint, Sweep};
use fathom_model::estimate::Estimate;
use fathom_model::slo::{Slo, SloFigure};
use fathom_model::view::axis::{Axis, Quantity, Tick};
use fathom_model::view::plot::{Guide, LineKind, Plot, PlotPoint, PlotSeries, Sign};
use fathom_model::{Validity, unit};

/// A line as (x, estimate) of each point.
type Pick<'a> = &'a dyn Fn(&CurvePoint) -> Option<Estimate>;

/// The charts of a curve, the most important first.
pub(super) fn of(curve: &Curve) -> Vec<Plot> {
    let plots = match curve.sweep {
        Sweep::Depth => vec![depth(curve), latency(curve)],
        Sweep::Load => vec![latency(curve)],
        Sweep::Block => vec![rate(curve), latency(curve)],
        Sweep::WorkingSet => vec![rate(curve), latency(curve)],
        Sweep::Position => vec![rate(curve)],
        Sweep::Mix => Vec::new(),
    };
    plots.into_iter().flatten().collect()
}

/// Place of a point on the horizontal axis.
fn place(sweep: Sweep, point: &CurvePoint) -> f64 {
    match sweep {
        Sweep::Depth => point.depth as f64,
        Sweep::Load | Sweep::Mix => point.offered_per_second.unwrap_or(0.0),
        Sweep::Block => point.block_bytes as f64,
        Sweep::WorkingSet => point.active_bytes as f64,
        Sweep::Position => point.offset_bytes as f64,
    }
}

fn drawn(curve: &Curve) -> impl Iterator<Item = &CurvePoint> {
    let open = curve.sweep == Sweep::Load;
    curve
        .points
        .iter()
        .filter(move |p| !open || p.offered_per_second.is_some())
}

fn x_axis(curve: &Curve) -> Option<Axis> {
    let xs: Vec<f64> = drawn(curve).map(|p| place(curve.sweep, p)).collect();
    let low = xs.iter().copied().fold(f64::INFINITY, f64::min);
    let high = xs.iter().copied().fold(0.0, f64::max);
    if !low.is_finite() {
        return None;
    }
    Some(match curve.sweep {
        Sweep::Load | Sweep::Mix => Axis::linear(Quantity::OpsPerSecond, high, 6),
        Sweep::Position => positions(high),
        Sweep::Depth => powers(low, high, "operations in flight", |v| unit::group(v as u64)),
        Sweep::Block => powers(low, high, "block size", |v| unit::bytes_short(v as u64)),
        Sweep::WorkingSet => powers(low, high, "working set", |v| unit::bytes_short(v as u64)),
    })
}

/// A log axis with ticks at powers of two, every second one labelled where
/// there are many.
fn powers(low: f64, high: f64, unit: &'static str, name: impl Fn(f64) -> String) -> Axis {
    let (low, high) = (low.max(1.0), high.max(low.max(1.0) * 2.0));
    let first = low.log2().ceil() as i32;
    let last = high.log2().floor() as i32;
    let every = if last - first > 9 { 2 } else { 1 };
    let ticks = (first..=last)
        .map(|power| {
            let value = 2f64.powi(power);
            let label = match (power - first) % every {
                0 => name(value),
                _ => String::new(),
            };
            Tick { value, label }
        })
        .collect();
    Axis {
        low,
        high,
        log: true,
        ticks,
        unit,
    }
}

fn positions(high: f64) -> Axis {
    let high = high.max(1.0);
    let ticks = (0..=4).map(|i| {
        let value = high * f64::from(i) / 4.0;
        let label = unit::bytes(value as u64).to_string();
        Tick { value, label }
    });
    Axis {
        low: 0.0,
        high,
        log: false,
        ticks: ticks.collect(),
        unit: "offset",
    }
}

fn series(
    curve: &Curve,
    name: &'static str,
    kind: LineKind,
    pick: Pick<'_>,
    words: impl Fn(f64) -> String,
) -> PlotSeries {
    let mut is_gap = false;
    let points = drawn(curve).filter_map(|p| {
        let estimate = pick(p);
        let y = estimate.as_ref().and_then(|e| e.value);
        let Some((estimate, y)) = estimate.zip(y.filter(|v| v.is_finite() && *v > 0.0)) else {
            is_gap = true;
            return None;
        };
        let after_gap = std::mem::take(&mut is_gap);
        let sign = match (p.validity, p.saturated) {
            (Validity::NotTrusted, _) => Sign::Untrusted,
            (_, true) => Sign::Saturated,
            _ => Sign::Plain,
        };
        let range = estimate.low.zip(estimate.high);
        let interval = range.map_or(String::new(), |(low, high)| {
            format!(" ({} to {})", words(low), words(high))
        });
        Some(PlotPoint {
            x: place(curve.sweep, p),
            y,
            interval: range,
            sign,
            after_gap,
            hint: format!("{}: {name} {}{interval}", p.label, words(y)),
        })
    });
    PlotSeries {
        name,
        kind,
        points: points.collect(),
    }
}

fn extent(series: &[PlotSeries]) -> Option<(f64, f64)> {
    let ys = || series.iter().flat_map(|s| &s.points).map(|p| p.y);
    let low = ys().min_by(f64::total_cmp)?;
    Some((low, ys().max_by(f64::total_cmp)?))
}

/// Throughput by depth with lines of constant latency and the knee.
fn depth(curve: &Curve) -> Option<Plot> {
    let x = x_axis(curve)?;
    let ops = |v: f64| format!("{} ops/s", unit::count(v));
    let lines = vec![series(
        curve,
        "IOPS",
        LineKind::Read,
        &|p| Some(p.ops_per_second.clone()),
        ops,
    )];
    let (low, high) = extent(&lines)?;
    let y = Axis::log(Quantity::OpsPerSecond, low, high);
    let mut guides = constant_latency(&x, &y);
    if let Some(knee) = &curve.knee {
        let at = knee.depth as f64;
        guides.push(Guide {
            from: (at, y.low),
            to: (at, y.high),
            label: format!("knee {}", unit::group(knee.depth)),
            strong: true,
        });
    }
    Some(Plot {
        title: "Throughput by queue depth".to_owned(),
        x_title: x.unit,
        x,
        y_title: "IOPS".to_owned(),
        y,
        series: lines,
        guides,
    })
}

/// Operations in flight = throughput × latency, for a latency of each decade
/// that crosses the chart.
fn constant_latency(x: &Axis, y: &Axis) -> Vec<Guide> {
    let mut guides = Vec::new();
    for power in 2..=11 {
        let latency_s = 10f64.powi(power) * 1e-9;
        // Where the line enters and leaves the chart.
        let from = x.low.max(y.low * latency_s);
        let to = x.high.min(y.high * latency_s);
        if from * 1.05 < to {
            guides.push(Guide {
                from: (from, from / latency_s),
                to: (to, to / latency_s),
                label: unit::latency(latency_s * 1e9)
                    .replace(".00", "")
                    .replace(".0", ""),
                strong: false,
            });
        }
    }
    guides
}

/// Latency percentiles, and where a target was set its bounds.
fn latency(curve: &Curve) -> Option<Plot> {
    let x = x_axis(curve)?;
    let of = |name, kind, pick: Pick<'_>| series(curve, name, kind, pick, unit::latency);
    let mut lines = vec![
        of("p50", LineKind::P50, &|p| {
            Some(p.latency.as_ref()?.p50_ns.clone())
        }),
        of("p99", LineKind::P99, &|p| {
            Some(p.latency.as_ref()?.p99_ns.clone())
        }),
        of("p99.9", LineKind::P999, &|p| {
            Some(p.latency.as_ref()?.p999_ns.clone())
        }),
        of("lateness p99", LineKind::Beside, &|p| {
            let late = p.lateness_p99_ns?;
            Some(Estimate::point(fathom_model::Unit::Nanoseconds, late, ""))
        }),
    ];
    lines.retain(|s| !s.points.is_empty());
    // The lateness may be next to nothing and is no reason for a long axis.
    let shown: Vec<PlotSeries> = lines
        .iter()
        .filter(|s| s.kind != LineKind::Beside)
        .cloned()
        .collect();
    let (low, high) = extent(&shown)?;
    let bounds = bounds(curve);
    let low = bounds.iter().map(|b| b.0).fold(low, f64::min);
    let high = bounds.iter().map(|b| b.0).fold(high, f64::max);
    let y = Axis::log(Quantity::Latency, low, high);
    let response = drawn(curve).any(|p| p.latency.as_ref().is_some_and(|l| l.response));
    for line in &mut lines {
        line.points.retain(|p| p.y >= y.low);
    }
    lines.retain(|s| !s.points.is_empty());
    let guides = latency_guides(curve, &bounds, &x, &y);
    let which = if response {
        "Response latency"
    } else {
        "Service latency"
    };
    Some(Plot {
        title: format!("{which} by {}", x_words(curve.sweep)),
        x_title: match curve.sweep {
            Sweep::Load => "offered operations per second",
            _ => x.unit,
        },
        x,
        y_title: "latency".to_owned(),
        y,
        series: lines,
        guides,
    })
}

/// Bounds of the target; in a load curve also the ceiling and the load that
/// holds.
fn latency_guides(curve: &Curve, bounds: &[(f64, String)], x: &Axis, y: &Axis) -> Vec<Guide> {
    let mut guides: Vec<Guide> = bounds
        .iter()
        .map(|(at, label)| Guide {
            from: (x.low, *at),
            to: (x.high, *at),
            label: label.clone(),
            strong: true,
        })
        .collect();
    if curve.sweep == Sweep::Load {
        let upright = |at: f64, label: &str| Guide {
            from: (at, y.low),
            to: (at, y.high),
            label: label.to_owned(),
            strong: true,
        };
        let ceiling = curve.ceiling.as_ref();
        guides.extend(ceiling.map(|c| upright(c.ops_per_second, "closed loop")));
        let held = curve.holds.iter().find_map(|h| h.held_per_second);
        guides.extend(held.map(|at| upright(at, "holds")));
    }
    guides
}

fn x_words(sweep: Sweep) -> &'static str {
    match sweep {
        Sweep::Depth => "queue depth",
        Sweep::Load | Sweep::Mix => "offered load",
        Sweep::Block => "block size",
        Sweep::WorkingSet => "working set",
        Sweep::Position => "position",
    }
}

/// Bounds of a target on latency.
fn bounds(curve: &Curve) -> Vec<(f64, String)> {
    let target = curve.points.iter().find_map(|p| p.fitness.as_ref());
    let slo = target.and_then(|f| f.target.parse::<Slo>().ok());
    let conditions = slo.iter().flat_map(Slo::conditions);
    conditions
        .filter(|c| !matches!(c.figure, SloFigure::Ops | SloFigure::Bytes))
        .map(|c| (c.bound as f64, c.to_string()))
        .collect()
}

/// Throughput by block size, working set or position.
fn rate(curve: &Curve) -> Option<Plot> {
    let x = x_axis(curve)?;
    let lines = vec![series(
        curve,
        "throughput",
        LineKind::Read,
        &|p| Some(p.bytes_per_second.clone()),
        unit::throughput,
    )];
    let (low, high) = extent(&lines)?;
    let wide = high > 8.0 * low;
    let y = match wide {
        true => sizes_axis(low, high),
        false => Axis::linear(Quantity::BytesPerSecond, high, 4),
    };
    let mut guides = Vec::new();
    if curve.levels.len() > 1 {
        guides.extend(curve.levels.iter().map(|level| Guide {
            from: (level.from_bytes as f64, level.bytes_per_second),
            to: (level.to_bytes as f64, level.bytes_per_second),
            label: String::new(),
            strong: true,
        }));
    }
    Some(Plot {
        title: format!("Throughput by {}", x_words(curve.sweep)),
        x_title: x.unit,
        x,
        y_title: if wide { "throughput" } else { y.unit }.to_owned(),
        y,
        series: lines,
        guides,
    })
}

/// A log axis of bytes per second, ticks at powers of two with binary units.
fn sizes_axis(low: f64, high: f64) -> Axis {
    let low = 2f64.powf((low * 0.98).log2().floor());
    let high = 2f64.powf((high * 1.02).log2().ceil());
    let mut axis = powers(low, high, "throughput", |v| {
        format!("{}/s", unit::bytes_exact(v as u64))
    });
    let every = axis.ticks.len().div_ceil(6).max(1);
    for (i, tick) in axis.ticks.iter_mut().enumerate() {
        tick.label = match i % every {
            0 => format!("{}/s", unit::bytes_exact(tick.value as u64)),
            _ => String::new(),
        };
    }
    axis
}
