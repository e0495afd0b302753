//! The disks of a run as tables: one a workload.

use fathom_model::disks::{DiskFigures, DiskSweep, DiskWorkload};
use fathom_model::estimate::{Estimate, Unit};
use fathom_model::figure::{Figure, Throughput};
use fathom_model::names::{self, mark};
use fathom_model::view::{Cell, Column, Table, UnitText, View};
use fathom_model::{Validity, unit};

/// The disks, and who is slow among them.
pub(super) fn view(sweep: &DiskSweep) -> View {
    let slow = sweep.workloads.iter().flat_map(|workload| {
        let disks = workload.disks.iter();
        disks.filter_map(|disk| slow_line(workload, disk))
    });
    View {
        anchor: "disks",
        title: "Disks".to_owned(),
        warnings: slow.collect(),
        tables: sweep.workloads.iter().map(table).collect(),
        notes: notes(sweep),
        ..View::default()
    }
}

/// What is known of all disks of a table, and so has a column.
#[derive(Clone, Copy)]
struct Known {
    models: bool,
    alone: bool,
    together: bool,
}

impl Known {
    fn of(disks: &[DiskFigures]) -> Known {
        Known {
            models: disks.iter().any(|d| d.model.is_some()),
            alone: disks.iter().any(|d| d.alone.is_some()),
            together: disks.iter().any(|d| d.together.is_some()),
        }
    }

    fn columns(self) -> Vec<Column> {
        let mut columns = vec![Column::text("disk")];
        columns.extend(self.models.then(|| Column::text("model")));
        columns.extend(self.alone.then(|| Column::number("alone")));
        columns.extend(self.together.then(|| Column::number("all at once")));
        let both = self.alone && self.together;
        columns.extend(both.then(|| Column::number("of alone")));
        columns.push(Column::remark("remark"));
        columns
    }

    /// A row: name, model, figures alone and together and their ratio, remark.
    fn row(self, line: &DiskLine<'_>) -> Vec<Cell> {
        let [alone, together, ratio] = line.figures;
        let mut cells = vec![line.name.as_str().into()];
        cells.extend(self.models.then(|| line.model.into()));
        cells.extend(self.alone.then(|| cell(alone).into()));
        cells.extend(self.together.then(|| cell(together).into()));
        cells.extend((self.alone && self.together).then(|| cell(ratio).into()));
        cells.push(line.remark.as_str().into());
        cells
    }
}

/// What is said of one disk, or of all together.
struct DiskLine<'a> {
    name: String,
    model: &'a str,
    figures: [Option<&'a Estimate>; 3],
    remark: String,
}

fn table(workload: &DiskWorkload) -> Table {
    let disks = &workload.disks;
    let known = Known::of(disks);
    let mut lines: Vec<DiskLine<'_>> = disks.iter().map(line).collect();
    if disks.len() > 1 {
        lines.push(DiskLine {
            name: "sum".to_owned(),
            model: "",
            figures: [
                workload.sum_alone.as_ref(),
                workload.sum_together.as_ref(),
                workload.together_over_alone.as_ref(),
            ],
            remark: match &workload.shared_drives()[..] {
                [] => String::new(),
                shared => format!("share {}", shared.join(", ")),
            },
        });
    }
    let table = Table {
        title: Some(title(workload)),
        columns: known.columns(),
        rows: lines.iter().map(|line| known.row(line)).collect(),
        ..Table::default()
    };
    table.without_empty_remarks()
}

/// Name of the workload and what is counted.
fn title(workload: &DiskWorkload) -> UnitText {
    let figures = |disk: &DiskFigures| disk.alone.as_ref().or(disk.together.as_ref()).cloned();
    let counted = workload.disks.iter().find_map(figures);
    let counted = counted.map(|estimate| estimate.unit);
    UnitText::of(|throughput| {
        let unit = match counted {
            Some(Unit::BytesPerSecond) => throughput.name(),
            _ => "IOPS",
        };
        format!("{} ({unit})", workload.name)
    })
}

fn line(disk: &DiskFigures) -> DiskLine<'_> {
    let slow = if disk.slow.is_some() { " slow" } else { "" };
    DiskLine {
        name: disk.target.to_string(),
        model: disk.model.as_deref().unwrap_or_default(),
        figures: [
            disk.alone.as_ref(),
            disk.together.as_ref(),
            disk.together_over_alone.as_ref(),
        ],
        remark: format!("{}{slow}", mark(disk.validity)).trim().to_owned(),
    }
}

fn cell(estimate: Option<&Estimate>) -> UnitText {
    let Some(estimate) = estimate else {
        return UnitText::default();
    };
    UnitText::of(|throughput| {
        let figure = Figure::of(estimate, throughput);
        match (estimate.unit, figure.interval(false)) {
            (Unit::Ratio, _) => figure.value(),
            (_, Some(half)) => format!("{} {half}", figure.number()),
            (_, None) => figure.number(),
        }
    })
}

