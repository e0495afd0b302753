//! Aligned tables of text, measured by display width.
//!
//! `µ`, `±`, accented letters and wide characters in names take the columns
//! that a terminal gives them, so tables stay aligned whatever a target or a
//! workload is called. Control characters never reach the output: a file name
//! must not be able to move the cursor.

pub use fathom_model::printable::one_line as clean;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Which edge of its column a cell keeps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

#[derive(Debug, Clone)]
enum Row {
    Cells(Vec<String>),
    Line(String),
}

/// A table of text cells. A cell may hold several lines, separated by `\n`.
#[derive(Debug, Clone)]
pub struct Table {
    headers: Vec<String>,
    aligns: Vec<Align>,
    rows: Vec<Row>,
    gap: usize,
    indent: usize,
}

impl Table {
    /// A table with these columns: header and alignment. When every header is
    /// empty no header is printed.
    pub fn new<S: AsRef<str>>(columns: impl IntoIterator<Item = (S, Align)>) -> Table {
        let (headers, aligns) = columns
            .into_iter()
            .map(|(header, align)| (clean_lines(header.as_ref()), align))
            .unzip();
        Table {
            headers,
            aligns,
            rows: Vec::new(),
            gap: 2,
            indent: 0,
        }
    }

    /// Sets the spaces between two columns (2 unless told).
    #[must_use]
    pub fn gap(mut self, spaces: usize) -> Table {
        self.gap = spaces;
        self
    }

    /// Sets the spaces before the first column (0 unless told).
    #[must_use]
    pub fn indent(mut self, spaces: usize) -> Table {
        self.indent = spaces;
        self
    }

    /// Adds a row. Missing cells are empty, cells without a column are dropped.
    pub fn row<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) -> &mut Table {
        let mut cells: Vec<String> = cells
            .into_iter()
            .map(|cell| clean_lines(cell.as_ref()))
            .collect();
        cells.resize(self.headers.len(), String::new());
        self.rows.push(Row::Cells(cells));
        self
    }

    /// Adds a line of text between rows, outside of every column.
    pub fn line(&mut self, text: impl AsRef<str>) -> &mut Table {
        self.rows.push(Row::Line(clean(text.as_ref())));
        self
    }

    /// Whether no row was added.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Columns of a terminal that the rows need.
    pub fn width(&self) -> usize {
        let widths = self.column_widths();
        self.indent + widths.iter().sum::<usize>() + self.gap * widths.len().saturating_sub(1)
    }

    fn column_widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.headers.iter().map(|h| block_width(h)).collect();
        for row in &self.rows {
            if let Row::Cells(cells) = row {
                for (width, cell) in widths.iter_mut().zip(cells) {
                    *width = (*width).max(block_width(cell));
                }
            }
        }
        widths
    }

    /// The table within so many columns where that is possible: the widest column of
    /// text is wrapped, and where that is not enough the columns that do not fit
    /// stand in further tables below, behind the first column.
    pub fn fit(&self, width: usize) -> String {
        if self.width() <= width {
            return self.render();
        }
        let mut wrapped = self.clone();
        wrapped.wrap_widest(width);
        if wrapped.width() <= width {
            return wrapped.render();
        }
        let bands = self.bands(width);
        let tables = bands
            .iter()
            .map(|columns| self.of_columns(columns).render());
        tables.collect::<Vec<_>>().join("\n")
    }

    /// Wraps the widest column of text, where it stays wide enough to be read.
    fn wrap_widest(&mut self, width: usize) {
        const LEAST: usize = 16;
        let widths = self.column_widths();
        let texts = (0..widths.len()).filter(|at| self.aligns[*at] == Align::Left);
        let Some(widest) = texts.max_by_key(|at| widths[*at]) else {
            return;
        };
        let excess = self.width().saturating_sub(width);
        let Some(room) = widths[widest]
            .checked_sub(excess)
            .filter(|room| *room >= LEAST)
        else {
            return;
        };
        for row in &mut self.rows {
            if let Row::Cells(cells) = row {
                let lines = cells[widest].split('\n').flat_map(|line| wrap(line, room));
                cells[widest] = lines.collect::<Vec<_>>().join("\n");
            }
        }
    }

    /// The columns in groups that fit side by side, each behind the first column.
    fn bands(&self, width: usize) -> Vec<Vec<usize>> {
        let widths = self.column_widths();
        let first = self.indent + widths.first().copied().unwrap_or(0);
        let mut bands: Vec<Vec<usize>> = vec![vec![0]];
        let mut used = first;
        for (at, column) in widths.iter().enumerate().skip(1) {
            let needed = self.gap + column;
            if used + needed > width && used > first {
                bands.push(vec![0]);
                used = first;
            }
            used += needed;
            if let Some(band) = bands.last_mut() {
                band.push(at);
            }
        }
        bands
    }

    /// These columns as a table. Lines between rows say what the rows below them are
    /// of, and stand in each.
    fn of_columns(&self, columns: &[usize]) -> Table {
        let pick = |cells: &[String]| columns.iter().map(|at| cells[*at].clone()).collect();
        let row = |row: &Row| match row {
            Row::Cells(cells) => Row::Cells(pick(cells)),
            Row::Line(text) => Row::Line(text.clone()),
        };
        Table {
            headers: pick(&self.headers),
            aligns: columns.iter().map(|at| self.aligns[*at]).collect(),
            rows: self.rows.iter().map(row).collect(),
            gap: self.gap,
            indent: self.indent,
        }
    }

    /// The table, each line ended by `\n` and free of trailing spaces.
    pub fn render(&self) -> String {
        let widths = self.column_widths();
        let mut out = String::new();
        if self.headers.iter().any(|h| !h.is_empty()) {
            self.push_cells(&mut out, &self.headers, &widths, true);
        }
        for row in &self.rows {
            match row {
                Row::Cells(cells) => self.push_cells(&mut out, cells, &widths, false),
                Row::Line(text) => {
                    push_line(&mut out, &format!("{}{text}", " ".repeat(self.indent)));
                }
            }
        }
        out
    }

    fn push_cells(&self, out: &mut String, cells: &[String], widths: &[usize], header: bool) {
        let height = cells.iter().map(|c| c.split('\n').count()).max();
        for y in 0..height.unwrap_or(0) {
            let mut line = " ".repeat(self.indent);
            for (x, cell) in cells.iter().enumerate() {
                let lines = cell.split('\n').count();
                // Headers of one line stand on the last line, next to the rows.
                let above = if header {
                    height.unwrap_or(0) - lines
                } else {
                    0
                };
                let part = y
                    .checked_sub(above)
                    .and_then(|y| cell.split('\n').nth(y))
                    .unwrap_or("");
                if x > 0 {
                    line.push_str(&" ".repeat(self.gap));
                }
                line.push_str(&pad(part, widths[x], self.aligns[x]));
            }
            push_line(out, &line);
        }
    }
}

