//! Latency over time as a heat map: how many operations took how long, when.

use std::fmt::Write as _;

use fathom_model::judged::HeatMap;
use fathom_model::view::axis::{self, Axis, Quantity};

use super::figure::{ChartFigure, Key};
use super::svg;
use super::time::{TIME_TICKS, time_title};

/// Steps of colour.
const LEVELS: usize = 8;
/// Columns and rows that a chart can show; neighbours are added beyond.
const MOST_COLUMNS: usize = 160;
const MOST_ROWS: usize = 64;

/// Counts by column and row, brought to a size that can be shown.
struct Cells {
    starts_s: Vec<f64>,
    width_s: f64,
    edges_ns: Vec<f64>,
    counts: Vec<u64>,
}

impl Cells {
    fn rows(&self) -> usize {
        self.edges_ns.len() - 1
    }

    fn of(map: &HeatMap) -> Option<Cells> {
        let rows = map.row_edges_ns.len().checked_sub(1).filter(|r| *r > 0)?;
        let columns = map.column_start_ns.len();
        if columns == 0 || map.counts.len() != rows * columns || map.counts.iter().all(|c| *c == 0)
        {
            return None;
        }
        let across = columns.div_ceil(MOST_COLUMNS);
        let up = rows.div_ceil(MOST_ROWS);
        let (new_columns, new_rows) = (columns.div_ceil(across), rows.div_ceil(up));
        let mut counts = vec![0u64; new_columns * new_rows];
        for (i, count) in map.counts.iter().enumerate() {
            let (column, row) = (i / rows / across, i % rows / up);
            let cell = &mut counts[column * new_rows + row];
            *cell = cell.saturating_add(*count);
        }
        let mut edges: Vec<f64> = (0..new_rows)
            .map(|row| map.row_edges_ns[row * up] as f64)
            .collect();
        edges.push(map.row_edges_ns[rows] as f64);
        let starts = map.column_start_ns.iter().step_by(across);
        Some(Cells {
            starts_s: starts.map(|ns| *ns as f64 / 1e9).collect(),
            width_s: map.column_ns as f64 / 1e9 * across as f64,
            edges_ns: edges,
            counts,
        })
    }
}

/// The heat map of one kind of operation with the time axis of
/// the trial's other charts; nothing when there is nothing in it. `bare` leaves its
/// cells to the script.
pub(super) fn render(
    title: &str,
    map: &HeatMap,
    (from_s, to_s): (f64, f64),
    bare: bool,
) -> Option<ChartFigure> {
    let cells = Cells::of(map)?;
    let rows = cells.rows();
    let used = |row: &usize| cells.counts.iter().skip(*row).step_by(rows).any(|c| *c > 0);
    let first = (0..rows).find(used)?;
    let last = (0..rows).rfind(used)?;
    let last_start = cells.starts_s.last()?;
    let xs = axis::time(from_s, to_s.max(last_start + 1e-3), TIME_TICKS);
    let ys = Axis::log(
        Quantity::Latency,
        cells.edges_ns[first].max(1.0),
        cells.edges_ns[last + 1],
    );
    let most = cells.counts.iter().copied().max()?;
    let label = format!("{title}: operations by time and latency");
    let mut out = svg::open(&label, &xs, &ys, &time_title(&xs), "latency");
    out.push_str("<g class=\"hm\">");
    for level in 0..LEVELS {
        let d = match bare {
            true => String::new(),
            false => level_path(&cells, level, most, &xs, &ys),
        };
        if bare || !d.is_empty() {
            let _ = write!(out, "<path class=\"h{level}\" d=\"{d}\"/>");
        }
    }
    out.push_str("</g></svg>");
    let key = Key::Scale {
        from: "1".to_owned(),
        classes: (0..LEVELS).map(|level| format!("h{level}")).collect(),
        to: format!(
            "{} in a cell",
            fathom_model::unit::counted(most, "operation")
        ),
    };
    Some(ChartFigure {
        class: if bare {
            "chart heat bare"
        } else {
            "chart heat"
        },
        title: title.to_owned(),
        keys: vec![key],
        svg: out,
        data: Some(data(&cells, &xs, &ys)),
    })
}

