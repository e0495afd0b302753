//! All pairs of several hosts as text: senders down, receivers across.

use fathom_model::network::{MatrixCell, MatrixMode, MatrixReport, MatrixRound};
use fathom_model::unit;

use super::{matrix_answer, rate, remark, time};
use crate::table::{Align, Table};

/// Hosts up to which a matrix fits a terminal; above, only what stands out is
/// printed, and the HTML has the rest.
const MOST_COLUMNS: usize = 12;

/// The report for a terminal.
pub fn matrix_text(report: &MatrixReport, width: usize) -> String {
    let mut text = crate::table::wrap(&matrix_answer::matrix_sentence(report), width).join("\n");
    text += &format!(
        "\n\n{}, {} s and {} each\n",
        unit::counted(report.hosts.len() as u64, "host"),
        report.seconds,
        unit::counted(report.streams.into(), "stream")
    );
    for round in &report.rounds {
        text += &round_text(report, round, width);
    }
    if let Some(median) = report.outliers.median_bits {
        text += &format!("\nmedian of all links alone: {}\n", unit::bits(median));
    }
    for one in &report.remarks {
        text += &remark("!", &one.text, width);
    }
    text
}

/// What went wrong in a round.
pub(super) fn errors_of(report: &MatrixReport, round: &MatrixRound) -> Vec<String> {
    let name = |host: usize| report.hosts.get(host).map_or("?", String::as_str);
    let errors = round.cells.iter().filter_map(|cell| {
        let error = cell.error.as_ref()?;
        Some(format!("{} to {}: {error}", name(cell.from), name(cell.to)))
    });
    errors.collect()
}

/// What went wrong in all rounds.
pub(super) fn errors(report: &MatrixReport) -> Vec<String> {
    let rounds = report.rounds.iter();
    rounds.flat_map(|round| errors_of(report, round)).collect()
}

/// The cell of a direction.
pub(super) fn cell(round: &MatrixRound, from: usize, to: usize) -> Option<&MatrixCell> {
    round
        .cells
        .iter()
        .find(|cell| cell.from == from && cell.to == to)
}

fn round_text(report: &MatrixReport, round: &MatrixRound, width: usize) -> String {
    let mut text = format!("\n{} (payload that arrived)\n", round.mode.words());
    let hosts = report.hosts.len();
    if hosts <= MOST_COLUMNS {
        text += &grid(report, round, |cell| rate(cell.bits_per_second), width);
    } else {
        text += &format!("  {hosts} hosts do not fit here; --html FILE has the matrix\n");
    }
    if round.mode == MatrixMode::Alone && hosts <= MOST_COLUMNS {
        let has = |pick: fn(&MatrixCell) -> bool| round.cells.iter().any(pick);
        if has(|cell| cell.retransmits > 0) {
            text += "\nsegments sent again\n";
            text += &grid(report, round, |cell| unit::group(cell.retransmits), width);
        }
        if has(|cell| cell.idle_ns.is_some()) {
            text += "\nround trip without load, then beside it (p50)\n";
            text += &grid(
                report,
                round,
                |cell| format!("{}\n{}", time(cell.idle_ns), time(cell.loaded_ns)),
                width,
            );
        }
    }
    for error in errors_of(report, round) {
        text += &remark("!", &error, width);
    }
    text
}

fn grid(
    report: &MatrixReport,
    round: &MatrixRound,
    show: impl Fn(&MatrixCell) -> String,
    width: usize,
) -> String {
    let hosts = report.hosts.len();
    let sums = round.mode != MatrixMode::Alone;
    let mut columns = vec![("from \\ to".to_owned(), Align::Left)];
    columns.extend(report.hosts.iter().map(|host| (host.clone(), Align::Right)));
    if sums {
        columns.push(("sends".to_owned(), Align::Right));
    }
    let mut table = Table::new(columns).indent(2);
    for from in 0..hosts {
        let mut row = vec![report.hosts[from].clone()];
        row.extend((0..hosts).map(|to| cell(round, from, to).map_or_else(String::new, &show)));
        if sums {
            row.push(rate(round.sums.get(from).map(|sum| sum.sent_bits)));
        }
        table.row(row);
    }
    if sums {
        let mut row = vec!["receives".to_owned()];
        row.extend(round.sums.iter().map(|sum| rate(Some(sum.received_bits))));
        table.row(row);
    }
    table.fit(width)
}
