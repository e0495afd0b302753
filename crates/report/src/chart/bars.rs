//! One horizontal bar per row: a quantity of many workloads side by side.

use std::fmt::Write as _;

use fathom_model::Estimate;
use fathom_model::figure::{Figure, Throughput};

use super::figure::ChartFigure;
use super::plot::escaped;
use super::svg::n;
use crate::table::wrap;

const WIDTH: f64 = 560.0;
/// Room for the names of the rows.
const LEFT: f64 = 184.0;
/// Between a name and its bar, and between a bar and its value.
const GAP: f64 = 7.0;
/// Width of a letter and height of a line.
const LETTER: f64 = super::svg::WIDEST_LETTER;
const LINE: f64 = super::svg::HIGHEST_LINE;
/// Width of a digit where letters are largest: all are as wide as the widest.
const DIGIT: f64 = 10.3;
/// Between two rows.
const BETWEEN: f64 = 5.0;
const TOP: f64 = 4.0;
const HEIGHT: f64 = 13.0;
/// The least that a bar may be long where its value is long.
const LEAST: f64 = 90.0;
/// Letters of a line of a name, and its lines; a longer name is its tooltip.
const LETTERS: usize = ((LEFT - GAP) / LETTER) as usize;
const MOST_LINES: usize = 3;

/// One bar.
pub(crate) struct Bar {
    /// Which row; escaped here.
    pub(crate) name: String,
    /// How much; nothing where it is not known.
    pub(crate) value: Option<f64>,
    /// The interval or range around it.
    pub(crate) range: Option<(f64, f64)>,
    /// The value in words.
    pub(crate) text: String,
    /// Class of its colour: `k-read`.
    pub(crate) class: String,
}

impl Bar {
    /// The bar of an estimate.
    pub(crate) fn of(name: String, estimate: &Estimate, class: String) -> Bar {
        Bar {
            name,
            value: estimate.value,
            range: estimate.low.zip(estimate.high),
            text: Figure::of(estimate, Throughput::Binary).value(),
            class,
        }
    }
}

/// The chart; nothing where no bar has a value. `title` and `label`, which says what it
/// shows to who cannot see it, are the program's own words.
pub(crate) fn render(title: &str, label: &str, bars: &[Bar]) -> Option<ChartFigure> {
    let ends = bars
        .iter()
        .filter_map(|bar| Some(bar.value?.max(bar.range.map_or(0.0, |range| range.1))));
    let end = ends.filter(|end| end.is_finite()).fold(0.0, f64::max);
    if end <= 0.0 {
        return None;
    }
    let names: Vec<Vec<String>> = bars.iter().map(|bar| lines_of(&bar.name)).collect();
    let high = |lines: &Vec<String>| LINE * lines.len() as f64 + BETWEEN;
    let height = n(2.0 * TOP + names.iter().map(high).sum::<f64>());
    let mut out = format!(
        "<svg viewBox=\"0 0 {} {height}\" role=\"img\" aria-label=\"{label}\">",
        n(WIDTH)
    );
    let right = right_of(bars);
    let x = |value: f64| LEFT + value / end * (right - LEFT);
    let mut top = TOP;
    for (bar, lines) in bars.iter().zip(&names) {
        let row = Row {
            lines,
            middle: top + high(lines) / 2.0,
        };
        row.push(&mut out, bar, x);
        top += high(lines);
    }
    out.push_str("</svg>");
    Some(ChartFigure {
        class: "bars",
        title: title.to_owned(),
        keys: Vec::new(),
        svg: out,
        data: None,
    })
}

/// Whether a bar of a chart has an interval or range.
pub(crate) fn has_ranges(chart: &ChartFigure) -> bool {
    chart.svg.contains("class=\"whisker\"")
}

/// Where the longest bar ends, so that the longest value fits behind it.
fn right_of(bars: &[Bar]) -> f64 {
    let letters = bars.iter().map(|bar| bar.text.chars().count()).max();
    let text = letters.unwrap_or(0) as f64 * DIGIT;
    (WIDTH - GAP - text).max(LEFT + LEAST)
}

/// A row: the lines of its name and where its middle is.
struct Row<'a> {
    lines: &'a [String],
    middle: f64,
}

