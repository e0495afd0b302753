//! The hosts of a run as text.

use super::page::Page;
use crate::fleet::FleetView;
use crate::table::{Align, Table};

pub(super) fn write(page: &mut Page, view: &FleetView) {
    for each in &view.tables {
        page.line(&each.title);
        let last = each.head.len().saturating_sub(1);
        let mut table = Table::new(each.head.iter().enumerate().map(|(column, head)| {
            let text = column == 0 || column == last;
            (head, if text { Align::Left } else { Align::Right })
        }));
        for row in &each.rows {
            table.row(row);
        }
        page.table(&table.indent(2));
        for line in &each.lines {
            page.paragraph(2, 4, line);
        }
        page.blank();
    }
    for remark in &view.remarks {
        page.paragraph(0, 2, remark);
    }
    if !view.remarks.is_empty() {
        page.blank();
    }
}
