//! The tables of a judged cluster, for every way in which it is shown.

use fathom_model::cluster::{ClusterLook, ClusterMember};
use fathom_model::unit;

use crate::listing::Listing;
use crate::table::Align;

/// Rows of a table; all are in the JSON.
const MOST_ROWS: usize = 12;
/// Columns of a bar.
const BAR: f64 = 30.0;

/// All tables that have rows.
pub(super) fn tables(look: &ClusterLook) -> Vec<Listing> {
    let found = [operations(look), steps(look), members(look), writes(look)];
    found.into_iter().flatten().collect()
}

pub(super) fn percent(share: f64) -> String {
    match share {
        small if small > 0.0 && small < 0.1 => format!("{:.1} %", 100.0 * small),
        share => format!("{:.0} %", 100.0 * share),
    }
}

pub(super) fn time(ns: f64) -> String {
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
    Listing::new("Operations", heads).with(look.operations.len(), MOST_ROWS, rows)
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
    Listing::new("Where the slowest operations wait", heads).with(look.steps.len(), MOST_ROWS, rows)
}

/// What a member is called, alone and in the plural.
pub(super) fn member_word(look: &ClusterLook) -> (&'static str, &'static str) {
    match look.kind.as_str() {
        "gluster" => ("brick", "Bricks"),
        _ => ("OSD", "OSDs"),
    }
}

/// Slow members first, then by their distance from the middle.
fn members(look: &ClusterLook) -> Option<Listing> {
    let mut sorted: Vec<&ClusterMember> = look.members.iter().collect();
    let order = |m: &ClusterMember| m.times_middle.unwrap_or(0.0);
    sorted.sort_by(|a, b| b.slow.cmp(&a.slow).then(order(b).total_cmp(&order(a))));
    let (what, title) = member_word(look);
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
    Listing::new(title, heads).with(sorted.len(), MOST_ROWS, rows)
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
