//! What was seen lately, and what it means at any instant of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use fathom_diagnose::recording::{DiskMoment, Moment, RecordedHost, Recording};
use fathom_model::diagnosis::{Diagnosis, DiskLoad};
use fathom_model::unit;
use fathom_observe::DevicePlace;

/// Moments that are kept of a live host.
const MOST_MOMENTS: usize = 1800;
/// Moments that are kept of a recording: a day of one a second.
const MOST_RECORDED: usize = 86_400;
/// A distance of so many intervals is a time without readings.
const GAP_INTERVALS: f64 = 10.0;
/// Moments that an answer is for.
const WINDOW: usize = 30;

/// Moments in the order of time. Each has a number that stays its own.
pub struct History {
    host: RecordedHost,
    moments: VecDeque<Moment>,
    /// Number of the first one that is kept.
    first: u64,
    /// Names of devices that ever did something.
    active: BTreeSet<String>,
    /// Where devices are mounted and what they lie on, where that is known.
    places: BTreeMap<String, DevicePlace>,
    /// Of a recording; else this host, live.
    recorded: bool,
    source: String,
}

/// One moment, with what came before it.
pub struct Seen<'a> {
    pub(crate) moment: &'a Moment,
    /// How many moments before the latest one.
    pub(crate) back: u64,
    pub(crate) found: Diagnosis,
    /// Its place and the number of moments, of a recording.
    pub(crate) place: Option<(u64, u64)>,
    /// Seconds before it in which nothing was recorded.
    pub(crate) gap_seconds: Option<f64>,
    /// Its number, and all moments with the number of the first.
    number: u64,
    first: u64,
    moments: &'a VecDeque<Moment>,
    /// Devices that ever did something.
    active: &'a BTreeSet<String>,
    places: &'a BTreeMap<String, DevicePlace>,
}

/// Devices of which there are many that nobody uses: `loop3`, `ram0`.
fn is_made_in_advance(name: &str) -> bool {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
    bare != name && matches!(bare, "loop" | "ram" | "zram" | "nbd")
}

impl<'a> Seen<'a> {
    /// Whether it is of a recording.
    pub(crate) fn is_recorded(&self) -> bool {
        self.place.is_some()
    }

    /// Readings in a graph: `live` of a live host, and of a recording at most as many as
    /// it has.
    pub(crate) fn graphed_readings(&self, live: usize) -> usize {
        self.recorded_readings().map_or(live, |all| all.min(live))
    }

    /// All readings of a recording.
    pub(crate) fn recorded_readings(&self) -> Option<usize> {
        let (_, all) = self.place?;
        usize::try_from(all).ok()
    }

    /// Whether a device is shown among others: of those that systems make in
    /// advance only the ones that ever did something.
    pub(crate) fn is_of_interest(&self, disk: &DiskMoment) -> bool {
        !is_made_in_advance(&disk.name)
            || self.active.contains(&disk.name)
            // One that hangs completes nothing and still has its queue.
            || disk.in_flight().is_some_and(|queue| queue > 0.0)
    }

    /// The time that the verdict is for: `last 30 s`.
    pub(crate) fn window(&self) -> String {
        match self.found.seconds {
            seconds if seconds > 0.0 => format!("last {}", whole_span(seconds)),
            _ => format!(
                "last {}",
                unit::counted(self.found.samples.into(), "reading")
            ),
        }
    }

    /// The time that this moment is for: `now (1 s)`, and in the past `then (1 s)`.
    pub(crate) fn instant(&self) -> String {
        let word = match self.back > 0 || self.is_recorded() {
            true => "then",
            false => "now",
        };
        match self.moment.seconds {
            Some(seconds) => format!("{word} ({})", whole_span(seconds)),
            None => word.to_owned(),
        }
    }

    /// What a device did in the time of the verdict; nothing where it did nothing.
    pub(crate) fn load(&self, disk: &str) -> Option<&DiskLoad> {
        self.found.disks.iter().find(|load| load.name == disk)
    }

    /// Where a device is, as far as that is known.
    pub(crate) fn place_of(&self, disk: &str) -> Option<&'a DevicePlace> {
        self.places.get(disk)
    }

    /// The latest readings of a device up to this moment, at most so many, the
    /// latest last.
    pub(crate) fn latest(&self, disk: &str, most: usize) -> Vec<&'a DiskMoment> {
        let mut found: Vec<&DiskMoment> = self
            .readings()
            .take(most)
            .filter_map(|(_, moment)| moment.disks.iter().find(|d| d.name == disk))
            .collect();
        found.reverse();
        found
    }

    /// The moments up to this one with their numbers, the latest first.
    pub(crate) fn readings(&self) -> impl Iterator<Item = (u64, &'a Moment)> + use<'a> {
        let end = usize::try_from(self.number - self.first).map_or(0, |place| place + 1);
        let numbers = self.first..=self.number;
        numbers.rev().zip(self.moments.range(..end).rev())
    }
}

/// A length without the parts of a second that no reading keeps exactly.
fn whole_span(seconds: f64) -> String {
    let seconds = match seconds {
        short if short < 0.95 => short,
        long => long.round(),
    };
    unit::span((seconds * 1e9) as u64)
}

impl History {
    /// Nothing was seen yet of a live host.
    #[must_use]
    pub fn new(host: RecordedHost) -> History {
        History {
            host,
            moments: VecDeque::new(),
            first: 0,
            active: BTreeSet::new(),
            places: BTreeMap::new(),
            recorded: false,
            source: "this host, live".to_owned(),
        }
    }

