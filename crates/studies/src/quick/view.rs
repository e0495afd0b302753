//! The grid as known from spec sheets: a row for each shape, reads on the left
//! and writes on the right, and the durable writes that spec sheets leave out.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use fathom_model::figure::Throughput;
use fathom_model::judged::{JudgedTrial, OpSummary, ResultRow};
use fathom_model::view::{Cell, Column, EstimateCell, ResultForm, Table, UnitText, View};
use fathom_model::workload::OpMix;
use fathom_model::{Estimate, JudgedRun, OpKind, RunState, names, shell};

use super::{class, sheet};

/// What the durable writes are.
const DURABLE: &str = "Durable: each write waits until the device says that it survives a power \
                       cut. This is what databases feel.";

/// The run as a grid, and which of its rows have no place in it.
pub fn view(run: &JudgedRun) -> View {
    let mut grid = Grid::default();
    let rows = run.rows.iter().enumerate();
    let other_rows = rows
        .filter(|(_, row)| !grid.place(run, row))
        .map(|(at, _)| at);
    let other_rows = other_rows.collect();
    grid.sort();
    let tables = [grid.sides(), grid.durable()];
    View {
        anchor: "results",
        title: "Results".to_owned(),
        answers: class::answers(run),
        next_step: next_step(run),
        tables: tables.into_iter().flatten().collect(),
        form: Some(ResultForm {
            other_rows,
            trial_word: "cell",
            trial_names: trial_names(run),
        }),
        ..View::default()
    }
}

/// What would tell more than a short run, where nothing else is wrong.
fn next_step(run: &JudgedRun) -> Option<String> {
    let writes = |trial: &&JudgedTrial| trial.workload.mix.write_percent > 0;
    // Sustained writes end after a number of bytes, not after a time.
    let is_sustained = run.trials.iter().any(|t| t.workload.bounds.bytes.is_some());
    let trial = run.trials.iter().find(writes).filter(|_| !is_sustained)?;
    let target = shell::word(&trial.target.to_string());
    Some(format!(
        "`fathom quick {target} --sustained` shows whether writes stay this fast"
    ))
}

/// What the trials are called in the grid.
fn trial_names(run: &JudgedRun) -> BTreeMap<u32, String> {
    let name = |trial: &JudgedTrial| {
        let workload = &trial.workload;
        let name = sheet::sheet_name(workload)?;
        match workload.mix {
            _ if sheet::is_durable(workload) => Some(sheet::durable_name(workload)),
            OpMix::READ => Some(format!("{name} read")),
            OpMix::WRITE => Some(format!("{name} write")),
            _ => None,
        }
    };
    let trials = run.trials.iter();
    trials
        .filter_map(|trial| Some((trial.index, name(trial)?)))
        .collect()
}

/// Results by shape, as they are found.
#[derive(Default)]
struct Grid<'a> {
    shapes: Vec<Shape<'a>>,
    durable: Vec<(String, GridCell<'a>)>,
}

/// One shape: reads and writes.
struct Shape<'a> {
    /// `SEQ1M Q8T1`.
    name: String,
    /// Operations in flight.
    depth: u64,
    read: Option<GridCell<'a>>,
    write: Option<GridCell<'a>>,
}

/// One result of the grid.
struct GridCell<'a> {
    row: &'a ResultRow,
    run: &'a JudgedRun,
    /// Its result; nothing when every trial failed.
    op: Option<&'a OpSummary>,
}

