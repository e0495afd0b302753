//! Lines over time.

use std::fmt::Write as _;

use fathom_model::view::axis::{self, Axis, Quantity};

use super::figure::{ChartFigure, Key};
use super::series::{Series, Timeline};
use super::svg;

/// A chart of lines over the time of a trial.
pub(super) struct TimeChart {
    pub(super) title: String,
    pub(super) quantity: Quantity,
    pub(super) log: bool,
    pub(super) series: Vec<Series>,
    /// The axis reaches at least this far.
    pub(super) at_least: f64,
    /// Mark the buckets in which operations failed.
    pub(super) show_errors: bool,
    /// Beside the legend: what is not drawn, and why.
    pub(super) remark: String,
}

/// Ticks on a time axis.
pub(super) const TIME_TICKS: usize = 7;

/// Lines of more buckets than this are drawn thinner.
const DENSE: usize = 240;

/// Ends a linear axis of shares at 100 %, with the headroom that it adds.
const FULL_SHARE: f64 = 0.98;

/// The words below every time axis.
pub(super) fn time_title(xs: &Axis) -> String {
    format!("time since start of load ({})", xs.unit)
}

impl TimeChart {
    /// The chart; nothing when no series has a value. `bare` leaves its
    /// lines to the script.
    pub(super) fn render(&self, line: &Timeline<'_>, bare: bool) -> Option<ChartFigure> {
        let series: Vec<&Series> = self.series.iter().filter(|s| s.has_values()).collect();
        let max = series
            .iter()
            .filter_map(|s| s.max())
            .max_by(f64::total_cmp)?;
        let min = series
            .iter()
            .filter_map(|s| s.min_positive())
            .min_by(f64::total_cmp);
        let ys = if self.log {
            Axis::log(self.quantity, min.unwrap_or(max), max)
        } else {
            let max = max.max(self.at_least);
            // Of all there is no more than all: no headroom above 100 %.
            let whole = self.quantity == Quantity::Share && max <= 1.0;
            Axis::linear(self.quantity, if whole { FULL_SHARE } else { max }, 4)
        };
        let xs = axis::time(line.edges_s[0], *line.edges_s.last()?, TIME_TICKS);
        let label = format!("{}, {} over time", self.title, ys.unit);
        let mut out = svg::open(&label, &xs, &ys, &time_title(&xs), ys.unit);
        push_warmup(&mut out, line, &xs);
        let dense = if line.len() > DENSE { " dense" } else { "" };
        let _ = write!(out, "<g class=\"ln{dense}\">");
        for s in &series {
            let path = match bare {
                true => String::new(),
                false => path(s, line, &xs, &ys),
            };
            let _ = write!(out, "<path class=\"{}\" d=\"{path}\"/>", s.class);
        }
        out.push_str("</g>");
        let errors = if self.show_errors {
            line.buckets_with_errors()
        } else {
            Vec::new()
        };
        push_errors(&mut out, &errors, line, &xs);
        push_warmup_name(&mut out, line);
        out.push_str("</svg>");
        Some(ChartFigure {
            class: if bare {
                "chart time bare"
            } else {
                "chart time"
            },
            title: self.title.clone(),
            keys: self.keys(&series),
            svg: out,
            data: Some(self.data(&series, line, &ys, &errors)),
        })
    }

    fn keys(&self, series: &[&Series]) -> Vec<Key> {
        let lines = series.iter().map(|s| Key::Line {
            class: s.class,
            name: s.name.to_owned(),
            can_hide: true,
        });
        let remark = (!self.remark.is_empty()).then(|| Key::Words(self.remark.clone()));
        lines.chain(remark).collect()
    }

