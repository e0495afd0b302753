//! How an estimate is printed: the number in people-sized units, half the
//! width of its 95 % interval or its ends, or the reason that there is none.
//!
//! No other code turns a rate or a latency into text, so that a figure whose
//! data cannot support it has no way into a report.

pub mod change;

use crate::{Estimate, Unit, unit};

/// Which throughput unit people get to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Throughput {
    /// MiB/s, 2^20 bytes.
    #[default]
    Binary,
    /// MB/s, 10^6 bytes.
    Decimal,
}

impl Throughput {
    /// Decimal units where they were chosen.
    pub fn decimal(decimal: bool) -> Throughput {
        if decimal {
            Throughput::Decimal
        } else {
            Throughput::Binary
        }
    }

    /// The unit's name.
    pub fn name(self) -> &'static str {
        match self {
            Throughput::Binary => "MiB/s",
            Throughput::Decimal => "MB/s",
        }
    }

    /// Bytes per second in one unit.
    pub fn bytes(self) -> f64 {
        match self {
            Throughput::Binary => 1_048_576.0,
            Throughput::Decimal => 1e6,
        }
    }
}

/// A 95 % interval ready to be printed.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// The lower end, in the unit of the number.
    pub low: String,
    /// The upper end.
    pub high: String,
    /// Half the width, where the number is about the middle: that of a percentile
    /// often is not, and a reader would take half the width for its distance to the ends.
    pub half_width: Option<String>,
}

/// How much farther one end may be than the other for the number to be about the middle.
const MIDDLE: f64 = 1.5;

/// Ends as close as this to a number, as a share of it, are about as far from it.
const CLOSE: f64 = 0.02;

impl Interval {
    fn of(value: f64, low: f64, high: f64, scale: f64) -> Interval {
        let (below, above) = (value - low, high - value);
        let farther = below.max(above);
        let is_middle = farther <= MIDDLE * below.min(above) || farther <= CLOSE * value.abs();
        let half_width = || half((high - low) / 2.0 / scale, &digits(value / scale));
        Interval {
            low: digits(low / scale),
            high: digits(high / scale),
            half_width: is_middle.then(half_width),
        }
    }

    /// `±1.2`, or `130–203`.
    fn text(&self) -> String {
        match &self.half_width {
            Some(half) => format!("±{half}"),
            None => format!("{}–{}", self.low, self.high),
        }
    }
}

/// Whether a table of text has intervals, and how they are read.
pub fn interval_legend<'t>(intervals: impl Iterator<Item = &'t str>) -> Option<&'static str> {
    let (mut halves, mut ends) = (false, false);
    let is_digit = |c: char| c.is_ascii_digit();
    for text in intervals {
        halves |= text.contains('±');
        // A dash by itself stands for nothing.
        let mut dashes = text.match_indices('–');
        ends |= dashes.any(|(at, _)| text[..at].ends_with(is_digit));
    }
    match (halves, ends) {
        (true, true) => Some("±: 95 % interval; from–to: its ends."),
        (true, false) => Some("±: 95 % interval."),
        (false, true) => Some("from–to: 95 % interval."),
        (false, false) => None,
    }
}

/// An estimate ready to be printed.
#[derive(Debug, Clone, PartialEq)]
pub enum Figure {
    /// There is a number.
    Known {
        /// Three significant digits, without unit.
        number: String,
        /// Unit of `number` and `interval`; empty for counts.
        unit: &'static str,
        /// The 95 % interval.
        interval: Option<Interval>,
        /// Why there is no interval.
        reason: Option<String>,
        /// How much longer to run for one, when that is known.
        longer_ns: Option<u64>,
    },
    /// There is none.
    Missing {
        /// How much longer to run, when that is known.
        longer_ns: Option<u64>,
        /// Why.
        reason: String,
    },
}

impl Figure {
    /// Prepares an estimate for printing.
    pub fn of(estimate: &Estimate, throughput: Throughput) -> Figure {
        let Some(value) = estimate.value.filter(|v| v.is_finite()) else {
            return Figure::Missing {
                longer_ns: estimate.run_longer_ns,
                reason: estimate
                    .reason
                    .clone()
                    .unwrap_or_else(|| "not measured".to_owned()),
            };
        };
        let (scale, unit) = scale(estimate.unit, value, throughput);
        let ends = estimate
            .low
            .zip(estimate.high)
            .filter(|(low, high)| low.is_finite() && high.is_finite());
        Figure::Known {
            number: digits(value / scale),
            unit,
            interval: ends.map(|(low, high)| Interval::of(value, low, high, scale)),
            reason: estimate.reason.clone(),
            longer_ns: estimate.run_longer_ns.filter(|_| ends.is_none()),
        }
    }

