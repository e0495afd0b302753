//! Commit latency of disks from the times of their flushes: the 95th percentile
//! of the means of intervals, over half a minute at a time.

use std::collections::BTreeMap;

use fathom_model::machine::HostReading;
use fathom_rules::alarm::commit_latency::{PERCENTILE as SHARE, WINDOW_SECONDS};

use crate::series::Series;

/// `commit_latency` of each disk whose flushes are told.
pub(super) fn commit_latencies(readings: &[HostReading]) -> Vec<HostReading> {
    let mut windows: BTreeMap<&str, Vec<&HostReading>> = BTreeMap::new();
    let mut found = Vec::new();
    let of_flushes = readings.iter().filter(|r| r.quantity == "disk_flush_wait");
    for reading in of_flushes {
        let window = windows.entry(&reading.instance).or_default();
        let begun = window.first().map(|first| first.at_seconds - first.seconds);
        // A window ends by its length, and where time goes back: another file.
        let ended = |begun: f64| {
            let length = reading.at_seconds - begun;
            !(0.0..=WINDOW_SECONDS).contains(&length)
        };
        if begun.is_some_and(ended) {
            found.extend(latency(window));
            window.clear();
        }
        window.push(reading);
    }
    found.extend(windows.values().filter_map(|window| latency(window)));
    found
}

fn latency(window: &[&HostReading]) -> Option<HostReading> {
    let (first, last) = (window.first()?, window.last()?);
    let times: Series = window.iter().map(|r| (r.value, r.seconds)).collect();
    Some(HostReading {
        quantity: "commit_latency".to_owned(),
        instance: last.instance.clone(),
        value: times.quantile(SHARE)?,
        at_seconds: last.at_seconds,
        seconds: last.at_seconds - (first.at_seconds - first.seconds),
        operations: 0.0,
    })
}
