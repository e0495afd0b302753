//! Topics of `fathom help`: exit statuses and environment variables, each in one table;
//! the pages of the book.

use std::fmt::Write;

use super::short::{width, wrapped};

/// A row of a table: a word and what it means.
type Row = (&'static str, &'static str);

/// Exit statuses of every command but `fio` and `smallfile`, whose statuses are
/// those of the tools.
const STATUSES: [Row; 11] = [
    (
        "0",
        "done; results are trusted, or have caveats without --strict",
    ),
    ("1", "failed"),
    (
        "2",
        "called wrongly: flags, plan, or a name that leads nowhere",
    ),
    ("3", "the result has caveats (with --strict)"),
    ("4", "the result is not trusted"),
    ("5", "interrupted; partial results were saved"),
    ("6", "a target (--slo) is not proven to be met"),
    ("7", "ab, compare: B is slower (as --fail-on asks)"),
    ("8", "ab, compare: B is faster (as --fail-on asks)"),
    (
        "9",
        "ab, compare: not decided (as --fail-on asks), or nothing to compare",
    ),
    ("10", "alarms: an alarm fires"),
];

/// Variables that fathom reads.
const ENVIRONMENT: [Row; 13] = [
    ("FATHOM_CONFIG", "the file of settings; empty: none is read"),
    ("FATHOM_STORE", "the store of runs, as --store"),
    (
        "FATHOM_FLEET",
        "the folder with the keys of the fleet, as --fleet",
    ),
    (
        "FATHOM_METRICS",
        "serve metrics for Prometheus here, as --metrics",
    ),
    (
        "FATHOM_METRICS_PUSH",
        "push metrics to this collector, as --metrics-push",
    ),
    (
        "FATHOM_DESTRUCTIVE",
        "fio: 1 allows devices and existing files to be overwritten",
    ),
    (
        "FATHOM_FIO_QUIET",
        "fio: 1 says nothing on standard error, 0 says it by the name of fio",
    ),
    (
        "FATHOM_SIDE",
        "set for --before-a and --before-b of ab: a or b",
    ),
    ("NO_COLOR", "not empty: no colour, as --color never"),
    ("COLUMNS", "width of tables and help where no terminal says"),
    (
        "XDG_DATA_HOME",
        "where the store's folder is, instead of ~/.local/share",
    ),
    (
        "XDG_CONFIG_HOME",
        "where the folder of settings is, instead of ~/.config",
    ),
    (
        "AWS_*",
        "keys, region and endpoint of object stores, as the AWS tools read them",
    ),
];

pub(super) use super::book::page_of_tool;

/// The page of a topic.
pub(super) fn page(topic: &str) -> Option<String> {
    let (title, rows): (&str, &[Row]) = match topic {
        "exit-status" | "exit-statuses" | "exit" | "status" => ("Exit statuses", &STATUSES),
        "environment" | "env" | "variables" => ("Environment variables", &ENVIRONMENT),
        "topics" | "topic" => return Some(super::book::list()),
        page => return super::book::page(page),
    };
    let longest = rows.iter().map(|(word, _)| word.len()).max().unwrap_or(0);
    let mut text = format!("{title}:\n");
    for (word, meaning) in rows {
        let meaning = wrapped(meaning, longest + 4, width());
        let _ = writeln!(text, "  {word:<longest$}  {meaning}");
    }
    Some(text)
}
