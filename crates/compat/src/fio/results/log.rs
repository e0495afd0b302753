//! fio's logs of bandwidth, IOPS and latency. Those of histograms have their
//! own lines: [`super::histogram`].
//!
//! A line is `milliseconds, value, direction, block bytes, ...`; more fields
//! follow in newer versions. With `log_avg_msec` a line is the mean over the
//! time since the line before it (block bytes 0); without it a line is one
//! operation, and its "bandwidth" is that of this operation alone. Both become
//! one value per interval of at least a second: means are spread over the time
//! that they cover, operations are counted. So lines that come early, late or
//! twice do not bend the series.

use std::collections::BTreeMap;

use crate::results::{ResultSeries, SeriesKind};
use fathom_model::op::OpKind;
use fathom_stats::quantile::nearest_rank;

use super::histogram::{self, HistogramLines};
use super::number;
use crate::results::ResultError;

/// Lines of averaged values at most; a year of seconds has 31 million.
const MOST_LINES: usize = 4_000_000;
/// Seconds that a log may span.
const LONGEST_S: u64 = 40_000_000;
/// Intervals of a series at most.
const MOST_INTERVALS: usize = 2_000_000;

/// The directions by fio's numbers.
const DIRECTIONS: [OpKind; 3] = [OpKind::Read, OpKind::Write, OpKind::Trim];

/// What a log holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogKind {
    /// One value per line.
    Series(SeriesKind),
    /// One histogram per line.
    Histogram,
}

/// A log of one job, or of several where fio was told so.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesLog {
    /// File, for people.
    pub source: String,
    /// Name before the kind.
    pub prefix: String,
    /// What it holds.
    pub kind: LogKind,
    /// Number of the job, from 1.
    pub job: Option<u64>,
    /// Host, where a client collected it.
    pub host: Option<String>,
    /// Series by direction.
    pub series: Vec<ResultSeries>,
    /// Histograms by direction, where the log holds those.
    pub histograms: Vec<(OpKind, HistogramLines)>,
    /// Whether lines are operations and not means.
    pub per_operation: bool,
    /// Lines that could not be read.
    pub broken_lines: u64,
}

const SUFFIXES: [(&str, LogKind); 6] = [
    ("_clat_hist", LogKind::Histogram),
    ("_clat", LogKind::Series(SeriesKind::Completion)),
    ("_slat", LogKind::Series(SeriesKind::Submission)),
    ("_lat", LogKind::Series(SeriesKind::Total)),
    ("_iops", LogKind::Series(SeriesKind::Operations)),
    ("_bw", LogKind::Series(SeriesKind::Bandwidth)),
];

/// Whether the first lines are numbers separated by commas.
pub(crate) fn looks_like_log(text: &str) -> bool {
    let mut lines = text.lines().take(3).peekable();
    lines.peek().is_some()
        && lines.all(|line| {
            let fields = line.split(',').take(4);
            line.contains(',') && fields.into_iter().all(|f| field(f).is_some())
        })
}

impl SeriesLog {
    /// The log of a job that did nothing, when the name is that of a log.
    pub(crate) fn empty(name: &str) -> Option<SeriesLog> {
        SeriesLog::named(name)
    }

    /// Reads a log; its name says what it holds.
    pub(crate) fn read(name: &str, text: &str) -> Result<SeriesLog, ResultError> {
        let Some(mut log) = SeriesLog::named(name) else {
            let what = "a list of numbers whose name does not say what they are (fio's logs end in \
                        _bw.N.log, _iops.N.log, _lat.N.log, _clat.N.log, _slat.N.log or _clat_hist.N.log)";
            return Err(ResultError::Unknown(what.to_owned()));
        };
        match log.kind {
            LogKind::Series(kind) => log.fill(kind, text),
            LogKind::Histogram => log.fill_histograms(text),
        }
        Ok(log)
    }

    /// `<prefix>_<kind>[.<job>].log[.<host>]`.
    fn named(name: &str) -> Option<SeriesLog> {
        let file = name.rsplit('/').next().unwrap_or(name);
        let (stem, host) = match file.split_once(".log") {
            Some((stem, "")) => (stem, None),
            Some((stem, host)) => (stem, Some(host.strip_prefix('.')?.to_owned())),
            None => return None,
        };
        let (stem, job) = match stem.rsplit_once('.') {
            Some((before, number)) if number.parse::<u64>().is_ok() => {
                (before, number.parse().ok())
            }
            _ => (stem, None),
        };
        let (prefix, kind) = SUFFIXES
            .iter()
            .find_map(|(suffix, kind)| Some((stem.strip_suffix(suffix)?, *kind)))?;
        Some(SeriesLog {
            source: name.to_owned(),
            prefix: prefix.to_owned(),
            kind,
            job,
            host,
            series: Vec::new(),
            histograms: Vec::new(),
            per_operation: false,
            broken_lines: 0,
        })
    }

    fn fill_histograms(&mut self, text: &str) {
        let mut directions: BTreeMap<usize, HistogramLines> = BTreeMap::new();
        for line in text.lines().filter(|l| !l.trim().is_empty()) {
            match histogram::line(line) {
                Some((direction, ms, counts)) if ms / 1000.0 < LONGEST_S as f64 => {
                    directions.entry(direction).or_default().add(ms, &counts);
                }
                _ => self.broken_lines += 1,
            }
        }
        let named = |(direction, lines)| (DIRECTIONS[direction], lines);
        self.histograms = directions.into_iter().map(named).collect();
    }

