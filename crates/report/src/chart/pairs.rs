//! The differences of a comparison, pair by pair: a dot each, the mean with
//! its interval, and the margin within which a difference counts as none.

use std::fmt::Write as _;

use fathom_model::comparison::{ComparedMetric, Comparison};
use fathom_model::view::axis::{Axis, Tick};

use super::figure::{ChartFigure, Key};
use super::svg;
use crate::comparison as words;

/// Pairs that are drawn at most.
const MOST: usize = 400;

/// The chart; `None` without two pairs.
pub(crate) fn render(comparison: &Comparison, metric: &ComparedMetric) -> Option<ChartFigure> {
    let pairs = metric.pairs.get(..metric.pairs.len().min(MOST))?;
    let changes: Vec<f64> = pairs.iter().map(|p| (p.b / p.a - 1.0) * 100.0).collect();
    if changes.len() < 2 || changes.iter().any(|c| !c.is_finite()) {
        return None;
    }
    let percent = |ratio: Option<f64>| ratio.map(|r| (r - 1.0) * 100.0);
    let ends = percent(metric.ratio.low).zip(percent(metric.ratio.high));
    let margin = comparison.margin_percent.clamp(0.0, 100.0);
    let all = changes.iter().copied().chain([-margin, margin]);
    let all: Vec<f64> = all
        .chain(ends.map(|e| e.0))
        .chain(ends.map(|e| e.1))
        .collect();
    let low = all.iter().copied().fold(0.0, f64::min);
    let high = all.iter().copied().fold(0.0, f64::max);
    let ys = Axis::change(low, high, 5);
    let xs = pair_axis(changes.len());
    let name = words::metric_name(metric);
    let label = format!("{name}: change from A to B in each pair, percent");
    let mut out = svg::open(&label, &xs, &ys, "pair", "%");
    band(&mut out, "margin", &ys, -margin, margin);
    if let Some((low, high)) = ends {
        band(&mut out, "band", &ys, low, high);
    }
    line(&mut out, "zero", svg::y(&ys, 0.0));
    if let Some(mean) = percent(metric.ratio.value) {
        line(&mut out, "mean", svg::y(&ys, mean));
    }
    for (i, (pair, change)) in pairs.iter().zip(&changes).enumerate() {
        let class = if pair.b_first { "ba" } else { "ab" };
        let _ = write!(
            out,
            "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"4.5\"><title>pair {}: \
             {change:+.2} %</title></circle>",
            svg::n(svg::x(&xs, i as f64 + 1.0)),
            svg::n(svg::y(&ys, *change)),
            pair.pair + 1,
        );
    }
    out.push_str("</svg>");
    Some(ChartFigure {
        class: "pairs",
        title: format!("{name}: B against A, pair by pair"),
        keys: vec![Key::Words(format!(
            "● A first, ○ B first; line: mean, band: 95 % interval; grey: margin {}",
            words::margin_text(comparison)
        ))],
        svg: out,
        data: None,
    })
}

fn pair_axis(pairs: usize) -> Axis {
    let step = pairs.div_ceil(12).max(1);
    let ticks = (1..=pairs).step_by(step).map(|pair| Tick {
        value: pair as f64,
        label: pair.to_string(),
    });
    Axis {
        low: 0.5,
        high: pairs as f64 + 0.5,
        log: false,
        ticks: ticks.collect(),
        unit: "pair",
    }
}

fn band(out: &mut String, class: &str, ys: &Axis, low: f64, high: f64) {
    let (top, bottom) = (svg::y(ys, high), svg::y(ys, low));
    let _ = write!(
        out,
        "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
        svg::n(svg::LEFT),
        svg::n(top),
        svg::n(svg::RIGHT - svg::LEFT),
        svg::n((bottom - top).max(1.0)),
    );
}

fn line(out: &mut String, class: &str, at: f64) {
    let _ = write!(
        out,
        "<path class=\"{class}\" d=\"M{} {}H{}\"/>",
        svg::n(svg::LEFT),
        svg::n(at),
        svg::n(svg::RIGHT)
    );
}
