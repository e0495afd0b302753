//! One block of text for each reading, for pipes and files.

use fathom_diagnose::recording::RecordedHost;
use fathom_report::table::{Align, Table, wrap};

use crate::cells::{
    self, DEVICE_HEADS, DOER_HEADS, LINK_HEADS, MOUNT_HEADS, Sort, cpu_line, memory_line,
    pressure_line, words,
};
use crate::history::Seen;

const WIDTH: usize = 80;
/// Devices and processes in a block.
const MOST_ROWS: usize = 10;

/// The block of a moment.
#[must_use]
pub fn block(host: &RecordedHost, seen: &Seen<'_>, sort: Sort) -> String {
    let moment = seen.moment;
    let name = host.name.as_deref().unwrap_or("this host");
    let mut out = format!(
        "== {} {}\n",
        fathom_report::table::clean(name),
        cells::clock(moment)
    );
    if let Some(seconds) = seen.gap_seconds {
        let span = fathom_model::unit::span((seconds * 1e9) as u64);
        out.push_str(&format!("(nothing was recorded for {span} before this)\n"));
    }
    let (headline, evidence) = words(seen);
    for line in std::iter::once(headline).chain(evidence) {
        for part in wrap(&line, WIDTH) {
            out.push_str(&format!("{part}\n"));
        }
    }
    out.push_str(&format!("CPU     {}\n", cpu_line(moment, host.cpus)));
    out.push_str(&format!(
        "stalls  {}\n",
        pressure_line(moment, seen.is_recorded())
    ));
    out.push_str(&format!(
        "memory  {}\n",
        memory_line(moment, seen.is_recorded())
    ));
    let mut devices = cells::devices(moment, sort);
    let all = devices.len();
    devices.retain(|disk| seen.is_of_interest(disk));
    table(
        &mut out,
        DEVICE_HEADS,
        devices.iter().map(|disk| cells::device(disk)),
    );
    if let more @ 1.. = all - devices.len().min(MOST_ROWS) {
        let more = fathom_model::unit::counted(more as u64, "more device");
        out.push_str(&format!("and {more}\n"));
    }
    let (order, all) = cells::doers(moment, &moment.processes, sort);
    table(
        &mut out,
        DOER_HEADS,
        order.iter().map(|d| cells::doer(d, all)),
    );
    table(&mut out, LINK_HEADS, moment.links.iter().map(cells::link));
    table(&mut out, MOUNT_HEADS, moment.nfs.iter().map(cells::mount));
    out.push('\n');
    out
}

fn table<const N: usize>(
    out: &mut String,
    heads: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) {
    let columns = heads.iter().enumerate().map(|(place, head)| {
        (
            *head,
            if place == 0 {
                Align::Left
            } else {
                Align::Right
            },
        )
    });
    let mut table = Table::new(columns);
    for row in rows.take(MOST_ROWS) {
        table.row(row);
    }
    if !table.is_empty() {
        out.push_str(&format!("\n{}", table.render()));
    }
}
