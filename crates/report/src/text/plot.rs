//! A chart in characters: lines of braille dots, markers where points are.

use fathom_model::view::axis::Axis;
use fathom_model::view::plot::{Guide, Plot, Sign};

use crate::table::{Align, display_width, pad};

/// Columns of the labels left of the plot.
const LABELS: usize = 10;
/// Rows of the plot.
const ROWS: usize = 13;
/// Markers of the lines in order.
const MARKERS: [char; 4] = ['●', '▲', '■', '◇'];
const SATURATED: char = '▽';
const UNTRUSTED: char = '×';

/// Dots of a braille character: two columns of four.
const DOTS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

struct Canvas {
    columns: usize,
    dots: Vec<u8>,
    signs: Vec<Option<char>>,
}

impl Canvas {
    fn new(columns: usize) -> Canvas {
        Canvas {
            columns,
            dots: vec![0; columns * ROWS],
            signs: vec![None; columns * ROWS],
        }
    }

    fn dot(&mut self, x: usize, y: usize) {
        let (column, row) = (x / 2, y / 4);
        if column < self.columns && row < ROWS {
            self.dots[row * self.columns + column] |= DOTS[x % 2][y % 4];
        }
    }

    /// A line of dots, one in `every`.
    fn line(&mut self, from: (f64, f64), to: (f64, f64), every: usize) {
        let steps = (to.0 - from.0)
            .abs()
            .max((to.1 - from.1).abs())
            .ceil()
            .max(1.0) as usize;
        for step in (0..=steps).step_by(every.max(1)) {
            let share = step as f64 / steps as f64;
            let x = from.0 + (to.0 - from.0) * share;
            let y = from.1 + (to.1 - from.1) * share;
            self.dot(x.round().max(0.0) as usize, y.round().max(0.0) as usize);
        }
    }

    fn sign(&mut self, (x, y): (f64, f64), sign: char) {
        let column = (x.round() as usize / 2).min(self.columns - 1);
        let row = (y.round() as usize / 4).min(ROWS - 1);
        self.signs[row * self.columns + column] = Some(sign);
    }

    /// Words in place of dots, where nothing else stands.
    fn words(&mut self, column: usize, row: usize, text: &str) {
        let room = self.columns.saturating_sub(text.chars().count());
        let column = column.min(room);
        let free = |i: usize| {
            self.signs
                .get(row * self.columns + i)
                .is_none_or(Option::is_none)
        };
        if (column..column + text.chars().count()).all(free) {
            for (i, c) in text.chars().enumerate() {
                if let Some(cell) = self.signs.get_mut(row * self.columns + column + i) {
                    *cell = Some(c);
                }
            }
        }
    }

    fn row(&self, row: usize) -> String {
        let cell = |i: usize| {
            let at = row * self.columns + i;
            match (self.signs[at], self.dots[at]) {
                (Some(sign), _) => sign,
                (None, 0) => ' ',
                (None, dots) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or('.'),
            }
        };
        (0..self.columns).map(cell).collect()
    }
}

/// The chart in at most `width` columns, each line ended by a newline.
pub(crate) fn draw(plot: &Plot, width: usize) -> String {
    let columns = width.saturating_sub(LABELS + 2).clamp(20, 120);
    let mut canvas = Canvas::new(columns);
    let place = |x: f64, y: f64| {
        (
            plot.x.share(x) * (2 * columns - 1) as f64,
            (1.0 - plot.y.share(y)) * (4 * ROWS - 1) as f64,
        )
    };
    for guide in &plot.guides {
        let every = if guide.strong { 2 } else { 4 };
        canvas.line(
            place(guide.from.0, guide.from.1),
            place(guide.to.0, guide.to.1),
            every,
        );
    }
    for series in &plot.series {
        for pair in series.points.windows(2) {
            canvas.line(place(pair[0].x, pair[0].y), place(pair[1].x, pair[1].y), 1);
        }
    }
    for (i, series) in plot.series.iter().enumerate() {
        for point in &series.points {
            let sign = match point.sign {
                Sign::Plain => MARKERS[i % MARKERS.len()],
                Sign::Saturated => SATURATED,
                Sign::Untrusted => UNTRUSTED,
            };
            canvas.sign(place(point.x, point.y), sign);
        }
    }
    for guide in &plot.guides {
        label(&mut canvas, guide, place(guide.to.0, guide.to.1));
    }
    finish(plot, &canvas)
}

