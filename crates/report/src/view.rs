//! The view of a study in text, Markdown and HTML.
//!
//! A view says what there is to show and nothing of how: this is the one place
//! that lays it out, so a new study needs no change here.

pub(crate) mod document;
mod estimates;
mod results;
pub(crate) mod standard;
pub(crate) mod text;

use std::fmt::Write;

use askama::Template;
use fathom_model::view::{Cell, Column, ColumnKind, View};

pub(crate) use self::estimates::shown;
use self::estimates::{UNIT, has_estimates};
pub(crate) use self::results::Results;
use crate::chart::figure::ChartFigure;
use crate::chart::plot;
use crate::escape::escape_markdown as escape;
use crate::sentence::sentence_of;

pub(crate) fn push_markdown(out: &mut String, view: &View) {
    for answer in &view.answers {
        let _ = writeln!(out, "- {}", escape(&sentence_of(answer)));
    }
    if !view.answers.is_empty() {
        out.push('\n');
    }
    for table in &view.tables {
        if has_estimates(table) {
            estimates::push_markdown(out, table);
            continue;
        }
        if let Some(title) = &table.title {
            let _ = writeln!(out, "**{}**\n", escape(shown(title)));
        }
        let heads = table.columns.iter().map(|column| shown(&column.head));
        let rules = table.columns.iter().map(|column| match column.kind {
            ColumnKind::Group | ColumnKind::Text | ColumnKind::Remark => "---",
            _ => "--:",
        });
        let heads: Vec<String> = heads.map(escape).collect();
        let _ = writeln!(out, "| {} |", heads.join(" | "));
        let _ = writeln!(out, "|{}|", rules.collect::<Vec<_>>().join("|"));
        for row in &table.rows {
            let cells: Vec<String> = row.iter().map(|cell| escape(&shown_cell(cell))).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        out.push('\n');
    }
    for warning in &view.warnings {
        let _ = writeln!(out, "- {}", escape(shown(warning)));
    }
    if !view.warnings.is_empty() {
        out.push('\n');
    }
    for sentence in &view.sentences {
        let _ = writeln!(out, "{}\n", escape(sentence));
    }
    if !view.notes.is_empty() {
        let _ = writeln!(out, "{}\n", escape(&view.notes.join(" ")));
    }
}

/// The section of a page.
#[derive(Template)]
#[template(path = "view.html")]
pub(crate) struct Section<'v> {
    view: &'v View,
    figures: Vec<ChartFigure>,
    /// What the page does not say above.
    said: Vec<String>,
    /// The tables of estimates, behind the others.
    estimates: Results<'v>,
    /// What the signs in the other tables mean.
    signs: String,
}

impl<'v> Section<'v> {
    /// On a page with this headline.
    pub(crate) fn below(headline: &str, view: &'v View) -> Section<'v> {
        let charts = view.charts.iter().map(plot::plot);
        let map = view.map.as_ref().and_then(plot::map);
        let said = view.answers.iter().chain(&view.sentences);
        let said = said.map(|sentence| sentence_of(sentence));
        Section {
            said: said.filter(|sentence| sentence != headline).collect(),
            figures: charts.chain(map).collect(),
            estimates: Results::of(view),
            signs: signs(view),
            view,
        }
    }
}

impl Section<'_> {
    /// Whether the title of the section says what its only chart shows.
    fn titles_chart(&self) -> bool {
        matches!(&self.figures[..], [only] if only.title == self.view.title)
    }
}

/// What the signs in the tables mean: only of those that are there.
fn signs(view: &View) -> String {
    let cells = view.tables.iter().filter(|_| view.has_signs);
    let cells = cells.flat_map(|table| {
        let rows = table.rows.iter();
        rows.flat_map(|row| table.columns.iter().zip(row))
    });
    let cells = cells.map(|(column, cell)| (shown(&column.head) == "±", shown_cell(cell)));
    let cells: Vec<(bool, String)> = cells.collect();
    let has_digit = |text: &str| text.contains(|c: char| c.is_ascii_digit());
    let ends = |sign: char| {
        let mut others = cells.iter().filter(|(is_half, _)| !is_half);
        others.any(|(_, text)| has_digit(text) && text.ends_with(sign))
    };
    let halves = || cells.iter().filter(|(is_half, _)| *is_half);
    let meanings = [
        (ends('*'), "*: caveats."),
        (ends('!'), "!: not trusted."),
        (
            halves().any(|(_, text)| has_digit(text)),
            "±: half the 95 % interval.",
        ),
        (
            halves().any(|(_, text)| text.ends_with('?')),
            "?: too short for an interval.",
        ),
    ];
    let meanings = meanings.into_iter().filter(|(is_there, _)| *is_there);
    let meanings: Vec<&str> = meanings.map(|(_, words)| words).collect();
    meanings.join(" ")
}

impl Section<'_> {
    /// Whether it has charts.
    pub(crate) fn has_charts(&self) -> bool {
        !self.figures.is_empty()
    }

    /// Its charts.
    pub(crate) fn charts(self) -> Vec<ChartFigure> {
        self.figures
    }
}

/// A cell of a table without estimates.
pub(crate) fn shown_cell(cell: &Cell) -> String {
    estimates::text_of(cell, ColumnKind::Text, UNIT)
}

/// Whether cells of a column stand to the right.
fn is_right(column: &Column) -> bool {
    !matches!(
        column.kind,
        ColumnKind::Group | ColumnKind::Text | ColumnKind::Remark
    )
}

