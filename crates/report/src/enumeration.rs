//! Listings of growing directories, or prefixes of a bucket, as a table.

use std::fmt::Write;

use fathom_model::enumeration::{Enumeration, EnumerationPoint};
use fathom_model::{OpKind, unit};

use crate::table::{Align, Table};

const HEAD: [&str; 5] = ["entries", "listed", "one listing", "an entry", "entries/s"];

fn kind(point: &EnumerationPoint) -> &'static str {
    match point.kind {
        OpKind::Readdir => "names alone",
        OpKind::List => "keys",
        _ => "names and facts",
    }
}

fn cells(point: &EnumerationPoint) -> [String; 5] {
    let ns = point.listing_ns.value;
    let each = ns.map(|ns| ns / point.entries.max(1) as f64);
    let or_reason = |text: Option<String>| {
        let reason = point.listing_ns.reason.clone();
        text.unwrap_or_else(|| reason.unwrap_or_else(|| "-".to_owned()))
    };
    [
        unit::group(point.entries),
        format!("{} times", unit::group(point.listings)),
        or_reason(ns.map(unit::latency)),
        each.map_or_else(|| "-".to_owned(), unit::latency),
        each.filter(|ns| *ns > 0.0)
            .map_or_else(|| "-".to_owned(), |ns| unit::count(1e9 / ns)),
    ]
}

/// The points as a table of text.
pub(crate) fn table(of: &Enumeration) -> Table {
    let columns = HEAD.map(|head| (head, Align::Right));
    let mut table = Table::new(std::iter::once(("", Align::Left)).chain(columns));
    let mut last = "";
    for point in &of.points {
        let name = kind(point);
        let shown = if name == last { "" } else { name };
        last = name;
        table.row(std::iter::once(shown.to_owned()).chain(cells(point)));
    }
    table
}

/// The same as Markdown, with what it says.
pub(crate) fn push_markdown(out: &mut String, of: &Enumeration) {
    let _ = writeln!(out, "| listing | {} |", HEAD.join(" | "));
    let _ = writeln!(out, "|---|--:|--:|--:|--:|--:|");
    for point in &of.points {
        let _ = writeln!(out, "| {} | {} |", kind(point), cells(point).join(" | "));
    }
    out.push('\n');
    for answer in &of.answers {
        let _ = writeln!(out, "{answer}\n");
    }
}
