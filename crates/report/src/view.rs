//! The view of a study in text, Markdown and HTML.
//!
//! A view says what there is to show and nothing of how: this is the one place
//! that lays it out, so a new study needs no change here.

use std::fmt::Write;

use askama::Template;
use fathom_model::view::{ColumnKind, Table, View};

use crate::escape::escape_markdown as escape;
use crate::table::{self, Align};
use crate::text::page::Page;

pub(crate) fn write_text(page: &mut Page, view: &View) {
    for table in &view.tables {
        page.block(&text_table(table).render());
        page.blank();
    }
    for sentence in &view.sentences {
        page.paragraph(0, 2, sentence);
    }
    page.blank();
}

fn text_table(of: &Table) -> table::Table {
    let mut table = table::Table::new(of.columns.iter().map(|column| match column.kind {
        ColumnKind::Group => ("", Align::Left),
        ColumnKind::Text => (column.head.as_str(), Align::Left),
        ColumnKind::Number => (column.head.as_str(), Align::Right),
    }));
    let mut above: Option<&Vec<String>> = None;
    for row in &of.rows {
        let cells = of.columns.iter().zip(row).enumerate();
        table.row(cells.map(|(at, (column, cell))| {
            let repeats = above.is_some_and(|above| above.get(at) == Some(cell));
            if column.kind == ColumnKind::Group && repeats {
                ""
            } else {
                cell.as_str()
            }
        }));
        above = Some(row);
    }
    table
}

pub(crate) fn push_markdown(out: &mut String, view: &View) {
    for table in &view.tables {
        let heads = table.columns.iter().map(|column| escape(&column.head));
        let rules = table.columns.iter().map(|column| match column.kind {
            ColumnKind::Group | ColumnKind::Text => "---",
            ColumnKind::Number => "--:",
        });
        let heads: Vec<String> = heads.collect();
        let _ = writeln!(out, "| {} |", heads.join(" | "));
        let _ = writeln!(out, "|{}|", rules.collect::<Vec<_>>().join("|"));
        for row in &table.rows {
            let cells: Vec<String> = row.iter().map(|cell| escape(cell)).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        out.push('\n');
    }
    for sentence in &view.sentences {
        let _ = writeln!(out, "{}\n", escape(sentence));
    }
}

/// The section of a page.
#[derive(Template)]
#[template(path = "view.html")]
pub(crate) struct Section<'v> {
    view: &'v View,
}

impl<'v> Section<'v> {
    pub(crate) fn of(view: &'v View) -> Section<'v> {
        Section { view }
    }
}

/// Whether cells of a column stand to the right.
fn is_number(table: &Table, at: &usize) -> bool {
    let column = table.columns.get(*at);
    column.is_some_and(|column| column.kind == ColumnKind::Number)
}

#[cfg(test)]
mod tests {
    use fathom_model::view::Column;

    use super::*;
    use crate::text::TextOptions;

    fn view() -> View {
        let row = |name: &str, size: &str| vec![name.to_owned(), size.to_owned()];
        View {
            title: "Listing".to_owned(),
            tables: vec![Table {
                columns: vec![Column::group("kind"), Column::number("entries")],
                rows: vec![row("names", "1"), row("names", "10"), row("<facts>", "1")],
            }],
            sentences: vec!["Facts take twice as long.".to_owned()],
        }
    }

    #[test]
    fn text_names_a_group_once() {
        let mut page = Page::new(&TextOptions::default());
        write_text(&mut page, &view());
        assert_eq!(
            page.finish(),
            "         entries\nnames          1\n              10\n<facts>        1\n\n\
             Facts take twice as long.\n"
        );
    }

    #[test]
    fn markdown_names_it_in_each_row() {
        let mut out = String::new();
        push_markdown(&mut out, &view());
        assert_eq!(
            out,
            "| kind | entries |\n|---|--:|\n| names | 1 |\n| names | 10 |\n\
             | &lt;facts&gt; | 1 |\n\nFacts take twice as long.\n\n"
        );
    }

    #[test]
    fn html_shows_tables_and_sentences() {
        let html = Section::of(&view()).render().unwrap();
        for part in [
            "<h2 id=\"study\">Listing</h2>",
            "<th class=\"n\">entries</th>",
            "<th scope=\"row\">names</th>",
            "<td class=\"n\">10</td>",
            "<li>Facts take twice as long.</li>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<facts>"));
    }
}
