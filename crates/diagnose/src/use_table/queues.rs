//! A row for each queue, below the device that it is of.

use fathom_model::machine::{HostReading, ResourceUse};

use super::known::QUEUE;
use super::{mean, resource};

/// The hardware queues of a disk.
pub(super) fn of_disk(disk: &str, readings: &[HostReading]) -> Vec<ResourceUse> {
    rows(&format!("{disk} queue "), readings)
}

/// The queues of an interface.
pub(super) fn of_card(card: &str, readings: &[HostReading]) -> Vec<ResourceUse> {
    rows(&format!("{card} "), readings)
}

/// Those between interfaces and protocols, of CPUs that have work of them.
pub(super) fn backlogs(readings: &[HostReading]) -> Vec<ResourceUse> {
    let mut found = rows("backlog of ", readings);
    found.retain(|row| mean(readings, "queue_packets", &row.name).unwrap_or(0.0) > 0.0);
    found
}

/// Rows whose names begin so, in the order of their numbers.
fn rows(lead: &str, readings: &[HostReading]) -> Vec<ResourceUse> {
    let of_queues = readings.iter().filter(|r| r.quantity.starts_with("queue_"));
    let named = of_queues.filter(|r| r.instance.starts_with(lead));
    let mut names: Vec<&str> = named.map(|r| r.instance.as_str()).collect();
    let number = |name: &str| -> u32 {
        let digits = name.rsplit(|c: char| !c.is_ascii_digit()).next();
        digits.and_then(|text| text.parse().ok()).unwrap_or(0)
    };
    names.sort_by_key(|name| {
        (
            name.trim_end_matches(|c: char| c.is_ascii_digit()),
            number(name),
        )
    });
    names.dedup();
    let names = names.into_iter();
    names
        .map(|name| resource("queue", name, name, QUEUE, readings))
        .collect()
}
