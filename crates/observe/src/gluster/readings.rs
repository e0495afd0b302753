//! Numbers by name from a volume profile, for the alarms.

use fathom_model::machine::HostReading;

use super::{GlusterProfile, GlusterStats};

/// `member_wait` of each brick: the mean time of its operations that are timed,
/// in the last interval where it did any, else since the profile was started.
pub fn gluster_readings(profile: &GlusterProfile) -> Vec<HostReading> {
    let bricks = profile.bricks.iter();
    let found = bricks.filter_map(|brick| {
        let interval = brick.interval.as_ref().and_then(reading);
        let (value, seconds) = interval.or_else(|| brick.cumulative.as_ref().and_then(reading))?;
        Some(HostReading {
            quantity: "member_wait".to_owned(),
            instance: brick.name.clone(),
            value,
            at_seconds: seconds,
            seconds,
            operations: 0.0,
        })
    });
    found.collect()
}

/// Mean time in seconds, and the seconds that were counted.
fn reading(stats: &GlusterStats) -> Option<(f64, f64)> {
    let timed = stats.operations.values().filter(|one| one.mean_ns > 0.0);
    let calls: f64 = timed.clone().map(|one| one.calls as f64).sum();
    let time_ns: f64 = timed.map(|one| one.mean_ns * one.calls as f64).sum();
    (calls > 0.0).then(|| (time_ns / calls / 1e9, stats.duration_s as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gluster::{GlusterBrick, GlusterOperation};

    #[test]
    fn the_last_interval_counts_where_it_has_timed_operations() {
        let stats = |mean_ns: f64, duration_s: u64| {
            let one = |calls: u64, mean_ns: f64| GlusterOperation {
                calls,
                mean_ns,
                ..GlusterOperation::default()
            };
            let operations = [
                ("WRITE".to_owned(), one(3, mean_ns)),
                ("FSYNC".to_owned(), one(1, 5.0 * mean_ns)),
                ("RELEASE".to_owned(), one(100, 0.0)),
            ];
            Some(GlusterStats {
                operations: operations.into(),
                duration_s,
                ..GlusterStats::default()
            })
        };
        let brick = |name: &str, interval| GlusterBrick {
            name: name.to_owned(),
            cumulative: stats(1e6, 900),
            interval,
        };
        let bricks = vec![
            brick("h1:/b", stats(1e8, 10)),
            brick("h2:/b", stats(0.0, 10)),
        ];
        let found = gluster_readings(&GlusterProfile { bricks });
        let shown: Vec<_> = found
            .iter()
            .map(|r| (r.instance.as_str(), r.value, r.seconds))
            .collect();
        assert_eq!(shown, [("h1:/b", 0.2, 10.0), ("h2:/b", 0.002, 900.0)]);
    }
}