    /// The number with its unit (`82.3 µs`), or `n/a`.
    pub fn value(&self) -> String {
        match self {
            Figure::Known { number, unit, .. } => joined(number, unit),
            Figure::Missing { .. } => "n/a".to_owned(),
        }
    }

    /// The number without unit, for a column that names it, or `n/a`.
    pub fn number(&self) -> String {
        match self {
            Figure::Known { number, .. } => number.clone(),
            Figure::Missing { .. } => "n/a".to_owned(),
        }
    }

    /// `±1.2 µs`, `130–203 µs` where the number is not the middle, or nothing without an
    /// interval.
    pub fn interval(&self, with_unit: bool) -> Option<String> {
        match self {
            Figure::Known {
                interval: Some(interval),
                unit,
                ..
            } => {
                let unit = if with_unit { unit } else { "" };
                Some(joined(&interval.text(), unit))
            }
            _ => None,
        }
    }

    /// One line with everything: `82.3 ± 1.2 µs`, `138 µs (130–203)`, `82.3 µs` or
    /// `n/a (needs 12 s more)`.
    pub fn inline(&self) -> String {
        match self {
            Figure::Known {
                number,
                unit,
                interval: Some(interval),
                ..
            } => match &interval.half_width {
                Some(half) => joined(&format!("{number} ± {half}"), unit),
                None => format!("{} ({})", self.value(), interval.text()),
            },
            Figure::Known { .. } => self.value(),
            Figure::Missing {
                longer_ns: Some(ns),
                ..
            } => format!("n/a (needs {} more)", longer(*ns)),
            Figure::Missing { reason, .. } => format!("n/a ({reason})"),
        }
    }

    /// Whether there is no number.
    pub fn is_missing(&self) -> bool {
        matches!(self, Figure::Missing { .. })
    }

    /// How much longer to measure for a number with its interval, when that is known.
    pub fn longer_ns(&self) -> Option<u64> {
        match self {
            Figure::Missing { longer_ns, .. } | Figure::Known { longer_ns, .. } => *longer_ns,
        }
    }

    /// Why the number or its interval is missing.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Figure::Known { reason, .. } => reason.as_deref(),
            Figure::Missing { reason, .. } => Some(reason),
        }
    }
}

fn joined(number: &str, unit: &str) -> String {
    if unit.is_empty() {
        number.to_owned()
    } else {
        format!("{number} {unit}")
    }
}

fn scale(of: Unit, value: f64, throughput: Throughput) -> (f64, &'static str) {
    match of {
        Unit::OpsPerSecond | Unit::Count => (1.0, ""),
        Unit::BytesPerSecond => (throughput.bytes(), throughput.name()),
        Unit::Ratio => (0.01, "%"),
        Unit::Bytes => (1_048_576.0, "MiB"),
        Unit::Nanoseconds => match value.abs() {
            // The same borders as `unit::latency`, so that both agree.
            ns if ns < 999.5 => (1.0, "ns"),
            ns if ns < 999.5e3 => (1e3, "µs"),
            ns if ns < 999.5e6 => (1e6, "ms"),
            _ => (1e9, "s"),
        },
    }
}

/// Three significant digits with grouped thousands.
pub fn digits(value: f64) -> String {
    if value < 0.0 {
        return format!("-{}", digits(-value));
    }
    match value {
        v if v == 0.0 || v >= 0.995 => unit::count(v),
        v => significant(v, 3),
    }
}

/// Half the width of an interval with as many decimals as its number; one
/// significant digit where that would be nothing.
fn half(value: f64, number: &str) -> String {
    let decimals = number.split_once('.').map_or(0, |(_, after)| after.len());
    if value >= 100.0 {
        return two_digits(value);
    }
    let text = format!("{value:.decimals$}");
    if text.contains(|c: char| ('1'..='9').contains(&c)) || value <= 0.0 {
        text
    } else {
        significant(value, 1)
    }
}

fn two_digits(value: f64) -> String {
    if value >= 100.0 {
        let step = 10f64.powi(value.log10().floor() as i32 - 1);
        return unit::group(((value / step).round() * step) as u64);
    }
    if value >= 9.95 {
        return format!("{value:.0}");
    }
    significant(value, 2)
}

