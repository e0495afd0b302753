//! Tables of words: columns share the width, and each cell is wrapped in its own.

use unicode_width::UnicodeWidthStr;

use crate::table::wrap;

/// Spaces between two columns.
const GAP: usize = 2;

/// No column becomes narrower.
const NARROWEST: usize = 8;

/// The lines of the head, and those of each row.
pub(super) fn lines(rows: &[Vec<String>], width: usize) -> Vec<Vec<String>> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths = vec![1; columns];
    for row in rows {
        for (most, cell) in widths.iter_mut().zip(row) {
            *most = cell.width().max(*most);
        }
    }
    share(&mut widths, width);
    rows.iter().map(|row| row_lines(row, &widths)).collect()
}

/// Narrows the widest columns until all of them fit.
fn share(widths: &mut [usize], width: usize) {
    let room = width.saturating_sub(GAP * widths.len().saturating_sub(1));
    while widths.iter().sum::<usize>() > room {
        match widths.iter_mut().max() {
            Some(widest) if *widest > NARROWEST => *widest -= 1,
            _ => return,
        }
    }
}

fn row_lines(row: &[String], widths: &[usize]) -> Vec<String> {
    let cells: Vec<Vec<String>> = row
        .iter()
        .zip(widths)
        .map(|(cell, width)| wrap(cell, *width))
        .collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let line = |at: usize| {
        let mut out = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            let text = cell.get(at).map_or("", String::as_str);
            out.push_str(text);
            let padding = width.saturating_sub(text.width()) + GAP;
            out.push_str(&" ".repeat(padding));
        }
        out.truncate(out.trim_end().len());
        out
    };
    (0..height).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(row: &[&str]) -> Vec<String> {
        row.iter().map(|cell| (*cell).to_owned()).collect()
    }

    #[test]
    fn what_fits_stands_in_one_line() {
        let rows = [cells(&["a", "µs"]), cells(&["longer", "b"])];
        assert_eq!(lines(&rows, 40), [["a       µs"], ["longer  b"]]);
    }

    #[test]
    fn the_widest_columns_are_wrapped() {
        let rows = [cells(&["word", "some more words than fit into it", "x"])];
        assert_eq!(
            lines(&rows, 22),
            [[
                "word  some more      x",
                "      words than",
                "      fit into it"
            ]]
        );
    }
}
