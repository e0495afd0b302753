//! The charts of a view as SVG: lines with markers and intervals, and maps of
//! latencies.

use std::fmt::Write as _;

use fathom_model::unit;
use fathom_model::view::axis::{Axis, Tick};
use fathom_model::view::plot::{Guide, LineKind, Plot, PlotPoint, PlotSeries, Sign};
use fathom_model::view::{LatencyMap, MapCell};

use super::figure::{ChartFigure, Key};
use super::labels::{self, Labels};
use super::svg;

/// Steps of colour.
const LEVELS: f64 = 8.0;

/// A chart of a view.
pub(crate) fn plot(plot: &Plot) -> ChartFigure {
    let label = escaped(&plot.title);
    let mut out = svg::open(&label, &plot.x, &plot.y, plot.x_title, &plot.y_title);
    for guide in &plot.guides {
        push_guide(&mut out, guide, plot);
    }
    for series in &plot.series {
        push_series(&mut out, series, plot);
    }
    // No line goes over a label.
    let mut labels = Labels::of(plot);
    for guide in plot.guides.iter().filter(|guide| !guide.label.is_empty()) {
        push_label(&mut out, guide, plot, &mut labels);
    }
    out.push_str("</svg>");
    ChartFigure {
        class: "sweep",
        title: plot.title.clone(),
        keys: keys(plot),
        svg: out,
        data: None,
    }
}

/// The CSS class of a line's colour.
fn class(kind: LineKind) -> &'static str {
    const NTH: [&str; 8] = ["s-0", "s-1", "s-2", "s-3", "s-4", "s-5", "s-6", "s-7"];
    match kind {
        LineKind::Read => "k-read",
        LineKind::Write => "k-write",
        LineKind::Trim => "k-trim",
        LineKind::Sync => "k-sync",
        LineKind::Commit => "k-commit",
        LineKind::P50 => "p-50",
        LineKind::P99 => "p-99",
        LineKind::P999 => "p-999",
        LineKind::Beside => "p-max",
        LineKind::Nth(n) => NTH[n % NTH.len()],
    }
}

fn keys(plot: &Plot) -> Vec<Key> {
    let lines = plot.series.iter().map(|series| Key::Line {
        class: class(series.kind),
        name: series.name.to_owned(),
        can_hide: false,
    });
    let signs = [
        (Sign::Saturated, "▽ saturated"),
        (Sign::Untrusted, "✕ not trusted"),
    ];
    let signs = signs.into_iter().filter(|(sign, _)| plot.has(*sign));
    let signs = signs.map(|(_, words)| Key::Words(words.to_owned()));
    lines.chain(signs).collect()
}

fn guide_class(guide: &Guide) -> &'static str {
    if guide.strong { "mk" } else { "gd" }
}

fn push_guide(out: &mut String, guide: &Guide, plot: &Plot) {
    let [from, to] = labels::ends(guide, plot);
    let _ = write!(
        out,
        "<g class=\"{}\"><path d=\"M{} {}L{} {}\"/></g>",
        guide_class(guide),
        svg::n(from.0),
        svg::n(from.1),
        svg::n(to.0),
        svg::n(to.1)
    );
}

fn push_label(out: &mut String, guide: &Guide, plot: &Plot, labels: &mut Labels) {
    let spot = labels.place(guide, plot);
    let _ = write!(
        out,
        "<g class=\"{}\"><text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text></g>",
        guide_class(guide),
        svg::n(spot.x),
        svg::n(spot.y),
        spot.anchor,
        escaped(&guide.label)
    );
}

fn push_series(out: &mut String, series: &PlotSeries, plot: &Plot) {
    let mut d = String::new();
    for point in &series.points {
        let command = match d.is_empty() || point.after_gap {
            true => 'M',
            false => 'L',
        };
        let _ = write!(
            d,
            "{command}{} {}",
            svg::n(svg::x(&plot.x, point.x)),
            svg::n(svg::y(&plot.y, point.y))
        );
    }
    let _ = write!(
        out,
        "<g class=\"ln\"><path class=\"{}\" d=\"{d}\"/></g><g class=\"pt\">",
        class(series.kind)
    );
    for point in &series.points {
        push_point(out, point, class(series.kind), plot);
    }
    out.push_str("</g>");
}

fn push_point(out: &mut String, point: &PlotPoint, class: &str, plot: &Plot) {
    let (x, y) = (svg::x(&plot.x, point.x), svg::y(&plot.y, point.y));
    if let Some((low, high)) = point.interval {
        let _ = write!(
            out,
            "<path class=\"{class}\" d=\"M{} {}V{}\"/>",
            svg::n(x),
            svg::n(svg::y(&plot.y, low)),
            svg::n(svg::y(&plot.y, high))
        );
    }
    let shape = match point.sign {
        Sign::Plain => format!(
            "M{} {}m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0",
            svg::n(x),
            svg::n(y)
        ),
        Sign::Saturated => format!("M{} {}m-4 -3h8l-4 7z", svg::n(x), svg::n(y)),
        Sign::Untrusted => format!("M{} {}m-4 -4l8 8m0 -8l-8 8", svg::n(x), svg::n(y)),
    };
    let _ = write!(
        out,
        "<path class=\"dt {class}\" d=\"{shape}\"><title>{}</title></path>",
        escaped(&point.hint)
    );
}