/// A number below ten with so many significant digits, at most six decimals.
fn significant(value: f64, wanted: i32) -> String {
    if value < 1e-6 {
        return "0".to_owned();
    }
    let decimals = (wanted - 1 - value.log10().floor() as i32).clamp(0, 6);
    format!("{value:.*}", decimals as usize)
}

/// A span to run longer, rounded up to what one would type.
pub fn longer(nanoseconds: u64) -> String {
    let seconds = nanoseconds.div_ceil(1_000_000_000);
    unit::span(seconds.saturating_mul(1_000_000_000))
}

/// `effective n 1,234`, where it is known.
pub fn effective_n(estimate: &Estimate) -> Option<String> {
    let n = estimate
        .n_effective
        .filter(|n| n.is_finite() && *n >= 0.0)?;
    Some(format!("effective n {}", unit::group(n.round() as u64)))
}

/// Share in percent with two significant digits: `0.014 %`, `31 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", two_digits(share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(estimate: &Estimate) -> String {
        Figure::of(estimate, Throughput::Binary).inline()
    }

    #[test]
    fn a_number_comes_with_its_interval_and_unit() {
        let latency = Estimate::known(Unit::Nanoseconds, 82_310.0, 81_100.0, 83_500.0, 900.0);
        assert_eq!(shown(&latency), "82.3 ± 1.2 µs");
        let rate = Estimate::known(Unit::OpsPerSecond, 87_412.0, 86_200.0, 88_600.0, 900.0);
        assert_eq!(shown(&rate), "87,400 ± 1,200");
        let bytes = Estimate::known(Unit::BytesPerSecond, 354.7e6, 350e6, 360e6, 900.0);
        assert_eq!(shown(&bytes), "338 ± 5 MiB/s");
        let decimal = Figure::of(&bytes, Throughput::Decimal);
        assert_eq!(decimal.inline(), "355 ± 5 MB/s");
    }

    #[test]
    fn ends_are_shown_where_the_number_is_not_between_them() {
        let tail = Estimate::known(Unit::Nanoseconds, 138e6, 130e6, 203e6, 20.0);
        assert_eq!(shown(&tail), "138 ms (130–203)");
        let cell = |of: &Estimate| Figure::of(of, Throughput::Binary).interval(true);
        assert_eq!(cell(&tail).as_deref(), Some("130–203 ms"));
        // A hundredth more on one side is nothing that a reader would act on.
        let close = Estimate::known(Unit::Nanoseconds, 138e6, 137.9e6, 139.5e6, 20.0);
        assert_eq!(cell(&close).as_deref(), Some("±1 ms"));
        let legend = |texts: &[&str]| interval_legend(texts.iter().copied());
        assert_eq!(
            legend(&["±1", "2–3"]),
            Some("±: 95 % interval; from–to: its ends.")
        );
        assert_eq!(legend(&["2", ""]), None);
    }

    #[test]
    fn without_a_value_the_reason_takes_its_place() {
        let none = Estimate::unknown(Unit::Nanoseconds, "812 of 3,688 independent samples");
        assert_eq!(shown(&none), "n/a (812 of 3,688 independent samples)");
        assert_eq!(
            shown(&none.clone().run_longer(11_200_000_000)),
            "n/a (needs 12 s more)"
        );
        let odd = Estimate::point(Unit::Nanoseconds, f64::NAN, "no clock");
        assert_eq!(shown(&odd), "n/a (no clock)");
    }

    #[test]
    fn a_fact_without_interval_shows_none() {
        let point = Estimate::point(Unit::OpsPerSecond, 12.0, "4 s are too short");
        let figure = Figure::of(&point, Throughput::Binary);
        assert_eq!(figure.inline(), "12.0");
        assert_eq!(figure.interval(true), None);
        assert_eq!(figure.reason(), Some("4 s are too short"));
    }

    #[test]
    fn small_numbers_keep_their_digits() {
        assert_eq!(digits(0.0), "0");
        assert_eq!(digits(0.0412), "0.0412");
        assert_eq!(digits(0.9999), "1.00");
        assert_eq!(digits(-3.0), "-3.00");
        assert_eq!(digits(1_234_567.0), "1,230,000");
        assert_eq!(percent(0.00014), "0.014 %");
        assert_eq!(percent(0.314), "31 %");
        assert_eq!(percent(0.0), "0 %");
    }
}