impl Row<'_> {
    /// Name, bar, interval and value.
    fn push(&self, out: &mut String, bar: &Bar, x: impl Fn(f64) -> f64) {
        self.push_name(out, bar);
        let (top, middle) = (self.middle - HEIGHT / 2.0, n(self.middle));
        let Some(value) = bar.value.filter(|v| v.is_finite()) else {
            let at = n(LEFT + 4.0);
            let _ = write!(
                out,
                "<text x=\"{at}\" y=\"{middle}\" dy=\".35em\">n/a</text>"
            );
            return;
        };
        let _ = write!(
            out,
            "<rect class=\"bar {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            bar.class,
            n(LEFT),
            n(top),
            n((x(value) - LEFT).max(1.0)),
            n(HEIGHT)
        );
        let mut after = x(value);
        if let Some((low, high)) = bar.range {
            after = after.max(x(high));
            let (low, high, top) = (n(x(low)), n(x(high)), n(top + 2.5));
            let _ = write!(
                out,
                "<path class=\"whisker\" d=\"M{low} {middle}H{high}M{low} {top}v8M{high} {top}v8\"/>"
            );
        }
        let _ = write!(
            out,
            "<text class=\"value-text\" x=\"{}\" y=\"{middle}\" dy=\".35em\">{}</text>",
            n(after + GAP),
            escaped(&bar.text)
        );
    }

    fn push_name(&self, out: &mut String, bar: &Bar) {
        let x = n(LEFT - GAP);
        let first = self.middle - LINE * (self.lines.len() as f64 - 1.0) / 2.0;
        let _ = write!(out, "<text class=\"row\">");
        for (line, at) in self.lines.iter().zip(0..) {
            let y = n(first + LINE * f64::from(at));
            let _ = write!(
                out,
                "<tspan x=\"{x}\" y=\"{y}\" dy=\".35em\">{}</tspan>",
                escaped(line)
            );
        }
        let _ = write!(out, "<title>{}</title></text>", escaped(&bar.name));
    }
}

/// A name in lines that fit beside its bar.
fn lines_of(name: &str) -> Vec<String> {
    let mut lines = wrap(name, LETTERS);
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        if let Some(last) = lines.last_mut() {
            *last = last.chars().take(LETTERS - 1).chain(['…']).collect();
        }
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

#[cfg(test)]
mod tests {
    use fathom_model::estimate::Unit;

    use super::*;

    #[test]
    fn names_are_escaped_and_missing_values_say_so() {
        let known = Estimate::known(Unit::OpsPerSecond, 100.0, 90.0, 110.0, 20.0);
        let none = Estimate::unknown(Unit::OpsPerSecond, "too short");
        let bar = |estimate, name: &str| Bar::of(name.to_owned(), estimate, "k-read".to_owned());
        let svg = render("Rate", "IOPS", &[bar(&known, "<b>"), bar(&none, "x")]);
        let svg = svg.unwrap().to_string();
        assert!(!svg.contains("<b>") && svg.contains("n/a"), "{svg}");
        assert!(svg.contains("whisker"), "{svg}");
        assert!(render("Rate", "IOPS", &[bar(&none, "x")]).is_none());
    }

    #[test]
    fn names_wrap_and_values_stay_within_the_chart() {
        let bar = |name: &str, value: f64, text: &str| Bar {
            name: name.to_owned(),
            value: Some(value),
            range: None,
            text: text.to_owned(),
            class: "k-read".to_owned(),
        };
        let bars = [
            bar("stream each way, there", 10.0, "1,600 MiB/s"),
            bar("x", 5.0, "800 MiB/s"),
            bar(&"long ".repeat(40), 5.0, "800 MiB/s"),
        ];
        let svg = render("Rate", "IOPS", &bars).unwrap().svg;
        let mut lines: Vec<&str> = svg.split("</tspan>").collect();
        lines.pop();
        let lines: Vec<&str> = lines
            .into_iter()
            .filter_map(|part| Some(part.rsplit_once('>')?.1))
            .collect();
        assert_eq!(lines[..3], ["stream each way,", "there", "x"]);
        assert_eq!(lines.len(), 3 + MOST_LINES, "{lines:?}");
        assert!(lines.iter().all(|line| line.chars().count() <= LETTERS));
        let value = svg.split("class=\"value-text\" x=\"").nth(1).unwrap();
        let at: f64 = value.split('"').next().unwrap().parse().unwrap();
        assert!(at + 11.0 * LETTER <= WIDTH, "{at}");
    }
}
