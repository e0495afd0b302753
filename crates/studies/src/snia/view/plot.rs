//! Convergence, measurement window and results as charts.

use fathom_model::figure::Throughput;
use fathom_model::snia::{SniaPart, SniaSeries, SniaTest};
use fathom_model::steadiness::SniaWindow;
use fathom_model::view::axis::{Axis, Quantity, Tick};
use fathom_model::view::plot::{Guide, LineKind, Plot, PlotPoint, PlotSeries, Sign};
use fathom_model::{Unit, unit};

use super::value;

/// A line needs no more points than this; several rounds are then averaged.
const MOST_POINTS: usize = 240;
/// Names of lines: block sizes, directions, mixes.
const NAMES: [&str; 19] = [
    "1 MiB", "128 KiB", "64 KiB", "32 KiB", "16 KiB", "8 KiB", "4 KiB", "512 B", "write", "read",
    "100/0", "95/5", "65/35", "50/50", "35/65", "5/95", "0/100", "rounds", "other",
];

/// The charts of a part.
pub(super) fn of(test: SniaTest, part: &SniaPart, throughput: Throughput) -> Vec<Plot> {
    let mut plots = Vec::new();
    plots.extend(convergence(part, throughput));
    if let (Some(window), Some(from)) = (&part.window, part.window_from) {
        plots.push(measurement_window(part, window, from, throughput));
    }
    if matches!(test, SniaTest::Iops | SniaTest::Latency) {
        plots.extend(results(test, part, throughput));
    }
    plots
}

fn name(label: &str) -> &'static str {
    NAMES
        .into_iter()
        .find(|name| *name == label)
        .unwrap_or("other")
}

fn quantity(unit: Unit) -> (Quantity, &'static str) {
    match unit {
        Unit::BytesPerSecond => (Quantity::BytesPerSecond, "throughput"),
        Unit::Nanoseconds => (Quantity::Latency, "latency"),
        _ => (Quantity::OpsPerSecond, "IOPS"),
    }
}

fn point(x: f64, y: f64, hint: String) -> PlotPoint {
    PlotPoint {
        x,
        y,
        interval: None,
        sign: Sign::Plain,
        after_gap: false,
        hint,
    }
}

/// An axis of rounds from 1 on.
fn rounds_axis(first: f64, last: f64) -> Axis {
    let step = ((last - first) / 10.0).ceil().max(1.0);
    let step = match step {
        s if s <= 1.0 => 1.0,
        s if s <= 2.0 => 2.0,
        s if s <= 5.0 => 5.0,
        s => (s / 60.0).ceil() * 60.0,
    };
    let start = match step > 1.0 {
        true => (first / step).ceil() * step,
        false => first,
    };
    let count = ((last - start) / step).max(0.0).floor() as usize;
    Axis {
        low: first - 0.02 * (last - first).max(1.0),
        high: last + 0.02 * (last - first).max(1.0),
        log: false,
        ticks: (0..=count)
            .map(|i| start + step * i as f64)
            .map(|value| Tick {
                value,
                label: unit::group(value as u64),
            })
            .collect(),
        unit: "round",
    }
}

fn extent(series: &[PlotSeries]) -> Option<(f64, f64)> {
    let ys = || series.iter().flat_map(|s| &s.points).map(|p| p.y);
    let low = ys().min_by(f64::total_cmp)?;
    Some((low, ys().max_by(f64::total_cmp)?))
}

/// Every block size by round.
fn convergence(part: &SniaPart, throughput: Throughput) -> Option<Plot> {
    let rounds = part.rounds();
    let lines: Vec<PlotSeries> = part
        .series
        .iter()
        .enumerate()
        .map(|(i, series)| PlotSeries {
            name: name(&series.label),
            kind: LineKind::Nth(i),
            points: points(part, series, throughput),
        })
        .filter(|series| !series.points.is_empty())
        .collect();
    let (low, high) = extent(&lines)?;
    let (quantity, words) = quantity(part.unit);
    let y = match lines.len() > 2 && high > 4.0 * low {
        true => Axis::log(quantity, low, high),
        false => linear(part.unit, high, throughput),
    };
    let mut guides = Vec::new();
    if let Some(from) = part.window_from.filter(|from| *from > 1) {
        let at = f64::from(from) - 0.5;
        guides.push(Guide {
            from: (at, y.low),
            to: (at, y.high),
            label: "window".to_owned(),
            strong: true,
        });
    }
    let what = match part.unit {
        Unit::BytesPerSecond => "Convergence: sequential throughput by round",
        Unit::Nanoseconds => "Convergence: mean latency of random writes by round",
        _ => "Convergence: IOPS of random writes by round",
    };
    Some(Plot {
        title: what.to_owned(),
        x: rounds_axis(1.0, rounds as f64),
        y_title: match part.unit {
            Unit::BytesPerSecond => y.unit,
            _ => words,
        }
        .to_owned(),
        y,
        x_title: "round",
        series: lines,
        guides,
    })
}

/// The values of a line, several rounds averaged where there are many.
fn points(part: &SniaPart, series: &SniaSeries, throughput: Throughput) -> Vec<PlotPoint> {
    let group = series.values.len().div_ceil(MOST_POINTS).max(1);
    let mut points = Vec::new();
    for (i, chunk) in series.values.chunks(group).enumerate() {
        let known: Vec<f64> = chunk.iter().flatten().copied().collect();
        if known.is_empty() {
            continue;
        }
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let first = i * group + 1;
        let last = i * group + chunk.len();
        let which = match first == last {
            true => format!("round {first}"),
            false => format!("rounds {first} to {last}"),
        };
        let text = value(part.unit, mean, throughput);
        let x = (first + last) as f64 / 2.0;
        points.push(point(x, mean, format!("{}, {which}: {text}", series.label)));
    }
    points
}

