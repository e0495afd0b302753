//! The tables of a judged cluster, for every way in which it is shown.

use fathom_model::cluster::{ClusterLook, ClusterMember};
use fathom_model::unit;

use crate::table::{Align, Table};

/// Rows of a table; all are in the JSON.
const MOST_ROWS: usize = 12;
/// Columns of a bar.
const BAR: f64 = 30.0;

/// One table.
pub(super) struct Listing {
    pub(super) title: &'static str,
    pub(super) heads: Vec<(&'static str, Align)>,
    pub(super) rows: Vec<Vec<String>>,
    /// Rows that are left out.
    pub(super) more: usize,
}

impl Listing {
    fn new<const N: usize>(title: &'static str, heads: [(&'static str, Align); N]) -> Listing {
        Listing {
            title,
            heads: heads.to_vec(),
            rows: Vec::new(),
            more: 0,
        }
    }

    /// Adds the first rows of so many.
    fn with(mut self, all: usize, rows: impl Iterator<Item = Vec<String>>) -> Option<Listing> {
        self.rows = rows.take(MOST_ROWS).collect();
        self.more = all.saturating_sub(self.rows.len());
        (!self.rows.is_empty()).then_some(self)
    }

    /// For the terminal.
    pub(super) fn text(&self) -> String {
        let mut table = Table::new(self.heads.iter().copied());
        for row in &self.rows {
            table.row(row);
        }
        if self.more > 0 {
            table.line(self.rest());
        }
        table.render()
    }

    /// What is said of the rows that are left out.
    pub(super) fn rest(&self) -> String {
        format!("and {} more (--json has all)", self.more)
    }
}

/// All tables that have rows.
pub(super) fn tables(look: &ClusterLook) -> Vec<Listing> {
    let found = [operations(look), steps(look), members(look), writes(look)];
    found.into_iter().flatten().collect()
}

fn percent(share: f64) -> String {
    match share {
        small if small > 0.0 && small < 0.1 => format!("{:.1} %", 100.0 * small),
        share => format!("{:.0} %", 100.0 * share),
    }
}

fn time(ns: f64) -> String {
    match ns > 0.0 {
        true => unit::latency(ns),
        false => "-".to_owned(),
    }
}

fn operations(look: &ClusterLook) -> Option<Listing> {
    let heads = [
        ("operation", Align::Left),
        ("of time", Align::Right),
        ("calls", Align::Right),
        ("mean", Align::Right),
    ];
    let rows = look.operations.iter().map(|one| {
        vec![
            one.name.clone(),
            percent(one.time_share),
            unit::group(one.calls),
            time(one.mean_ns),
        ]
    });
    Listing::new("Operations", heads).with(look.operations.len(), rows)
}

fn steps(look: &ClusterLook) -> Option<Listing> {
    let heads = [
        ("step of the slowest operations", Align::Left),
        ("of time", Align::Right),
        ("operations", Align::Right),
        ("mean", Align::Right),
    ];
    let rows = look.steps.iter().map(|step| {
        vec![
            step.name.clone(),
            percent(step.share),
            unit::group(step.count),
            time(step.time_ns / step.count.max(1) as f64),
        ]
    });
    Listing::new("Where the slowest operations wait", heads).with(look.steps.len(), rows)
}

/// Slow members first, then by their distance from the middle.
fn members(look: &ClusterLook) -> Option<Listing> {
    let mut sorted: Vec<&ClusterMember> = look.members.iter().collect();
    let order = |m: &ClusterMember| m.times_middle.unwrap_or(0.0);
    sorted.sort_by(|a, b| b.slow.cmp(&a.slow).then(order(b).total_cmp(&order(a))));
    let (title, what) = match look.kind.as_str() {
        "gluster" => ("Bricks", "brick"),
        _ => ("OSDs", "OSD"),
    };
    let heads = [
        (what, Align::Left),
        ("calls", Align::Right),
        ("mean", Align::Right),
        ("x middle", Align::Right),
        ("full", Align::Right),
        ("", Align::Left),
    ];
    let some = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let rows = sorted.iter().map(|member| {
        let slow = if member.slow { "SLOW" } else { "" };
        vec![
            member.name.clone(),
            some(member.calls.map(unit::group)),
            some(member.mean_ns.map(time)),
            some(member.times_middle.map(|times| format!("{times:.2}"))),
            some(member.used.map(percent)),
            slow.to_owned(),
        ]
    });
    Listing::new(title, heads).with(sorted.len(), rows)
}

fn writes(look: &ClusterLook) -> Option<Listing> {
    let most = look.writes.iter().map(|size| size.count).max()?.max(1);
    let all: u64 = look.writes.iter().map(|size| size.count).sum();
    let heads = [
        ("writes of", Align::Right),
        ("count", Align::Right),
        ("share", Align::Right),
        ("", Align::Left),
    ];
    // The sizes are few, each of them twice the one before.
    let mut listing = Listing::new("Writes by their size", heads);
    for size in &look.writes {
        let long = (size.count as f64 / most as f64 * BAR).round().max(1.0) as usize;
        listing.rows.push(vec![
            format!("{} and more", unit::bytes(size.from_bytes)),
            unit::group(size.count),
            percent(size.count as f64 / all.max(1) as f64),
            "#".repeat(long),
        ]);
    }
    Some(listing)
}
