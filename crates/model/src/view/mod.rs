//! A judged result as tables and sentences, independent of how it is printed.
//!
//! A study makes a view; formats render it and know nothing of the study. Texts
//! are plain: a format escapes and wraps them.

pub mod axis;
pub mod plot;

/// What a study shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct View {
    /// What it is about, in one or two words.
    pub title: String,
    /// Tables, in order.
    pub tables: Vec<Table>,
    /// What the tables say, a sentence or two each.
    pub sentences: Vec<String>,
}

/// Rows of cells under columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// One for each cell of a row.
    pub columns: Vec<Column>,
    /// Every row has as many cells as there are columns.
    pub rows: Vec<Vec<String>>,
}

/// What stands in a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its head.
    pub head: String,
    /// What its cells are.
    pub kind: ColumnKind,
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// A name that consecutive rows share: where there is little room it is
    /// printed once, without a head.
    Group,
    /// Text.
    Text,
    /// A figure with its unit.
    Number,
}

impl Column {
    /// A column of names that consecutive rows share.
    pub fn group(head: &str) -> Column {
        Column::new(head, ColumnKind::Group)
    }

    /// A column of text.
    pub fn text(head: &str) -> Column {
        Column::new(head, ColumnKind::Text)
    }

    /// A column of figures.
    pub fn number(head: &str) -> Column {
        Column::new(head, ColumnKind::Number)
    }

    fn new(head: &str, kind: ColumnKind) -> Column {
        Column {
            head: head.to_owned(),
            kind,
        }
    }
}
