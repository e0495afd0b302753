//! One block of text for each reading, for pipes and files.

use fathom_diagnose::recording::RecordedHost;
use fathom_report::table::{Align, Table, wrap};

use crate::cells::{
    self, DEVICE_HEADS, DOER_HEADS, LINK_HEADS, MOUNT_HEADS, cpu_facts, joined, memory_facts,
    pressure_facts, words,
};
use crate::filter::Filter;
use crate::history::Seen;
use crate::order::{self, Sort};

const WIDTH: usize = 80;
/// Devices and processes in a block.
const MOST_ROWS: usize = 10;

/// The block of a moment.
#[must_use]
pub fn block(host: &RecordedHost, seen: &Seen<'_>, sort: Sort, filter: &Filter) -> String {
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
    let headline = format!("{headline} ({})", seen.window());
    for line in std::iter::once(headline).chain(evidence) {
        for part in wrap(&line, WIDTH) {
            out.push_str(&format!("{part}\n"));
        }
    }
    let facts = [
        ("CPU     ", cpu_facts(moment, host.cpus)),
        ("stalls  ", pressure_facts(moment, seen.is_recorded())),
        ("memory  ", memory_facts(moment, seen.is_recorded())),
    ];
    for (name, facts) in facts {
        out.push_str(&format!("{name}{}\n", joined(&facts)));
    }
    let mut devices = order::devices(seen, sort, filter);
    let all = devices.len();
    devices.retain(|disk| !filter.is_empty() || seen.is_of_interest(disk));
    let heads = heads(seen);
    table(
        &mut out,
        heads.each_ref().map(String::as_str),
        devices
            .iter()
            .map(|disk| cells::device(disk, seen.load(&disk.name))),
    );
    if let more @ 1.. = all - devices.len().min(MOST_ROWS) {
        let more = fathom_model::unit::counted(more as u64, "more device");
        out.push_str(&format!("and {more}\n"));
    }
    let (order, all) = order::doers(moment, &moment.processes, sort, filter);
    table(
        &mut out,
        DOER_HEADS,
        order.iter().map(|d| cells::doer(d, all)),
    );
    let links = moment.links.iter().filter(|link| filter.takes(&link.name));
    table(&mut out, LINK_HEADS, links.map(cells::link));
    let mounts = moment.nfs.iter().filter(|mount| filter.takes(&mount.name));
    table(&mut out, MOUNT_HEADS, mounts.map(cells::mount));
    out.push('\n');
    out
}

/// The heads of devices; the last two are of the time of the verdict.
fn heads(seen: &Seen<'_>) -> [String; 10] {
    let window = seen.window().replacen("last ", "", 1);
    DEVICE_HEADS.map(|head| match head.split_once(", ") {
        Some((figure, _)) => format!("{window}\n{figure}"),
        None => head.to_owned(),
    })
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
