//! A rule for when a figure has settled: over a window of equal intervals, the
//! slope of the least-squares line through it, or its largest deviation from
//! the mean, is below a limit. This is the rule of fio's `steadystate`; unlike
//! fathom's own ladder it says nothing of bursts, caches and bytes written.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sample::{Phase, Sample};

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Operations per second.
    Iops,
    /// Bytes per second.
    Throughput,
    /// Mean service latency, nanoseconds.
    Latency,
}

/// When a figure counts as settled.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    /// What is looked at.
    pub figure: Figure,
    /// The slope per interval; else the largest deviation from the mean.
    pub slope: bool,
    /// It must be below this: percent of the mean, or the figure's own unit.
    pub limit: f64,
    /// The limit is a percentage of the mean.
    pub percent: bool,
    /// Length of the window.
    pub window_ns: u64,
    /// Time from the start of the load that is left aside.
    pub ramp_ns: u64,
    /// Length of an interval, whole seconds, at most the window.
    pub interval_ns: u64,
}

/// What the last window looks like.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SettledWindow {
    /// Operations per second of each interval.
    pub iops: Vec<u64>,
    /// Bytes per second of each interval.
    pub bytes_per_second: Vec<u64>,
    /// Mean service latency of each interval, nanoseconds.
    pub latency_ns: Vec<u64>,
    /// Slope of the least-squares line, per interval.
    pub slope: f64,
    /// Largest deviation from the mean.
    pub deviation: f64,
    /// What is held against the limit.
    pub criterion: f64,
    /// The window is full and the criterion below the limit.
    pub attained: bool,
}

impl Settled {
    /// Intervals of a window; at least 1.
    pub fn intervals(&self) -> usize {
        usize::try_from(self.window_ns / self.interval_ns.max(1)).map_or(1, |n| n.clamp(1, 86_400))
    }

    /// The last window of a trial's seconds, those of the measure phase in
    /// order. An interval that is not whole does not count.
    pub fn window<'s>(&self, samples: impl Iterator<Item = &'s Sample>) -> SettledWindow {
        let mut track = SettledTrack::new(*self);
        for sample in samples {
            track.observe(sample);
        }
        track.window()
    }

    fn judge(&self, last: &VecDeque<[u64; 3]>) -> SettledWindow {
        let column = |at: usize| last.iter().map(|figures| figures[at]).collect::<Vec<u64>>();
        let mut window = SettledWindow {
            iops: column(0),
            bytes_per_second: column(1),
            latency_ns: column(2),
            ..SettledWindow::default()
        };
        let values = match self.figure {
            Figure::Iops => &window.iops,
            Figure::Throughput => &window.bytes_per_second,
            Figure::Latency => &window.latency_ns,
        };
        if values.len() < self.intervals() {
            return window;
        }
        let mean = values.iter().map(|v| *v as f64).sum::<f64>() / values.len() as f64;
        let (slope, deviation) = (slope(values, mean), deviation(values, mean));
        let raw = if self.slope { slope } else { deviation };
        window.criterion = match self.percent {
            true if mean == 0.0 => 0.0,
            true => 100.0 * raw / mean,
            false => raw,
        };
        window.attained = window.criterion.abs() < self.limit;
        (window.slope, window.deviation) = (slope, deviation);
        window
    }
}

/// Follows a trial second by second.
#[derive(Debug)]
pub struct SettledTrack {
    rule: Settled,
    interval: Interval,
    last: VecDeque<[u64; 3]>,
}

impl SettledTrack {
    /// Before the first second.
    pub fn new(rule: Settled) -> SettledTrack {
        SettledTrack {
            rule,
            interval: Interval::default(),
            last: VecDeque::new(),
        }
    }

    /// Takes in a second; true when an interval has ended with it.
    pub fn observe(&mut self, sample: &Sample) -> bool {
        let middle_ns = sample.start_ns.saturating_add(sample.duration_ns / 2);
        // The first interval begins where the ramp has ended.
        if sample.phase != Phase::Measure || middle_ns < self.rule.ramp_ns {
            return false;
        }
        self.interval.add(sample);
        // Seconds end some microseconds early or late.
        let length_ns = self.interval.length_ns;
        if length_ns.saturating_add(length_ns / 16) < self.rule.interval_ns {
            return false;
        }
        if self.last.len() == self.rule.intervals() {
            self.last.pop_front();
        }
        debug_assert!(
            self.last.len() < self.rule.intervals(),
            "a window of {} intervals is judged as one of {}",
            self.last.len() + 1,
            self.rule.intervals()
        );
        self.last
            .push_back(std::mem::take(&mut self.interval).figures());
        true
    }

    /// What the last window looks like.
    pub fn window(&self) -> SettledWindow {
        self.rule.judge(&self.last)
    }
}

/// Seconds that are joined to an interval.
#[derive(Debug, Default)]
struct Interval {
    length_ns: u64,
    ops: u64,
    bytes: u64,
    latency_count: u64,
    latency_sum_ns: u128,
}

impl Interval {
    fn add(&mut self, sample: &Sample) {
        self.length_ns += sample.duration_ns;
        self.ops += sample.data_ops();
        self.bytes += sample.data_bytes();
        for op in sample.ops.iter().filter(|op| op.kind.is_data()) {
            self.latency_count += op.service.count();
            self.latency_sum_ns += op.service.sum();
        }
    }

    fn figures(self) -> [u64; 3] {
        let per_second = |amount: u64| {
            let seconds = self.length_ns.max(1) as f64 / 1e9;
            (amount as f64 / seconds).round() as u64
        };
        let mean_ns = self.latency_sum_ns / u128::from(self.latency_count.max(1));
        [
            per_second(self.ops),
            per_second(self.bytes),
            u64::try_from(mean_ns).unwrap_or(u64::MAX),
        ]
    }
}

/// Slope of the least-squares line through equally spaced values.
fn slope(values: &[u64], mean: f64) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let (mut xy, mut xx) = (0.0, 0.0);
    for (x, y) in values.iter().enumerate() {
        let x = x as f64 - middle;
        xy += x * (*y as f64 - mean);
        xx += x * x;
    }
    if xx > 0.0 { xy / xx } else { 0.0 }
}

fn deviation(values: &[u64], mean: f64) -> f64 {
    let all = values.iter().map(|y| (*y as f64 - mean).abs());
    all.fold(0.0, f64::max)
}

#[cfg(test)]
#[path = "settled_tests.rs"]
mod tests;
