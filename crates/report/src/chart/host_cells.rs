//! What each host of a fleet did over time, in cells of equal length.

use fathom_model::judged::{Interval, IntervalOp};
use fathom_model::{JudgedTrial, OpKind, Phase};

const SECOND: f64 = 1e9;

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellValue {
    /// Operations per second over the whole cell.
    Operations,
    /// Bytes per second over the whole cell.
    Bytes,
    /// The highest p99 of any second in the cell.
    Latency,
}

impl CellValue {
    /// The word by which the script knows the quantity.
    pub(super) fn key(self) -> &'static str {
        match self {
            CellValue::Operations => "ops",
            CellValue::Bytes => "bps",
            CellValue::Latency => "ns",
        }
    }
}

/// The seconds of one host.
#[derive(Debug, Clone, Copy)]
struct HostSeconds<'a> {
    intervals: &'a [Interval],
    /// How long after the first host its load began.
    offset_s: f64,
    /// The kind of operation whose latency is shown.
    kind: Option<OpKind>,
}

/// One cell.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct HostCell {
    /// Nothing where the host has no seconds.
    pub(super) value: Option<f64>,
    /// In one of its seconds no operation was completed.
    pub(super) stalled: bool,
}

/// A row of cells for each host.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HostCells {
    /// Length of a cell.
    pub(super) width_s: f64,
    /// Cells of a row.
    pub(super) columns: usize,
    /// Cells by host and column.
    pub(super) rows: Vec<Vec<HostCell>>,
    /// When every host was past its warm-up.
    pub(super) measured_from_s: f64,
}

impl HostCells {
    /// The cells of trials that ran together, one a host, in at most `most` columns;
    /// nothing where no host has a value.
    pub(super) fn of(trials: &[&JudgedTrial], value: CellValue, most: usize) -> Option<HostCells> {
        let began = |trial: &JudgedTrial| trial.in_set.as_ref()?.load_started_ns;
        let first = trials.iter().filter_map(|trial| began(trial)).min();
        let hosts = trials.iter().map(|trial| {
            let late = began(trial).zip(first);
            let late_ns = late.map_or(0, |(own, first)| own.saturating_sub(first));
            HostSeconds {
                intervals: &trial.intervals,
                offset_s: late_ns as f64 / SECOND,
                kind: most_frequent(trial),
            }
        });
        let hosts: Vec<HostSeconds<'_>> = hosts.collect();
        cells(&hosts, value, most.max(1))
    }

    /// All values that are known.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        self.rows.iter().flatten().filter_map(|cell| cell.value)
    }

    /// The end of the time axis.
    pub(super) fn end_s(&self) -> f64 {
        self.width_s * self.columns as f64
    }
}

