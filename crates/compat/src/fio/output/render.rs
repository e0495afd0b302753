//! A run in fio's formats: of one host, or of each host of `--client` and of all.

use fathom_model::RunRecord;

use super::view::FioView;
use super::{clients, json as document, normal as text, terse as lines};
use crate::fio::request::{FioFormat, FioRun};

/// The versions of terse lines; another one is taken as the default.
const TERSE_VERSIONS: std::ops::RangeInclusive<u32> = 2..=5;
const DEFAULT_TERSE_VERSION: u32 = 3;

/// The run as fio's JSON document; with every latency's histogram when `plus`.
pub fn json(record: &RunRecord, view: &FioView, plus: bool) -> String {
    if clients::are_in(view) {
        return clients::document(record, view, plus).render();
    }
    document::of_one_host(record, view, plus)
}

/// The run as fio's text for people.
pub fn normal(record: &RunRecord, view: &FioView) -> String {
    if clients::are_in(view) {
        return clients::text(record, view);
    }
    text::of_one_host(record, view)
}

/// The run as fio's terse lines of `version` 2 to 5; another version is taken
/// as 3.
pub fn terse(record: &RunRecord, view: &FioView, version: u32) -> String {
    let version = match TERSE_VERSIONS.contains(&version) {
        true => version,
        false => DEFAULT_TERSE_VERSION,
    };
    if clients::are_in(view) {
        return clients::lines(record, view, version);
    }
    lines::of_one_host(record, view, version)
}

/// Results in each format that was asked for.
pub fn results(record: &RunRecord, view: &FioView, run: &FioRun) -> String {
    let formats = match run.formats.is_empty() {
        true => &[FioFormat::Normal][..],
        false => &run.formats[..],
    };
    let mut text = String::new();
    for format in formats {
        text += &match format {
            FioFormat::Normal => normal(record, view),
            FioFormat::Terse => terse(record, view, u32::from(run.terse_version)),
            FioFormat::Json => json(record, view, false),
            FioFormat::JsonPlus => json(record, view, true),
        };
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}
