//! The rate of a trial as a row of cells, with the bytes on the axis at which
//! each began.

use fathom_model::op::OpKind;
use fathom_model::sample::{Phase, Sample};
use fathom_model::steadiness::BytesAxis;
use fathom_model::workload::OpMix;

use crate::trial::Trial;

/// One measured second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct TrackCell {
    /// From the start of the load.
    pub(crate) start_ns: u64,
    /// Length.
    pub(crate) seconds: f64,
    /// Data operations.
    pub(crate) ops: f64,
    /// Bytes moved.
    pub(crate) bytes: f64,
    /// Bytes on the axis when it began.
    pub(crate) axis_start: f64,
    /// Bytes on the axis in it.
    pub(crate) axis_bytes: f64,
}

/// Measured seconds in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Track {
    pub(crate) cells: Vec<TrackCell>,
    pub(crate) axis: BytesAxis,
    /// Bytes on the axis so far, warm-up included.
    axis_bytes: f64,
    /// Operations moved bytes.
    moves: bool,
}

impl Track {
    /// For a workload with this mix; the axis is what it writes, if it does.
    pub(crate) fn new(mix: OpMix) -> Track {
        Track {
            cells: Vec::new(),
            axis: match mix.modifies() {
                true => BytesAxis::Written,
                false => BytesAxis::Moved,
            },
            axis_bytes: 0.0,
            moves: false,
        }
    }

    /// Cells as they are; the axis is what they moved.
    pub(crate) fn of_cells(cells: Vec<TrackCell>) -> Track {
        Track {
            axis: BytesAxis::Moved,
            axis_bytes: cells.iter().map(|c| c.axis_bytes).sum(),
            moves: cells.iter().any(|c| c.bytes > 0.0),
            cells,
        }
    }

    /// The measured seconds of a trial.
    pub(crate) fn of_trial(trial: &Trial<'_>) -> Track {
        let mut track = Track::new(trial.workload.mix);
        for second in &trial.seconds {
            let mut cell = TrackCell {
                start_ns: second.start_ns,
                seconds: second.duration_ns as f64 / 1e9,
                ..TrackCell::default()
            };
            for sample in &second.groups {
                track.add(&mut cell, sample);
            }
            track.push(cell, second.phase);
        }
        track
    }

    /// Takes in one merged second.
    pub(crate) fn observe(&mut self, sample: &Sample) {
        let mut cell = TrackCell {
            start_ns: sample.start_ns,
            seconds: sample.duration_ns as f64 / 1e9,
            ..TrackCell::default()
        };
        self.add(&mut cell, sample);
        self.push(cell, sample.phase);
    }

    fn add(&self, cell: &mut TrackCell, sample: &Sample) {
        for op in sample.ops.iter().filter(|op| op.kind.is_data()) {
            cell.ops += op.ops as f64;
            cell.bytes += op.bytes as f64;
            if self.axis == BytesAxis::Moved || op.kind != OpKind::Read {
                cell.axis_bytes += op.bytes as f64;
            }
        }
    }

    fn push(&mut self, mut cell: TrackCell, phase: Phase) {
        cell.axis_start = self.axis_bytes;
        self.axis_bytes += cell.axis_bytes;
        if phase == Phase::Measure && cell.seconds > 0.0 {
            self.moves |= cell.bytes > 0.0;
            self.cells.push(cell);
        }
    }

    /// Without a last part that is too short to show the rate.
    pub(crate) fn without_stump(mut self) -> Track {
        if let [.., before, last] = self.cells.as_slice()
            && last.seconds < 0.5 * before.seconds
        {
            self.cells.pop();
        }
        self
    }

    /// Whether rates are in bytes; otherwise in operations.
    pub(crate) fn in_bytes(&self) -> bool {
        self.moves
    }

    /// What a cell moved, in bytes, or operations where nothing moves.
    pub(crate) fn amount(&self, cell: &TrackCell) -> f64 {
        if self.moves { cell.bytes } else { cell.ops }
    }

    /// The rate of each cell.
    pub(crate) fn rates(&self) -> Vec<f64> {
        let rate = |cell: &TrackCell| self.amount(cell) / cell.seconds;
        self.cells.iter().map(rate).collect()
    }

    /// Total over total of the cells in a range; 0 of nothing.
    pub(crate) fn mean_rate(&self, cells: std::ops::Range<usize>) -> f64 {
        let cells = self.cells.get(cells).unwrap_or_default();
        let time: f64 = cells.iter().map(|c| c.seconds).sum();
        let amount: f64 = cells.iter().map(|c| self.amount(c)).sum();
        if time > 0.0 { amount / time } else { 0.0 }
    }

    /// Time of all cells.
    pub(crate) fn seconds(&self) -> f64 {
        self.cells.iter().map(|c| c.seconds).sum()
    }

    /// Bytes on the axis, warm-up included.
    pub(crate) fn axis_total(&self) -> f64 {
        self.axis_bytes
    }
}
