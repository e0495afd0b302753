//! A matrix as one HTML file: each kind of round as a heat map.

use askama::Template;
use fathom_model::network::{MatrixReport, MatrixRound};
use fathom_model::unit;

use super::{matrix, rate, time};

/// A cell of the page.
struct View {
    text: String,
    hint: String,
    /// Share of the fastest link, in percent; 100 is the best colour.
    share: u32,
    class: &'static str,
}

/// A kind of round.
struct RoundView {
    title: &'static str,
    rows: Vec<(String, Vec<View>)>,
}

#[derive(Template)]
#[template(path = "network.html")]
struct NetworkPage<'a> {
    report: &'a MatrixReport,
    title: String,
    rounds: Vec<RoundView>,
}

/// The matrix as one HTML document, without scripts or anything from outside.
///
/// # Errors
/// Only when the template engine fails.
pub fn matrix_html(report: &MatrixReport) -> crate::Result<String> {
    let page = NetworkPage {
        report,
        title: format!("network of {} hosts", report.hosts.len()),
        rounds: report
            .rounds
            .iter()
            .map(|round| view(report, round))
            .collect(),
    };
    crate::html::page(&page)
}

fn view(report: &MatrixReport, round: &MatrixRound) -> RoundView {
    let rates = round.cells.iter().filter_map(|cell| cell.bits_per_second);
    let fastest = rates.fold(0.0, f64::max);
    let hosts = report.hosts.len();
    let rows = (0..hosts).map(|from| {
        let cells = (0..hosts).map(|to| one(report, round, (from, to), fastest));
        (report.hosts[from].clone(), cells.collect())
    });
    RoundView {
        title: round.mode.words(),
        rows: rows.collect(),
    }
}

fn one(
    report: &MatrixReport,
    round: &MatrixRound,
    (from, to): (usize, usize),
    fastest: f64,
) -> View {
    let Some(cell) = matrix::cell(round, from, to) else {
        return View {
            text: String::new(),
            hint: String::new(),
            share: 0,
            class: "none",
        };
    };
    let slow = report
        .outliers
        .links
        .iter()
        .any(|l| (l.from, l.to) == (from, to));
    let share = match cell.bits_per_second {
        Some(bits) if fastest > 0.0 => (bits / fastest * 100.0).round().clamp(0.0, 100.0),
        _ => 0.0,
    };
    let hint = match &cell.error {
        Some(error) => error.clone(),
        None => format!(
            "{} to {}: {}, {} segments sent again, round trip {} idle, {} loaded",
            report.hosts[from],
            report.hosts[to],
            rate(cell.bits_per_second),
            unit::group(cell.retransmits),
            time(cell.idle_ns),
            time(cell.loaded_ns)
        ),
    };
    View {
        text: rate(cell.bits_per_second),
        hint,
        share: share as u32,
        class: if slow { "slow" } else { "cell" },
    }
}
