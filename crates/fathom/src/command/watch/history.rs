//! What was seen lately, and what it means at any instant of it.

use std::collections::VecDeque;

use fathom_diagnose::recording::{Moment, RecordedHost, Recording};
use fathom_model::diagnosis::Diagnosis;

/// Moments that are kept.
const MOST_MOMENTS: usize = 1800;
/// Moments that an answer is for.
const WINDOW: usize = 30;

/// Moments in the order of time. Each has a number that stays its own.
pub(super) struct History {
    host: RecordedHost,
    moments: VecDeque<Moment>,
    /// Number of the first one that is kept.
    first: u64,
}

/// One moment, with what came before it.
pub(super) struct Seen<'a> {
    pub(super) moment: &'a Moment,
    /// How many moments before the latest one.
    pub(super) back: u64,
    pub(super) found: Diagnosis,
    /// Moments before it and itself, the latest last.
    before: Vec<&'a Moment>,
}

impl Seen<'_> {
    /// Queues of a device up to this moment, the latest last.
    pub(super) fn queues(&self, disk: &str) -> Vec<f64> {
        let queue = |moment: &&Moment| {
            let found = moment.disks.iter().find(|d| d.name == disk);
            found.and_then(|disk| disk.queue).unwrap_or(0.0)
        };
        self.before.iter().map(queue).collect()
    }
}

impl History {
    pub(super) fn new(host: RecordedHost) -> History {
        History {
            host,
            moments: VecDeque::new(),
            first: 0,
        }
    }

    pub(super) fn host(&self) -> &RecordedHost {
        &self.host
    }

    pub(super) fn push(&mut self, moment: Moment) {
        if self.moments.len() == MOST_MOMENTS {
            self.moments.pop_front();
            self.first += 1;
        }
        self.moments.push_back(moment);
    }

    /// Numbers of the oldest and the latest moment.
    pub(super) fn span(&self) -> Option<(u64, u64)> {
        let count = self.moments.len() as u64;
        (count > 0).then(|| (self.first, self.first + count - 1))
    }

    pub(super) fn live(&self) -> Option<Seen<'_>> {
        self.at(None)
    }

    /// The moment of this number, or the nearest one that is kept; the latest
    /// without a number.
    pub(super) fn at(&self, number: Option<u64>) -> Option<Seen<'_>> {
        let (oldest, latest) = self.span()?;
        let number = number.map_or(latest, |number| number.clamp(oldest, latest));
        let place = usize::try_from(number - oldest).ok()?;
        let from = (place + 1).saturating_sub(WINDOW);
        let before: Vec<&Moment> = self.moments.range(from..=place).collect();
        let window = Recording {
            host: self.host.clone(),
            source: "this host, live".to_owned(),
            moments: before.iter().copied().cloned().collect(),
            remarks: Vec::new(),
        };
        Some(Seen {
            moment: self.moments.get(place)?,
            back: latest - number,
            found: fathom_diagnose::diagnose(&window, |_| None),
            before,
        })
    }
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
        assert_eq!(history.live().unwrap().back, 0);
    }
}
