//! A run for a terminal, a mail or a forum post: plain text in fixed width.
//!
//! At most [`TextOptions::width`] columns wherever names allow it, aligned by
//! display width, without colour unless asked. What changes how the numbers
//! must be read (interrupted, failures) comes before them.

mod comparison;
mod details;
mod files;
mod fleet;
mod header;
pub(crate) mod notes;
mod objects;
mod options;
pub(crate) mod page;
pub(crate) mod plot;
pub(crate) mod rerun;
mod rows;
mod sets;
mod standard;
mod steady;
mod verdict;

use fathom_model::view::Document;
use fathom_model::{Comparison, JudgedRun};

use crate::facts;
use fathom_model::figure::Throughput;
pub use options::TextOptions;
use page::Page;
pub use page::paint;

/// The run as text, ended by a newline.
pub fn render(run: &JudgedRun, options: &TextOptions) -> String {
    let mut page = Page::new(options);
    header::write(&mut page, run);
    page.blank();
    let throughput = Throughput::decimal(options.decimal_units);
    let compared = run.comparison.as_ref().filter(|c| comparison::shows(c));
    if let Some(comparison) = &run.comparison {
        comparison::write(&mut page, comparison, throughput);
        page.blank();
    }
    let standard = facts::standard(run);
    if let Some((view, report)) = standard {
        standard::write(&mut page, view, report, throughput);
    } else if let Some(view) = facts::answer(run) {
        crate::view::text::write(&mut page, &run.rows, view, throughput);
    } else if let Some(view) = crate::fleet::view(run, throughput) {
        fleet::write(&mut page, &view);
        if options.verbose {
            let all: Vec<_> = run.rows.iter().collect();
            rows::write(&mut page, run, &all, throughput);
        }
    } else if compared.is_some() && !options.verbose {
        // The table of the sides says it all.
    } else {
        if let Some(view) = facts::result_form(run) {
            crate::view::text::write(&mut page, &run.rows, view, throughput);
        }
        rows::write(&mut page, run, &facts::plain_rows(run), throughput);
    }
    let added_up = run.view.as_ref().is_some_and(|view| view.adds_up_sets);
    if !added_up || options.verbose {
        files::write(&mut page, run);
        objects::write(&mut page, run);
        sets::write(&mut page, run, throughput);
    }
    if standard.is_none() || options.verbose {
        steady::write(&mut page, run);
    }
    if options.verbose {
        details::write(&mut page, run, throughput);
    }
    verdict::write(&mut page, run);
    header::write_place(&mut page, run);
    verdict::write_report(&mut page, run, options.report.as_deref());
    page.finish()
}

/// The verdict alone as text, ended by a newline: for commands that show the
/// figures in a form of their own.
pub fn render_verdict(run: &JudgedRun, options: &TextOptions) -> String {
    let mut page = Page::new(options);
    verdict::write(&mut page, run);
    verdict::write_report(&mut page, run, options.report.as_deref());
    page.finish()
}

/// A result that stands alone as text, ended by a newline.
pub fn render_document(document: &Document, options: &TextOptions) -> String {
    let mut page = Page::new(options);
    let throughput = Throughput::decimal(options.decimal_units);
    crate::view::document::write(&mut page, document, throughput);
    page.finish()
}

/// The verdict in a few lines, for commands whose output belongs to another tool.
pub fn verdict_lines(run: &JudgedRun) -> Vec<String> {
    verdict::lines(run)
}

/// A comparison of stored runs as text, ended by a newline.
pub fn render_comparison(comparison: &Comparison, options: &TextOptions) -> String {
    let mut page = Page::new(options);
    let throughput = Throughput::decimal(options.decimal_units);
    comparison::write(&mut page, comparison, throughput);
    page.finish()
}