/// The step of colour of a count: even steps of its logarithm.
fn level_of(count: u64, most: u64) -> usize {
    if most <= 1 {
        return LEVELS - 1;
    }
    let share = (count as f64).ln() / (most as f64).ln();
    ((share * LEVELS as f64) as usize).min(LEVELS - 1)
}

/// All cells of one colour as one path; neighbours in a column are joined.
fn level_path(cells: &Cells, level: usize, most: u64, xs: &Axis, ys: &Axis) -> String {
    let rows = cells.rows();
    let mut d = String::new();
    for (column, start) in cells.starts_s.iter().enumerate() {
        let (left, right) = (svg::x(xs, *start), svg::x(xs, start + cells.width_s));
        let counts = &cells.counts[column * rows..(column + 1) * rows];
        let is = |row: usize| counts[row] > 0 && level_of(counts[row], most) == level;
        let mut row = 0;
        while row < rows {
            if !is(row) {
                row += 1;
                continue;
            }
            let from = row;
            while row < rows && is(row) {
                row += 1;
            }
            let bottom = svg::y(ys, cells.edges_ns[from]);
            let top = svg::y(ys, cells.edges_ns[row]);
            let _ = write!(
                d,
                "M{} {}V{}H{}V{}z",
                svg::n(left),
                svg::n(bottom),
                svg::n(top),
                svg::n(right.max(left + 0.4)),
                svg::n(bottom)
            );
        }
    }
    d
}

/// Columns as `[first row, count, count, …]`, and the rows' edges.
fn data(cells: &Cells, xs: &Axis, ys: &Axis) -> String {
    let mut out = String::new();
    let rows = cells.rows();
    let list = |values: Vec<String>| values.join(",");
    let edges = cells.edges_ns.iter().map(|e| svg::data(*e)).collect();
    let starts = cells.starts_s.iter().map(|s| format!("{s:.2}")).collect();
    let _ = write!(
        out,
        "{{\"x\":[{:.3},{:.3}],\"y\":[{},{}],\"w\":{:.3},\"c\":[{}],\"r\":[{}],\"n\":[",
        xs.low,
        xs.high,
        ys.low,
        ys.high,
        cells.width_s,
        list(starts),
        list(edges)
    );
    for column in 0..cells.starts_s.len() {
        let counts = &cells.counts[column * rows..(column + 1) * rows];
        let first = counts.iter().position(|c| *c > 0).unwrap_or(0);
        let end = counts.iter().rposition(|c| *c > 0).map_or(first, |l| l + 1);
        let comma = if column > 0 { "," } else { "" };
        let _ = write!(out, "{comma}[{first}");
        for count in &counts[first..end] {
            let _ = write!(out, ",{count}");
        }
        out.push(']');
    }
    out.push_str("]}");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_beyond_what_is_shown_are_added_up() {
        let (columns, rows) = (401usize, 130usize);
        let map = HeatMap {
            column_start_ns: (0..columns as u64).map(|c| c * 1_000_000_000).collect(),
            column_ns: 1_000_000_000,
            row_edges_ns: (0..=rows as u64).map(|r| 1000 + r * 100).collect(),
            counts: vec![3; columns * rows],
        };
        let cells = Cells::of(&map).unwrap();
        assert!(cells.starts_s.len() <= MOST_COLUMNS && cells.rows() <= MOST_ROWS);
        assert_eq!(
            cells.counts.iter().sum::<u64>(),
            3 * (columns * rows) as u64
        );
        assert_eq!(*cells.edges_ns.last().unwrap(), 1000.0 + 13_000.0);
    }

    #[test]
    fn contradictory_or_empty_maps_are_not_drawn() {
        assert!(render("x", &HeatMap::default(), (0.0, 1.0), false).is_none());
        let map = HeatMap {
            column_start_ns: vec![0],
            column_ns: 1,
            row_edges_ns: vec![1, 2],
            counts: vec![1, 2],
        };
        assert!(render("x", &map, (0.0, 1.0), false).is_none());
    }

    #[test]
    fn colours_follow_the_logarithm_of_the_count() {
        assert_eq!(level_of(1, 1), LEVELS - 1);
        assert_eq!(level_of(1, 1000), 0);
        assert_eq!(level_of(1000, 1000), LEVELS - 1);
    }
}
