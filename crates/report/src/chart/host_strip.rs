//! Hosts beside one another: a row for each, time across, colour for what a host did
//! in a cell.
//!
//! Places across are shares of the picture's width and places down are pixels, so
//! that a row is as high on a phone as on a wide screen and letters keep their size.

use std::fmt::Write as _;

use fathom_model::unit;
use fathom_model::view::axis::{self, Axis};

use super::figure::{ChartFigure, Key};
use super::host_cells::{CellValue, HostCell, HostCells};
use super::plot::escaped;
use super::svg;
use super::time::{TIME_TICKS, time_title};

/// Cells of one picture; more would be smaller than a pixel or a large file.
const MOST_CELLS: usize = 16_000;
/// Columns of one row at most.
const MOST_COLUMNS: usize = 600;
/// Heights in pixels: all rows of a picture, one row at most and at least.
const ROWS_HEIGHT: f64 = 680.0;
const ROW_HIGHEST: f64 = 22.0;
const ROW_LOWEST: f64 = 3.0;
/// Distance of two names at least.
const NAME_HEIGHT: f64 = 11.5;
/// Space above the rows and below them, where the axis is.
const TOP: f64 = 6.0;
const BELOW: f64 = 36.0;
/// Right edge of the rows, in percent of the width.
const RIGHT: f64 = 98.0;
/// Percent of the width for a letter: of a long name on a wide screen, of a short
/// one on a phone.
const WIDE_LETTER: f64 = 0.6;
const NARROW_LETTER: f64 = 2.05;
/// Letters of names on a wide screen and on a phone.
const WIDE_NAME: usize = 26;
const NARROW_NAME: usize = 7;
/// Steps of colour of latencies.
const LEVELS: usize = 8;

/// Classes of rates by their share of the median: up to which share, and in words.
const SHARES: [(f64, &str, &str); 6] = [
    (0.5, "v-3", "below 50 %"),
    (0.75, "v-2", "50 to 75 %"),
    (0.9, "v-1", "75 to 90 %"),
    (1.1, "v0", "90 to 110 %"),
    (1.25, "v1", "110 to 125 %"),
    (f64::INFINITY, "v2", "more"),
];
/// The class of a cell with a second in which nothing was completed.
const STALLED: &str = "vs";

/// One host.
#[derive(Debug, Clone)]
pub(crate) struct StripHost<'a> {
    /// Its name, of a user.
    pub(crate) name: &'a str,
    /// It is below the share of the median at which hosts are named.
    pub(crate) slow: bool,
    /// What it did in this turn.
    pub(crate) trial: &'a fathom_model::JudgedTrial,
}

/// What a picture shows.
#[derive(Debug, Clone)]
pub(crate) struct Strip<'a> {
    /// Its title, in plain words.
    pub(crate) title: String,
    /// What it says, for who does not see it.
    pub(crate) summary: &'a str,
    /// The hosts, from top to bottom.
    pub(crate) hosts: &'a [StripHost<'a>],
    /// What is shown of them.
    pub(crate) value: CellValue,
    /// The median of the hosts' figures.
    pub(crate) median: Option<f64>,
}

/// Where things are.
struct Layout {
    left: f64,
    row: f64,
    height: f64,
    xs: Axis,
}

impl Layout {
    /// Place across of a moment, in percent.
    fn x(&self, seconds: f64) -> String {
        let at = self.left + self.xs.share(seconds) * (RIGHT - self.left);
        format!("{}%", svg::n(at))
    }

    /// End of the rows.
    fn bottom(&self) -> f64 {
        TOP + self.height
    }
}

