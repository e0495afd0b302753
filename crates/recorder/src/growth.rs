//! How far counters grew between two readings.

use std::collections::HashMap;
use std::sync::Arc;

use crate::frame::{Frame, Row};
use crate::kind::{ABSENT, Kind, Nature};

/// No counter of 32 bits grows by this much between two readings: it tells one
/// that wrapped from one that started again.
const WRAP_GROWTH_LIMIT: u64 = 1 << 28;
/// A thing that was not seen for so long counts from anew.
const FORGET_NS: u64 = 900_000_000_000;

/// Growth of a counter; one that went back and did not wrap started again, so
/// that what it shows is what happened since.
pub fn growth(now: u64, last: u64) -> u64 {
    if let Some(grown) = now.checked_sub(last) {
        return grown;
    }
    match now.saturating_add(1 << 32).checked_sub(last) {
        Some(wrapped) if last <= u64::from(u32::MAX) && wrapped < WRAP_GROWTH_LIMIT => wrapped,
        _ => now,
    }
}

/// One thing between two readings.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What it is.
    pub kind: Kind,
    /// Which one.
    pub name: Arc<str>,
    /// Seconds between the two readings of it.
    pub seconds: f64,
    /// Growth of counters, values of gauges; [`ABSENT`] where there is none.
    pub values: Vec<u64>,
}

impl Change {
    /// Growth, or a gauge's value.
    pub fn value(&self, place: usize) -> Option<u64> {
        self.values.get(place).copied().filter(|v| *v != ABSENT)
    }

    /// Growth as a number, 0 where there is none.
    pub fn grown(&self, place: usize) -> f64 {
        self.value(place).unwrap_or(0) as f64
    }

    /// Growth per second, 0 where there is none.
    pub fn per_second(&self, place: usize) -> f64 {
        debug_assert!(
            self.seconds > 0.0,
            "{:?} {} is a state, which has no rate",
            self.kind,
            self.name
        );
        self.grown(place) / self.seconds
    }
}

/// Remembers what was last seen of each thing.
#[derive(Debug, Default)]
pub struct Growth {
    last: HashMap<(Kind, Arc<str>), (u64, Vec<u64>)>,
    frames: u64,
}

impl Growth {
    /// What changed since things were last seen. A thing that is new has no
    /// change, save one whose values are all gauges.
    pub fn advance(&mut self, frame: &Frame) -> Vec<Change> {
        let now_ns = frame.at.monotonic_ns;
        let changes = frame.rows.iter().filter_map(|row| self.change(row, now_ns));
        let changes = changes.collect();
        self.frames += 1;
        if self.frames.is_multiple_of(512) {
            self.last
                .retain(|_, (seen_ns, _)| now_ns.saturating_sub(*seen_ns) < FORGET_NS);
        }
        changes
    }

    fn change(&mut self, row: &Row, now_ns: u64) -> Option<Change> {
        let fields = row.kind.fields();
        let change = |seconds: f64, values: Vec<u64>| Change {
            kind: row.kind,
            name: Arc::clone(&row.name),
            seconds,
            values,
        };
        if fields.iter().all(|field| field.nature == Nature::Gauge) {
            return Some(change(0.0, row.values.clone()));
        }
        let key = (row.kind, Arc::clone(&row.name));
        let (last_ns, last) = self.last.insert(key, (now_ns, row.values.clone()))?;
        let passed_ns = now_ns.checked_sub(last_ns)?;
        if passed_ns == 0 || passed_ns > FORGET_NS {
            return None;
        }
        let values = fields.iter().enumerate().map(|(place, field)| {
            let now = row.values.get(place).copied().unwrap_or(ABSENT);
            let last = last.get(place).copied().unwrap_or(ABSENT);
            match field.nature {
                Nature::Gauge => now,
                Nature::Counter if now == ABSENT || last == ABSENT => ABSENT,
                Nature::Counter => growth(now, last),
            }
        });
        Some(change(passed_ns as f64 / 1e9, values.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Instant;
    use crate::kind::disk;

    fn frame(seconds: u64, reads: u64, read_ms: u64) -> Frame {
        let mut row = Row::absent(Kind::Disk, "sda".into());
        row.values[disk::READS] = reads;
        row.values[disk::READ_MS] = read_ms;
        row.values[disk::IN_FLIGHT] = 3;
        let at = Instant {
            unix_ms: 0,
            monotonic_ns: seconds * 1_000_000_000,
        };
        Frame {
            at,
            rows: vec![row],
        }
    }

    #[test]
    fn counters_grow_wrap_and_start_again() {
        assert_eq!(growth(7, 5), 2);
        assert_eq!(growth(4, (1 << 32) - 6), 10);
        assert_eq!(growth(4, 1 << 40), 4);
        assert_eq!(growth(4, 1_000), 4);
        // Of a damaged file.
        assert_eq!(growth(u64::MAX - 1, u64::MAX), u64::MAX - 1);
    }

    #[test]
    fn rates_are_over_the_time_between_two_sights() {
        let mut growth = Growth::default();
        assert!(growth.advance(&frame(10, 100, 5)).is_empty());
        let changes = growth.advance(&frame(12, 140, 25));
        assert_eq!(changes[0].per_second(disk::READS), 20.0);
        assert_eq!(changes[0].value(disk::IN_FLIGHT), Some(3));
        assert_eq!(changes[0].value(disk::FLUSHES), None);
        // Not seen for a while: the rate is over the whole of it.
        let mut empty = frame(13, 0, 0);
        empty.rows.clear();
        assert!(growth.advance(&empty).is_empty());
        let changes = growth.advance(&frame(22, 150, 25));
        assert_eq!(changes[0].per_second(disk::READS), 1.0);
    }
}
