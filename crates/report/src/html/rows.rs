//! Results as rows of cells.

use fathom_model::figure::{Figure, Throughput};
use fathom_model::judged::{OpSummary, ResultRow};
use fathom_model::{JudgedRun, JudgedTrial, unit};

use crate::grid::{Cell, Grid};
use crate::{levels, names, sets, summary};

/// One number in a table.
#[derive(Debug, Clone, Default)]
pub(super) struct Shown {
    /// The number with its unit where the column has none.
    pub(super) text: String,
    /// `±1.2`, or why there is no number; empty without an interval.
    pub(super) half: String,
    /// What a reader learns on demand: interval, effective n, reason.
    pub(super) hint: String,
    /// Base units, for sorting; empty when there is none.
    pub(super) sort: String,
    /// There is no number.
    pub(super) missing: bool,
}

impl Shown {
    /// An estimate; `with_unit` where the column does not name it.
    pub(super) fn estimate(estimate: &fathom_model::Estimate, with_unit: bool) -> Shown {
        let figure = Figure::of(estimate, Throughput::Binary);
        let mut hints = Vec::new();
        if let Figure::Known {
            interval: Some((low, high)),
            unit,
            ..
        } = &figure
        {
            hints.push(
                format!("95 % interval {low} to {high} {unit}")
                    .trim_end()
                    .to_owned(),
            );
        }
        hints.extend(fathom_model::figure::effective_n(estimate));
        hints.extend(figure.reason().map(str::to_owned));
        Shown {
            text: if with_unit {
                figure.value()
            } else {
                figure.number()
            },
            half: match &figure {
                Figure::Missing {
                    longer_ns: Some(ns),
                    ..
                } => format!("needs {} more", fathom_model::figure::longer(*ns)),
                Figure::Missing { reason, .. } => reason.clone(),
                Figure::Known { .. } => figure.plus_minus(false).unwrap_or_default(),
            },
            hint: hints.join("; "),
            sort: sort_key(estimate.value),
            missing: figure.is_missing(),
        }
    }

    /// A plain text.
    pub(super) fn text(text: &str) -> Shown {
        Shown {
            text: text.to_owned(),
            ..Shown::default()
        }
    }
}

fn sort_key(value: Option<f64>) -> String {
    value
        .filter(|v| v.is_finite())
        .map_or(String::new(), |v| v.to_string())
}

/// Validity in the words and the class of a badge.
#[derive(Debug, Clone)]
pub(super) struct Badge {
    pub(super) class: &'static str,
    pub(super) words: &'static str,
    /// A sign of its own shape, so that colour is never alone.
    pub(super) sign: &'static str,
}

impl Badge {
    pub(super) fn of(validity: fathom_model::Validity) -> Badge {
        use fathom_model::Validity;
        let (class, sign) = match validity {
            Validity::Trusted => ("good", "✓"),
            Validity::Caveats => ("warn", "▲"),
            Validity::NotDetermined => ("warn", "?"),
            Validity::NotTrusted => ("bad", "✕"),
        };
        Badge {
            class,
            words: names::validity(validity),
            sign,
        }
    }
}

/// One line of the results table.
#[derive(Debug, Clone)]
pub(super) struct ResultLine {
    pub(super) label: String,
    pub(super) target: String,
    pub(super) trials: usize,
    pub(super) op: String,
    /// IOPS, MiB/s, mean, p50, p90, p99, p99.9, max.
    pub(super) cells: Vec<Shown>,
    pub(super) badge: Badge,
    pub(super) limiter: &'static str,
}

/// The results table of rows.
pub(super) fn lines<'a>(
    run: &'a JudgedRun,
    rows: impl IntoIterator<Item = &'a ResultRow>,
) -> Vec<ResultLine> {
    let mut out = Vec::new();
    for row in rows {
        let company = sets::company(run, row);
        let company = company.map_or(String::new(), |text| format!(", {text}"));
        let line = |op: String, cells| ResultLine {
            label: format!("{}{company}", row.label),
            target: row.target.to_string(),
            trials: row.trials.len(),
            op,
            cells,
            badge: Badge::of(row.verdict.validity),
            limiter: names::limiter(row.verdict.limiter),
        };
        if row.ops.is_empty() {
            out.push(line("none succeeded".to_owned(), vec![Shown::default(); 8]));
        }
        for level in levels::of_row(run, row) {
            for (name, cells) in level.ops.iter().flat_map(op_cells) {
                out.push(line(levels::named(&name, &level.when), cells));
            }
        }
    }
    out
}

/// Results of a trial, level by level where it has several.
pub(super) fn trial_cells(trial: &JudgedTrial) -> Vec<(String, Vec<Shown>)> {
    let mut out = Vec::new();
    for level in levels::of_trial(trial) {
        let cells = level.ops.iter().flat_map(op_cells);
        out.extend(cells.map(|(name, cells)| (levels::named(&name, &level.when), cells)));
    }
    out
}

/// Name and cells of each latency of a result.
pub(super) fn op_cells(op: &OpSummary) -> Vec<(String, Vec<Shown>)> {
    let mut out = Vec::new();
    for (i, (which, latency)) in summary::latencies(op).into_iter().enumerate() {
        let name = match op.response {
            Some(_) => format!("{} {which}", op.kind.name()),
            None => op.kind.name().to_owned(),
        };
        let mut cells = match i {
            0 => vec![
                Shown::estimate(&op.ops_per_second, false),
                if op.kind.moves_bytes() {
                    Shown::estimate(&op.bytes_per_second, false)
                } else {
                    Shown::text("–")
                },
            ],
            _ => vec![Shown::default(), Shown::default()],
        };
        cells.push(Shown::estimate(&latency.mean_ns, true));
        for percent in [50.0, 90.0, 99.0, 99.9] {
            let estimate = summary::percentile_estimate(latency, percent);
            cells.push(Shown::estimate(&estimate, true));
        }
        cells.push(exact(latency.max_ns));
        out.push((name, cells));
    }
    out
}