/// Whether the cell at a place of its row names the row.
fn is_row_head(column: &Column, at: &usize) -> bool {
    *at == 0 && !is_right(column)
}

#[cfg(test)]
mod tests {
    use fathom_model::figure::Throughput;
    use fathom_model::view::{Column, Table, UnitText};

    use super::*;
    use crate::text::TextOptions;
    use crate::text::page::Page;

    fn view() -> View {
        let row = |name: &str, size: &str| vec![name.into(), size.into()];
        View {
            anchor: "study",
            title: "Listing".to_owned(),
            tables: vec![Table {
                columns: vec![Column::group("kind"), Column::number("entries")],
                rows: vec![row("names", "1"), row("names", "10"), row("<facts>", "1")],
                ..Table::default()
            }],
            sentences: vec!["Facts take twice as long.".to_owned()],
            ..View::default()
        }
    }

    #[test]
    fn text_names_a_group_once() {
        let mut page = Page::new(&TextOptions::default());
        text::write(&mut page, &[], &view(), UNIT);
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
        let html = Section::below("", &view()).render().unwrap();
        for part in [
            "<h2 id=\"study\">Listing</h2>",
            "<th scope=\"col\" class=\"n\">entries</th>",
            "<th scope=\"row\">names</th>",
            "<td class=\"n\">10</td>",
            "<li>Facts take twice as long.</li>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<facts>"));
    }

    /// A point with a rate, half an interval and a remark.
    fn points() -> View {
        let rate = |unit: Throughput| format!("100 {}", unit.name());
        View {
            anchor: "curve",
            title: "Throughput".to_owned(),
            answers: vec!["the knee is at 8".to_owned(), "p99 holds".to_owned()],
            tables: vec![Table {
                columns: vec![
                    Column::number("depth"),
                    Column::number(UnitText::of(|unit| unit.name().to_owned())),
                    Column::number("±").spare(1),
                    Column::remark("remark").spare(2),
                ],
                rows: vec![vec![
                    "8".into(),
                    UnitText::of(rate).into(),
                    "2 %".into(),
                    "limited by the device itself".into(),
                ]],
                ..Table::default()
            }],
            notes: vec!["5 s a trial.".to_owned()],
            has_signs: true,
            ..View::default()
        }
    }

    #[test]
    fn text_leaves_out_what_it_has_no_room_for() {
        let written = |width, throughput| {
            let options = TextOptions {
                width,
                ..TextOptions::default()
            };
            let mut page = Page::new(&options);
            text::write(&mut page, &[], &points(), throughput);
            page.finish()
        };
        let notes = "±: half the 95 % interval; ?: too short for one. 5 s a trial.\n";
        assert_eq!(
            written(80, Throughput::Decimal),
            format!(
                "The knee is at 8.\np99 holds.\n\n\
                 depth      MB/s    ±  remark\n\
                 \u{20}   8  100 MB/s  2 %  limited by the device itself\n\
                 \n{notes}"
            )
        );
        let narrow = written(48, Throughput::Binary);
        assert!(
            narrow.contains("depth      MiB/s  remark\n    8  100 MiB/s  limited"),
            "{narrow}"
        );
        let narrower = written(40, Throughput::Binary);
        assert!(
            narrower.contains("depth      MiB/s\n    8  100 MiB/s\n"),
            "{narrower}"
        );
    }

    #[test]
    fn markdown_and_html_say_the_answers_first() {
        let mut out = String::new();
        push_markdown(&mut out, &points());
        assert_eq!(
            out,
            "- The knee is at 8.\n- p99 holds.\n\n\
             | depth | MiB/s | ± | remark |\n|--:|--:|--:|---|\n\
             | 8 | 100 MiB/s | 2 % | limited by the device itself |\n\n\
             5 s a trial.\n\n"
        );
        let view = points();
        let html = Section::below("The knee is at 8.", &view);
        let html = html.render().unwrap();
        assert!(html.contains("<td class=\"n\">8</td>"), "{html}");
        assert!(!html.contains("The knee"), "the page says it above: {html}");
        // What is not in the table is not explained.
        let note = "5 s a trial. ±: half the 95 % interval.</p>";
        assert!(html.contains(note), "{html}");
    }

    #[test]
    fn a_titled_table_is_indented_and_warnings_follow_it() {
        let rate = |unit: Throughput| format!("sdb is slow: 50 {}", unit.name());
        let mut view = view();
        view.tables[0].title = Some("reads".into());
        view.warnings = vec![UnitText::of(rate)];
        let mut page = Page::new(&TextOptions::default());
        text::write(&mut page, &[], &view, Throughput::Decimal);
        let written = page.finish();
        assert!(
            written.starts_with("reads\n           entries\n  names"),
            "{written}"
        );
        assert!(written.contains("\n\nsdb is slow: 50 MB/s\n"), "{written}");
        let mut out = String::new();
        push_markdown(&mut out, &view);
        assert!(out.starts_with("**reads**\n\n| kind |"), "{out}");
        assert!(out.contains("\n\n- sdb is slow: 50 MiB/s\n\n"), "{out}");
        let html = Section::below("", &view).render().unwrap();
        assert!(html.contains("<h3>reads</h3>"), "{html}");
        let warning = "<p class=\"alarm warn\">sdb is slow: 50 MiB/s</p>";
        assert!(html.contains(warning), "{html}");
    }
}