    /// All of a recording, or its last day where it is longer.
    #[must_use]
    pub fn of(recording: Recording) -> History {
        let mut moments = VecDeque::from(recording.moments);
        let first = moments.len().saturating_sub(MOST_RECORDED);
        moments.drain(..first);
        let mut active = BTreeSet::new();
        for moment in &moments {
            note_active(&mut active, moment);
        }
        History {
            active,
            host: recording.host,
            moments,
            first: first as u64,
            places: BTreeMap::new(),
            recorded: true,
            source: recording.source,
        }
    }

    /// All moments, the oldest first, with their numbers.
    pub fn all(&self) -> impl Iterator<Item = (u64, &Moment)> {
        (self.first..).zip(&self.moments)
    }

    /// Whose moments they are.
    #[must_use]
    pub fn host(&self) -> &RecordedHost {
        &self.host
    }

    /// Says where devices are mounted and what they lie on.
    pub fn locate(&mut self, places: BTreeMap<String, DevicePlace>) {
        self.places = places;
    }

    /// Adds the latest moment; the oldest may have to go.
    pub fn push(&mut self, moment: Moment) {
        if self.moments.len() == MOST_MOMENTS {
            self.moments.pop_front();
            self.first += 1;
        }
        note_active(&mut self.active, &moment);
        self.moments.push_back(moment);
    }

    /// Numbers of the oldest and the latest moment.
    pub(crate) fn span(&self) -> Option<(u64, u64)> {
        let count = self.moments.len() as u64;
        (count > 0).then(|| (self.first, self.first + count - 1))
    }

    /// The latest moment.
    #[must_use]
    pub fn live(&self) -> Option<Seen<'_>> {
        self.at(None)
    }

    /// The moment of this number, or the nearest one that is kept; the latest
    /// without a number.
    #[must_use]
    pub fn at(&self, number: Option<u64>) -> Option<Seen<'_>> {
        let (oldest, latest) = self.span()?;
        let number = number.map_or(latest, |number| number.clamp(oldest, latest));
        let place = usize::try_from(number - oldest).ok()?;
        let from = (place + 1).saturating_sub(WINDOW);
        let before: Vec<&Moment> = self.moments.range(from..=place).collect();
        let window = Recording {
            host: self.host.clone(),
            source: self.source.clone(),
            moments: before.iter().copied().cloned().collect(),
            remarks: Vec::new(),
        };
        Some(Seen {
            moment: self.moments.get(place)?,
            back: latest - number,
            place: self
                .recorded
                .then(|| (number - oldest + 1, latest - oldest + 1)),
            gap_seconds: gap(&before),
            found: fathom_diagnose::diagnose(&window, |_| None),
            number,
            first: self.first,
            moments: &self.moments,
            active: &self.active,
            places: &self.places,
        })
    }
}

fn note_active(active: &mut BTreeSet<String>, moment: &Moment) {
    let busy = |disk: &&DiskMoment| {
        disk.operations() + disk.discards + disk.flushes + disk.queue.unwrap_or(0.0) > 0.0
    };
    for disk in moment.disks.iter().filter(busy) {
        if !active.contains(&disk.name) {
            active.insert(disk.name.clone());
        }
    }
}

/// The time between the last two moments that neither covers.
fn gap(moments: &[&Moment]) -> Option<f64> {
    let [.., before, last] = moments else {
        return None;
    };
    let length = last.seconds?;
    let apart = last.at?.duration_since(before.at?).as_secs_f64();
    let missing = apart - length;
    (missing > GAP_INTERVALS * length.max(1.0)).then_some(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_moments_go_and_numbers_stay() {
        let mut history = History::new(RecordedHost::default());
        assert!(history.live().is_none());
        for load in 0..MOST_MOMENTS + 5 {
            history.push(Moment {
                load: Some(load as f64),
                ..Moment::default()
            });
        }
        let latest = MOST_MOMENTS as u64 + 4;
        assert_eq!(history.span(), Some((5, latest)));
        assert_eq!(history.at(Some(0)).unwrap().moment.load, Some(5.0));
        let seen = history.at(Some(latest - 3)).unwrap();
        assert_eq!(seen.back, 3);
        assert_eq!(seen.moment.load, Some(latest as f64 - 3.0));
        assert_eq!(seen.found.samples, WINDOW as u32);
        let live = history.live().unwrap();
        assert_eq!((live.back, live.graphed_readings(120)), (0, 120));
    }

    #[test]
    fn a_recording_has_places_and_tells_its_gaps() {
        let moment = |second: i8, minute: i8| Moment {
            at: Some(jiff::civil::date(2026, 11, 21).at(15, minute, second, 0)),
            seconds: Some(1.0),
            ..Moment::default()
        };
        let history = History::of(Recording {
            moments: vec![moment(1, 30), moment(2, 30), moment(3, 42)],
            ..Recording::default()
        });
        let seen = |number| history.at(Some(number)).unwrap();
        assert_eq!(seen(1).place, Some((2, 3)));
        assert_eq!(seen(1).gap_seconds, None);
        assert_eq!(seen(2).gap_seconds, Some(720.0));
        assert_eq!(history.all().count(), 3);
        assert_eq!(seen(0).recorded_readings(), Some(3));
        assert_eq!(seen(0).graphed_readings(120), 3, "no more than there are");
        assert_eq!(seen(0).graphed_readings(2), 2);
    }
}
