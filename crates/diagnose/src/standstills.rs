//! A device that stands still again and again: each time shorter than a hang, together
//! a good part of the time. Averages over the recording look fine.

use fathom_rules::diagnosis::standstills::{LEAST_TIMES, THRESHOLD};

use crate::hung_device::is_stuck;
use crate::load::{self, seconds};
use crate::recording::Recording;

/// The device that stood still for most of the time, in one line, where it did so for long
/// enough.
pub(crate) fn line(recording: &Recording) -> Option<String> {
    let all: f64 = recording.moments.iter().map(seconds).sum();
    let names = load::by_disk(recording);
    let found = names.keys().filter_map(|name| of_device(recording, name));
    let most = found.max_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
    let share = most.seconds / all;
    let is_lasting = share >= THRESHOLD && f64::from(most.times) >= LEAST_TIMES;
    is_lasting.then(|| {
        format!(
            "{}: stood still {} times, {:.0} % of the time: requests in flight, and none completed in a \
             whole second",
            most.name,
            most.times,
            100.0 * share
        )
    })
}

struct Standstills<'a> {
    name: &'a str,
    times: u32,
    seconds: f64,
}

fn of_device<'a>(recording: &Recording, name: &'a str) -> Option<Standstills<'a>> {
    let mut found = Standstills {
        name,
        times: 0,
        seconds: 0.0,
    };
    let mut was_stuck = false;
    let mut has_worked = false;
    for moment in &recording.moments {
        let disk = moment.disks.iter().find(|disk| disk.name == name);
        let stuck = disk.is_some_and(is_stuck);
        has_worked |= disk.is_some_and(|disk| disk.completions() > 0.0);
        found.times += u32::from(stuck && !was_stuck);
        found.seconds += if stuck { seconds(moment) } else { 0.0 };
        was_stuck = stuck;
    }
    // One that never completes anything is another matter.
    (has_worked && found.times > 0).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{DiskMoment, Moment};

    fn recording(stuck: &[bool]) -> Recording {
        let moment = |stuck: &bool| Moment {
            seconds: Some(1.0),
            disks: vec![DiskMoment {
                name: "sda".to_owned(),
                reads: if *stuck { 0.0 } else { 700.0 },
                outstanding: Some(if *stuck { 4.0 } else { 1.0 }),
                util: Some(1.0),
                ..DiskMoment::default()
            }],
            ..Moment::default()
        };
        Recording {
            moments: stuck.iter().map(moment).collect(),
            ..Recording::default()
        }
    }

    #[test]
    fn pauses_that_come_again_are_named_with_their_share() {
        let pauses: Vec<bool> = (0..20).map(|second| second % 4 == 3).collect();
        let line = line(&recording(&pauses)).unwrap();
        assert!(
            line.starts_with("sda: stood still 5 times, 25 % of the time"),
            "{line}"
        );
    }

    #[test]
    fn one_pause_or_few_seconds_are_not_enough() {
        let once: Vec<bool> = (0..20).map(|second| (5..9).contains(&second)).collect();
        assert_eq!(line(&recording(&once)), None);
        let rare: Vec<bool> = (0..60).map(|second| second % 20 == 3).collect();
        assert_eq!(line(&recording(&rare)), None);
        assert_eq!(line(&Recording::default()), None);
    }
}
