//! Axes: ticks at 1, 2 and 5 times powers of ten, decades on log axes, and
//! labels with their unit.

/// What an axis counts; decides how its ticks are labelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes per second, shown in binary units.
    BytesPerSecond,
    /// Operations per second.
    OpsPerSecond,
    /// Nanoseconds.
    Latency,
    /// A share of one, shown in percent.
    Share,
    /// A plain count.
    Count,
}

impl Quantity {
    /// The word by which the script knows the quantity.
    pub fn key(self) -> &'static str {
        match self {
            Quantity::BytesPerSecond => "bps",
            Quantity::OpsPerSecond => "ops",
            Quantity::Latency => "ns",
            Quantity::Share => "share",
            Quantity::Count => "count",
        }
    }

    /// Size of one shown unit in base units, and its name, for an axis that
    /// reaches `max`.
    fn shown_unit(self, max: f64) -> (f64, &'static str) {
        match self {
            Quantity::BytesPerSecond => {
                let units = ["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"];
                let mut scale = 1.0;
                let mut at = 0;
                while at + 1 < units.len() && max >= 2.0 * scale * 1024.0 {
                    scale *= 1024.0;
                    at += 1;
                }
                (scale, units[at])
            }
            Quantity::OpsPerSecond => (1.0, "IOPS"),
            Quantity::Latency => (1.0, "latency"),
            Quantity::Share => (0.01, "%"),
            Quantity::Count => (1.0, "operations"),
        }
    }
}

/// A place on an axis with its label.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Place in base units.
    pub value: f64,
    /// Label, empty for a minor tick.
    pub label: String,
}

/// One axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Lower end in base units.
    pub low: f64,
    /// Upper end in base units, above `low`.
    pub high: f64,
    /// Logarithmic.
    pub log: bool,
    /// Ticks, ascending.
    pub ticks: Vec<Tick>,
    /// The unit in words, for the axis title.
    pub unit: &'static str,
}

impl Axis {
    /// A linear axis from 0 to a little above `max`.
    pub fn linear(quantity: Quantity, max: f64, wanted_ticks: usize) -> Axis {
        let max = if max.is_finite() && max > 0.0 {
            max
        } else {
            1.0
        };
        let (scale, unit) = quantity.shown_unit(max);
        let step = step_125(max / scale / wanted_ticks.max(1) as f64) * scale;
        let high = (max / step * 1.02).ceil() * step;
        let decimals = decimals_of(step / scale);
        let count = (high / step).round() as usize;
        let ticks = (0..=count)
            .map(|i| {
                let value = step * i as f64;
                let label = grouped(value / scale, decimals);
                Tick { value, label }
            })
            .collect();
        Axis {
            low: 0.0,
            high,
            log: false,
            ticks,
            unit,
        }
    }

    /// A linear axis of changes in percent that holds `min`, 0 and `max`.
    pub fn change(min: f64, max: f64, wanted_ticks: usize) -> Axis {
        let (min, max) = (min.clamp(-1e6, 0.0), max.clamp(0.0, 1e6));
        let step = step_125(((max - min) / wanted_ticks.max(1) as f64).max(1e-6));
        let decimals = decimals_of(step);
        // Nothing falls by more than all of it.
        let lowest = match min >= -100.0 {
            true => (min * 1.02).max(-100.0),
            false => min * 1.02,
        };
        let first = (lowest / step).floor() as i64;
        let last = (max / step * 1.02).ceil().max(first as f64 + 1.0) as i64;
        let ticks = (first..=last)
            .map(|i| {
                let value = i as f64 * step;
                let label = match i {
                    0 => "0".to_owned(),
                    _ => format!("{value:+.decimals$}"),
                };
                Tick { value, label }
            })
            .collect();
        Axis {
            low: first as f64 * step,
            high: last as f64 * step,
            log: false,
            ticks,
            unit: "%",
        }
    }