    fn fill(&mut self, kind: SeriesKind, text: &str) {
        let mut directions: BTreeMap<usize, Lines> = BTreeMap::new();
        for line in text.lines().filter(|l| !l.trim().is_empty()) {
            match entry(line) {
                Some((direction, entry)) => {
                    directions.entry(direction).or_default().add(kind, entry);
                }
                None => self.broken_lines += 1,
            }
        }
        self.per_operation = directions.values().any(|d| d.operations > 0);
        for (direction, lines) in directions {
            self.broken_lines += lines.left_out;
            let direction = DIRECTIONS[direction];
            self.series.extend(lines.series(kind, direction));
        }
    }
}

/// A line of one direction.
#[derive(Debug, Clone, Copy)]
struct LogEntry {
    ms: f64,
    value: f64,
    block_bytes: f64,
}

fn field(text: &str) -> Option<f64> {
    number::from_text(text)
}

/// Direction (0 read, 1 write, 2 trim) and entry of a line.
fn entry(line: &str) -> Option<(usize, LogEntry)> {
    let mut fields = line.split(',');
    let mut next = || field(fields.next()?);
    let (ms, value, direction) = (next()?, next()?, next()?);
    let block_bytes = next().unwrap_or(0.0);
    let direction = [0.0, 1.0, 2.0].iter().position(|d| *d == direction)?;
    let within = ms / 1000.0 < LONGEST_S as f64;
    within.then_some((
        direction,
        LogEntry {
            ms,
            value,
            block_bytes,
        },
    ))
}

/// The lines of one direction.
#[derive(Debug, Default)]
struct Lines {
    /// Milliseconds and mean since the line before.
    means: Vec<(f64, f64)>,
    /// By second: sum of the values and their number.
    seconds: BTreeMap<u64, (f64, f64)>,
    operations: u64,
    left_out: u64,
}

impl Lines {
    fn add(&mut self, kind: SeriesKind, entry: LogEntry) {
        if entry.block_bytes > 0.0 {
            let amount = match kind {
                SeriesKind::Bandwidth => entry.block_bytes,
                SeriesKind::Operations => 1.0,
                _ => entry.value,
            };
            self.operations += 1;
            let second = self.seconds.entry((entry.ms / 1000.0) as u64).or_default();
            second.0 += amount;
            second.1 += 1.0;
        } else if self.means.len() < MOST_LINES {
            let scale = match kind {
                SeriesKind::Bandwidth => 1024.0,
                _ => 1.0,
            };
            self.means.push((entry.ms, entry.value * scale));
        } else {
            self.left_out += 1;
        }
    }

    fn series(self, kind: SeriesKind, direction: OpKind) -> Option<ResultSeries> {
        let (interval_ns, values) = match self.operations > self.means.len() as u64 {
            true => (1_000_000_000, counted(&self.seconds, kind)?),
            false => averaged(self.means)?,
        };
        Some(ResultSeries {
            kind,
            direction,
            interval_ns,
            values,
            logs: 1,
        })
    }
}

/// Whole seconds of a log of operations; the last one is only begun.
fn counted(seconds: &BTreeMap<u64, (f64, f64)>, kind: SeriesKind) -> Option<Vec<f64>> {
    let first = *seconds.keys().next()?;
    let last = *seconds.keys().next_back()?;
    if last - first > MOST_INTERVALS as u64 {
        return None;
    }
    let value = |second: u64| {
        let (sum, count) = seconds.get(&second).copied().unwrap_or_default();
        match kind {
            SeriesKind::Bandwidth | SeriesKind::Operations => sum,
            _ if count > 0.0 => sum / count,
            _ => 0.0,
        }
    };
    let values: Vec<f64> = (first..last).map(value).collect();
    (!values.is_empty()).then_some(values)
}

/// Means of uneven length as means over equal intervals, of a second or of the
/// usual distance of the lines where that is longer.
pub(crate) fn averaged(mut means: Vec<(f64, f64)>) -> Option<(u64, Vec<f64>)> {
    means.sort_by(|a, b| a.0.total_cmp(&b.0));
    let distances: Vec<f64> = means
        .windows(2)
        .map(|w| w[1].0 - w[0].0)
        .filter(|d| *d > 0.0)
        .collect();
    // One that occurred: between two of them lies no interval of the log.
    let usual = nearest_rank(&distances, 0.5)?;
    // Lines come a little early or late; 998 ms mean a second.
    let step = match usual {
        ms if ms < 1100.0 => 1000.0,
        ms => (ms / 100.0).round() * 100.0,
    };
    let (first, last) = (means.first()?.0, means.last()?.0);
    let origin = (first - usual).max(0.0);
    let intervals = ((last - origin + 0.05 * step) / step).floor() as usize;
    if intervals == 0 || intervals > MOST_INTERVALS {
        return None;
    }
    let mut amount = vec![0.0; intervals];
    let mut covered = vec![0.0; intervals];
    let mut from = origin;
    for (to, value) in means {
        // A gap of many lines is missing data, not one long mean.
        let from_here = from.max(to - 3.0 * usual.max(step));
        spread(from_here, to, origin, step, |index, ms| {
            if index < intervals {
                amount[index] += value * ms;
                covered[index] += ms;
            }
        });
        from = to;
    }
    let values = amount.iter().zip(&covered);
    let values = values
        .map(|(amount, ms)| if *ms > 0.0 { amount / ms } else { 0.0 })
        .collect();
    Some(((step * 1e6) as u64, values))
}

/// Milliseconds of each interval that lie between two moments.
fn spread(from: f64, to: f64, origin: f64, step: f64, mut add: impl FnMut(usize, f64)) {
    let mut at = from;
    while at < to {
        let index = ((at - origin) / step).floor().max(0.0);
        let end = (origin + (index + 1.0) * step).min(to);
        if end <= at {
            return;
        }
        add(index as usize, end - at);
        at = end;
    }
}
