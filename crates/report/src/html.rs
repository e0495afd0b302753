//! A run as one self-contained HTML file.
//!
//! No network, no framework: it opens from a disk, in a mail, on a phone and
//! on paper. Everything is there without scripts; the script adds read-outs,
//! zoom, sorting and a choice of theme. Templates escape every text; charts
//! contain only this crate's own words and numbers.

pub(crate) mod answer;
pub(crate) mod cell;
mod checks;
pub(crate) mod code;
pub mod compared;
mod compared_figures;
mod comparison;
pub(crate) mod document_page;
mod fingerprint;
pub(crate) mod gallery;
mod host_figures;
mod hosts;
pub(crate) mod key_figures;
mod overview;
mod rows;
mod standard;
pub mod summary_page;
mod view;

use std::borrow::Borrow;

use askama::Template;
use fathom_model::{JudgedRun, printable};

use crate::Result;

/// The script of a page. Each part begins with what it is for.
const SCRIPT: &str = concat!(
    include_str!("../assets/numbers.js"),
    include_str!("../assets/charts.js"),
    include_str!("../assets/hosts.js"),
    include_str!("../assets/page.js"),
);

/// The style of a page; what is said of paper and of phones is said last.
const STYLE: &str = concat!(
    include_str!("../assets/chart.css"),
    include_str!("../assets/report.css"),
);

/// The run as one HTML document.
///
/// # Errors
/// Only when the template engine fails.
pub fn render(run: &JudgedRun) -> Result<String> {
    page(&view::Page::of(run))
}

/// A page of a template, which has escaped every text; names of others in it have
/// no characters that change what is shown around them.
pub(crate) fn page(template: &impl Template) -> Result<String> {
    Ok(printable::lines(&template.render()?).into_owned())
}

/// So many of something, for the template.
fn counted(count: impl Borrow<usize>, word: &str) -> String {
    fathom_model::unit::counted(*count.borrow() as u64, word)
}

/// A time since the start of the load, or an age, for the template.
fn seconds(nanoseconds: &u64) -> String {
    fathom_model::unit::span(*nanoseconds)
}