    fn data(&self, series: &[&Series], line: &Timeline<'_>, ys: &Axis, errors: &[usize]) -> String {
        let mut out = String::new();
        let _ = write!(
            out,
            "{{\"u\":\"{}\",\"log\":{},\"y\":[{},{}],",
            self.quantity.key(),
            ys.log,
            ys.low,
            ys.high
        );
        push_time(&mut out, line);
        let list = |values: Vec<String>| values.join(",");
        let errors = errors.iter().map(usize::to_string).collect();
        let _ = write!(out, ",\"err\":[{}],\"s\":[", list(errors));
        for (i, s) in series.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            let end = |pick: fn((f64, f64)) -> f64| {
                let of = |r: &Option<(f64, f64)>| r.map_or(f64::NAN, pick);
                list(s.range.iter().map(|r| svg::data(of(r))).collect())
            };
            let _ = write!(
                out,
                "{comma}{{\"n\":\"{}\",\"hi\":[{}]",
                s.name,
                end(|r| r.1)
            );
            if s.range.iter().flatten().any(|r| r.0 != r.1) {
                let _ = write!(out, ",\"lo\":[{}]", end(|r| r.0));
            }
            out.push('}');
        }
        out.push_str("]}");
        out
    }
}

/// The common time axis for the script: `"t":[first,width,count,end]` or edges.
pub(super) fn push_time(out: &mut String, line: &Timeline<'_>) {
    let end = line.edges_s.last().copied().unwrap_or(0.0);
    match line.uniform() {
        Some((first, width)) => {
            let _ = write!(out, "\"t\":[{first:.3},{width:.3},{},{end:.3}]", line.len());
        }
        None => {
            let edges: Vec<String> = line.edges_s.iter().map(|e| format!("{e:.2}")).collect();
            let _ = write!(out, "\"e\":[{}]", edges.join(","));
        }
    }
}

/// Shades the warm-up.
fn push_warmup(out: &mut String, line: &Timeline<'_>, xs: &Axis) {
    if let Some(end) = line.warmup_end_s {
        let to = svg::x(xs, end);
        let _ = write!(
            out,
            "<g class=\"wu\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></g>",
            svg::n(svg::LEFT),
            svg::n(svg::TOP),
            svg::n(to - svg::LEFT),
            svg::n(svg::BOTTOM - svg::TOP),
        );
    }
}

/// Names the warm-up, above the lines.
fn push_warmup_name(out: &mut String, line: &Timeline<'_>) {
    if line.warmup_end_s.is_some() {
        let _ = write!(
            out,
            "<g class=\"wu\"><text x=\"{}\" y=\"{}\">warm-up</text></g>",
            svg::n(svg::LEFT + 4.0),
            svg::n(svg::TOP + 12.0),
        );
    }
}

fn push_errors(out: &mut String, errors: &[usize], line: &Timeline<'_>, xs: &Axis) {
    if errors.is_empty() {
        return;
    }
    let mut d = String::new();
    for bucket in errors {
        let at = svg::n(svg::x(xs, line.middle_s(*bucket)));
        let _ = write!(d, "M{at} {}v7", svg::n(svg::TOP - 7.0));
    }
    let _ = write!(
        out,
        "<path class=\"er\" d=\"{d}\"><title>seconds with failed operations</title></path>"
    );
}

/// The line of a series. A bucket with a range is a vertical stroke that
/// begins at the end nearer to the line so far.
fn path(series: &Series, line: &Timeline<'_>, xs: &Axis, ys: &Axis) -> String {
    let mut d = String::new();
    let mut last: Option<f64> = None;
    for (bucket, range) in series.range.iter().enumerate() {
        let Some((low, high)) = *range else {
            last = None;
            continue;
        };
        let (low, high) = (svg::y(ys, low), svg::y(ys, high));
        let (from, to) = match last {
            Some(at) if (at - low).abs() <= (at - high).abs() => (low, high),
            _ => (high, low),
        };
        let at = svg::n(svg::x(xs, line.middle_s(bucket)));
        let command = if last.is_some() { 'L' } else { 'M' };
        let _ = write!(d, "{command}{at} {}", svg::n(from));
        if svg::n(to) != svg::n(from) {
            let _ = write!(d, "V{}", svg::n(to));
        } else if last.is_none() {
            // A lone point is a dot: a line of no length with round ends.
            d.push_str("h0");
        }
        last = Some(to);
    }
    d
}
