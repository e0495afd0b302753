//! The tables of rules: thresholds are data.
//!
//! The files in `tables/` are all that decides: each rule with what it detects,
//! how, from which value on, where that comes from and what to do. They become
//! constants when this crate is built, so that a table with a mistake, and code
//! that names a rule or number that no table has, do not compile:
//!
//! ```
//! use fathom_rules::check;
//!
//! assert_eq!(check::V11.id, "V11");
//! assert_eq!(check::V11.caveat, Some(check::v11::CAVEAT));
//! assert!(check::v11::EXCURSION < check::v11::CAVEAT);
//! assert!(matches!("V11", check::id::V11));
//! ```
//!
//! `fathom explain`, the pages in `docs/reference/` ([`page`]) and the remedies in findings
//! are the same text.

mod find;
mod page;
mod rule;
mod words;

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

pub use find::{find, suggest};
pub use page::{PAGES, page};
pub use rule::{
    Axis, Grade, Missing, Parameter, PrometheusRule, Rule, Severity, Table, TargetKind,
};
pub use words::{figure, graded, threshold};
