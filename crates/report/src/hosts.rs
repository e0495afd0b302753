//! The hosts of a fleet as a table.

use fathom_model::fleet::FleetHost;
use fathom_model::unit;

use crate::table::{Align, Table};

/// A line for each host: what it is, how well its clock is known, and what its
/// owner allows, which `permissions` says in the same order.
pub fn table(hosts: &[FleetHost], permissions: &[Option<String>], width: usize) -> String {
    let mut table = Table::new([
        ("host", Align::Left),
        ("fathom", Align::Left),
        ("kernel", Align::Left),
        ("CPUs", Align::Right),
        ("memory", Align::Right),
        ("clock known to", Align::Right),
        ("wall clock", Align::Right),
        ("allowed", Align::Left),
    ]);
    for (host, permission) in hosts.iter().zip(permissions) {
        if let Some(why) = &host.lost {
            table.line(format!("{}: {why}", host.name));
            continue;
        }
        let facts = &host.fingerprint;
        let clock = host.clock.unwrap_or_default();
        table.row(vec![
            host.name.clone(),
            host.tool_version.clone(),
            facts.kernel.clone(),
            facts.cpus.to_string(),
            unit::bytes(facts.memory_bytes).to_string(),
            format!("± {}", unit::latency(clock.uncertainty_ns as f64)),
            offset(clock.wall_offset_ns),
            permission.clone().unwrap_or_default(),
        ]);
    }
    table.fit(width)
}

/// How far a wall clock is from this one.
fn offset(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { '-' } else { '+' };
    let length = nanoseconds.unsigned_abs();
    match length < 1_000_000_000 {
        true => format!("{sign}{}", unit::latency(length as f64)),
        false => format!("{sign}{}", unit::span(length)),
    }
}
