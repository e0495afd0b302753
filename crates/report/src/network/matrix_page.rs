//! A matrix as one HTML file: the answer, the hosts side by side, and each kind of round
//! as a heat map.

use fathom_model::network::{MatrixCell, MatrixMode, MatrixReport, MatrixRound};
use fathom_model::unit;
use fathom_stats::median::median;

use super::{matrix, matrix_answer, pair, rate, time};
use crate::chart::bars::{self, Bar};
use crate::chart::figure::ChartFigure;
use crate::html::document_page::{self, DocumentPage, PageBlock, PageCell, PagePart, PageTable};
use crate::moment;
use crate::table::Align;

/// Hosts in the overview; the slowest of more.
const MOST_BARS: usize = 32;

/// The matrix as one HTML document, without anything from outside.
///
/// # Errors
/// Only when the template engine fails.
pub fn matrix_html(report: &MatrixReport) -> crate::Result<String> {
    let remarks = report.remarks.iter().map(|remark| remark.text.clone());
    let rounds = report.rounds.iter().enumerate();
    let rounds = rounds.map(|(at, round)| PagePart {
        id: format!("round-{}", at + 1),
        title: title(round.mode).to_owned(),
        blocks: round_blocks(report, round),
    });
    let parts = [PagePart::list(
        "remarks",
        "What stands out",
        remarks.collect(),
    )];
    document_page::render(&DocumentPage {
        title: format!(
            "Network of {}",
            unit::counted(report.hosts.len() as u64, "host")
        ),
        below: vec![format!(
            "{}, {} s and {} each; payload that arrived",
            moment::readable(report.started_unix_s.saturating_mul(1_000_000_000)),
            report.seconds,
            unit::counted(report.streams.into(), "stream")
        )],
        answer: matrix_answer::of_matrix(report),
        overview: overview(report),
        overview_notes: vec![
            "Bars are medians over the links of a host; thin lines go from its slowest to its \
             fastest link. In the tables below, the stronger the colour, the faster; links that \
             stand out are framed. Point at a figure for segments sent again and round trips."
                .to_owned(),
        ],
        parts: parts
            .into_iter()
            .flatten()
            .chain(rounds)
            .chain(hosts(report))
            .collect(),
        ..DocumentPage::default()
    })
}

fn title(mode: MatrixMode) -> &'static str {
    match mode {
        MatrixMode::Alone => "Each pair alone",
        MatrixMode::Together => "All pairs at once",
        MatrixMode::Incast => "All to one",
        MatrixMode::Outcast => "One to all",
    }
}

/// What each host sends and receives, link by link.
fn overview(report: &MatrixReport) -> Vec<ChartFigure> {
    let alone = report
        .rounds
        .iter()
        .find(|round| round.mode == MatrixMode::Alone);
    let Some(round) = alone.or(report.rounds.first()) else {
        return Vec::new();
    };
    let chart = |title: &str, class: &str, host_of: fn(&MatrixCell) -> usize| {
        let mut all: Vec<(f64, Bar)> = report
            .hosts
            .iter()
            .enumerate()
            .filter_map(|(at, host)| {
                let cells = round.cells.iter().filter(|cell| host_of(cell) == at);
                bar(host, class, cells)
            })
            .collect();
        if all.len() > MOST_BARS {
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            all.truncate(MOST_BARS);
        }
        let shown: Vec<Bar> = all.into_iter().map(|(_, bar)| bar).collect();
        let title = match shown.len() < report.hosts.len() {
            true => format!("{title}, the {} slowest", shown.len()),
            false => title.to_owned(),
        };
        bars::render(&title, &format!("{title}, bits per second by host"), &shown)
    };
    [
        chart("A host sends, over one link", "k-write", |cell| cell.from),
        chart("A host receives, over one link", "k-read", |cell| cell.to),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn bar<'c>(
    host: &str,
    class: &str,
    cells: impl Iterator<Item = &'c MatrixCell>,
) -> Option<(f64, Bar)> {
    let bits: Vec<f64> = cells.filter_map(|cell| cell.bits_per_second).collect();
    let middle = median(&bits)?;
    let low = bits.iter().copied().fold(f64::INFINITY, f64::min);
    let high = bits.iter().copied().fold(0.0, f64::max);
    let bar = Bar {
        name: host.to_owned(),
        value: Some(middle),
        range: (bits.len() > 1).then_some((low, high)),
        text: unit::bits(middle),
        class: class.to_owned(),
    };
    Some((middle, bar))
}

fn round_blocks(report: &MatrixReport, round: &MatrixRound) -> Vec<PageBlock> {
    let rates = round.cells.iter().filter_map(|cell| cell.bits_per_second);
    let fastest = rates.fold(0.0, f64::max);
    let hosts = report.hosts.len();
    let rows = (0..hosts).map(|from| {
        let name = PageCell::text(report.hosts[from].clone());
        let cells = (0..hosts).map(|to| one(report, round, (from, to), fastest));
        [name].into_iter().chain(cells).collect()
    });
    let names = report.hosts.iter().map(|host| (host.clone(), Align::Right));
    let heads = [("from \\ to".to_owned(), Align::Left)]
        .into_iter()
        .chain(names);
    let table = PageTable {
        caption: format!("{}: senders down, receivers across", title(round.mode)),
        class: "links",
        heads: heads.collect(),
        rows: rows.collect(),
    };
    let errors = matrix::errors_of(report, round);
    let errors = (!errors.is_empty()).then_some(PageBlock::List(errors));
    [PageBlock::Table(table)]
        .into_iter()
        .chain(errors)
        .collect()
}

fn one(
    report: &MatrixReport,
    round: &MatrixRound,
    (from, to): (usize, usize),
    fastest: f64,
) -> PageCell {
    let Some(cell) = matrix::cell(round, from, to) else {
        return PageCell::default();
    };
    let mut links = report.outliers.links.iter();
    let is_slow = links.any(|link| (link.from, link.to) == (from, to));
    let share = cell.bits_per_second.filter(|_| fastest > 0.0);
    let share = share.map(|bits| (bits / fastest * 100.0).round().clamp(0.0, 100.0) as u32);
    let hint = match &cell.error {
        Some(error) => error.clone(),
        None => format!(
            "{} to {}: {}, {} sent again, round trip {} without load, {} beside it",
            report.hosts[from],
            report.hosts[to],
            rate(cell.bits_per_second),
            unit::counted(cell.retransmits, "segment"),
            time(cell.idle_ns),
            time(cell.loaded_ns)
        ),
    };
    PageCell {
        text: rate(cell.bits_per_second),
        class: if is_slow { "link slow" } else { "link" },
        hint,
        share,
        ..PageCell::default()
    }
}

/// What each host says of itself.
fn hosts(report: &MatrixReport) -> Option<PagePart> {
    let facts = report.hosts.iter().zip(&report.facts);
    let facts: Vec<(String, String)> = facts
        .map(|(host, facts)| (host.clone(), pair::host_line(facts)))
        .collect();
    let block = (!facts.is_empty()).then_some(PageBlock::Facts(facts));
    PagePart::new("hosts", "Hosts", block.into_iter().collect())
}
