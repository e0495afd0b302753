//! The little SVG that charts need: a frame with axes, and rounded numbers.

use std::fmt::Write as _;

use fathom_model::view::axis::Axis;

/// Width of every chart, in its own units.
pub(super) const WIDTH: f64 = 560.0;
/// Left edge of the plot.
pub(super) const LEFT: f64 = 62.0;
/// Right edge of the plot.
pub(super) const RIGHT: f64 = WIDTH - 24.0;
/// Top of the plot.
pub(super) const TOP: f64 = 20.0;
/// Bottom of the plot.
pub(super) const BOTTOM: f64 = 196.0;
/// Height of every chart.
pub(super) const HEIGHT: f64 = 230.0;

/// Width of a letter of a label, roughly: digits are as wide as the widest.
pub(super) const LETTER: f64 = 7.3;
/// Width of a letter and height of a line where letters are largest: on a phone.
pub(super) const WIDEST_LETTER: f64 = 9.2;
pub(super) const HIGHEST_LINE: f64 = 17.0;

/// A coordinate with at most one decimal.
pub(super) fn n(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    if rounded == rounded.trunc() {
        format!("{rounded:.0}")
    } else {
        format!("{rounded:.1}")
    }
}

/// A number for the script: four significant digits, never NaN.
pub(super) fn data(value: f64) -> String {
    if !value.is_finite() {
        return "null".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let power = value.abs().log10().floor() as i32 - 3;
    if power >= 0 {
        let step = 10f64.powi(power);
        let whole = (value / step).round();
        // `12e7` is shorter than its zeros.
        return match power {
            0..=2 => format!("{:.0}", whole * step),
            _ => format!("{whole:.0}e{power}"),
        };
    }
    let text = format!("{value:.*}", (-power).min(9) as usize);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Place of a value on the horizontal axis.
pub(super) fn x(axis: &Axis, value: f64) -> f64 {
    LEFT + axis.share(value) * (RIGHT - LEFT)
}

/// Place of a value on the vertical axis.
pub(super) fn y(axis: &Axis, value: f64) -> f64 {
    BOTTOM - axis.share(value) * (BOTTOM - TOP)
}

/// Opens a chart: role, label for screen readers, grid and both axes.
/// `label`, `x_title` and `y_title` are the program's own words.
pub(super) fn open(label: &str, xs: &Axis, ys: &Axis, x_title: &str, y_title: &str) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{label}\">",
        n(WIDTH),
        n(HEIGHT)
    );
    out.push_str("<g class=\"yt\">");
    for tick in &ys.ticks {
        let at = n(y(ys, tick.value));
        let class = if tick.label.is_empty() {
            " class=\"mi\""
        } else {
            ""
        };
        let _ = write!(out, "<path{class} d=\"M{} {at}H{}\"/>", n(LEFT), n(RIGHT));
        if !tick.label.is_empty() {
            let _ = write!(
                out,
                "<text x=\"{}\" y=\"{at}\" dy=\".32em\">{}</text>",
                n(LEFT - 6.0),
                tick.label
            );
        }
    }
    out.push_str("</g><g class=\"xt\">");
    out.push_str(&x_ticks(xs));
    out.push_str("</g>");
    let _ = write!(
        out,
        "<text class=\"ax\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{x_title}</text>\
         <text class=\"ay\" x=\"2\" y=\"10\">{y_title}</text>",
        n(RIGHT),
        n(HEIGHT - 3.0),
    );
    out
}

fn x_ticks(xs: &Axis) -> String {
    let mut out = String::new();
    for tick in &xs.ticks {
        let place = x(xs, tick.value);
        let at = n(place);
        let class = if tick.label.is_empty() {
            " class=\"mi\""
        } else {
            ""
        };
        let _ = write!(out, "<path{class} d=\"M{at} {}V{}\"/>", n(TOP), n(BOTTOM));
        if !tick.label.is_empty() {
            let _ = write!(
                out,
                "<text x=\"{}\" y=\"{}\">{}</text>",
                n(place.min(WIDTH - half_width(&tick.label))),
                n(BOTTOM + 15.0),
                tick.label
            );
        }
    }
    out
}

/// Half of the room that a label in the middle of its place takes.
fn half_width(label: &str) -> f64 {
    label.chars().count() as f64 * LETTER / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_knows_the_same_frame() {
        let frame = format!("LEFT = {LEFT}, RIGHT = {RIGHT}, TOP = {TOP}, BOTTOM = {BOTTOM};");
        assert!(
            include_str!("../../assets/charts.js").contains(&frame),
            "{frame}"
        );
    }

    #[test]
    fn numbers_are_short_and_close() {
        assert_eq!(n(12.04), "12");
        assert_eq!(n(12.36), "12.4");
        assert_eq!(n(-0.01), "-0");
        assert_eq!(data(0.0), "0");
        assert_eq!(data(82_310.0), "82310");
        assert_eq!(data(123_456_789.0), "1235e5");
        assert_eq!(data(0.123456), "0.1235");
        assert_eq!(data(12.0), "12");
        assert_eq!(data(f64::NAN), "null");
    }
}
