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
pub(crate) struct Bar<'a> {
    /// Which row; escaped here.
    pub(crate) name: String,
    /// How much.
    pub(crate) estimate: &'a Estimate,
    /// Class of its colour: `k-read`.
    pub(crate) class: String,
}

/// The chart; nothing where no bar has a value. `title` and `unit` are the
/// program's own words.
pub(crate) fn render(title: &str, unit: &str, bars: &[Bar<'_>]) -> Option<ChartFigure> {
    let ends = bars
        .iter()
        .filter_map(|bar| Some(bar.estimate.value?.max(bar.estimate.high.unwrap_or(0.0))));
    let end = ends.filter(|end| end.is_finite()).fold(0.0, f64::max);
    if end <= 0.0 {
        return None;
    }
    let height = n(2.0 * TOP + STEP * bars.len() as f64);
    let mut out = format!(
        "<svg viewBox=\"0 0 {} {height}\" role=\"img\" aria-label=\"{title} by workload, {unit}\">",
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
fn push_bar(out: &mut String, bar: &Bar<'_>, top: f64, x: impl Fn(f64) -> f64) {
    let middle = n(top + HEIGHT / 2.0);
    let _ = write!(
        out,
        "<text class=\"row\" x=\"{}\" y=\"{middle}\" dy=\".35em\">{}<title>{}</title></text>",
        n(LEFT - 8.0),
        escaped(&short(&bar.name)),
        escaped(&bar.name)
    );
    let Some(value) = bar.estimate.value.filter(|v| v.is_finite()) else {
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
    if let (Some(low), Some(high)) = (bar.estimate.low, bar.estimate.high) {
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
        Figure::of(bar.estimate, Throughput::Binary).value()
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
        let bar = |estimate, name: &str| Bar {
            name: name.to_owned(),
            estimate,
            class: "k-read".to_owned(),
        };
        let svg = render("Rate", "IOPS", &[bar(&known, "<b>"), bar(&none, "x")]);
        let svg = svg.unwrap().to_string();
        assert!(!svg.contains("<b>") && svg.contains("n/a"), "{svg}");
        assert!(svg.contains("whisker"), "{svg}");
        assert!(render("Rate", "IOPS", &[bar(&none, "x")]).is_none());
    }
}