/// The sum of rows that ran at the same time.
#[derive(Debug, Clone)]
pub(super) struct SumTable {
    /// What it is over, or why there is no sum.
    pub(super) heading: String,
    /// Name and cells: IOPS, MiB/s, mean, p50, p90, p99, p99.9, max.
    pub(super) lines: Vec<(String, Vec<Shown>)>,
}

/// The sums of a run.
pub(super) fn sums(run: &JudgedRun) -> Vec<SumTable> {
    let table = |set: &fathom_model::together::ResultSet| SumTable {
        heading: sets::heading(set),
        lines: set
            .sum
            .iter()
            .flat_map(sets::lines)
            .map(|line| (line.name.clone(), sum_cells(&line)))
            .collect(),
    };
    run.sets.iter().map(table).collect()
}

fn sum_cells(line: &sets::SumLine<'_>) -> Vec<Shown> {
    let mut cells = match line.rates {
        Some([ops, bytes]) => vec![
            Shown::estimate(ops, false),
            match line.moves_data {
                true => Shown::estimate(bytes, false),
                false => Shown::text("–"),
            },
        ],
        None => vec![Shown::default(), Shown::default()],
    };
    cells.push(Shown::estimate(&line.latency.mean_ns, true));
    for percent in [50.0, 90.0, 99.0, 99.9] {
        let estimate = summary::percentile_estimate(line.latency, percent);
        cells.push(Shown::estimate(&estimate, true));
    }
    cells.push(exact(line.latency.max_ns));
    cells
}

/// An exact extreme.
pub(super) fn exact(value: Option<u64>) -> Shown {
    match value {
        Some(ns) => Shown {
            text: unit::latency(ns as f64),
            hint: "exact".to_owned(),
            sort: ns.to_string(),
            ..Shown::default()
        },
        None => Shown::text("–"),
    }
}

/// One line of the grid.
#[derive(Debug, Clone)]
pub(super) struct GridLine {
    pub(super) name: String,
    /// MiB/s, IOPS, p50, p99 of reads, then of writes.
    pub(super) cells: Vec<Shown>,
    pub(super) badges: Vec<(&'static str, Badge)>,
}

/// The grid's shapes.
pub(super) fn grid_lines(grid: &Grid<'_>) -> Vec<GridLine> {
    let line = |row: &crate::grid::GridRow<'_>| {
        let sides = [row.read.as_ref(), row.write.as_ref()];
        GridLine {
            name: row.name.clone(),
            cells: sides.into_iter().flat_map(grid_cells).collect(),
            badges: grid_badges(row),
        }
    };
    grid.rows.iter().map(line).collect()
}

/// What is not trusted in a line, with the side where only one is.
fn grid_badges(row: &crate::grid::GridRow<'_>) -> Vec<(&'static str, Badge)> {
    let validity = |cell: &Option<Cell<'_>>| cell.map(|c| c.row.verdict.validity);
    let (read, write) = (validity(&row.read), validity(&row.write));
    let sides = if read == write {
        vec![("", read)]
    } else {
        vec![("read ", read), ("write ", write)]
    };
    let badge = |(side, validity): (&'static str, Option<_>)| Some((side, Badge::of(validity?)));
    let badges = sides.into_iter().filter_map(badge);
    badges.filter(|(_, badge)| badge.class != "good").collect()
}

fn grid_cells(cell: Option<&Cell<'_>>) -> Vec<Shown> {
    let Some(cell) = cell else {
        return vec![Shown::text("–"); 4];
    };
    let Some(op) = cell.op else {
        let mut cells = vec![Shown::text("–"); 4];
        cells[0] = Shown::text(names::state(cell.state));
        return cells;
    };
    let percentile = |p| Shown::estimate(&summary::percentile_estimate(&op.service, p), true);
    let [bytes, ops] = match cell.levels(Throughput::Binary) {
        Some(levels) => levels.map(|text| Shown::text(&text)),
        None => [&op.bytes_per_second, &op.ops_per_second].map(|e| Shown::estimate(e, false)),
    };
    vec![bytes, ops, percentile(50.0), percentile(99.0)]
}

/// The durable writes of the grid.
#[derive(Debug, Clone)]
pub(super) struct DurableLine {
    pub(super) name: String,
    /// Commits/s, p50, p99, max.
    pub(super) cells: Vec<Shown>,
    pub(super) badge: Badge,
}

/// The durable writes.
pub(super) fn durable_lines(grid: &Grid<'_>) -> Vec<DurableLine> {
    let line = |durable: &crate::grid::Durable<'_>| {
        let cells = match durable.cell.op {
            Some(op) => vec![
                Shown::estimate(&op.ops_per_second, false),
                Shown::estimate(&summary::percentile_estimate(&op.service, 50.0), true),
                Shown::estimate(&summary::percentile_estimate(&op.service, 99.0), true),
                exact(op.service.max_ns),
            ],
            None => vec![Shown::text(names::state(durable.cell.state)); 1],
        };
        DurableLine {
            name: durable.name.clone(),
            cells,
            badge: Badge::of(durable.cell.row.verdict.validity),
        }
    };
    grid.durable.iter().map(line).collect()
}
