//! A document as text.

use fathom_model::figure::Throughput;
use fathom_model::view::{Document, List, Section};

use super::text::table;
use crate::text::page::Page;

/// Columns before what belongs to a section.
const INDENT: usize = 2;

pub(crate) fn write(page: &mut Page, document: &Document, throughput: Throughput) {
    page.paragraph(0, INDENT, &document.lead);
    for section in &document.sections {
        page.blank();
        write_section(page, section, throughput);
    }
    page.blank();
    for field in &document.fields {
        page.field_toned(field.name, &field.text, field.stressed);
        if let Some(remark) = &field.remark {
            page.below_field(remark);
        }
    }
}

fn write_section(page: &mut Page, section: &Section, throughput: Throughput) {
    page.paragraph(0, INDENT, &section.heading);
    let table = table(&section.table, page.width - INDENT, throughput);
    page.table(&table.indent(INDENT));
    for remark in &section.remarks {
        page.paragraph(INDENT, 2 * INDENT, remark);
    }
    if section.lists_on_demand && !page.verbose {
        return;
    }
    for list in &section.lists {
        write_list(page, list);
    }
}

fn write_list(page: &mut Page, list: &List) {
    if list.items.is_empty() {
        return;
    }
    page.paragraph(INDENT, 2 * INDENT, &list.title);
    for item in &list.items {
        page.paragraph(2 * INDENT, 3 * INDENT, &format!("- {item}"));
    }
}