impl Strip<'_> {
    /// The picture; nothing where there is no value.
    pub(crate) fn render(&self) -> Option<ChartFigure> {
        let columns = (MOST_CELLS / self.hosts.len().max(1)).clamp(30, MOST_COLUMNS);
        let trials: Vec<_> = self.hosts.iter().map(|host| host.trial).collect();
        let cells = HostCells::of(&trials, self.value, columns)?;
        let row = (ROWS_HEIGHT / self.hosts.len() as f64).floor();
        let row = row.clamp(ROW_LOWEST, ROW_HIGHEST);
        let names = Names::of(self.hosts);
        let layout = Layout {
            left: names.room,
            row,
            height: row * self.hosts.len() as f64,
            xs: axis::time(0.0, cells.end_s(), TIME_TICKS),
        };
        let scale = self.scale(&cells);
        let height = svg::n(layout.bottom() + BELOW);
        let mut out = format!(
            "<svg width=\"100%\" height=\"{height}\" style=\"height:{height}px\" role=\"img\" \
             aria-label=\"{}. {}\">",
            escaped(&self.title),
            escaped(self.summary)
        );
        push_axis(&mut out, &layout, cells.measured_from_s);
        self.push_names(&mut out, &layout, &names);
        self.push_cells(&mut out, &layout, &cells, &scale);
        out.push_str("</svg>");
        Some(ChartFigure {
            class: "hosts",
            title: self.title.clone(),
            keys: scale.keys(cells.width_s),
            svg: out,
            data: Some(self.data(&layout, &cells)),
        })
    }

    fn scale(&self, cells: &HostCells) -> Scale {
        match self.value {
            CellValue::Latency => {
                let low = cells.values().fold(f64::INFINITY, f64::min).max(1.0);
                let high = cells.values().fold(low, f64::max);
                Scale::Latency { low, high }
            }
            _ => Scale::Share {
                median: self.median.filter(|median| *median > 0.0).unwrap_or(1.0),
                stalls: cells.rows.iter().flatten().any(|cell| cell.stalled),
            },
        }
    }

    /// Names beside their rows: those of slow hosts first, others where there is room.
    fn push_names(&self, out: &mut String, layout: &Layout, names: &Names) {
        let apart = (NAME_HEIGHT / layout.row).ceil() as usize;
        let mut named: Vec<usize> = Vec::new();
        let slow = |at: &usize| self.hosts[*at].slow;
        let all = || 0..self.hosts.len();
        for at in all().filter(slow).chain(all().step_by(apart.max(1))) {
            if named.iter().all(|other| other.abs_diff(at) >= apart) {
                named.push(at);
            }
        }
        named.sort_unstable();
        out.push_str("<g class=\"nm\">");
        for at in named {
            let middle = svg::n(TOP + layout.row * (at as f64 + 0.5));
            let class = if self.hosts[at].slow {
                " class=\"slow\""
            } else {
                ""
            };
            let _ = write!(
                out,
                "<text{class} x=\"{}%\" y=\"{middle}\" dy=\".35em\">",
                svg::n(layout.left - 0.5)
            );
            names.push(out, at);
            out.push_str("</text>");
        }
        out.push_str("</g>");
    }

    /// Cells are strokes along the middle of a row: as many as there are changes of colour.
    fn push_cells(&self, out: &mut String, layout: &Layout, cells: &HostCells, scale: &Scale) {
        let _ = write!(
            out,
            "<svg class=\"cells\" x=\"{}%\" y=\"{TOP}\" width=\"{}%\" height=\"{}\" viewBox=\"0 0 {} {}\" \
             preserveAspectRatio=\"none\">",
            svg::n(layout.left),
            svg::n(RIGHT - layout.left),
            svg::n(layout.height),
            cells.columns,
            cells.rows.len()
        );
        for (at, row) in cells.rows.iter().enumerate() {
            let _ = write!(out, "<g><title>{}</title>", escaped(self.hosts[at].name));
            for class in scale.classes() {
                let d = strokes(row, at, |cell| scale.class_of(cell) == Some(class));
                if !d.is_empty() {
                    let _ = write!(out, "<path class=\"{class}\" d=\"{d}\"/>");
                }
            }
            out.push_str("</g>");
        }
        out.push_str("</svg>");
    }

    /// Names, geometry and values for the script.
    fn data(&self, layout: &Layout, cells: &HostCells) -> String {
        let names: Vec<&str> = self.hosts.iter().map(|host| host.name).collect();
        // A name may not end the element that holds it.
        let names = serde_json::json!(names).to_string().replace('<', "\\u003c");
        let rows = cells.rows.iter().map(|row| {
            let values = row
                .iter()
                .map(|cell| svg::data(cell.value.unwrap_or(f64::NAN)));
            format!("[{}]", values.collect::<Vec<_>>().join(","))
        });
        let stalled = cells.rows.iter().flatten().enumerate();
        let stalled = stalled.filter(|(_, cell)| cell.stalled);
        let stalled: Vec<String> = stalled.map(|(at, _)| at.to_string()).collect();
        format!(
            "{{\"u\":\"{}\",\"h\":{names},\"w\":{},\"m\":{},\"g\":[{},{},{TOP},{}],\"v\":[{}],\"z\":[{}]}}",
            self.value.key(),
            svg::data(cells.width_s),
            svg::data(
                self.median
                    .filter(|_| self.value != CellValue::Latency)
                    .unwrap_or(f64::NAN)
            ),
            svg::n(layout.left),
            svg::n(RIGHT),
            svg::n(layout.row),
            rows.collect::<Vec<_>>().join(","),
            stalled.join(",")
        )
    }
}

