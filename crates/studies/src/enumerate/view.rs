//! Listings of growing directories, or prefixes of a bucket, as a table.

use fathom_model::enumeration::{Enumeration, EnumerationPoint};
use fathom_model::view::{Cell, Column, Table, View};
use fathom_model::{OpKind, unit};

/// The points and what they say.
pub(super) fn view(of: &Enumeration) -> View {
    let figures = ["entries", "listed", "one listing", "an entry", "entries/s"];
    let columns = std::iter::once(Column::group("listing")).chain(figures.map(Column::number));
    View {
        anchor: "study",
        title: "Listing".to_owned(),
        tables: vec![Table {
            columns: columns.collect(),
            rows: of.points.iter().map(row).collect(),
            ..Table::default()
        }],
        sentences: of.answers.clone(),
        ..View::default()
    }
}

fn kind(point: &EnumerationPoint) -> &'static str {
    match point.kind {
        OpKind::Readdir => "names alone",
        OpKind::List => "keys",
        _ => "names and facts",
    }
}

fn row(point: &EnumerationPoint) -> Vec<Cell> {
    let ns = point.listing_ns.value;
    let each = ns.map(|ns| ns / point.entries.max(1) as f64);
    let or_reason = |text: Option<String>| {
        let reason = point.listing_ns.reason.clone();
        text.unwrap_or_else(|| reason.unwrap_or_else(|| "-".to_owned()))
    };
    let rate = each.filter(|ns| *ns > 0.0).map(|ns| unit::count(1e9 / ns));
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let cells = [
        kind(point).to_owned(),
        unit::group(point.entries),
        format!("{} times", unit::group(point.listings)),
        or_reason(ns.map(unit::latency)),
        or_dash(each.map(unit::latency)),
        or_dash(rate),
    ];
    cells.map(Cell::from).to_vec()
}

#[cfg(test)]
mod tests {
    use fathom_model::estimate::{Estimate, Unit};

    use super::*;

    #[test]
    fn a_point_without_a_time_gives_the_reason() {
        let point = EnumerationPoint {
            row: 0,
            kind: OpKind::Readdir,
            entries: 1000,
            listings: 0,
            listing_ns: Estimate::unknown(Unit::Nanoseconds, "nothing was listed"),
            fastest_ns: None,
        };
        let of = Enumeration {
            points: vec![point],
            answers: vec!["Names alone: nothing.".to_owned()],
            ..Enumeration::default()
        };
        let view = view(&of);
        let row = [
            "names alone",
            "1,000",
            "0 times",
            "nothing was listed",
            "-",
            "-",
        ];
        assert_eq!(view.tables[0].rows, [row.map(Cell::from)]);
        assert_eq!(view.tables[0].columns.len(), row.len());
        assert_eq!(view.sentences, of.answers);
    }
}
