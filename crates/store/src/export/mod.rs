//! A stored run as text for other programs: what was measured, not what it
//! means. Judged results are the business of reports.
//!
//! Everything is in base units (bytes, nanoseconds, counts) and unrounded, and
//! nothing but data is written. A field that was not measured is empty in CSV
//! and `null` in JSON, never zero.

mod csv;
mod json;

pub use csv::{CSV_COLUMNS, csv};
pub use json::{SERIES_SCHEMA, json};
