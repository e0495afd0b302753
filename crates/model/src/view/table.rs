//! Tables of words and figures.

use crate::figure::Throughput;

/// A text whose rates in bytes may be shown in either unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitText {
    binary: String,
    /// Where it is another text.
    decimal: Option<String>,
}

impl UnitText {
    /// The text that is made for each unit.
    pub fn of(text: impl Fn(Throughput) -> String) -> UnitText {
        let binary = text(Throughput::Binary);
        let decimal = Some(text(Throughput::Decimal)).filter(|decimal| *decimal != binary);
        UnitText { binary, decimal }
    }

    /// The text as a reader of this unit gets it.
    pub fn shown(&self, throughput: Throughput) -> &str {
        match (throughput, &self.decimal) {
            (Throughput::Decimal, Some(decimal)) => decimal,
            _ => &self.binary,
        }
    }
}

impl From<String> for UnitText {
    fn from(text: String) -> UnitText {
        UnitText {
            binary: text,
            decimal: None,
        }
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
    /// Every row has as many cells as there are columns.
    pub rows: Vec<Vec<UnitText>>,
}

/// What stands in a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its head.
    pub head: UnitText,
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

    /// A column of remarks, without a head.
    pub fn remark() -> Column {
        Column::new("", ColumnKind::Remark)
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
}
