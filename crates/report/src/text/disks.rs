//! The disks of a run as text.

use super::page::Page;
use crate::disks::DisksView;
use crate::table::{Align, Table};

pub(super) fn write(page: &mut Page, view: &DisksView) {
    for each in &view.tables {
        page.line(&each.title);
        let last = each.head.len().saturating_sub(1);
        let mut table = Table::new(each.head.iter().enumerate().map(|(column, head)| {
            let text = column == 0 || column == last || head == "model";
            (head, if text { Align::Left } else { Align::Right })
        }));
        for row in &each.rows {
            table.row(row);
        }
        page.block(&table.indent(2).render());
        page.blank();
    }
    for slow in &view.slow {
        page.paragraph(0, 2, slow);
    }
    page.paragraph(0, 0, &view.notes.join(" "));
    page.blank();
}
