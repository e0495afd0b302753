//! A scale-out study made ready to be shown: speed-ups and efficiencies as charts and
//! a table.

use fathom_model::estimate::{Estimate, Unit};
use fathom_model::figure::Figure;
use fathom_model::names::{self, mark};
use fathom_model::scale::{ScalePoint, ScaleStudy, ScaledOperation};
use fathom_model::view::axis::{Axis, Quantity, Tick};
use fathom_model::view::plot::{Guide, LineKind, Plot, PlotPoint, PlotSeries, Sign};
use fathom_model::view::{Cell, Column, Table, UnitText, View};
use fathom_model::{Validity, unit};

/// Colours of the lines, in order.
const KINDS: [LineKind; 5] = [
    LineKind::Read,
    LineKind::Write,
    LineKind::Trim,
    LineKind::Sync,
    LineKind::Commit,
];

/// Pieces of which the line of a law is made.
const PIECES: u32 = 24;

/// The study.
pub(super) fn view(study: &ScaleStudy) -> View {
    View {
        anchor: "curve",
        title: "Speed-up by hosts".to_owned(),
        answers: study.answers.clone(),
        adds_up_sets: true,
        charts: plots(study),
        tables: vec![table(study)],
        notes: notes(study),
        has_signs: true,
        ..View::default()
    }
}

fn notes(study: &ScaleStudy) -> Vec<String> {
    let mut notes = vec![format!(
        "{} block{}: in each, every number of hosts once, in random order; speed-ups are those \
         within a block.",
        study.blocks,
        if study.blocks == 1 { "" } else { "s" }
    )];
    notes.push("Dotted line: as many times one host as there are hosts.".to_owned());
    notes
}

/// The workloads of a study, each with its operations.
fn workloads(study: &ScaleStudy) -> Vec<(&str, Vec<&ScaledOperation>)> {
    let mut found: Vec<(&str, Vec<&ScaledOperation>)> = Vec::new();
    for operation in &study.operations {
        match found
            .iter_mut()
            .find(|(label, _)| *label == operation.label)
        {
            Some((_, operations)) => operations.push(operation),
            None => found.push((&operation.label, vec![operation])),
        }
    }
    found
}

fn plots(study: &ScaleStudy) -> Vec<Plot> {
    let of_workload = |(label, operations): (&str, Vec<&ScaledOperation>)| {
        let speed_up = plot(
            (format!("Speed-up by hosts: {label}"), "speed-up"),
            &operations,
            |point| &point.speed_up,
        );
        let efficiency = plot(
            (format!("Efficiency by hosts: {label}"), "efficiency"),
            &operations,
            |point| &point.efficiency,
        );
        [speed_up, efficiency]
    };
    let all = workloads(study).into_iter().flat_map(of_workload);
    all.flatten().collect()
}