/// The five rounds, the fitted line and the allowed band.
fn measurement_window(
    part: &SniaPart,
    window: &SniaWindow,
    from: u32,
    throughput: Throughput,
) -> Plot {
    let first = f64::from(from);
    let last = first + window.rounds.len() as f64 - 1.0;
    let average = window.average;
    let x = rounds_axis(first, last);
    let lowest = window.rounds.iter().copied().fold(average * 0.85, f64::min);
    let highest = window.rounds.iter().copied().fold(average * 1.15, f64::max);
    let y = window_axis(part, average, lowest, highest, throughput);
    let across = |share: f64, label: &str| Guide {
        from: (x.low, average * share),
        to: (x.high, average * share),
        label: label.to_owned(),
        strong: false,
    };
    // The line is fitted over x = 1 to 5.
    let fitted = |place: f64| window.intercept + window.slope * place;
    let guides = vec![
        across(1.1, "+10 %"),
        across(1.0, ""),
        across(0.9, "-10 %"),
        Guide {
            from: (first, fitted(1.0)),
            to: (last, fitted(window.rounds.len() as f64)),
            label: String::new(),
            strong: true,
        },
    ];
    let at = |(i, v): (usize, &f64)| {
        let round = first + i as f64;
        let text = value(part.unit, *v, throughput);
        point(round, *v, format!("round {round}: {text}"))
    };
    Plot {
        title: "Measurement window: fitted line, average ± 10 %".to_owned(),
        x,
        y_title: quantity(part.unit).1.to_owned(),
        y,
        x_title: "round",
        series: vec![PlotSeries {
            name: "rounds",
            kind: LineKind::Nth(0),
            points: window.rounds.iter().enumerate().map(at).collect(),
        }],
        guides,
    }
}

/// Tenths of the average where the rounds lie close to it.
fn window_axis(
    part: &SniaPart,
    average: f64,
    lowest: f64,
    highest: f64,
    throughput: Throughput,
) -> Axis {
    let (_, words) = quantity(part.unit);
    if highest - lowest > 0.8 * average {
        return linear(part.unit, highest, throughput);
    }
    let margin = 0.03 * (highest - lowest);
    let ticks = (-4..=4)
        .map(|tenths| average * (1.0 + f64::from(tenths) / 10.0))
        .filter(|v| (lowest..=highest).contains(v));
    Axis {
        low: lowest - margin,
        high: highest + margin,
        log: false,
        ticks: ticks
            .map(|value| Tick {
                value,
                label: short(part.unit, value, throughput),
            })
            .collect(),
        unit: words,
    }
}

/// A linear axis from 0; latencies with their unit.
fn linear(unit: Unit, high: f64, throughput: Throughput) -> Axis {
    let mut axis = Axis::linear(quantity(unit).0, high, 4);
    if unit == Unit::Nanoseconds {
        for tick in &mut axis.ticks {
            tick.label = short(unit, tick.value, throughput);
        }
    }
    axis
}

/// A value for a tick.
fn short(unit: Unit, v: f64, throughput: Throughput) -> String {
    value(unit, v, throughput).replace(" IOPS", "")
}

/// The matrix: a line for each mix over block sizes.
fn results(test: SniaTest, part: &SniaPart, throughput: Throughput) -> Option<Plot> {
    let mut mixes: Vec<u8> = part.cells.iter().map(|c| c.read_percent).collect();
    mixes.dedup();
    let unit_of = match test {
        SniaTest::Latency => Unit::Nanoseconds,
        _ => Unit::OpsPerSecond,
    };
    let line = |(i, mix): (usize, &u8)| {
        let label = format!("{mix}/{}", 100 - mix);
        let cells = part.cells.iter().filter(|c| c.read_percent == *mix);
        let points = cells.filter_map(|cell| {
            let y = match test {
                SniaTest::Latency => cell.latency.mean_ns.value?,
                _ => cell.ops_per_second,
            };
            let text = value(unit_of, y, throughput);
            let hint = format!(
                "R/W {label}, {}: {text}",
                unit::bytes_exact(cell.block_bytes)
            );
            Some(point(cell.block_bytes as f64, y, hint))
        });
        PlotSeries {
            name: name(&label),
            kind: LineKind::Nth(i),
            points: points.collect(),
        }
    };
    let lines: Vec<PlotSeries> = mixes.iter().enumerate().map(line).collect();
    let (low, high) = extent(&lines)?;
    let (quantity, words) = quantity(unit_of);
    Some(Plot {
        title: match test {
            SniaTest::Latency => "Mean latency by block size and R/W mix",
            _ => "IOPS by block size and R/W mix",
        }
        .to_owned(),
        x: block_axis(part)?,
        x_title: "block size",
        y: Axis::log(quantity, low, high),
        y_title: words.to_owned(),
        series: lines,
        guides: Vec::new(),
    })
}

fn block_axis(part: &SniaPart) -> Option<Axis> {
    let mut sizes: Vec<u64> = part.cells.iter().map(|c| c.block_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let (low, high) = (*sizes.first()? as f64, *sizes.last()? as f64);
    Some(Axis {
        low: low * 0.9,
        high: high.max(low * 2.0) * 1.1,
        log: true,
        ticks: sizes
            .iter()
            .map(|size| Tick {
                value: *size as f64,
                label: unit::bytes_short(*size),
            })
            .collect(),
        unit: "block size",
    })
}
