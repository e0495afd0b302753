//! Reports of synthetic runs, as their readers get them.

// A helper of a test may panic as the test may.
#![allow(clippy::unwrap_used)]

mod browser;
mod commands;
mod crosscheck;
mod documents_in_a_browser;
mod hosts_in_a_browser;
mod html;
mod machine;
mod opinion;
mod readable;
mod schema;
mod synthetic;
mod synthetic_documents;
mod text;