fn cells(hosts: &[HostSeconds<'_>], value: CellValue, most: usize) -> Option<HostCells> {
    let end = |host: &HostSeconds<'_>| host.offset_s + host.intervals.last().map_or(0.0, end_of);
    let end = hosts.iter().map(end).fold(0.0, f64::max);
    // Half a second more than a whole one is the rest of the last second.
    let width_s = ((end - 0.5) / most as f64).ceil().max(1.0);
    let columns = (((end - 0.5) / width_s).ceil().max(1.0) as usize).min(most);
    let mut cells = HostCells {
        width_s,
        columns,
        rows: Vec::new(),
        measured_from_s: 0.0,
    };
    for host in hosts {
        cells.rows.push(row(host, value, (width_s, columns)));
        let mut warmup = host.intervals.iter().filter(|i| i.phase == Phase::Warmup);
        let warmup = warmup
            .next_back()
            .map_or(0.0, |i| host.offset_s + end_of(i));
        cells.measured_from_s = cells.measured_from_s.max(warmup);
    }
    let is_empty = cells.values().next().is_none();
    (!is_empty).then_some(cells)
}

fn end_of(interval: &Interval) -> f64 {
    interval.start_ns.saturating_add(interval.duration_ns) as f64 / SECOND
}

/// The seconds of a host added up in cells of this width and number.
fn row(
    host: &HostSeconds<'_>,
    value: CellValue,
    (width_s, columns): (f64, usize),
) -> Vec<HostCell> {
    let mut cells = vec![HostCell::default(); columns];
    let mut sums = vec![(0.0, 0.0); columns];
    for interval in host.intervals {
        let seconds = interval.duration_ns as f64 / SECOND;
        let middle = host.offset_s + interval.start_ns as f64 / SECOND + seconds / 2.0;
        let at = ((middle / width_s).max(0.0) as usize).min(columns - 1);
        let (cell, sum) = (&mut cells[at], &mut sums[at]);
        let data = || interval.ops.iter().filter(|op| op.kind.is_data());
        // A shorter rest of a second says nothing.
        cell.stalled |= seconds > 0.5 && data().all(|op| op.ops == 0);
        if value == CellValue::Latency {
            let op = interval.ops.iter().find(|op| Some(op.kind) == host.kind);
            let p99 = op.and_then(|op| op.p99_ns).map(|ns| ns as f64);
            cell.value = cell.value.into_iter().chain(p99).reduce(f64::max);
            continue;
        }
        let amount = |op: &IntervalOp| match value {
            CellValue::Bytes => op.bytes,
            _ => op.ops,
        };
        sum.0 += data().map(|op| amount(op) as f64).sum::<f64>();
        sum.1 += seconds;
        cell.value = (sum.1 > 0.0).then(|| sum.0 / sum.1);
    }
    cells
}

/// The kind of operation that a trial did most.
fn most_frequent(trial: &JudgedTrial) -> Option<OpKind> {
    let data = trial.summary.ops.iter().filter(|op| op.kind.is_data());
    data.max_by_key(|op| op.ops).map(|op| op.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(start_s: u64, ops: u64) -> Interval {
        let op = IntervalOp {
            kind: OpKind::Read,
            ops,
            bytes: ops * 4096,
            errors: 0,
            p50_ns: None,
            p90_ns: None,
            p99_ns: (ops > 0).then_some(1000 + ops),
            p999_ns: None,
            max_ns: None,
        };
        Interval {
            phase: Phase::Measure,
            start_ns: start_s * 1_000_000_000,
            duration_ns: 1_000_000_000,
            ops: vec![op],
            device_read_bytes: None,
            device_write_bytes: None,
            host_cpu_busy: None,
            worker_cpu_ns: 0,
        }
    }

    fn host(intervals: &[Interval], offset_s: f64) -> HostSeconds<'_> {
        HostSeconds {
            intervals,
            offset_s,
            kind: Some(OpKind::Read),
        }
    }

    #[test]
    fn seconds_are_added_and_a_stall_marks_its_cell() {
        let steady: Vec<_> = (0..8).map(|s| second(s, 100)).collect();
        let stalled: Vec<_> = (0..8).map(|s| second(s, 100 * u64::from(s != 5))).collect();
        // The second host began a little later: its seconds are in the same cells.
        let hosts = [host(&steady, 0.0), host(&stalled, 0.004)];
        let found = cells(&hosts, CellValue::Operations, 4).unwrap();
        assert_eq!((found.width_s, found.columns), (2.0, 4));
        let values: Vec<f64> = found.rows[1].iter().filter_map(|c| c.value).collect();
        assert_eq!(values, [100.0, 100.0, 50.0, 100.0]);
        let marked: Vec<bool> = found.rows[1].iter().map(|c| c.stalled).collect();
        assert_eq!(marked, [false, false, true, false]);
        assert!(found.rows[0].iter().all(|c| !c.stalled));
        let bytes = cells(&hosts, CellValue::Bytes, 4).unwrap();
        assert_eq!(bytes.rows[0][0].value, Some(409_600.0));
    }

    #[test]
    fn a_latency_is_that_of_the_worst_second_and_an_end_leaves_cells_empty() {
        let long: Vec<_> = (0..6).map(|s| second(s, 10 + s)).collect();
        let short: Vec<_> = (0..2).map(|s| second(s, 10)).collect();
        let hosts = [host(&long, 0.0), host(&short, 0.0)];
        let found = cells(&hosts, CellValue::Latency, 3).unwrap();
        assert_eq!(found.rows[0][2].value, Some(1015.0));
        assert_eq!(found.rows[1][1], HostCell::default());
        assert!(cells(&[host(&[], 0.0)], CellValue::Latency, 3).is_none());
    }
}