fn push_line(out: &mut String, line: &str) {
    out.push_str(line.trim_end());
    out.push('\n');
}

fn block_width(cell: &str) -> usize {
    cell.split('\n').map(display_width).max().unwrap_or(0)
}

/// Columns of a terminal that a text takes.
pub fn display_width(text: &str) -> usize {
    text.width()
}

/// The text filled with spaces to `width` columns; a longer text is kept.
pub fn pad(text: &str, width: usize, align: Align) -> String {
    let fill = " ".repeat(width.saturating_sub(display_width(text)));
    match align {
        Align::Left => format!("{text}{fill}"),
        Align::Right => format!("{fill}{text}"),
    }
}

/// The text cut to `width` columns, with `..` at the end when it was cut.
pub fn truncate(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let begin: String = fitting(text.chars(), width.saturating_sub(2)).collect();
    format!("{begin}{}", &".."[..width.min(2)])
}

/// The text cut to `width` columns in its middle: names that begin alike differ at
/// their ends.
pub fn truncate_middle(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(2);
    let begin: String = fitting(text.chars(), room.div_ceil(2)).collect();
    let end: Vec<char> = fitting(text.chars().rev(), room / 2).collect();
    let end: String = end.into_iter().rev().collect();
    format!("{begin}{}{end}", &".."[..width.min(2)])
}

/// The first of some letters, as many as have room in `width` columns.
fn fitting(letters: impl Iterator<Item = char>, width: usize) -> impl Iterator<Item = char> {
    letters
        .scan(0, |used, letter| {
            *used += letter.width().unwrap_or(0);
            Some((*used, letter))
        })
        .take_while(move |(used, _)| *used <= width)
        .map(|(_, letter)| letter)
}

/// The words of a text in lines of at most `width` columns; a longer word is
/// broken. Always at least one line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = vec![String::new()];
    for mut word in words(text) {
        loop {
            let line = lines.last_mut().map_or(0, |l| display_width(l));
            let space = usize::from(line > 0);
            if line + space + display_width(&word) <= width {
                if let Some(last) = lines.last_mut() {
                    last.push_str(&" "[..space]);
                    last.push_str(&word);
                }
                break;
            }
            if line > 0 {
                lines.push(String::new());
                continue;
            }
            let rest = word.split_off(split_at(&word, width));
            if let Some(last) = lines.last_mut() {
                *last = word;
            }
            lines.push(String::new());
            word = rest;
        }
    }
    if lines.len() > 1 && lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Units that stay on the line of their number.
