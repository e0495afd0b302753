//! The disks of a run as tables of words: one a workload, the same for text,
//! HTML and Markdown.

use fathom_model::disks::{DiskFigures, DiskWorkload};
use fathom_model::estimate::{Estimate, Unit};
use fathom_model::figure::{Figure, Throughput};
use fathom_model::{JudgedRun, Validity, unit};

use crate::names;
use crate::names::mark;

/// The disks, ready to be printed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DisksView {
    pub(crate) tables: Vec<DiskTable>,
    /// Disks that are clearly slower than their peers, in words.
    pub(crate) slow: Vec<String>,
    pub(crate) notes: Vec<String>,
}

/// The disks under one workload.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DiskTable {
    /// Name of the workload and what is counted.
    pub(crate) title: String,
    pub(crate) head: Vec<String>,
    /// The disks, then their sum; each as long as the head.
    pub(crate) rows: Vec<Vec<String>>,
}

/// The disks of a run, where it is about disks.
pub(crate) fn view(run: &JudgedRun, throughput: Throughput) -> Option<DisksView> {
    let sweep = run.disks.as_ref()?;
    let tables = sweep.workloads.iter().map(|w| table(w, throughput));
    let slow = sweep.workloads.iter().flat_map(|workload| {
        let disks = workload.disks.iter();
        disks.filter_map(|disk| slow_line(workload, disk, throughput))
    });
    Some(DisksView {
        tables: tables.collect(),
        slow: slow.collect(),
        notes: notes(run),
    })
}

fn table(workload: &DiskWorkload, throughput: Throughput) -> DiskTable {
    let disks = &workload.disks;
    let unit = disks
        .iter()
        .find_map(|d| d.alone.as_ref().or(d.together.as_ref()));
    let unit = match unit.map(|estimate| estimate.unit) {
        Some(Unit::BytesPerSecond) => throughput.name(),
        _ => "IOPS",
    };
    let has = |pick: fn(&DiskFigures) -> bool| disks.iter().any(pick);
    let (alone, together) = (has(|d| d.alone.is_some()), has(|d| d.together.is_some()));
    let models = has(|d| d.model.is_some());
    let mut head = vec!["disk".to_owned()];
    head.extend(models.then(|| "model".to_owned()));
    head.extend(alone.then(|| "alone".to_owned()));
    head.extend(together.then(|| "all at once".to_owned()));
    head.extend((alone && together).then(|| "of alone".to_owned()));
    head.push(String::new());
    let line = |name: String, model: String, figures: [Option<&Estimate>; 3], remark: String| {
        let [first, second, ratio] = figures;
        let mut cells = vec![name];
        cells.extend(models.then_some(model));
        cells.extend(alone.then(|| cell(first, throughput)));
        cells.extend(together.then(|| cell(second, throughput)));
        cells.extend((alone && together).then(|| cell(ratio, throughput)));
        cells.push(remark);
        cells
    };
    let mut rows: Vec<Vec<String>> = disks
        .iter()
        .map(|disk| {
            let slow = if disk.slow.is_some() { " slow" } else { "" };
            line(
                disk.target.to_string(),
                disk.model.clone().unwrap_or_default(),
                [
                    disk.alone.as_ref(),
                    disk.together.as_ref(),
                    disk.together_over_alone.as_ref(),
                ],
                format!("{}{slow}", mark(disk.validity)).trim().to_owned(),
            )
        })
        .collect();
    if disks.len() > 1 {
        rows.push(line(
            "sum".to_owned(),
            String::new(),
            [
                workload.sum_alone.as_ref(),
                workload.sum_together.as_ref(),
                workload.together_over_alone.as_ref(),
            ],
            String::new(),
        ));
    }
    DiskTable {
        title: format!("{} ({unit})", workload.name),
        head,
        rows,
    }
}

fn cell(estimate: Option<&Estimate>, throughput: Throughput) -> String {
    let Some(estimate) = estimate else {
        return String::new();
    };
    let figure = Figure::of(estimate, throughput);
    let number = match estimate.unit {
        Unit::Ratio => figure.value(),
        _ => figure.number(),
    };
    match figure.plus_minus(false) {
        Some(half) if estimate.unit != Unit::Ratio => format!("{number} {half}"),
        _ => number,
    }
}

fn slow_line(
    workload: &DiskWorkload,
    disk: &DiskFigures,
    throughput: Throughput,
) -> Option<String> {
    let slow = disk.slow.as_ref()?;
    let own = match slow.together {
        true => disk.together.as_ref(),
        false => disk.alone.as_ref(),
    }?;
    let figure = |value: f64| match own.unit {
        Unit::BytesPerSecond => match throughput {
            Throughput::Binary => unit::throughput(value),
            Throughput::Decimal => unit::throughput_decimal(value),
        },
        _ => format!("{} IOPS", unit::count(value)),
    };
    let peers = match slow.peers {
        1 => "its only peer".to_owned(),
        n => format!("the median of its {n} peers"),
    };
    Some(format!(
        "{} is slow: {} {} is {:.0} % of {peers}, {}",
        disk.target,
        workload.name,
        figure(own.value?),
        slow.share * 100.0,
        figure(slow.median_of_peers),
    ))
}

fn notes(run: &JudgedRun) -> Vec<String> {
    let Some(sweep) = &run.disks else {
        return Vec::new();
    };
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
    if disks().any(|disk| disk.slow.is_some()) {
        notes.push(format!(
            "slow: with its whole interval below {:.0} % of the median of the other disks of its \
             model (check V72).",
            sweep.slow_share * 100.0
        ));
    }
    notes
}

/// The disks as Markdown.
pub(crate) fn push_markdown(out: &mut String, view: &DisksView, escape: impl Fn(&str) -> String) {
    for table in &view.tables {
        out.push_str(&format!("**{}**\n\n", escape(&table.title)));
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        out.push_str(&line(&table.head));
        let rules: Vec<String> = (0..table.head.len()).map(|_| "---".to_owned()).collect();
        out.push_str(&format!("| {} |\n", rules.join(" | ")));
        for row in &table.rows {
            out.push_str(&line(row));
        }
        out.push('\n');
    }
    for slow in &view.slow {
        out.push_str(&format!("- {}\n", escape(slow)));
    }
    out.push_str(&format!("\n{}\n\n", escape(&view.notes.join(" "))));
}
