//! Networks: a pair of hosts and a matrix of all pairs as text, JSON and HTML.

mod matrix;
mod matrix_answer;
mod matrix_page;
mod pair;
mod pair_answer;
mod pair_page;

use fathom_model::unit;

pub use matrix::matrix_text;
pub use matrix_page::matrix_html;
pub use pair::pair_text;
pub use pair_page::pair_html;

/// Round trips below which a 99th percentile says nothing.
const LEAST_FOR_P99: u64 = 1000;

/// Any report of a network as one JSON document, indented.
///
/// # Errors
/// Only when serialisation itself fails.
pub fn json(report: &impl serde::Serialize) -> crate::Result<String> {
    let mut text = fathom_model::indented_json(report)?;
    text.push('\n');
    Ok(text)
}

/// A rate, or a dash.
fn rate(bits: Option<f64>) -> String {
    bits.map_or_else(|| "–".to_owned(), unit::bits)
}

/// A time, or a dash.
fn time(ns: Option<u64>) -> String {
    ns.map_or_else(|| "–".to_owned(), |ns| unit::latency(ns as f64))
}

/// `9.1 to 9.4 Gbit/s`: the unit once where both have it.
fn range(low: f64, high: f64) -> String {
    let (low, high) = (unit::bits(low), unit::bits(high));
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, one)), Some((_, other))) if one == other => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// A remark, wrapped under its sign.
fn remark(sign: &str, text: &str, width: usize) -> String {
    let lines = crate::table::wrap(text, width.saturating_sub(2));
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        let head = if at == 0 { sign } else { " " };
        out += &format!("{head} {line}\n");
    }
    out
}