const UNITS: &[&str] = &[
    "B", "KiB", "MiB", "GiB", "TiB", "PiB", "KiB/s", "MiB/s", "GiB/s", "MB/s", "GB/s", "ns", "µs",
    "ms", "s", "min", "h", "%",
];

/// The words of a text; a number and its unit are one word.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in clean(text).split_whitespace() {
        let unit = word.trim_end_matches([',', ';', '.', ':', ')']);
        let number = |before: &str| before.ends_with(|c: char| c.is_ascii_digit());
        match words.last_mut() {
            Some(last) if UNITS.contains(&unit) && number(last) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// Byte index after the characters that fit into `width` columns; at least one
/// character, so that a loop over it ends.
fn split_at(word: &str, width: usize) -> usize {
    let mut used = 0;
    for (at, c) in word.char_indices() {
        used += c.width().unwrap_or(0);
        if used > width && at > 0 {
            return at;
        }
    }
    word.len()
}

fn clean_lines(text: &str) -> String {
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn columns_align_by_display_width() {
        let mut table = Table::new([("name", Align::Left), ("time", Align::Right)]);
        table.row(["µs", "1 µs"]).row(["日本", "12 ms"]);
        table.line("note");
        table.row(["x\ny", "7\n±1"]);
        assert_eq!(
            table.render(),
            "name   time\nµs     1 µs\n日本  12 ms\nnote\nx         7\ny        ±1\n"
        );
        assert_eq!(table.width(), 11);
    }

    #[test]
    fn headers_of_one_line_stand_next_to_the_rows() {
        let mut table = Table::new([
            ("", Align::Left),
            ("Read\nMiB/s", Align::Right),
            ("IOPS", Align::Right),
        ]);
        table.row(["a", "1", "2"]);
        assert_eq!(table.render(), "    Read\n   MiB/s  IOPS\na      1     2\n");
    }

    #[test]
    fn a_narrow_place_wraps_text_and_then_stacks_columns() {
        let mut table = Table::new([
            ("run", Align::Left),
            ("reason", Align::Left),
            ("IOPS", Align::Right),
            ("p99", Align::Right),
        ]);
        table.row(["a", "the device did not answer in time", "1,000", "2 ms"]);
        table.row(["b", "fine", "900", "3 ms"]);
        assert_eq!(
            table.fit(36),
            "run  reason               IOPS   p99\n\
             a    the device did not  1,000  2 ms\n     answer in time\n\
             b    fine                  900  3 ms\n"
        );
        let mut numbers = Table::new([
            ("run", Align::Left),
            ("IOPS", Align::Right),
            ("MiB/s", Align::Right),
            ("p99", Align::Right),
        ]);
        numbers.row(["a", "1,000", "3.91", "2 ms"]);
        assert_eq!(
            numbers.fit(17),
            "run   IOPS  MiB/s\na    1,000   3.91\n\nrun   p99\na    2 ms\n"
        );
        assert_eq!(numbers.fit(80), numbers.render());
        let mut grouped = Table::new(["", "IOPS", "p99"].map(|head| (head, Align::Right)));
        grouped.line("disk").row(["read", "1,000", "2 ms"]);
        let bands = "       IOPS\ndisk\nread  1,000\n\n       p99\ndisk\nread  2 ms\n";
        assert_eq!(grouped.fit(12), bands);
    }

    #[test]
    fn control_characters_do_not_reach_a_terminal() {
        let mut table = Table::new([("a", Align::Left)]);
        table.row(["\x1b[31mred\u{202e}"]);
        assert_eq!(table.render(), "a\n?[31mred?\n");
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        assert_eq!(wrap("up to 23.5 GiB, or", 10), ["up to", "23.5 GiB,", "or"]);
        assert_eq!(wrap("a B c", 8), ["a B c"]);
    }

    #[test]
    fn long_texts_are_cut_with_a_sign() {
        assert_eq!(truncate("abcdef", 6), "abcdef");
        assert_eq!(truncate("abcdefg", 6), "abcd..");
        assert_eq!(truncate("日本語", 5), "日..");
        assert_eq!(truncate("abc", 1), ".");
        assert_eq!(
            truncate_middle("randread-4k q1 j1", 17),
            "randread-4k q1 j1"
        );
        assert_eq!(truncate_middle("randread-4k q1 j1", 14), "randre.. q1 j1");
        assert_eq!(truncate_middle("日本語", 5), "日..");
        assert_eq!(truncate_middle("abc", 1), ".");
    }

    proptest! {
        #[test]
        fn wrapping_keeps_every_word_and_the_width(text in "[a-zµ日 ]{0,80}", width in 8usize..40) {
            let lines = wrap(&text, width);
            prop_assert!(!lines.is_empty());
            for line in &lines {
                prop_assert!(display_width(line) <= width);
            }
            let squeeze = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(squeeze(&lines.concat()), squeeze(&text));
        }
    }
}
