//! A table as lines of the screen: a label, a head, and rows of which one may be
//! selected.

use fathom_report::table::{Align, display_width, pad};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::fitting;

/// The label and the head.
pub(crate) const HEAD_LINES: usize = 2;
/// Longer names are cut.
const WIDEST_NAME: usize = 60;

/// What a part of the screen may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// Columns.
    pub(crate) width: usize,
    /// Lines.
    pub(crate) height: usize,
}

impl Room {
    /// The columns of this room with another number of lines.
    pub(crate) fn of_height(self, height: usize) -> Room {
        Room { height, ..self }
    }
}

/// One cell with its style.
#[derive(Debug, Clone, Default)]
pub(crate) struct GridCell {
    pub(crate) text: String,
    pub(crate) style: Style,
}

impl GridCell {
    pub(crate) fn plain(text: impl Into<String>) -> GridCell {
        GridCell {
            text: text.into(),
            style: Style::new(),
        }
    }
}

/// One row.
#[derive(Debug, Clone, Default)]
pub(crate) struct GridRow {
    pub(crate) cells: Vec<GridCell>,
    pub(crate) selected: bool,
}

impl GridRow {
    /// A row with a name only.
    pub(crate) fn alone(name: impl Into<String>) -> GridRow {
        GridRow {
            cells: vec![GridCell::plain(name)],
            selected: false,
        }
    }
}

/// A head and the columns that it takes.
#[derive(Debug, Clone)]
pub(crate) struct GridColumn {
    pub(crate) head: String,
    pub(crate) width: usize,
    pub(crate) align: Align,
}

impl GridColumn {
    /// Of figures.
    pub(crate) fn figures(head: impl Into<String>, width: usize) -> GridColumn {
        GridColumn {
            head: head.into(),
            width,
            align: Align::Right,
        }
    }

    /// Of texts.
    pub(crate) fn texts(head: impl Into<String>, width: usize) -> GridColumn {
        GridColumn {
            align: Align::Left,
            ..GridColumn::figures(head, width)
        }
    }
}

/// A table. The first column holds names and takes the room that is left, so far
/// as names need it.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    /// What stands above the heads, from each of these columns on.
    pub(crate) labels: Vec<(usize, String)>,
    pub(crate) columns: Vec<GridColumn>,
    pub(crate) rows: Vec<GridRow>,
    /// Said where there are no rows.
    pub(crate) empty: String,
}

impl Grid {
    /// The lines of the table, at most so many.
    pub(crate) fn lines(mut self, width: usize, height: usize) -> Vec<Line<'static>> {
        if height <= HEAD_LINES {
            return Vec::new();
        }
        self.leave_out(width);
        self.widen_names(width);
        let mut lines = vec![self.label_line(width)];
        if self.rows.is_empty() {
            lines.push(Line::raw(fitting::words(&self.empty, width)));
            return lines;
        }
        lines.push(self.head_line(width));
        let rows = self.rows.iter().take(height - HEAD_LINES);
        lines.extend(rows.map(|row| self.row_line(row, width)));
        lines
    }

    /// Columns that have no room go whole, the last one first: a cell that is cut
    /// would be another number.
    fn leave_out(&mut self, width: usize) {
        while self.columns.len() > 1 && self.needed() > width {
            self.columns.pop();
        }
    }

    fn needed(&self) -> usize {
        let widths = self.columns.iter().map(|column| column.width + 1);
        widths.sum::<usize>().saturating_sub(1)
    }

    fn widen_names(&mut self, width: usize) {
        let left = width.saturating_sub(self.needed());
        let rows = self.rows.iter().filter(|row| row.cells.len() > 1);
        let names = rows.filter_map(|row| row.cells.first());
        let longest = names.map(|cell| display_width(&cell.text)).max();
        if let Some(first) = self.columns.first_mut() {
            let wanted = longest
                .unwrap_or(0)
                .clamp(first.width, WIDEST_NAME.max(first.width));
            first.width = wanted.min(first.width + left);
            first.width = first.width.min(width);
        }
    }

    /// Where a column begins.
    fn start(&self, place: usize) -> usize {
        self.columns.iter().take(place).map(|c| c.width + 1).sum()
    }

    fn label_line(&self, width: usize) -> Line<'static> {
        let mut text = String::new();
        let shown = self
            .labels
            .iter()
            .filter(|(at, _)| *at < self.columns.len());
        for (number, (column, label)) in shown.enumerate() {
            let start = self.start(*column);
            let end = start + display_width(label);
            if end > width || (number > 0 && display_width(&text) + 1 > start) {
                continue;
            }
            text = pad(&text, start, Align::Left) + label;
        }
        Line::styled(
            fitting::words(&text, width),
            Style::new().add_modifier(Modifier::DIM),
        )
    }

    fn head_line(&self, width: usize) -> Line<'static> {
        let heads = self.columns.iter().map(|column| {
            let head = fitting::words(&column.head, column.width);
            pad(&head, column.width, column.align)
        });
        let text = heads.collect::<Vec<_>>().join(" ");
        Line::styled(
            pad(&text, width, Align::Left),
            Style::new().add_modifier(Modifier::REVERSED),
        )
    }

    fn row_line(&self, row: &GridRow, width: usize) -> Line<'static> {
        if let [alone] = row.cells.as_slice() {
            return Line::styled(fitting::words(&alone.text, width), alone.style);
        }
        let mut spans = Vec::new();
        for (place, (column, cell)) in self.columns.iter().zip(&row.cells).enumerate() {
            if place > 0 {
                spans.push(Span::raw(" "));
            }
            let text = match place {
                0 => fitting::name(&cell.text, column.width),
                _ => cell.text.clone(),
            };
            spans.push(Span::styled(
                pad(&text, column.width, column.align),
                cell.style,
            ));
        }
        let line = fitting::filled(spans, width, Align::Left);
        match row.selected {
            true => line.style(Style::new().add_modifier(Modifier::REVERSED)),
            false => line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        Grid {
            labels: vec![(0, "devices".to_owned()), (1, "now".to_owned())],
            columns: vec![
                GridColumn::texts("device", 8),
                GridColumn::figures("r/s", 6),
                GridColumn::figures("w/s", 6),
            ],
            rows: vec![GridRow {
                cells: ["sda", "1,000", "2"].map(GridCell::plain).to_vec(),
                selected: false,
            }],
            empty: "none".to_owned(),
        }
    }

    fn text(grid: Grid, width: usize, height: usize) -> Vec<String> {
        let lines = grid.lines(width, height);
        lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn labels_stand_above_their_columns() {
        let lines = text(grid(), 24, 9);
        assert_eq!(lines[0], "devices  now");
        assert_eq!(lines[1], "device      r/s    w/s  ");
        assert_eq!(lines[2], "sda       1,000      2  ");
    }

    #[test]
    fn columns_are_whole_or_left_out() {
        let lines = text(grid(), 16, 9);
        assert_eq!(lines[2], "sda       1,000 ");
        assert_eq!(text(grid(), 3, 9)[2], "sda");
        assert!(text(grid(), 24, 2).is_empty());
    }

    #[test]
    fn without_rows_it_says_so() {
        let mut grid = grid();
        grid.rows.clear();
        assert_eq!(text(grid, 24, 9), ["devices  now", "none"]);
    }
}
