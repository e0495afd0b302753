//! The latency distribution of a trial: a histogram and a percentile curve.

use std::fmt::Write as _;

use fathom_model::judged::{LatencySummary, OpCharts};
use fathom_model::unit;
use fathom_model::view::axis::{Axis, Quantity, Tick};

use super::figure::{ChartFigure, Key};
use super::{kind_class, svg};
use crate::summary;

/// Percentiles that are marked in the histogram, when they are known.
const MARKED: [f64; 3] = [50.0, 99.0, 99.9];

/// The histogram: operations (log) by latency (log).
pub(super) fn histogram(
    title: &str,
    charts: &OpCharts,
    latency: &LatencySummary,
) -> Option<ChartFigure> {
    let cells = &charts.distribution;
    let (first, last) = (cells.first()?, cells.last()?);
    let most = cells.iter().map(|c| c.2).max()?;
    let total: u64 = cells.iter().map(|c| c.2).sum();
    let xs = Axis::log(
        Quantity::Latency,
        first.0.max(1) as f64,
        last.1.saturating_add(1) as f64,
    );
    let mut ys = Axis::log(Quantity::Count, 1.0, most as f64);
    ys.low = 0.5;
    let label = format!("{title}: operations by latency");
    let mut out = svg::open(&label, &xs, &ys, "latency", "operations");
    let mut d = String::new();
    let base = svg::n(svg::BOTTOM);
    for (low, high, count) in cells {
        let (left, right) = (
            svg::x(&xs, *low as f64),
            svg::x(&xs, high.saturating_add(1) as f64),
        );
        let top = svg::n(svg::y(&ys, *count as f64));
        let right = svg::n(right.max(left + 0.6));
        let _ = write!(d, "M{} {base}V{top}H{right}V{base}z", svg::n(left));
    }
    let _ = write!(
        out,
        "<path class=\"bar {}\" d=\"{d}\"/>",
        kind_class::of(charts.kind)
    );
    push_marks(&mut out, latency, &xs);
    out.push_str("</svg>");
    let rows: Vec<String> = cells
        .iter()
        .map(|(low, high, n)| format!("[{low},{high},{n}]"))
        .collect();
    Some(ChartFigure {
        class: "chart dist",
        title: title.to_owned(),
        keys: vec![Key::Words(format!(
            "{}, both axes logarithmic",
            unit::counted(total, "operation")
        ))],
        svg: out,
        data: Some(format!(
            "{{\"x\":[{},{}],\"total\":{total},\"b\":[{}]}}",
            xs.low,
            xs.high,
            rows.join(",")
        )),
    })
}

fn push_marks(out: &mut String, latency: &LatencySummary, xs: &Axis) {
    let mut labels: Vec<(usize, f64, f64)> = Vec::new();
    let (mut lines, mut texts) = (String::new(), String::new());
    for percent in MARKED {
        let Some(value) = latency.percentile(percent).value else {
            continue;
        };
        let at = svg::x(xs, value);
        let text = format!(
            "{} {}",
            summary::percentile_name(percent),
            unit::latency(value)
        );
        let width = text.chars().count() as f64 * svg::WIDEST_LETTER + 4.0;
        let (anchor, x, from) = if at + width > svg::WIDTH {
            ("end", at - 3.0, at - width)
        } else {
            ("start", at + 3.0, at)
        };
        // A label that would cover another goes further down.
        let covers = |row: usize| {
            let same = labels.iter().filter(|l| l.0 == row);
            same.into_iter().any(|l| from < l.2 && l.1 < from + width)
        };
        let row = (0..MARKED.len()).find(|row| !covers(*row)).unwrap_or(0);
        labels.push((row, from, from + width));
        let _ = write!(
            lines,
            "<path d=\"M{} {}V{}\"/>",
            svg::n(at),
            svg::n(svg::TOP),
            svg::n(svg::BOTTOM)
        );
        let _ = write!(
            texts,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{text}</text>",
            svg::n(x),
            svg::n(svg::TOP + 10.0 + row as f64 * svg::HIGHEST_LINE)
        );
    }
    // No line goes over a label.
    let _ = write!(out, "<g class=\"mk\">{lines}{texts}</g>");
}