/// The runs of a row's cells that are of one colour, a little above the middle: the
/// gap between rows is below each.
fn strokes(row: &[HostCell], at: usize, is: impl Fn(&HostCell) -> bool) -> String {
    let mut d = String::new();
    let mut column = 0;
    while column < row.len() {
        if !is(&row[column]) {
            column += 1;
            continue;
        }
        let from = column;
        while column < row.len() && is(&row[column]) {
            column += 1;
        }
        let _ = write!(d, "M{from} {at}.44h{}", column - from);
    }
    d
}

fn push_axis(out: &mut String, layout: &Layout, measured_from_s: f64) {
    out.push_str("<g class=\"xt\">");
    for tick in layout.xs.ticks.iter().filter(|tick| !tick.label.is_empty()) {
        let (x, bottom) = (layout.x(tick.value), layout.bottom());
        let _ = write!(
            out,
            "<line x1=\"{x}\" x2=\"{x}\" y1=\"{}\" y2=\"{}\"/><text x=\"{x}\" y=\"{}\">{}</text>",
            svg::n(bottom),
            svg::n(bottom + 4.0),
            svg::n(bottom + 16.0),
            tick.label
        );
    }
    let _ = write!(
        out,
        "</g><text class=\"ax\" x=\"{RIGHT}%\" y=\"{}\" text-anchor=\"end\">{}</text>",
        svg::n(layout.bottom() + 31.0),
        time_title(&layout.xs)
    );
    if measured_from_s > 0.0 {
        let x = layout.x(measured_from_s);
        let _ = write!(
            out,
            "<line class=\"from-here\" x1=\"{x}\" x2=\"{x}\" y1=\"0\" y2=\"{}\"><title>end of warm-up</title></line>",
            svg::n(layout.bottom() + 4.0)
        );
    }
}

/// How values become colours.
enum Scale {
    Share { median: f64, stalls: bool },
    Latency { low: f64, high: f64 },
}

/// Classes of latencies, ascending.
const LATENCIES: [&str; LEVELS] = [
    "v-h0", "v-h1", "v-h2", "v-h3", "v-h4", "v-h5", "v-h6", "v-h7",
];

impl Scale {
    fn class_of(&self, cell: &HostCell) -> Option<&'static str> {
        let value = cell.value?;
        match self {
            Scale::Share { .. } if cell.stalled => Some(STALLED),
            Scale::Share { median, .. } => {
                let share = value / median;
                SHARES.iter().find(|of| share < of.0).map(|of| of.1)
            }
            Scale::Latency { low, high } => {
                let share = match high > low {
                    true => (value / low).ln() / (high / low).ln(),
                    false => 0.0,
                };
                let level = (share * LEVELS as f64).clamp(0.0, LEVELS as f64 - 1.0);
                LATENCIES.get(level as usize).copied()
            }
        }
    }

    fn classes(&self) -> Vec<&'static str> {
        match self {
            Scale::Share { .. } => {
                let shares = SHARES.iter().map(|of| of.1);
                shares.chain([STALLED]).collect()
            }
            Scale::Latency { .. } => LATENCIES.to_vec(),
        }
    }

    fn keys(&self, width_s: f64) -> Vec<Key> {
        let colour = |class, words: &str| Key::Colour {
            class,
            words: words.to_owned(),
        };
        let mut keys = match self {
            Scale::Share { stalls, .. } => {
                let mut keys = vec![Key::Words("share of the median:".to_owned())];
                keys.extend(SHARES.iter().map(|(_, class, words)| colour(class, words)));
                keys.extend(stalls.then(|| colour(STALLED, "a second without any operation")));
                keys
            }
            Scale::Latency { low, high } => vec![Key::Scale {
                from: unit::latency(*low),
                classes: LATENCIES.map(str::to_owned).to_vec(),
                to: unit::latency(*high),
            }],
        };
        if width_s > 1.0 {
            let span = unit::span((width_s * 1e9) as u64);
            keys.push(Key::Words(format!("a cell is {span}")));
        }
        keys
    }
}

