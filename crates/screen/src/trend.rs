//! How a figure of a device went over the last minutes, as bars of one line.

use fathom_diagnose::recording::DiskMoment;
use fathom_model::unit;

use crate::history::Seen;

/// Bars from low to high.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A figure over time, one value for each cell of a line, the latest last.
pub(crate) struct Trend {
    /// The highest reading of each cell; none before the first reading.
    pub(crate) values: Vec<Option<f64>>,
    /// The time that all cells stand for, where the readings tell their length.
    pub(crate) seconds: Option<f64>,
}

impl Trend {
    /// Of a device, over at least so many readings. Cells begin at the same readings
    /// from one picture to the next, so that bars move and do not change.
    pub(crate) fn of(
        seen: &Seen<'_>,
        disk: &str,
        cells: usize,
        least: usize,
        figure: fn(&DiskMoment) -> Option<f64>,
    ) -> Trend {
        let each = least.div_ceil(cells.max(1)).max(1) as u64;
        let mut values = vec![None; cells];
        let mut last = None;
        for (number, moment) in seen.readings() {
            let group = number / each;
            let back = usize::try_from(*last.get_or_insert(group) - group).unwrap_or(usize::MAX);
            let Some(cell) = cells
                .checked_sub(back.saturating_add(1))
                .and_then(|place| values.get_mut(place))
            else {
                break;
            };
            let reading = moment.disks.iter().find(|d| d.name == disk);
            if let Some(value) = reading.and_then(figure) {
                let most = cell.unwrap_or(value).max(value);
                *cell = Some(most);
            }
        }
        let each_seconds = seen.moment.seconds.map(|seconds| seconds * each as f64);
        Trend {
            values,
            seconds: each_seconds.map(|seconds| seconds * cells as f64),
        }
    }

    /// The highest value.
    pub(crate) fn most(&self) -> f64 {
        self.values.iter().flatten().copied().fold(0.0, f64::max)
    }

    /// The bars, the highest one full. A blank is a time without a reading, and a
    /// dot is nothing.
    pub(crate) fn bars(&self) -> String {
        let most = self.most();
        let bar = |value: &Option<f64>| match value {
            None => ' ',
            Some(value) if *value <= 0.0 || most <= 0.0 => '·',
            Some(value) => {
                let place = (value / most * BARS.len() as f64).ceil() as usize;
                BARS[place.clamp(1, BARS.len()) - 1]
            }
        };
        self.values.iter().map(bar).collect()
    }

    /// `2 min`: how long it is.
    pub(crate) fn length(&self) -> String {
        match self.seconds {
            Some(seconds) => unit::span((seconds.max(1.0).round() * 1e9) as u64),
            None => unit::counted(self.values.len() as u64, "reading"),
        }
    }
}

#[cfg(test)]
mod tests {
    use fathom_diagnose::recording::{Moment, RecordedHost};

    use super::*;
    use crate::history::History;

    fn history(rates: &[f64]) -> History {
        let mut history = History::new(RecordedHost::default());
        for rate in rates {
            history.push(Moment {
                seconds: Some(1.0),
                disks: vec![DiskMoment {
                    name: "sda".to_owned(),
                    reads: *rate,
                    ..DiskMoment::default()
                }],
                ..Moment::default()
            });
        }
        history
    }

    fn bars(rates: &[f64], cells: usize, least: usize) -> String {
        let history = history(rates);
        let seen = history.live().unwrap();
        Trend::of(&seen, "sda", cells, least, |disk| Some(disk.operations())).bars()
    }

    #[test]
    fn each_reading_has_a_bar_and_nothing_a_dot() {
        assert_eq!(bars(&[0.0, 1.0, 4.0, 8.0], 6, 0), "  ·▁▄█");
        assert_eq!(bars(&[1.0, 2.0, 8.0, 4.0, 0.0], 3, 0), "█▄·");
    }

    #[test]
    fn a_cell_shows_its_highest_reading() {
        // Readings 0 and 1, 2 and 3, and 4 so far.
        assert_eq!(bars(&[8.0, 1.0, 2.0, 4.0, 1.0], 3, 6), "█▄▁");
        let history = history(&[1.0; 9]);
        let seen = history.live().unwrap();
        let trend = Trend::of(&seen, "sda", 12, 120, |disk| Some(disk.reads));
        assert_eq!(trend.length(), "2 min");
        assert_eq!(trend.values.iter().flatten().count(), 1);
    }

    #[test]
    fn unknown_devices_have_no_bars() {
        let history = history(&[1.0, 2.0]);
        let seen = history.live().unwrap();
        let trend = Trend::of(&seen, "sdb", 4, 4, |disk| Some(disk.reads));
        assert_eq!(trend.bars(), "    ");
        assert_eq!(trend.most(), 0.0);
    }
}
