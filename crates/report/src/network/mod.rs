//! Networks: a pair of hosts and a matrix of all pairs as text, JSON and HTML.

mod html;
mod matrix;
mod pair;

use fathom_model::unit;

pub use html::matrix_html;
pub use matrix::matrix_text;
pub use pair::pair_text;

/// Columns of a remark.
const WIDTH: usize = 80;

/// Any report of a network as one JSON document, indented.
///
/// # Errors
/// Only when serialisation itself fails.
pub fn json(report: &impl serde::Serialize) -> crate::Result<String> {
    let mut text = serde_json::to_string_pretty(report)?;
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

/// A remark, wrapped under its sign.
fn remark(sign: &str, text: &str) -> String {
    let lines = crate::table::wrap(text, WIDTH - 2);
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        let head = if at == 0 { sign } else { " " };
        out += &format!("{head} {line}\n");
    }
    out
}