fn plot(
    (title, y_title): (String, &'static str),
    operations: &[&ScaledOperation],
    pick: fn(&ScalePoint) -> &Estimate,
) -> Option<Plot> {
    let points = || operations.iter().flat_map(|operation| &operation.points);
    let most = points().map(|point| point.hosts).max()?;
    let highest = points().filter_map(|point| pick(point).value);
    let highest = highest.fold(1.0, f64::max);
    let x = hosts_axis(points().map(|point| point.hosts), most);
    let quantity = match y_title {
        "speed-up" => Quantity::Count,
        _ => Quantity::Share,
    };
    let y = Axis {
        unit: y_title,
        ..Axis::linear(quantity, highest, 5)
    };
    let lines = operations.iter().zip(KINDS.iter().cycle());
    let series: Vec<PlotSeries> = lines
        .map(|(operation, kind)| series(operation, *kind, pick))
        .collect();
    let mut guides = vec![ideal(&y, most, y_title)];
    if y_title == "speed-up" {
        guides.extend(operations.iter().flat_map(|operation| law(operation, &y)));
    }
    Some(Plot {
        title,
        x_title: x.unit,
        x,
        y_title: y_title.to_owned(),
        y,
        series,
        guides,
    })
}

fn hosts_axis(numbers: impl Iterator<Item = u32>, most: u32) -> Axis {
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    let tick = |n: &u32| Tick {
        value: f64::from(*n),
        label: n.to_string(),
    };
    Axis {
        low: 0.0,
        high: f64::from(most.max(2)),
        log: false,
        ticks: numbers.iter().map(tick).collect(),
        unit: "hosts",
    }
}

fn series(
    operation: &ScaledOperation,
    kind: LineKind,
    pick: fn(&ScalePoint) -> &Estimate,
) -> PlotSeries {
    let points = operation.points.iter().filter_map(|point| {
        let estimate = pick(point);
        let y = estimate.value.filter(|y| y.is_finite())?;
        Some(PlotPoint {
            x: f64::from(point.hosts),
            y,
            interval: estimate.low.zip(estimate.high),
            sign: match point.validity {
                Validity::NotTrusted => Sign::Untrusted,
                Validity::Trusted | Validity::Caveats | Validity::NotDetermined => Sign::Plain,
            },
            after_gap: false,
            hint: format!(
                "{} on {}: {y:.2}",
                operation.kind.name(),
                unit::counted(point.hosts.into(), "host")
            ),
        })
    });
    PlotSeries {
        name: operation.kind.name(),
        kind,
        points: points.collect(),
    }
}

/// What hosts would do that share nothing, as far as the chart goes.
fn ideal(y: &Axis, most: u32, y_title: &str) -> Guide {
    let to = match y_title {
        "speed-up" => f64::from(most).min(y.high),
        _ => f64::from(most),
    };
    let (from, to) = match y_title {
        "speed-up" => ((0.0, 0.0), (to, to)),
        _ => ((0.0, 1.0), (to, 1.0)),
    };
    Guide {
        from,
        to,
        label: "ideal".to_owned(),
        strong: false,
    }
}

/// The line of a law, in pieces.
fn law(operation: &ScaledOperation, y: &Axis) -> Vec<Guide> {
    let Some(law) = &operation.law else {
        return Vec::new();
    };
    let most = operation.points.last().map_or(1, |point| point.hosts);
    let at = |piece: u32| -> Option<(f64, f64)> {
        let hosts = 1.0 + f64::from(most - 1) * f64::from(piece) / f64::from(PIECES);
        let speed_up = law.rate(hosts)? / law.lambda;
        (speed_up.is_finite() && (0.0..=y.high).contains(&speed_up)).then_some((hosts, speed_up))
    };
    let pieces = (0..PIECES).filter_map(|piece| {
        Some(Guide {
            from: at(piece)?,
            to: at(piece + 1)?,
            label: String::new(),
            strong: false,
        })
    });
    pieces.collect()
}

fn table(study: &ScaleStudy) -> Table {
    let several = workloads(study).len() > 1;
    let rows = study.operations.iter().flat_map(|operation| {
        let told = operation.label.contains(operation.kind.name());
        let name = match several {
            true if told => operation.label.clone(),
            true => format!("{}, {}", operation.label, operation.kind.name()),
            false => operation.kind.name().to_owned(),
        };
        let rows = operation.points.iter().zip(0..);
        let rows = rows.map(move |(point, at)| {
            let name = if at == 0 { name.clone() } else { String::new() };
            row(name, point)
        });
        rows.collect::<Vec<_>>()
    });
    let table = Table {
        columns: vec![
            // Beside the numbers that it names.
            Column::number("operation"),
            Column::number("hosts"),
            Column::number("rate"),
            Column::number("±").spare(1),
            Column::number("speed-up"),
            Column::number("±").spare(1),
            Column::number("efficiency"),
            Column::remark("limiter").spare(2),
        ],
        rows: rows.collect(),
        ..Table::default()
    };
    table.without_empty_remarks()
}

fn row(name: String, point: &ScalePoint) -> Vec<Cell> {
    let rate = |throughput| Figure::of(&point.rate, throughput);
    let value = |throughput| match point.rate.value {
        Some(value) if point.rate.unit == Unit::OpsPerSecond => {
            format!("{} ops/s", unit::count(value))
        }
        _ => rate(throughput).value(),
    };
    let half_rate = |throughput| rate(throughput).interval(false);
    let plain = |estimate: &Estimate| estimate.value.map(|value| format!("{value:.2}"));
    let limiter = point
        .limiters
        .first()
        .map(|count| names::limiter(count.limiter));
    let half = |estimate: &Estimate| estimate.relative_half_width();
    let half = |estimate| {
        half(estimate).map_or("?".to_owned(), |share| format!("±{:.0} %", share * 100.0))
    };
    let share = point.efficiency.value;
    vec![
        name.into(),
        point.hosts.to_string().into(),
        UnitText::of(value).into(),
        UnitText::of(|unit| half_rate(unit).unwrap_or_else(|| "?".to_owned())).into(),
        plain(&point.speed_up)
            .unwrap_or_else(|| "n/a".to_owned())
            .into(),
        match point.hosts {
            1 => String::new(),
            _ => half(&point.speed_up),
        }
        .into(),
        share
            .map_or("n/a".to_owned(), |share| format!("{:.0} %", share * 100.0))
            .into(),
        format!("{} {}", mark(point.validity), limiter.unwrap_or_default())
            .trim()
            .into(),
    ]
}
