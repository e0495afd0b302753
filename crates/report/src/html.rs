//! A run as one self-contained HTML file.
//!
//! No network, no framework: it opens from a disk, in a mail, on a phone and
//! on paper. Everything is there without scripts; the script adds read-outs,
//! zoom, sorting and a choice of theme. Templates escape every text; charts
//! contain only this crate's own words and numbers.

mod comparison;
mod fingerprint;
mod rows;
mod snia;
mod view;

use askama::Template;
use fathom_model::JudgedRun;

use crate::Result;

/// The run as one HTML document.
///
/// # Errors
/// Only when the template engine fails.
pub fn render(run: &JudgedRun) -> Result<String> {
    Ok(view::Page::of(run).render()?)
}

/// A time since the start of the load, or an age, for the template.
fn seconds(nanoseconds: &u64) -> String {
    fathom_model::unit::span(*nanoseconds)
}
