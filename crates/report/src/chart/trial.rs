//! All charts of one trial.

use fathom_model::judged::{Interval, IntervalOp};
use fathom_model::view::axis::Quantity;
use fathom_model::{JudgedTrial, OpKind};

use super::figure::ChartFigure;
use super::series::{Series, Timeline, per_second};
use super::time::TimeChart;
use super::{distribution, heat, kind_class, levels};
use crate::summary;

/// Up to blocks of this size a chart of IOPS comes first.
const SMALL_BLOCK: u64 = 64 << 10;

/// How much a drawing may hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawing {
    /// Buckets of a line at most; a bucket is up to two points.
    pub(crate) buckets: usize,
    /// Lines and cells are left to the script, which draws them from the numbers.
    pub(crate) bare: bool,
}

/// The charts of a trial in groups: the trial as a
/// whole, then each kind of operation. None for a trial without any data.
pub(crate) fn draw(trial: &JudgedTrial, drawing: Drawing) -> Vec<Vec<ChartFigure>> {
    let line = Timeline::new(&trial.intervals, drawing.buckets);
    let mut first = whole(trial, &line, drawing.bare);
    first.extend(levels::render(trial));
    first.extend(levels::zones(trial));
    let mut groups = vec![first];
    for kind in OpKind::ALL {
        let mut group = Vec::new();
        if line.len() > 0 {
            group.extend(percentiles(trial, kind, &line).render(&line, drawing.bare));
        }
        group.extend(of_kind(trial, kind, &line, drawing.bare));
        groups.push(group);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

fn whole(trial: &JudgedTrial, line: &Timeline<'_>, bare: bool) -> Vec<ChartFigure> {
    if line.len() == 0 {
        return Vec::new();
    }
    // An axis of its own for each: beside a fast device a slow workload would be
    // a flat line. The crosshair of all charts is the same second.
    let mut charts = Vec::new();
    if has_small_blocks(trial) {
        charts.push(rate(line));
    }
    charts.extend([throughput(trial, line), device(line), cpu(line)]);
    charts.iter().filter_map(|c| c.render(line, bare)).collect()
}

/// Whether people think of the trial in operations rather than bytes.
fn has_small_blocks(trial: &JudgedTrial) -> bool {
    let moving = trial.summary.ops.iter().filter(|op| op.bytes > 0);
    let (bytes, ops) = moving.fold((0, 0), |(bytes, ops): (u64, u64), op| {
        (bytes.saturating_add(op.bytes), ops.saturating_add(op.ops))
    });
    ops > 0 && bytes / ops <= SMALL_BLOCK
}

fn of_kind(trial: &JudgedTrial, kind: OpKind, line: &Timeline<'_>, bare: bool) -> Vec<ChartFigure> {
    let Some(charts) = trial.charts.ops.iter().find(|c| c.kind == kind) else {
        return Vec::new();
    };
    let word = latency_word(trial, kind);
    let name = title_case(kind);
    let (from, to) = (
        line.edges_s.first().copied().unwrap_or(0.0),
        line.edges_s.last().copied().unwrap_or(0.0),
    );
    let mut out = Vec::new();
    out.extend(heat::render(
        &format!("{name} {word} heat map"),
        &charts.heat_map,
        (from, to),
        bare,
    ));
    let op = trial.summary.ops.iter().find(|op| op.kind == kind);
    if let Some(op) = op {
        let latency = summary::first_latency(op);
        let title = format!("{name} {word} distribution");
        out.extend(distribution::histogram(&title, charts, latency));
    }
    out.extend(distribution::percentile_curve(
        &format!("{name} {word} by percentile"),
        charts,
        op.map(summary::first_latency),
    ));
    out
}

/// Which latency the series and drawings of a kind show.
fn latency_word(trial: &JudgedTrial, kind: OpKind) -> &'static str {
    let op = trial.summary.ops.iter().find(|op| op.kind == kind);
    let response = match op {
        Some(op) => op.response.is_some(),
        None => trial.workload.is_open_loop(),
    };
    if response {
        "response latency"
    } else {
        "service latency"
    }
}

fn title_case(kind: OpKind) -> String {
    let name = kind.name().replace('_', " ");
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn op_of(interval: &Interval, kind: OpKind) -> Option<&IntervalOp> {
    interval.ops.iter().find(|op| op.kind == kind)
}

/// Bytes per second where data moves, else operations per second.
fn throughput(trial: &JudgedTrial, line: &Timeline<'_>) -> TimeChart {
    let moves = |kind: &OpKind| {
        kind.moves_bytes()
            && trial
                .summary
                .ops
                .iter()
                .any(|op| op.kind == *kind && op.bytes > 0)
            || trial
                .intervals
                .iter()
                .any(|i| op_of(i, *kind).is_some_and(|op| op.bytes > 0))
    };
    let kinds: Vec<OpKind> = OpKind::ALL.into_iter().filter(moves).collect();
    if kinds.is_empty() {
        return rate(line);
    }
    let series = kinds
        .into_iter()
        .map(|kind| {
            line.series(kind.name(), kind_class::of(kind), |i| {
                per_second(op_of(i, kind).map_or(0, |op| op.bytes), i)
            })
        })
        .collect();
    chart("Throughput", Quantity::BytesPerSecond, series, true)
}

/// Operations per second of every kind.
fn rate(line: &Timeline<'_>) -> TimeChart {
    let series = OpKind::ALL.map(|kind| {
        line.series(kind.name(), kind_class::of(kind), |i| {
            per_second(op_of(i, kind)?.ops, i)
        })
    });
    chart("Operations", Quantity::OpsPerSecond, series.to_vec(), true)
}

fn chart(title: &str, quantity: Quantity, series: Vec<Series>, show_errors: bool) -> TimeChart {
    TimeChart {
        title: title.to_owned(),
        quantity,
        log: false,
        at_least: 0.0,
        series,
        show_errors,
        remark: String::new(),
    }
}

/// What the devices under the target did meanwhile.
fn device(line: &Timeline<'_>) -> TimeChart {
    let series = vec![
        line.series("device reads", "k-read", |i| {
            per_second(i.device_read_bytes?, i)
        }),
        line.series("device writes", "k-write", |i| {
            per_second(i.device_write_bytes?, i)
        }),
    ];
    chart(
        "Throughput of the devices",
        Quantity::BytesPerSecond,
        series,
        false,
    )
}

fn percentiles(trial: &JudgedTrial, kind: OpKind, line: &Timeline<'_>) -> TimeChart {
    type Pick = fn(&IntervalOp) -> Option<u64>;
    let picks: [(&str, &str, Option<f64>, Pick); 5] = [
        ("max", "p-max", None, |op| op.max_ns),
        ("p99.9", "p-999", Some(99.9), |op| op.p999_ns),
        ("p99", "p-99", Some(99.0), |op| op.p99_ns),
        ("p90", "p-90", Some(90.0), |op| op.p90_ns),
        ("p50", "p-50", Some(50.0), |op| op.p50_ns),
    ];
    // What the table refuses from the whole trial, no single second can support.
    let op = trial.summary.ops.iter().find(|op| op.kind == kind);
    let is_refused = |percent: Option<f64>| {
        let latency = op.map(summary::first_latency);
        latency
            .zip(percent)
            .is_some_and(|(latency, percent)| latency.percentile(percent).value.is_none())
    };
    let (refused, drawn): (Vec<_>, Vec<_>) = picks.into_iter().partition(|pick| is_refused(pick.2));
    let series = drawn.into_iter().map(|(name, class, _, pick)| {
        line.series(name, class, |i| pick(op_of(i, kind)?).map(|ns| ns as f64))
    });
    let refused: Vec<&str> = refused.into_iter().map(|pick| pick.0).collect();
    TimeChart {
        title: format!(
            "{} {} in each second",
            title_case(kind),
            latency_word(trial, kind)
        ),
        quantity: Quantity::Latency,
        log: true,
        at_least: 0.0,
        series: series.collect(),
        show_errors: false,
        remark: match refused.is_empty() {
            true => String::new(),
            false => format!("{} left out: too few operations", refused.join(", ")),
        },
    }
}

/// What the generator and its host spent.
fn cpu(line: &Timeline<'_>) -> TimeChart {
    let series = vec![
        line.series("host, busy share", "k-sync", |i| i.host_cpu_busy),
        line.series("workers, share of one CPU", "k-commit", |i| {
            Some(per_second(i.worker_cpu_ns, i)? / 1e9)
        }),
    ];
    TimeChart {
        // A quiet CPU is a low line, not a full axis.
        at_least: 1.0,
        ..chart("CPU of host and generator", Quantity::Share, series, false)
    }
}