    /// A log axis around `min` to `max`, both made positive.
    pub fn log(quantity: Quantity, min: f64, max: f64) -> Axis {
        let min = if min.is_finite() && min > 0.0 {
            min
        } else {
            1.0
        };
        let max = if max.is_finite() && max > min {
            max
        } else {
            min
        };
        let (mut low, mut high) = (floor_125(min * 0.999), ceil_125(max * 1.001));
        if high / low < 3.0 {
            low = floor_125(low * 0.7);
            high = ceil_125(high * 1.4);
        }
        let decades = (high / low).log10();
        let steps: &[f64] = if decades > 2.6 {
            &[1.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        let mut ticks = Vec::new();
        for power in low.log10().floor() as i32..=high.log10().ceil() as i32 {
            for m in [1.0, 2.0, 5.0] {
                let value = m * 10f64.powi(power);
                if value < low * 0.999 || value > high * 1.001 {
                    continue;
                }
                let label = if steps.contains(&m) {
                    log_label(quantity, value)
                } else {
                    String::new()
                };
                ticks.push(Tick { value, label });
            }
        }
        Axis {
            low,
            high,
            log: true,
            ticks,
            unit: quantity.shown_unit(high).1,
        }
    }

    /// Where a value lies, 0 at the lower end, 1 at the upper; kept inside.
    pub fn share(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        share.clamp(0.0, 1.0)
    }
}

/// An axis of time since the start of the load, in seconds.
pub fn time(low_s: f64, high_s: f64, wanted_ticks: usize) -> Axis {
    const STEPS: [f64; 15] = [
        1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0,
        14400.0,
    ];
    let high_s = if high_s > low_s { high_s } else { low_s + 1.0 };
    let rough = (high_s - low_s) / wanted_ticks.max(1) as f64;
    let step = if rough < 1.0 {
        step_125(rough)
    } else {
        let fitting = STEPS.iter().copied().find(|s| *s >= rough);
        fitting.unwrap_or_else(|| step_125(rough / 3600.0) * 3600.0)
    };
    let (scale, unit) = match high_s {
        s if s <= 180.0 || step < 30.0 => (1.0, "s"),
        s if s <= 3.0 * 3600.0 || step < 1800.0 => (60.0, "min"),
        _ => (3600.0, "h"),
    };
    let decimals = decimals_of(step / scale);
    let first = (low_s / step - 1e-9).ceil() as i64;
    let last = (high_s / step + 1e-9).floor() as i64;
    let ticks = (first..=last)
        .map(|i| {
            let value = i as f64 * step;
            let label = grouped(value / scale, decimals);
            Tick { value, label }
        })
        .collect();
    Axis {
        low: low_s,
        high: high_s,
        log: false,
        ticks,
        unit,
    }
}

/// The smallest of 1, 2, 5 times a power of ten that is not below `rough`.
fn step_125(rough: f64) -> f64 {
    ceil_125(rough)
}

fn ceil_125(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let m = value / power;
    let up = [1.0, 2.0, 5.0, 10.0];
    up.into_iter()
        .find(|u| *u >= m * (1.0 - 1e-9))
        .unwrap_or(10.0)
        * power
}

fn floor_125(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let m = value / power;
    let down = [5.0, 2.0, 1.0];
    down.into_iter()
        .find(|d| *d <= m * (1.0 + 1e-9))
        .unwrap_or(1.0)
        * power
}

/// Decimals that tell multiples of `step` apart.
fn decimals_of(step: f64) -> usize {
    let exact = |d: usize| {
        let scaled = step * 10f64.powi(d as i32);
        (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1e-9)
    };
    (0..6).find(|d| exact(*d)).unwrap_or(6)
}

fn grouped(value: f64, decimals: usize) -> String {
    if decimals == 0 && value >= 1000.0 {
        crate::unit::group(value.round() as u64)
    } else {
        format!("{value:.decimals$}")
    }
}

fn log_label(quantity: Quantity, value: f64) -> String {
    if quantity != Quantity::Latency {
        // Digits of millions have no room beside a chart on a phone.
        return match value >= 999_999.5 {
            true => format!("{}M", grouped(value / 1e6, decimals_of(value / 1e6))),
            false => grouped(value, decimals_of(value)),
        };
    }
    let (scale, unit) = match value {
        v if v < 999.0 => (1.0, "ns"),
        v if v < 999e3 => (1e3, "µs"),
        v if v < 999e6 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let value = value / scale;
    format!("{} {unit}", grouped(value, decimals_of(value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        let named = axis.ticks.iter().filter(|t| !t.label.is_empty());
        named.map(|t| t.label.as_str()).collect()
    }

    #[test]
    fn linear_ticks_are_multiples_of_one_two_five() {
        let axis = Axis::linear(Quantity::BytesPerSecond, 1700.0 * 1048576.0, 4);
        assert_eq!(labels(&axis), ["0", "500", "1,000", "1,500", "2,000"]);
        assert_eq!(axis.unit, "MiB/s");
        let axis = Axis::linear(Quantity::Share, 0.31, 4);
        assert_eq!(labels(&axis), ["0", "10", "20", "30", "40"]);
        let axis = Axis::linear(Quantity::BytesPerSecond, 0.93, 4);
        assert_eq!(labels(&axis), ["0.0", "0.5", "1.0"]);
    }

    #[test]
    fn changes_hold_zero_and_both_ends() {
        let axis = Axis::change(-6.2, 1.0, 4);
        assert_eq!(labels(&axis), ["-8", "-6", "-4", "-2", "0", "+2"]);
        let fell = Axis::change(-98.4, 5.0, 5);
        assert_eq!((fell.low, fell.high), (-100.0, 50.0));
        let flat = Axis::change(0.0, 0.0, 4);
        assert!(flat.high > flat.low);
    }

    #[test]
    fn log_ticks_are_decades_with_units() {
        let axis = Axis::log(Quantity::Latency, 71_000.0, 240e6);
        assert_eq!(labels(&axis), ["100 µs", "1 ms", "10 ms", "100 ms"]);
        assert_eq!((axis.low, axis.high), (50_000.0, 500e6));
        let counts = Axis::log(Quantity::Count, 1.0, 9e6);
        assert!(
            labels(&counts).ends_with(&["100,000", "1M", "10M"]),
            "{counts:?}"
        );
        let axis = Axis::log(Quantity::Latency, 81_000.0, 95_000.0);
        assert_eq!(labels(&axis), ["20 µs", "50 µs", "100 µs", "200 µs"]);
        assert!((axis.share(20_000.0), axis.share(1e9)) == (0.0, 1.0));
    }

    #[test]
    fn time_ticks_follow_the_clock() {
        assert_eq!(labels(&time(0.0, 10.0, 6)), ["0", "2", "4", "6", "8", "10"]);
        let hour = time(0.0, 3600.0, 7);
        assert_eq!(labels(&hour), ["0", "10", "20", "30", "40", "50", "60"]);
        assert_eq!(hour.unit, "min");
        assert_eq!(time(0.0, 86_400.0, 7).unit, "h");
        assert_eq!(time(3.0, 3.0, 7).ticks[0].value, 3.0);
    }

    proptest! {
        #[test]
        fn any_data_get_a_readable_axis(min in 1e-3f64..1e13, factor in 1.0f64..1e9, n in 2usize..9) {
            let max = min * factor;
            for axis in [
                Axis::linear(Quantity::OpsPerSecond, max, n),
                Axis::log(Quantity::Latency, min, max),
                time(0.0, max, n),
            ] {
                prop_assert!(axis.high > axis.low);
                prop_assert!(axis.high >= max * 0.999, "{axis:?}");
                prop_assert!(axis.ticks.len() <= 60 && !axis.ticks.is_empty(), "{axis:?}");
                prop_assert!(axis.ticks.windows(2).all(|w| w[0].value < w[1].value));
                prop_assert!((0.0..=1.0).contains(&axis.share(max)));
            }
        }
    }
}