fn slow_line(workload: &DiskWorkload, disk: &DiskFigures) -> Option<UnitText> {
    let slow = disk.slow.as_ref()?;
    let own = match slow.together {
        true => disk.together.as_ref(),
        false => disk.alone.as_ref(),
    }?;
    let own_value = own.value?;
    let figure = |value: f64, throughput| match (own.unit, throughput) {
        (Unit::BytesPerSecond, Throughput::Binary) => unit::throughput(value),
        (Unit::BytesPerSecond, Throughput::Decimal) => unit::throughput_decimal(value),
        _ => format!("{} IOPS", unit::count(value)),
    };
    let peers = match slow.peers {
        1 => "its only peer".to_owned(),
        n => format!("the median of its {n} peers"),
    };
    Some(UnitText::of(|throughput| {
        format!(
            "{} is slow: {} {} is {:.0} % of {peers}, {}",
            disk.target,
            workload.name,
            figure(own_value, throughput),
            slow.share * 100.0,
            figure(slow.median_of_peers, throughput),
        )
    }))
}

fn notes(sweep: &DiskSweep) -> Vec<String> {
    let mut notes = vec!["±: half the 95 % interval.".to_owned()];
    let disks = || sweep.workloads.iter().flat_map(|w| &w.disks);
    for validity in [
        Validity::Caveats,
        Validity::NotDetermined,
        Validity::NotTrusted,
    ] {
        if disks().any(|disk| disk.validity == validity) {
            notes.push(format!(
                "{}: {}.",
                mark(validity),
                names::validity(validity)
            ));
        }
    }
    if sweep
        .workloads
        .iter()
        .any(|w| !w.shared_drives().is_empty())
    {
        notes.push(
            "share: these targets lie on the same drive, so what each gives alone has no sum."
                .to_owned(),
        );
    }
    if disks().any(|disk| disk.slow.is_some()) {
        notes.push(format!(
            "slow: with its whole interval below {:.0} % of the median of the other disks of its \
             model (check V72).",
            sweep.slow_share * 100.0
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use fathom_model::OpKind;
    use fathom_model::disks::SlowDisk;

    use super::*;

    fn disk(target: &str, rate: f64) -> DiskFigures {
        let estimate = Estimate::known(Unit::BytesPerSecond, rate, rate * 0.98, rate * 1.02, 60.0);
        DiskFigures {
            target: target.parse().unwrap(),
            drives: Vec::new(),
            model: None,
            alone: Some(estimate),
            together: None,
            together_over_alone: None,
            validity: Validity::Trusted,
            slow: None,
        }
    }

    #[test]
    fn the_row_of_the_sum_names_a_drive_that_is_shared() {
        let mut disks = vec![disk("/a", 200e6), disk("/b", 200e6)];
        for disk in &mut disks {
            disk.drives = vec!["sda".to_owned()];
        }
        let workload = DiskWorkload {
            name: "seqread".to_owned(),
            op: OpKind::Read,
            disks,
            sum_alone: Some(Estimate::unknown(Unit::BytesPerSecond, "shared")),
            sum_together: None,
            together_over_alone: None,
        };
        let row = table(&workload).rows.pop().unwrap();
        assert_eq!(row, ["sum", "n/a", "share sda"].map(Cell::from));
    }

    #[test]
    fn a_slow_disk_is_named_in_the_unit_of_the_reader() {
        let mut slow = disk("/b", 100e6);
        slow.slow = Some(SlowDisk {
            share: 0.5,
            median_of_peers: 200e6,
            peers: 1,
            together: false,
        });
        let workload = DiskWorkload {
            name: "seqread".to_owned(),
            op: OpKind::Read,
            disks: vec![disk("/a", 200e6), slow],
            sum_alone: None,
            sum_together: None,
            together_over_alone: None,
        };
        let view = view(&DiskSweep {
            workloads: vec![workload],
            slow_share: 0.8,
        });
        let decimal = |text: &UnitText| text.shown(Throughput::Decimal).to_owned();
        let words = |cell: &Cell| match cell {
            Cell::Text(text) => decimal(text),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            view.warnings.iter().map(decimal).collect::<Vec<_>>(),
            ["/b is slow: seqread 100 MB/s is 50 % of its only peer, 200 MB/s"]
        );
        let table = &view.tables[0];
        assert_eq!(table.title.as_ref().map(decimal).unwrap(), "seqread (MB/s)");
        let rows = table.rows.iter().map(|row| row.iter().map(words).collect());
        let rows: Vec<Vec<String>> = rows.collect();
        assert_eq!(rows[1], ["/b", "100 ±2", "slow"]);
        assert_eq!(rows[2], ["sum", "", ""]);
        assert!(rows.iter().all(|row| row.len() == table.columns.len()));
    }
}
