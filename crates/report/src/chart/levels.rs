//! Rate on the axis of bytes, with the levels that the trial went through, and
//! rate by position of a disk's sweep.

use std::fmt::Write as _;

use fathom_model::figure::digits;
use fathom_model::judged::Interval;
use fathom_model::steadiness::{BytesAxis, Steadiness, ZoneProfile};
use fathom_model::view::axis::{Axis, Quantity, Tick};
use fathom_model::{JudgedTrial, OpKind, Phase};

use super::figure::ChartFigure;
use super::svg;
use crate::levels;

/// A line needs no more points than its chart has pixels.
const MOST_POINTS: usize = 600;

/// Bytes moved and time of some seconds, where they began on the axis, and
/// the lowest and highest rate in them.
#[derive(Debug, Clone, Copy)]
struct Point {
    start: f64,
    end: f64,
    low: f64,
    high: f64,
}

/// The rate by bytes with its levels marked; nothing for a trial with one
/// level, or one that moved nothing.
pub(super) fn render(trial: &JudgedTrial) -> Option<ChartFigure> {
    let steadiness = trial.steadiness.as_ref()?;
    if !steadiness.has_no_single_rate() {
        return None;
    }
    let points = points(&trial.intervals, steadiness.axis);
    let end = points.last()?.end;
    let highest = points.iter().map(|p| p.high).fold(0.0, f64::max);
    if end <= 0.0 || highest <= 0.0 {
        return None;
    }
    let xs = bytes_axis(end);
    let ys = Axis::linear(Quantity::BytesPerSecond, highest, 4);
    let what = levels::axis_words(steadiness.axis);
    let title = "Throughput and its levels";
    let mut out = open(title, what, &xs, &ys);
    let _ = write!(out, "<g class=\"ln\"><path class=\"k-bytes\" d=\"");
    for (i, point) in points.iter().enumerate() {
        let command = if i == 0 { 'M' } else { 'L' };
        let at = svg::n(svg::x(&xs, (point.start + point.end) / 2.0));
        let (low, high) = (svg::y(&ys, point.low), svg::y(&ys, point.high));
        let _ = write!(out, "{command}{at} {}", svg::n(low));
        if svg::n(low) != svg::n(high) {
            let _ = write!(out, "V{}", svg::n(high));
        }
    }
    out.push_str("\"/></g>");
    mark_levels(&mut out, trial, steadiness, &xs, &ys);
    out.push_str("</svg>");
    Some(figure(title, out))
}

/// The rate by position; nothing without a profile.
pub(super) fn zones(trial: &JudgedTrial) -> Option<ChartFigure> {
    let profile: &ZoneProfile = trial.steadiness.as_ref()?.zones.as_ref()?;
    let last = profile.zones.last()?;
    let highest = profile.zones.iter().map(|z| z.bytes_per_second);
    let ys = Axis::linear(Quantity::BytesPerSecond, highest.fold(0.0, f64::max), 4);
    let xs = bytes_axis(last.end_bytes as f64);
    let title = "Throughput by position";
    let mut out = open(title, "offset", &xs, &ys);
    out.push_str("<g class=\"ln\"><path class=\"k-bytes\" d=\"");
    for (i, zone) in profile.zones.iter().enumerate() {
        let command = if i == 0 { 'M' } else { 'L' };
        let _ = write!(
            out,
            "{command}{} {y}H{}",
            svg::n(svg::x(&xs, zone.start_bytes as f64)),
            svg::n(svg::x(&xs, zone.end_bytes as f64)),
            y = svg::n(svg::y(&ys, zone.bytes_per_second)),
        );
    }
    out.push_str("\"/></g></svg>");
    Some(figure(title, out))
}

fn open(title: &str, what: &str, xs: &Axis, ys: &Axis) -> String {
    let label = format!("{title}, {} by {what}", ys.unit);
    let x_title = format!("{what} ({})", xs.unit);
    svg::open(&label, xs, ys, &x_title, ys.unit)
}

fn figure(title: &str, svg: String) -> ChartFigure {
    ChartFigure {
        class: "levels",
        title: title.to_owned(),
        keys: Vec::new(),
        svg,
        data: None,
    }
}

fn on_axis(interval: &Interval, axis: BytesAxis) -> f64 {
    let counts =
        |kind: OpKind| kind.is_data() && (axis == BytesAxis::Moved || kind != OpKind::Read);
    let ops = interval.ops.iter().filter(|op| counts(op.kind));
    ops.map(|op| op.bytes as f64).sum()
}