impl<'a> Grid<'a> {
    /// Takes a row in, where it has a place.
    fn place(&mut self, run: &'a JudgedRun, row: &'a ResultRow) -> bool {
        let mut trials = row.trials.iter().filter_map(|at| run.trials.get(*at));
        let Some(workload) = trials.next().map(|trial| &trial.workload) else {
            return false;
        };
        let Some(name) = sheet::sheet_name(workload).filter(|_| workload.rate.is_none()) else {
            return false;
        };
        let cell = |kinds: &[OpKind]| {
            let mut found = kinds.iter().filter_map(|kind| op_of(row, *kind));
            let op = found.next();
            GridCell { row, run, op }
        };
        if sheet::is_durable(workload) {
            let cell = cell(&[OpKind::Commit, OpKind::Write]);
            self.durable.push((sheet::durable_name(workload), cell));
            return true;
        }
        let kind = match workload.mix {
            OpMix::READ => OpKind::Read,
            OpMix::WRITE => OpKind::Write,
            _ => return false,
        };
        let at = self.shapes.iter().position(|shape| shape.name == name);
        let at = at.unwrap_or_else(|| {
            let (read, write) = (None, None);
            let depth = workload.total_depth();
            self.shapes.push(Shape {
                name,
                depth,
                read,
                write,
            });
            self.shapes.len() - 1
        });
        let shape = &mut self.shapes[at];
        let side = match kind {
            OpKind::Read => &mut shape.read,
            _ => &mut shape.write,
        };
        // A second row of the same shape (another target) is shown below.
        if side.is_some() {
            return false;
        }
        *side = Some(cell(&[kind]));
        true
    }

    /// Shapes as people know them: of one block, the deeper first.
    fn sort(&mut self) {
        let kind = |shape: &Shape<'_>| shape.name.split(' ').next().map(str::to_owned);
        let kinds: Vec<Option<String>> = self.shapes.iter().map(kind).collect();
        let place = |shape: &Shape<'_>| kinds.iter().position(|known| *known == kind(shape));
        self.shapes
            .sort_by_key(|shape| (place(shape), Reverse(shape.depth)));
    }

    /// The shapes as a table.
    fn sides(&self) -> Option<Table> {
        let side = |name| {
            [
                Column::rate(UnitText::of(|unit| unit.name().to_owned())).begins(name),
                Column::rate("IOPS"),
                Column::latency("p50"),
                Column::latency("p99"),
            ]
        };
        let columns = std::iter::once(Column::text(""));
        let columns = columns.chain(side("Read")).chain(side("Write"));
        let row = |shape: &Shape<'_>| {
            let cells = [&shape.read, &shape.write];
            let cells = cells.into_iter().flat_map(|side| match side {
                Some(cell) => cell.cells(),
                None => [const { Cell::Empty }; 4],
            });
            std::iter::once(shape.name.as_str().into())
                .chain(cells)
                .collect()
        };
        (!self.shapes.is_empty()).then(|| Table {
            columns: columns.collect(),
            rows: self.shapes.iter().map(row).collect(),
            ..Table::default()
        })
    }

    /// The durable writes as a table.
    fn durable(&self) -> Option<Table> {
        let columns = vec![
            Column::text(""),
            Column::rate("commits/s"),
            Column::latency("commit latency p50").short("commit p50"),
            Column::latency("p99"),
            Column::latency("max"),
        ];
        let row = |(name, cell): &(String, GridCell<'_>)| {
            let mut cells = vec![name.as_str().into()];
            cells.extend(cell.commits());
            cells
        };
        (!self.durable.is_empty()).then(|| Table {
            columns,
            rows: self.durable.iter().map(row).collect(),
            as_lines: true,
            explanation: Some(DURABLE),
            ..Table::default()
        })
    }
}

