//! A device that stands still again and again: each time shorter than a hang, together
//! a good part of the time. Averages over the recording look fine.

use fathom_rules::diagnosis::standstills::{
    LEAST_TIMES, SHORTEST_S, THRESHOLD, TWICE_SHARE, USUAL_GAPS,
};

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
    let times = f64::from(most.times);
    let is_often = times >= LEAST_TIMES || (most.times == 2 && share >= TWICE_SHARE);
    let is_lasting = share >= THRESHOLD && is_often;
    is_lasting.then(|| {
        format!(
            "{}: paused {} times, {:.0} % of the time: requests were in flight, and none completed for {:.1} s \
             on average",
            most.name,
            most.times,
            100.0 * share,
            most.seconds / f64::from(most.times)
        )
    })
}

struct Standstills<'a> {
    name: &'a str,
    times: u32,
    seconds: f64,
}

fn of_device<'a>(recording: &Recording, name: &'a str) -> Option<Standstills<'a>> {
    looked_for(recording, name).or_else(|| in_samples(recording, name))
}

/// By the pauses that were looked for between samples.
fn looked_for<'a>(recording: &Recording, name: &'a str) -> Option<Standstills<'a>> {
    let samples = recording.moments.iter().filter_map(|moment| {
        let disk = moment.disks.iter().find(|disk| disk.name == name)?;
        Some((disk, seconds(moment)))
    });
    let (mut pauses, mut in_use_s, mut completions) = (Vec::new(), 0.0, 0.0);
    for (disk, seconds) in samples {
        pauses.extend(disk.pauses_s.iter().flatten().copied());
        in_use_s += disk.util? * seconds;
        completions += disk.completions() * seconds;
    }
    let usual_s = (in_use_s - pauses.iter().sum::<f64>()).max(0.0) / completions;
    let least_s = SHORTEST_S.max(USUAL_GAPS * usual_s);
    pauses.retain(|pause_s| *pause_s >= least_s);
    (!pauses.is_empty()).then(|| Standstills {
        name,
        times: u32::try_from(pauses.len()).unwrap_or(u32::MAX),
        seconds: pauses.iter().sum(),
    })
}

/// By samples in which nothing was completed.
fn in_samples<'a>(recording: &Recording, name: &'a str) -> Option<Standstills<'a>> {
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
            line.starts_with("sda: paused 5 times, 25 % of the time"),
            "{line}"
        );
    }

    /// Twenty seconds of a device that is always in use, with a pause in each second.
    fn paused(pause_s: f64, reads: f64) -> Recording {
        let mut recording = recording(&[false; 20]);
        for moment in &mut recording.moments {
            moment.disks[0].pauses_s = Some(vec![pause_s]);
            moment.disks[0].reads = reads;
        }
        recording
    }

    #[test]
    fn pauses_between_samples_count_where_they_were_looked_for() {
        let line = line(&paused(0.4, 500.0)).unwrap();
        let expected = "sda: paused 20 times, 40 % of the time";
        assert!(line.starts_with(expected), "{line}");
        assert!(line.ends_with("for 0.4 s on average"), "{line}");
    }

    #[test]
    fn large_requests_of_a_slow_device_are_no_pauses() {
        assert_eq!(line(&paused(0.4, 2.0)), None);
        assert_eq!(line(&paused(0.25, 500.0)), None, "short");
    }

    #[test]
    fn one_pause_or_few_seconds_are_not_enough() {
        let once: Vec<bool> = (0..20).map(|second| (5..9).contains(&second)).collect();
        assert_eq!(line(&recording(&once)), None);
        let twice: Vec<bool> = (0..20).map(|second| second % 12 < 4).collect();
        assert!(
            line(&recording(&twice)).is_some(),
            "two that take two fifths"
        );
        let rare: Vec<bool> = (0..60).map(|second| second % 20 == 3).collect();
        assert_eq!(line(&recording(&rare)), None);
        assert_eq!(line(&Recording::default()), None);
    }
}