/// The names of hosts as long as there is room for them.
struct Names {
    /// For a wide screen and for a phone.
    both: Vec<(String, String)>,
    /// Percent of the width that they take.
    room: f64,
}

impl Names {
    fn of(hosts: &[StripHost<'_>]) -> Names {
        let domain = common_domain(hosts);
        let both = hosts.iter().map(|host| {
            let name = host.name.strip_suffix(domain).unwrap_or(host.name);
            let name = crate::table::clean(name);
            (tail(&name, WIDE_NAME), tail(&name, NARROW_NAME))
        });
        let both: Vec<(String, String)> = both.collect();
        let longest = |pick: fn(&(String, String)) -> &String| {
            let lengths = both.iter().map(|names| pick(names).chars().count());
            lengths.max().unwrap_or(0) as f64
        };
        let wide = (longest(|names| &names.0) + 1.0) * WIDE_LETTER;
        let narrow = (longest(|names| &names.1) + 1.0) * NARROW_LETTER;
        Names {
            room: wide.max(narrow),
            both,
        }
    }

    fn push(&self, out: &mut String, at: usize) {
        let (wide, narrow) = &self.both[at];
        match wide == narrow {
            true => out.push_str(&escaped(wide)),
            false => {
                let (wide, narrow) = (escaped(wide), escaped(narrow));
                let _ = write!(
                    out,
                    "<tspan class=\"wide\">{wide}</tspan><tspan class=\"narrow\">{narrow}</tspan>"
                );
            }
        }
    }
}

/// What all names end with from their first dot on; nothing of addresses.
fn common_domain<'a>(hosts: &'a [StripHost<'_>]) -> &'a str {
    let domain = |name: &'a str| {
        let (host, domain) = name.split_once('.')?;
        let is_name = host.parse::<u32>().is_err();
        is_name.then(|| &name[name.len() - domain.len() - 1..])
    };
    let first = hosts.first().and_then(|host| domain(host.name));
    let first = first.filter(|first| hosts.iter().all(|host| domain(host.name) == Some(first)));
    first.unwrap_or("")
}

/// The end of a name, which is where names of hosts differ.
fn tail(name: &str, most: usize) -> String {
    let letters = name.chars().count();
    match letters > most {
        true => ['…']
            .into_iter()
            .chain(name.chars().skip(letters + 1 - most))
            .collect(),
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(value: f64) -> HostCell {
        HostCell {
            value: Some(value),
            stalled: false,
        }
    }

    #[test]
    fn colours_follow_the_share_of_the_median() {
        let scale = Scale::Share {
            median: 200.0,
            stalls: true,
        };
        let class = |value| scale.class_of(&cell(value)).unwrap();
        assert_eq!(class(0.0), "v-3");
        assert_eq!(class(120.0), "v-2");
        assert_eq!(class(200.0), "v0");
        assert_eq!(class(1e6), "v2");
        let stalled = HostCell {
            stalled: true,
            ..cell(200.0)
        };
        assert_eq!(scale.class_of(&stalled), Some(STALLED));
        assert_eq!(scale.class_of(&HostCell::default()), None);
    }

    #[test]
    fn neighbours_of_a_colour_are_one_stroke() {
        let row = [1.0, 1.0, 2.0, 1.0].map(cell);
        assert_eq!(
            strokes(&row, 3, |c| c.value == Some(1.0)),
            "M0 3.44h2M3 3.44h1"
        );
    }

    #[test]
    fn a_long_name_keeps_its_end() {
        assert_eq!(tail("compute-node-017", 7), "…de-017");
        assert_eq!(tail("h7", 7), "h7");
    }
}
