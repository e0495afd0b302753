//! Tables of words and figures.

use super::{ByUnit, Cell};
use crate::figure::Throughput;

/// A text whose rates in bytes may be shown in either unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitText(ByUnit<String>);

impl UnitText {
    /// The text that is made for each unit.
    pub fn of(text: impl Fn(Throughput) -> String) -> UnitText {
        UnitText(ByUnit::of(text))
    }

    /// The text as a reader of this unit gets it.
    pub fn shown(&self, throughput: Throughput) -> &str {
        self.0.shown(throughput)
    }
}

impl From<String> for UnitText {
    fn from(text: String) -> UnitText {
        UnitText(ByUnit::alike(text))
    }
}

impl From<&str> for UnitText {
    fn from(text: &str) -> UnitText {
        UnitText::from(text.to_owned())
    }
}

/// Rows of cells under columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// What it shows, where that is not clear from the view.
    pub title: Option<UnitText>,
    /// One for each cell of a row.
    pub columns: Vec<Column>,
    /// A row has at most as many cells as there are columns.
    pub rows: Vec<Vec<Cell>>,
    /// Text and Markdown print each row as a line with its name in front and the
    /// heads beside the figures: a few rows of which each speaks for itself.
    pub as_lines: bool,
    /// What the rows are, a sentence or two, where there is room for it.
    pub explanation: Option<&'static str>,
}

impl Table {
    /// The table without columns of remarks in which nothing is said.
    pub fn without_empty_remarks(mut self) -> Table {
        let is_silent = |at: usize| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(at));
            cells.all(|cell| *cell == Cell::from(""))
        };
        let columns = self.columns.iter().enumerate();
        let kept = columns.map(|(at, of)| of.kind != ColumnKind::Remark || !is_silent(at));
        let kept: Vec<bool> = kept.collect();
        let stays = |at: usize| kept.get(at).copied().unwrap_or(true);
        let mut at = 0..;
        self.columns.retain(|_| at.next().is_some_and(stays));
        for row in &mut self.rows {
            let mut at = 0..;
            row.retain(|_| at.next().is_some_and(stays));
        }
        self
    }
}

/// What stands in a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its head.
    pub head: UnitText,
    /// The head where it stands in a line of text.
    pub short_head: Option<&'static str>,
    /// The name of the group of columns that begins here and goes on to the next
    /// name. Text sets groups one below the other where there is little room.
    pub group: Option<&'static str>,
    /// What its cells are.
    pub kind: ColumnKind,
    /// Where there is little room the column is left out: the lowest of these
    /// numbers first, columns of the same number together.
    pub spare: Option<u8>,
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// A name that consecutive rows share: where there is little room it is
    /// printed once, without a head.
    Group,
    /// Text.
    Text,
    /// A figure with its unit, or a name that stands close to the figures.
    Number,
    /// What sets a row apart, behind its figures.
    Remark,
    /// Estimates whose unit the head names.
    Rate,
    /// Estimates, each with its unit.
    Latency,
}

impl ColumnKind {
    /// Whether the cells are estimates.
    pub fn is_estimate(self) -> bool {
        matches!(self, ColumnKind::Rate | ColumnKind::Latency)
    }
}

impl Column {
    /// A column of names that consecutive rows share.
    pub fn group(head: impl Into<UnitText>) -> Column {
        Column::new(head, ColumnKind::Group)
    }

    /// A column of text.
    pub fn text(head: impl Into<UnitText>) -> Column {
        Column::new(head, ColumnKind::Text)
    }

    /// A column of figures.
    pub fn number(head: impl Into<UnitText>) -> Column {
        Column::new(head, ColumnKind::Number)
    }

    /// A column of remarks.
    pub fn remark(head: impl Into<UnitText>) -> Column {
        Column::new(head, ColumnKind::Remark)
    }

    /// A column of rates.
    pub fn rate(head: impl Into<UnitText>) -> Column {
        Column::new(head, ColumnKind::Rate)
    }

    /// A column of latencies.
    pub fn latency(head: impl Into<UnitText>) -> Column {
        Column::new(head, ColumnKind::Latency)
    }

    /// The column, with which a group begins.
    pub fn begins(self, group: &'static str) -> Column {
        Column {
            group: Some(group),
            ..self
        }
    }

    /// The column with another head in a line of text.
    pub fn short(self, head: &'static str) -> Column {
        Column {
            short_head: Some(head),
            ..self
        }
    }

    /// The column, which may be left out.
    pub fn spare(self, turn: u8) -> Column {
        Column {
            spare: Some(turn),
            ..self
        }
    }

    fn new(head: impl Into<UnitText>, kind: ColumnKind) -> Column {
        Column {
            head: head.into(),
            short_head: None,
            group: None,
            kind,
            spare: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shown_in_the_unit_of_its_reader() {
        let rate = UnitText::of(|unit| format!("100 {}", unit.name()));
        assert_eq!(rate.shown(Throughput::Binary), "100 MiB/s");
        assert_eq!(rate.shown(Throughput::Decimal), "100 MB/s");
        let same = UnitText::of(|_| "2 ms".to_owned());
        assert_eq!(same, UnitText::from("2 ms"));
        assert_eq!(same.shown(Throughput::Decimal), "2 ms");
    }

    #[test]
    fn a_column_of_remarks_stays_where_something_is_said() {
        let table = |remark: &str| Table {
            columns: vec![Column::remark("remark"), Column::number("depth")],
            rows: vec![vec!["".into(), "1".into()], vec![remark.into(), "2".into()]],
            ..Table::default()
        };
        let silent = table("").without_empty_remarks();
        assert_eq!(silent.columns, [Column::number("depth")]);
        assert_eq!(silent.rows, [vec![Cell::from("1")], vec![Cell::from("2")]]);
        let said = table("saturated");
        assert_eq!(said.clone().without_empty_remarks(), said);
    }
}
