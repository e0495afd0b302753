//! For the terminal.

use fathom_model::diagnosis::{Answer, Diagnosis, DiskLoad};
use fathom_model::unit;
use fathom_model::view::Tone;

use super::graph;
use super::next_step::{Source, next_step};
use crate::table::{Align, Table, clean, wrap};
use crate::text::paint;

/// More devices are in the JSON.
pub(super) const MOST_DISKS: usize = 10;

/// Columns of the table of devices.
pub(super) const COLUMNS: [(&str, Align); 9] = [
    ("device", Align::Left),
    ("IOPS", Align::Right),
    ("IOPS p95", Align::Right),
    ("max IOPS", Align::Right),
    ("reads", Align::Right),
    ("block", Align::Right),
    ("wait ms", Align::Right),
    ("queue", Align::Right),
    ("max queue", Align::Right),
];

/// The answer, its evidence, the next step, the devices, and a graph of the first one.
pub fn text(diagnosis: &Diagnosis, source: &Source, width: usize, color: bool) -> String {
    let mut out = first_lines(diagnosis, width, color);
    list(&mut out, "", &diagnosis.evidence, width);
    let ceiling = super::ceiling_lines(diagnosis);
    list(&mut out, "Volume capacity:", &ceiling, width);
    list(&mut out, "What would settle it:", &diagnosis.settle, width);
    if let Some(step) = next_step(diagnosis, source) {
        out.push('\n');
        hanging(&mut out, &format!("Next: {}", clean(&step)), width);
    }
    out.push('\n');
    hanging(&mut out, &recorded(diagnosis), width);
    if let Some(table) = devices(diagnosis, width) {
        out.push_str(&format!("\n{table}"));
    }
    if let Some(disk) = diagnosis.disks.first().filter(|disk| disk.series.len() > 1) {
        let ceiling = super::drawn_ceiling(diagnosis);
        out.push_str(&format!("\n{}", graph::lines(disk, ceiling, width)));
    }
    list(&mut out, "Remarks:", &diagnosis.remarks, width);
    out
}

/// The answer in one sentence, its word in colour.
fn first_lines(diagnosis: &Diagnosis, width: usize, color: bool) -> String {
    let tone = match diagnosis.answer {
        Answer::Yes => Tone::Bad,
        Answer::No => Tone::Good,
        Answer::NotProven => Tone::Warning,
    };
    let mut out = String::new();
    hanging(&mut out, &super::headline(diagnosis), width);
    let word = super::word(diagnosis.answer);
    out.replacen(word, &paint(word, tone, color), 1)
}

/// A paragraph whose further lines are set in.
fn hanging(out: &mut String, text: &str, width: usize) {
    const INDENT: &str = "  ";
    for (index, part) in wrap(text, width.saturating_sub(INDENT.len()))
        .iter()
        .enumerate()
    {
        out.push_str(if index == 0 { "" } else { INDENT });
        out.push_str(part);
        out.push('\n');
    }
}

fn list(out: &mut String, title: &str, lines: &[String], width: usize) {
    if lines.is_empty() {
        return;
    }
    if !title.is_empty() {
        out.push_str(&format!("\n{title}\n"));
    }
    for line in lines {
        for (index, part) in wrap(&clean(line), width.saturating_sub(4))
            .iter()
            .enumerate()
        {
            out.push_str(if index == 0 { "  - " } else { "    " });
            out.push_str(part);
            out.push('\n');
        }
    }
}

/// Who was recorded, for how long, and by what.
pub(super) fn recorded(diagnosis: &Diagnosis) -> String {
    let span = match diagnosis.seconds > 0.0 {
        true => format!(" over {}", unit::span((diagnosis.seconds * 1e9) as u64)),
        false => String::new(),
    };
    let cpus = diagnosis.cpu.and_then(|cpu| cpu.cpus);
    let cpus = cpus.map_or(String::new(), |cpus| {
        format!(", {}", unit::counted(cpus.into(), "CPU"))
    });
    format!(
        "{}{cpus}: {}{span}, from {}",
        clean(&diagnosis.host),
        unit::counted(diagnosis.samples.into(), "sample"),
        diagnosis.sources.join(", ")
    )
}

/// The devices as a table; nothing where none did anything.
pub fn devices(diagnosis: &Diagnosis, width: usize) -> Option<String> {
    let mut table = Table::new(COLUMNS);
    for disk in diagnosis.disks.iter().take(MOST_DISKS) {
        table.row(row(disk));
    }
    (!table.is_empty()).then(|| table.fit(width))
}

/// The cells of a device.
pub(super) fn row(disk: &DiskLoad) -> [String; 9] {
    let some = |value: Option<f64>, digits: usize| match value {
        Some(value) => format!("{value:.digits$}"),
        None => "-".to_owned(),
    };
    [
        clean(&disk.name),
        unit::count(disk.operations),
        unit::count(disk.operations_p95),
        unit::count(disk.operations_peak),
        disk.read_share
            .map_or("-".to_owned(), |share| format!("{:.0} %", 100.0 * share)),
        disk.block_bytes.map_or("-".to_owned(), |bytes| {
            unit::bytes(bytes as u64).to_string()
        }),
        some(disk.wait_ms, 2),
        some(disk.queue, 2),
        some(disk.queue_peak, 2),
    ]
}