impl GridCell<'_> {
    /// Throughput, operations, p50 and p99.
    fn cells(&self) -> [Cell; 4] {
        let Some(op) = self.op else {
            return [self.state(), Cell::Empty, Cell::Empty, Cell::Empty];
        };
        let cell = |estimate: fn(&OpSummary) -> &Estimate, validity| {
            Cell::Estimate(Box::new(EstimateCell {
                estimate: estimate(op).clone(),
                levels: self.levels(op.kind, estimate),
                validity,
            }))
        };
        [
            cell(|op| &op.bytes_per_second, Some(self.row.verdict.validity)),
            cell(|op| &op.ops_per_second, None),
            Cell::estimate(op.service.percentile(50.0)),
            Cell::estimate(op.service.percentile(99.0)),
        ]
    }

    /// Commits, p50, p99 and the largest.
    fn commits(&self) -> Vec<Cell> {
        let Some(op) = self.op else {
            return vec![self.state()];
        };
        vec![
            Cell::Estimate(Box::new(EstimateCell {
                estimate: op.ops_per_second.clone(),
                levels: None,
                validity: Some(self.row.verdict.validity),
            })),
            Cell::estimate(op.service.percentile(50.0)),
            Cell::estimate(op.service.percentile(99.0)),
            Cell::Extreme(op.service.max_ns),
        ]
    }

    /// How far the row's last trial came.
    fn state(&self) -> Cell {
        let mut trials = self.row.trials.iter().rev();
        let last = trials.find_map(|at| self.run.trials.get(*at));
        let words = match last.map_or(RunState::Failed, |trial| trial.state) {
            // It ran to its end, and no operation did.
            RunState::Complete => "none completed",
            state => names::state(state),
        };
        Cell::State {
            words,
            validity: self.row.verdict.validity,
        }
    }

    /// The rates of the levels, `2,400→150`, where no one rate describes the result.
    fn levels(&self, kind: OpKind, estimate: fn(&OpSummary) -> &Estimate) -> Option<UnitText> {
        let steadiness = self.run.levels_of(self.row)?;
        // A level has operations of this kind or has not, whatever the unit is.
        steadiness.level_text(kind, estimate, Throughput::Binary)?;
        Some(UnitText::of(|unit: Throughput| {
            let text = steadiness.level_text(kind, estimate, unit);
            text.unwrap_or_default()
        }))
    }
}

fn op_of(row: &ResultRow, kind: OpKind) -> Option<&OpSummary> {
    row.ops.iter().find(|op| op.kind == kind && op.ops > 0)
}

#[cfg(test)]
mod tests {
    use fathom_analysis::test_records::{RecordBuilder, run_of};

    use super::*;

    /// Reads and writes of one shape, durable writes, and a mix.
    fn run() -> JudgedRun {
        let mix = OpMix {
            read_percent: 70,
            write_percent: 30,
            trim_percent: 0,
        };
        let records = [
            RecordBuilder::reads(),
            RecordBuilder::writes(),
            RecordBuilder::writes().with(|r| r.workload.sync.every_writes = 1),
            RecordBuilder::reads().with(|r| r.workload.mix = mix),
        ];
        let trials = records.iter().zip(0..).map(|(record, at)| {
            let mut trial = record.trial();
            (trial.spec.index, trial.spec.row) = (at, at);
            trial
        });
        let record = run_of(trials.collect(), RecordBuilder::reads().host);
        fathom_analysis::judge(&record)
    }

    #[test]
    fn reads_stand_beside_writes_and_commits_apart() {
        let run = run();
        let view = view(&run);
        let [sides, durable] = view.tables.as_slice() else {
            panic!("{:?}", view.tables);
        };
        assert_eq!(sides.rows.len(), 1, "{:?}", sides.rows);
        assert_eq!(sides.rows[0].len(), sides.columns.len());
        assert!(
            sides.rows[0][1..]
                .iter()
                .all(|cell| cell.as_estimate().is_some())
        );
        assert_eq!(
            sides.rows[0][1].validity(),
            Some(run.rows[0].verdict.validity)
        );
        assert!(durable.as_lines);
        assert_eq!(durable.rows[0].len(), durable.columns.len());
        let form = view.form.unwrap();
        assert_eq!(form.other_rows, [3]);
        let names: Vec<&str> = form.trial_names.values().map(String::as_str).collect();
        assert!(
            names[0].ends_with("read") && names[1].ends_with("write"),
            "{names:?}"
        );
        assert!(names[2].starts_with("DURABLE"), "{names:?}");
    }

    #[test]
    fn a_shape_that_failed_says_so() {
        let mut run = run();
        run.rows[0].ops.clear();
        let view = view(&run);
        let row = &view.tables[0].rows[0];
        assert!(matches!(row[1], Cell::State { .. }), "{row:?}");
        assert_eq!(row[2..5], [const { Cell::Empty }; 3]);
        assert!(row[5].as_estimate().is_some());
    }
}
