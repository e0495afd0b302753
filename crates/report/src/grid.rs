//! The grid of the `quick` plan, as known from spec sheets: a row for each
//! shape, reads on the left and writes on the right, and the durable writes
//! that spec sheets leave out.

use fathom_model::figure::Throughput;
use fathom_model::judged::{OpSummary, ResultRow};
use fathom_model::workload::OpMix;
use fathom_model::{JudgedRun, OpKind, RunState};

use crate::{facts, levels, shape};

/// One shape: reads and writes.
#[derive(Debug)]
pub(crate) struct GridRow<'a> {
    /// `SEQ1M Q8T1`.
    pub(crate) name: String,
    /// Reads.
    pub(crate) read: Option<Cell<'a>>,
    /// Writes.
    pub(crate) write: Option<Cell<'a>>,
}

/// One result of the grid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell<'a> {
    /// The row of the run.
    pub(crate) row: &'a ResultRow,
    /// The run.
    pub(crate) run: &'a JudgedRun,
    /// Its result; nothing when every trial failed.
    pub(crate) op: Option<&'a OpSummary>,
    /// How far the row's last trial came.
    pub(crate) state: RunState,
}

impl Cell<'_> {
    /// Throughput and operations of the levels, `2,400→150`, where no one
    /// rate describes the result.
    pub(crate) fn levels(&self, throughput: Throughput) -> Option<[String; 2]> {
        let kind = self.op?.kind;
        let of = |unit| levels::in_cell(self.run, self.row, kind, unit);
        Some([of(Some(throughput))?, of(None)?])
    }
}

/// Durable writes of one block size.
#[derive(Debug)]
pub(crate) struct Durable<'a> {
    /// `DURABLE 4K`.
    pub(crate) name: String,
    /// The commits.
    pub(crate) cell: Cell<'a>,
}

/// A run as a grid.
#[derive(Debug, Default)]
pub(crate) struct Grid<'a> {
    /// The shapes, in order of appearance.
    pub(crate) rows: Vec<GridRow<'a>>,
    /// The durable writes.
    pub(crate) durable: Vec<Durable<'a>>,
    /// Rows that do not fit in the grid.
    pub(crate) rest: Vec<&'a ResultRow>,
}

impl<'a> Grid<'a> {
    /// Sorts the rows of a run into the grid.
    pub(crate) fn of(run: &'a JudgedRun) -> Grid<'a> {
        let mut grid = Grid::default();
        for row in &run.rows {
            if !grid.place(run, row) {
                grid.rest.push(row);
            }
        }
        grid
    }

    /// Whether there is anything in the grid.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.durable.is_empty()
    }

    fn place(&mut self, run: &'a JudgedRun, row: &'a ResultRow) -> bool {
        let Some(workload) = facts::first_trial(run, row).map(|t| &t.workload) else {
            return false;
        };
        let Some(name) = shape::sheet_name(workload).filter(|_| workload.rate.is_none()) else {
            return false;
        };
        let state = row
            .trials
            .iter()
            .rev()
            .find_map(|i| run.trials.get(*i))
            .map_or(RunState::Failed, |t| t.state);
        if shape::is_durable(workload) {
            let kinds = [OpKind::Commit, OpKind::Write];
            let op = kinds.into_iter().find_map(|kind| op_of(row, kind));
            self.durable.push(Durable {
                name: shape::durable_name(workload),
                cell: Cell {
                    run,
                    row,
                    op,
                    state,
                },
            });
            return true;
        }
        let kind = match workload.mix {
            OpMix::READ => OpKind::Read,
            OpMix::WRITE => OpKind::Write,
            _ => return false,
        };
        let op = op_of(row, kind);
        let cell = Cell {
            run,
            row,
            op,
            state,
        };
        let line = match self.rows.iter().position(|r| r.name == name) {
            Some(at) => &mut self.rows[at],
            None => {
                self.rows.push(GridRow {
                    name,
                    read: None,
                    write: None,
                });
                match self.rows.last_mut() {
                    Some(line) => line,
                    None => return false,
                }
            }
        };
        let side = if kind == OpKind::Read {
            &mut line.read
        } else {
            &mut line.write
        };
        // A second row of the same shape (another target) is shown below.
        if side.is_some() {
            return false;
        }
        *side = Some(cell);
        true
    }
}

fn op_of(row: &ResultRow, kind: OpKind) -> Option<&OpSummary> {
    row.ops.iter().find(|op| op.kind == kind && op.ops > 0)
}
