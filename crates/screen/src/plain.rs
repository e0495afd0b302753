//! One block of text for each reading, for pipes and files.

use fathom_diagnose::recording::RecordedHost;
use fathom_report::table::{Align, Table, display_width, wrap};

use crate::cells::{
    self, DEVICE_HEADS, DOER_HEADS, Fact, LINK_HEADS, MOUNT_HEADS, cpu_facts, is_judged,
    memory_facts, pressure_facts, words,
};
use crate::filter::Filter;
use crate::history::Seen;
use crate::order::{self, Sort};

/// Devices and processes in a block.
const MOST_ROWS: usize = 10;

/// What is shown for one moment, no wider than `width` columns where that is possible.
#[must_use]
pub fn block(
    host: &RecordedHost,
    seen: &Seen<'_>,
    sort: Sort,
    filter: &Filter,
    width: usize,
) -> String {
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
    let headline = match is_judged(seen) {
        true => format!("{headline} ({})", seen.window()),
        false => headline,
    };
    for line in std::iter::once(headline).chain(evidence) {
        for part in wrap(&line, width) {
            out.push_str(&format!("{part}\n"));
        }
    }
    let facts = [
        ("CPU     ", cpu_facts(moment, host.cpus)),
        ("stalls  ", pressure_facts(moment, seen.is_recorded())),
        ("memory  ", memory_facts(moment, seen.is_recorded())),
    ];
    for (name, facts) in facts {
        fact_lines(&mut out, name, &facts, width);
    }
    let mut devices = order::devices(seen, sort, filter);
    let all = devices.len();
    devices.retain(|disk| !filter.is_empty() || seen.is_of_interest(disk));
    let heads = heads(seen);
    let heads = heads.each_ref().map(String::as_str);
    let rows = devices.iter();
    let rows = rows.map(|disk| cells::device(disk, seen.load(&disk.name)));
    out.push_str(&table(heads, rows, width));
    if let more @ 1.. = all - devices.len().min(MOST_ROWS) {
        let more = fathom_model::unit::counted(more as u64, "more device");
        out.push_str(&format!("and {more}\n"));
    }
    let (order, all) = order::doers(moment, &moment.processes, sort, filter);
    let rows = order.iter().map(|d| cells::doer(d, all));
    out.push_str(&table(DOER_HEADS, rows, width));
    let links = moment.links.iter().filter(|link| filter.takes(&link.name));
    out.push_str(&table(LINK_HEADS, links.map(cells::link), width));
    let mounts = moment.nfs.iter().filter(|mount| filter.takes(&mount.name));
    out.push_str(&table(MOUNT_HEADS, mounts.map(cells::mount), width));
    out.push('\n');
    out
}

/// Facts behind their name, as many in a line as there is room for.
fn fact_lines(out: &mut String, name: &str, facts: &[Fact], width: usize) {
    let mut line = name.to_owned();
    let indent = display_width(name);
    let mut is_begun = false;
    for fact in facts {
        let gap = if is_begun { "  " } else { "" };
        if is_begun && display_width(&line) + gap.len() + display_width(&fact.text) > width {
            out.push_str(&format!("{line}\n"));
            line = " ".repeat(indent) + &fact.text;
        } else {
            line.push_str(gap);
            line.push_str(&fact.text);
        }
        is_begun = true;
    }
    out.push_str(&format!("{}\n", line.trim_end()));
}

/// The heads of devices; the last two are of the time of the verdict.
fn heads(seen: &Seen<'_>) -> [String; 10] {
    let window = seen.window();
    DEVICE_HEADS.map(|head| match head.split_once(", ") {
        Some((figure, _)) => format!("{window}\n{figure}"),
        None => head.to_owned(),
    })
}

/// The first rows below an empty line; nothing without any.
fn table<const N: usize>(
    heads: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
    width: usize,
) -> String {
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
    match table.is_empty() {
        true => String::new(),
        false => format!("\n{}", table.fit(width)),
    }
}