/// The measured seconds in order, several joined where there are many.
fn points(intervals: &[Interval], axis: BytesAxis) -> Vec<Point> {
    let measured = intervals
        .iter()
        .filter(|i| i.phase == Phase::Measure)
        .count();
    let group = measured.div_ceil(MOST_POINTS).max(1);
    let mut at = 0.0;
    let mut all: Vec<Point> = Vec::new();
    let mut inside = 0;
    for interval in intervals {
        let start = at;
        at += on_axis(interval, axis);
        if interval.phase != Phase::Measure || interval.duration_ns == 0 {
            continue;
        }
        let data = interval.ops.iter().filter(|op| op.kind.is_data());
        let bytes: f64 = data.map(|op| op.bytes as f64).sum();
        let rate = bytes / interval.duration_ns as f64 * 1e9;
        match all.last_mut() {
            Some(last) if inside < group => {
                last.end = at;
                last.low = last.low.min(rate);
                last.high = last.high.max(rate);
                inside += 1;
            }
            _ => {
                inside = 1;
                all.push(Point {
                    start,
                    end: at,
                    low: rate,
                    high: rate,
                });
            }
        }
    }
    all
}

fn mark_levels(out: &mut String, trial: &JudgedTrial, found: &Steadiness, xs: &Axis, ys: &Axis) {
    let rate = |ops: &[fathom_model::judged::OpSummary]| -> f64 {
        let data = ops.iter().filter(|op| op.kind.is_data());
        data.filter_map(|op| op.bytes_per_second.value).sum()
    };
    let shown = levels::of_trial(trial);
    out.push_str("<g class=\"mk\">");
    for (index, level) in shown.iter().enumerate() {
        let (from, to) = match found.regimes.get(index) {
            Some(regime) => (regime.start_bytes as f64, regime.end_bytes as f64),
            None => (xs.low, xs.high),
        };
        let (from, to) = (svg::x(xs, from), svg::x(xs, to));
        let at = svg::y(ys, rate(level.ops));
        let _ = write!(
            out,
            "<path class=\"lv\" d=\"M{} {y}H{}\"/>",
            svg::n(from),
            svg::n(to),
            y = svg::n(at)
        );
        if index > 0 && !found.regimes.is_empty() {
            let _ = write!(
                out,
                "<path class=\"cp\" d=\"M{x} {}V{}\"/>",
                svg::n(svg::TOP),
                svg::n(svg::BOTTOM),
                x = svg::n(from)
            );
        }
        // A label stays inside of the plot, above its line.
        let (place, anchor) = match from > (svg::LEFT + svg::RIGHT) / 2.0 {
            true => (svg::RIGHT - 2.0, "end"),
            false => (from + 4.0, "start"),
        };
        let _ = write!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            svg::n(place),
            svg::n((at - 5.0).max(svg::TOP + 10.0)),
            fathom_model::unit::throughput(rate(level.ops)),
        );
    }
    out.push_str("</g>");
}

/// Bytes from nothing to `end` in decimal units.
fn bytes_axis(end: f64) -> Axis {
    let units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let power = ((end.max(1.0).log10() - 0.3) / 3.0).floor().clamp(0.0, 5.0);
    let scale = 1000f64.powf(power);
    let rough = end / scale / 6.0;
    let decade = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * decade)
        .find(|s| *s >= rough)
        .unwrap_or(rough)
        * scale;
    let count = (end / step).floor() as usize;
    Axis {
        low: 0.0,
        high: end,
        log: false,
        ticks: (0..=count)
            .map(|i| Tick {
                value: step * i as f64,
                label: label(step * i as f64 / scale),
            })
            .collect(),
        unit: units[power as usize],
    }
}

fn label(value: f64) -> String {
    match value == value.round() {
        true => format!("{value:.0}"),
        false => digits(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_axis_has_decimal_units() {
        let axis = bytes_axis(400e9);
        assert_eq!(axis.unit, "GB");
        let labels: Vec<&str> = axis.ticks.iter().map(|t| t.label.as_str()).collect();
        assert_eq!(labels, ["0", "100", "200", "300", "400"]);
        assert_eq!(bytes_axis(1.5e9).unit, "MB");
        assert_eq!(bytes_axis(3e9).ticks.len(), 7);
        assert!(bytes_axis(1.0).ticks.len() > 1);
    }
}