/// The words of a guide at its end.
fn label(canvas: &mut Canvas, guide: &Guide, (x, y): (f64, f64)) {
    if guide.label.is_empty() {
        return;
    }
    let upright = guide.from.0 == guide.to.0;
    let shift = if upright { 1 } else { 0 };
    let row = (y.round() as usize / 4).min(ROWS - 1);
    canvas.words(x.round() as usize / 2 + shift, row, &guide.label);
}

fn finish(plot: &Plot, canvas: &Canvas) -> String {
    let mut out = format!("{}{}\n", pad("", LABELS + 1, Align::Left), legend(plot));
    let rows = labelled_rows(&plot.y);
    for row in 0..ROWS {
        let label = rows
            .iter()
            .find(|(at, _)| *at == row)
            .map_or("", |(_, l)| l);
        let edge = if label.is_empty() { '│' } else { '┤' };
        let line = format!(
            "{} {edge}{}",
            pad(label, LABELS - 1, Align::Right),
            canvas.row(row)
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
    let (axis, labels) = x_labels(&plot.x, canvas.columns);
    out.push_str(&format!("{}└{axis}\n", pad("", LABELS, Align::Left)));
    let title = format!("{}{labels}", pad("", LABELS + 1, Align::Left));
    out.push_str(title.trim_end());
    out.push('\n');
    let indent = LABELS + 1 + canvas.columns.saturating_sub(display_width(plot.x_title));
    out.push_str(&format!(
        "{}{}\n",
        pad("", indent, Align::Left),
        plot.x_title
    ));
    out
}

fn legend(plot: &Plot) -> String {
    let mut parts: Vec<String> = plot
        .series
        .iter()
        .enumerate()
        .map(|(i, s)| format!("{} {}", MARKERS[i % MARKERS.len()], s.name))
        .collect();
    if plot.has(Sign::Saturated) {
        parts.push(format!("{SATURATED} saturated"));
    }
    if plot.has(Sign::Untrusted) {
        parts.push(format!("{UNTRUSTED} not trusted"));
    }
    let unit = match plot.y_title.as_str() {
        "latency" | "throughput" | "IOPS" => String::new(),
        unit => format!(" ({unit})"),
    };
    format!("{}{unit}", parts.join("   "))
}

/// Rows with a label, at most one label a row.
fn labelled_rows(axis: &Axis) -> Vec<(usize, String)> {
    let mut rows: Vec<(usize, String)> = Vec::new();
    for tick in axis.ticks.iter().filter(|t| !t.label.is_empty()) {
        let y = (1.0 - axis.share(tick.value)) * (4 * ROWS - 1) as f64;
        let row = (y.round() as usize / 4).min(ROWS - 1);
        if rows.iter().all(|(at, _)| *at != row) {
            rows.push((row, tick.label.clone()));
        }
    }
    rows
}

/// The axis with its ticks and the labels below, as far as they fit.
fn x_labels(axis: &Axis, columns: usize) -> (String, String) {
    let mut line = vec!['─'; columns];
    let mut labels = String::new();
    for tick in axis.ticks.iter().filter(|t| !t.label.is_empty()) {
        let at = (axis.share(tick.value) * (columns - 1) as f64).round() as usize;
        let width = display_width(&tick.label);
        let start = at
            .saturating_sub(width / 2)
            .min(columns.saturating_sub(width));
        let used = display_width(&labels);
        if used > 0 && start < used + 1 || start + width > columns {
            continue;
        }
        line[at.min(columns - 1)] = '┬';
        labels.push_str(&" ".repeat(start - used.min(start)));
        labels.push_str(&tick.label);
    }
    (line.into_iter().collect(), labels)
}
