//! A table with a title, for every way in which it is shown.

use crate::table::{Align, Table};

/// One table.
#[derive(Debug, Clone)]
pub(crate) struct Listing {
    pub(crate) title: &'static str,
    pub(crate) heads: Vec<(&'static str, Align)>,
    pub(crate) rows: Vec<Vec<String>>,
    /// Rows that are left out.
    pub(crate) more: usize,
}

impl Listing {
    /// A table without rows.
    pub(crate) fn new<const N: usize>(
        title: &'static str,
        heads: [(&'static str, Align); N],
    ) -> Listing {
        Listing {
            title,
            heads: heads.to_vec(),
            rows: Vec::new(),
            more: 0,
        }
    }

    /// With the first `most` of `all` rows; nothing where there are none.
    pub(crate) fn with(
        mut self,
        all: usize,
        most: usize,
        rows: impl Iterator<Item = Vec<String>>,
    ) -> Option<Listing> {
        self.rows = rows.take(most).collect();
        self.more = all.saturating_sub(self.rows.len());
        (!self.rows.is_empty()).then_some(self)
    }

    /// For the terminal, without the title.
    pub(crate) fn text(&self, indent: usize, width: usize) -> String {
        let mut table = Table::new(self.heads.iter().copied()).indent(indent);
        for row in &self.rows {
            table.row(row);
        }
        if self.more > 0 {
            table.line(self.rest());
        }
        table.fit(width)
    }

    /// What is said of the rows that are left out.
    pub(crate) fn rest(&self) -> String {
        format!("and {} more (--json has all)", self.more)
    }
}
