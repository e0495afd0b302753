//! Is a second recording one of a test load on the same volume?
//!
//! What a test reached is a ceiling only where it asked for more than the load
//! did. Two views of one time, or of one kind of load, reach the same as one
//! another whatever the volume can give.

use jiff::civil::DateTime;

use fathom_rules::diagnosis::test_load::{NEAR_MOST, SAME_TIME, THRESHOLD as CLEARLY_MORE};
use fathom_rules::method::observed::PEAK_QUANTILE;

use crate::load::{self, Samples};
use crate::plateau;
use crate::recording::Recording;
use crate::series::Series;

/// Whether two recordings can be of one host: where both tell its name, it is
/// the same, with or without its domain.
pub fn same_host(one: &Recording, other: &Recording) -> bool {
    let (Some(one), Some(other)) = (&one.host.name, &other.host.name) else {
        return true;
    };
    let within = |long: &str, short: &str| {
        let rest = long.strip_prefix(short);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    within(one, other) || within(other, one)
}

/// Whether two recordings are of the same time, where both tell theirs.
pub fn same_time(one: &Recording, other: &Recording) -> bool {
    let (Some(one), Some(other)) = (span(one), span(other)) else {
        return false;
    };
    let length = |(from, to): (DateTime, DateTime)| to.duration_since(from).as_secs_f64();
    let both = length((one.0.max(other.0), one.1.min(other.1)));
    both > 0.0 && both >= SAME_TIME * length(one).min(length(other))
}

/// From the beginning of the first interval to the end of the last one.
fn span(recording: &Recording) -> Option<(DateTime, DateTime)> {
    let first = recording.moments.first()?;
    let to = recording.moments.last()?.at?;
    let seconds = jiff::SignedDuration::try_from_secs_f64(load::seconds(first)).ok()?;
    Some((first.at?.checked_sub(seconds).ok()?, to))
}

/// Why a second recording shows no ceiling of the device that is judged, in
/// words; nothing where it does.
pub fn no_test_load(load: &Recording, second: &Recording) -> Option<String> {
    let judged = load::disks(load).into_iter().next()?;
    let (all, tested) = (load::by_disk(load), load::by_disk(second));
    let of_load = all.get(judged.name.as_str())?;
    let Some(of_test) = tested.get(judged.name.as_str()) else {
        return Some(format!("the second recording holds no {}", judged.name));
    };
    let more = |of: fn(&Samples<'_>) -> Option<f64>| {
        let pair = of(of_test).zip(of(of_load));
        pair.is_some_and(|(test, load)| test >= CLEARLY_MORE * load)
    };
    let asked = more(in_flight) || more(rate) || plateau::find(of_test).is_some();
    (!asked).then(|| {
        format!(
            "the second recording is not a test load: it asked {} for no more than the load did",
            judged.name
        )
    })
}

/// In flight while the device does most.
fn in_flight(samples: &Samples<'_>) -> Option<f64> {
    let most = NEAR_MOST * rate(samples)?;
    let busy = samples.iter().filter(|(disk, _)| disk.operations() >= most);
    let queues = busy.filter_map(|(disk, seconds)| Some((disk.in_flight()?, *seconds)));
    queues.collect::<Series>().mean()
}

/// The rate that is held for a twentieth of the time.
fn rate(samples: &Samples<'_>) -> Option<f64> {
    let rates = samples.iter().map(|(disk, s)| (disk.operations(), *s));
    rates.collect::<Series>().quantile(PEAK_QUANTILE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{DiskMoment, Moment};

    /// A minute from this second on, by what its samples show.
    fn minute(from: i32, queue: f64, rate: impl Fn(i32) -> f64) -> Recording {
        let at = |second| {
            let noon = jiff::civil::date(2026, 11, 21).at(12, 0, 0, 0);
            noon.checked_add(jiff::SignedDuration::from_secs(i64::from(second)))
        };
        let moments = (1..=60).map(|second| Moment {
            at: at(from + second).ok(),
            seconds: Some(1.0),
            disks: vec![DiskMoment {
                name: "sda".to_owned(),
                reads: rate(second),
                read_wait_ms: Some(1000.0 * queue / rate(second)),
                write_wait_ms: Some(0.0),
                queue: Some(queue),
                ..DiskMoment::default()
            }],
            ..Moment::default()
        });
        Recording {
            moments: moments.collect(),
            ..Recording::default()
        }
    }

    #[test]
    fn recordings_of_one_time_are_known() {
        let of = |from| minute(from, 1.0, |_| 100.0);
        assert!(same_time(&of(0), &of(0)) && same_time(&of(0), &of(50)));
        // One after the other shares no more than an edge.
        assert!(!same_time(&of(0), &of(60)) && !same_time(&of(0), &of(57)));
        let mut untimed = of(0);
        untimed.moments[0].at = None;
        assert!(!same_time(&of(0), &untimed));
    }

    #[test]
    fn a_host_is_the_same_with_and_without_its_domain() {
        let named = |name: &str| {
            let mut recording = Recording::default();
            recording.host.name = Some(name.to_owned());
            recording
        };
        assert!(same_host(&named("db1"), &named("db1.acme.example")));
        assert!(same_host(&named("db1"), &Recording::default()));
        assert!(!same_host(&named("db1"), &named("db12")));
    }

    #[test]
    fn a_test_asks_for_more_than_the_load() {
        let load = minute(0, 4.0, |second| 300.0 + f64::from(second % 3));
        // The same again, and less.
        for queue in [1.0, 4.0] {
            let why = no_test_load(&load, &minute(90, queue, |_| 300.0));
            assert!(why.is_some_and(|why| why.contains("no more than the load did")));
        }
        // Longer queues, or more operations.
        assert_eq!(no_test_load(&load, &minute(90, 32.0, |_| 300.0)), None);
        assert_eq!(no_test_load(&load, &minute(90, 4.0, |_| 900.0)), None);
        let mut elsewhere = minute(90, 32.0, |_| 300.0);
        for disk in elsewhere.moments.iter_mut().flat_map(|m| &mut m.disks) {
            disk.name = "sdb".to_owned();
        }
        let why = no_test_load(&load, &elsewhere).expect("another device");
        assert_eq!(why, "the second recording holds no sda");
    }
}
