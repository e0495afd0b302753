//! One horizontal bar per row: a quantity of many workloads side by side.

use std::fmt::Write as _;

use fathom_model::Estimate;
use fathom_model::figure::{Figure, Throughput};

use super::figure::ChartFigure;
use super::plot::escaped;
use super::svg::n;

const WIDTH: f64 = 560.0;
/// Room for the names of the rows.
const LEFT: f64 = 172.0;
/// Room for the values behind the bars.
const RIGHT: f64 = WIDTH - 96.0;
const STEP: f64 = 22.0;
const TOP: f64 = 4.0;
const HEIGHT: f64 = 13.0;
/// Letters of a name that fit; the whole name is its tooltip.
const LETTERS: usize = 24;

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
    let height = n(2.0 * TOP + STEP * bars.len() as f64);
    let mut out = format!(
        "<svg viewBox=\"0 0 {} {height}\" role=\"img\" aria-label=\"{label}\">",
        n(WIDTH)
    );
    let x = |value: f64| LEFT + value / end * (RIGHT - LEFT);
    for (place, bar) in bars.iter().enumerate() {
        push_bar(&mut out, bar, TOP + STEP * place as f64, x);
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

/// Name, bar, interval and value of one row.
fn push_bar(out: &mut String, bar: &Bar, top: f64, x: impl Fn(f64) -> f64) {
    let middle = n(top + HEIGHT / 2.0);
    let _ = write!(
        out,
        "<text class=\"row\" x=\"{}\" y=\"{middle}\" dy=\".35em\">{}<title>{}</title></text>",
        n(LEFT - 8.0),
        escaped(&short(&bar.name)),
        escaped(&bar.name)
    );
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
        n(after + 6.0),
        escaped(&bar.text)
    );
}

fn short(name: &str) -> String {
    match name.chars().count() > LETTERS {
        true => name.chars().take(LETTERS - 1).chain(['…']).collect(),
        false => name.to_owned(),
    }
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
}