/// The map: colour is the latency, the line the edge of what holds
/// the target.
pub(crate) fn map(map: &LatencyMap) -> Option<ChartFigure> {
    let (low, high) = map.extent()?;
    let xs = columns_axis(map);
    let ys = rows_axis(map);
    let label = escaped(&map.description);
    let mut out = svg::open(&label, &xs, &ys, &map.x_title, &map.y_title);
    for (row, cells) in map.cells.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            if let Some(cell) = cell {
                push_cell(&mut out, cell, (column, row), (low, high), (&xs, &ys));
            }
        }
    }
    push_contour(&mut out, map, &xs, &ys);
    out.push_str("</svg>");
    let scale = Key::Scale {
        from: unit::latency(low),
        classes: (0..LEVELS as usize)
            .map(|level| format!("h{level}"))
            .collect(),
        to: unit::latency(high),
    };
    Some(ChartFigure {
        class: "sweep",
        title: map.title.clone(),
        keys: vec![
            scale,
            Key::Words("sat: saturated".to_owned()),
            Key::Words("empty: beyond saturation".to_owned()),
        ],
        svg: out,
        data: None,
    })
}

fn columns_axis(map: &LatencyMap) -> Axis {
    let tick = |(i, name): (usize, &String)| Tick {
        value: i as f64 + 0.5,
        label: name.clone(),
    };
    Axis {
        low: 0.0,
        high: map.columns.len().max(1) as f64,
        log: false,
        ticks: map.columns.iter().enumerate().map(tick).collect(),
        unit: "",
    }
}

fn rows_axis(map: &LatencyMap) -> Axis {
    let count = map.rows.len().max(1);
    let tick = |(i, name): (usize, &String)| Tick {
        value: (count - i) as f64 - 0.5,
        label: name.clone(),
    };
    Axis {
        low: 0.0,
        high: count as f64,
        log: false,
        ticks: map.rows.iter().enumerate().map(tick).collect(),
        unit: "",
    }
}

fn level(latency: f64, (low, high): (f64, f64)) -> usize {
    let share = if high > low * 1.01 {
        (latency / low).ln() / (high / low).ln()
    } else {
        0.0
    };
    (share * LEVELS).clamp(0.0, LEVELS - 1.0) as usize
}

fn push_cell(
    out: &mut String,
    cell: &MapCell,
    (column, row): (usize, usize),
    extent: (f64, f64),
    (xs, ys): (&Axis, &Axis),
) {
    let rows = ys.high;
    let (left, right) = (svg::x(xs, column as f64), svg::x(xs, column as f64 + 1.0));
    let top = svg::y(ys, rows - row as f64);
    let bottom = svg::y(ys, rows - row as f64 - 1.0);
    let level = cell.latency_ns.map(|ns| level(ns, extent));
    let class = match (cell.saturated, level) {
        (false, Some(level)) => format!("h{level}"),
        _ => "sat".to_owned(),
    };
    let dark = level.is_some_and(|l| l >= 4) && !cell.saturated;
    let _ = write!(
        out,
        "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
        svg::n(left),
        svg::n(top),
        svg::n(right - left),
        svg::n(bottom - top)
    );
    // What holds the target lies left of the contour.
    let sign = if cell.untrusted { "! " } else { "" };
    let text = match (cell.saturated, cell.latency_ns) {
        (true, _) => "sat".to_owned(),
        (_, Some(ns)) => unit::latency(ns),
        _ => "n/a".to_owned(),
    };
    let _ = write!(
        out,
        "<text class=\"{}\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{sign}{text}</text>",
        if dark { "on" } else { "of" },
        svg::n((left + right) / 2.0),
        svg::n((top + bottom) / 2.0 + 4.0)
    );
}

/// The edge between what holds the target and what does not.
fn push_contour(out: &mut String, map: &LatencyMap, xs: &Axis, ys: &Axis) {
    if map.target.is_none() {
        return;
    }
    let mut d = String::new();
    for (row, columns) in map.holding.iter().enumerate() {
        let x = svg::n(svg::x(xs, *columns as f64));
        let top = svg::n(svg::y(ys, ys.high - row as f64));
        let bottom = svg::n(svg::y(ys, ys.high - row as f64 - 1.0));
        let command = if d.is_empty() {
            format!("M{x} {top}")
        } else {
            format!("H{x}")
        };
        let _ = write!(d, "{command}V{bottom}");
    }
    let target = map.target.as_deref().unwrap_or_default();
    let _ = write!(
        out,
        "<path class=\"slo\" d=\"{d}\"><title>{}</title></path>",
        escaped(&format!("{target} holds to the left"))
    );
}

/// Text inside SVG.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in crate::table::clean(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use fathom_model::view::axis::Quantity;

    use super::*;

    #[test]
    fn no_line_goes_over_a_label() {
        let axis = || Axis::linear(Quantity::Count, 10.0, 4);
        let point = |x: f64| PlotPoint {
            x,
            y: x,
            interval: None,
            sign: Sign::Plain,
            after_gap: false,
            hint: String::new(),
        };
        let plot = plot(&Plot {
            title: "IOPS by depth".to_owned(),
            x: axis(),
            y: axis(),
            x_title: "depth",
            y_title: "IOPS".to_owned(),
            series: vec![PlotSeries {
                name: "IOPS",
                kind: LineKind::Read,
                points: vec![point(1.0), point(9.0)],
            }],
            guides: vec![Guide {
                from: (5.0, 0.0),
                to: (5.0, 10.0),
                label: "knee 5".to_owned(),
                strong: true,
            }],
        });
        let label = plot.svg.find("knee 5").unwrap();
        let line = plot.svg.rfind("<path").unwrap();
        assert!(line < label, "{}", plot.svg);
        let style = include_str!("../../assets/chart.css");
        let halo = style.lines().find(|rule| rule.contains("paint-order"));
        assert!(halo.unwrap().contains(".mk text"), "{halo:?}");
    }
}
