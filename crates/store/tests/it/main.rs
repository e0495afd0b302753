//! The store between processes, on real files and file systems.

#![allow(clippy::unwrap_used)]

mod children;
#[path = "../../src/fixtures.rs"]
mod fixtures;
mod hour;
mod kill;
mod places;
mod sharing;