/// The axis of percentiles: equal room for each further nine.
pub(super) fn percent_axis(highest: f64) -> Axis {
    let nines = -(1.0 - highest.clamp(0.0, 99.999_999) / 100.0).log10();
    let high = nines.clamp(1.0, 6.0);
    let ticks = [
        (0.0, "0"),
        (50.0, "50 %"),
        (90.0, "90 %"),
        (99.0, "99 %"),
        (99.9, "99.9 %"),
        (99.99, "99.99 %"),
        (99.999, "99.999 %"),
        (99.9999, "99.9999 %"),
    ];
    Axis {
        low: 0.0,
        high,
        log: false,
        ticks: ticks
            .into_iter()
            .map(|(percent, label)| Tick {
                value: nines_of(percent),
                label: label.to_owned(),
            })
            .filter(|t| t.value <= high + 1e-9)
            .collect(),
        unit: "percent of operations",
    }
}

pub(super) fn nines_of(percent: f64) -> f64 {
    -(1.0 - (percent / 100.0).clamp(0.0, 0.999_999_9)).log10()
}

/// The highest percentile of which there is an estimate.
fn highest_supported(latency: &LatencySummary) -> Option<f64> {
    let known = latency.percentiles.iter();
    let known = known.filter(|p| p.latency_ns.value.is_some());
    known.map(|p| p.percent).max_by(f64::total_cmp)
}

/// The percentile curve: latency (log) by percentile.
/// Beyond the highest percentile that the table shows the line is dashed.
pub(super) fn percentile_curve(
    title: &str,
    charts: &OpCharts,
    latency: Option<&LatencySummary>,
) -> Option<ChartFigure> {
    let shown = latency.and_then(highest_supported);
    let curve = &charts.percentile_curve;
    let (first, last) = (curve.first()?, curve.last()?);
    let below_all = curve.iter().map(|p| p.0).rfind(|p| *p < 100.0)?;
    let xs = percent_axis(below_all);
    let ys = Axis::log(Quantity::Latency, first.1.max(1) as f64, last.1 as f64);
    let beyond = shown.filter(|p| *p < below_all);
    let beyond = beyond.map_or(String::new(), |p| {
        format!("; dashed above p{p}: too few operations for an estimate")
    });
    let label = format!("{title}: latency by percentile");
    let x_title = "percentile";
    let mut out = svg::open(&label, &xs, &ys, x_title, "latency");
    let place = |(percent, ns): &(f64, u64)| {
        let x = svg::n(svg::x(&xs, nines_of(*percent)));
        (*percent, format!("{x} {}", svg::n(svg::y(&ys, *ns as f64))))
    };
    let places: Vec<(f64, String)> = curve.iter().map(place).collect();
    let edge = shown.unwrap_or(100.0);
    let split = places.partition_point(|(percent, _)| *percent <= edge);
    let (solid, rest) = (&places[..split], &places[split.saturating_sub(1)..]);
    let line = |part: &[(f64, String)]| {
        let points: Vec<&str> = part.iter().map(|(_, at)| at.as_str()).collect();
        format!("M{}", points.join("L"))
    };
    let class = kind_class::of(charts.kind);
    out.push_str("<g class=\"ln\">");
    if solid.len() > 1 {
        let _ = write!(out, "<path class=\"{class}\" d=\"{}\"/>", line(solid));
    }
    if rest.len() > 1 {
        let d = line(rest);
        let _ = write!(out, "<path class=\"{class} beyond\" d=\"{d}\"/>");
    }
    out.push_str("</g></svg>");
    let points: Vec<String> = curve
        .iter()
        .map(|(percent, ns)| format!("[{},{ns}]", (percent * 1e6).round() / 1e6))
        .collect();
    Some(ChartFigure {
        class: "chart curve",
        title: title.to_owned(),
        keys: vec![Key::Words(format!(
            "Each extra nine gets equal width{beyond}"
        ))],
        svg: out,
        data: Some(format!(
            "{{\"x\":[{},{}],\"p\":[{}]}}",
            xs.low,
            xs.high,
            points.join(",")
        )),
    })
}
