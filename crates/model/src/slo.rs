//! What a user calls good enough: conditions on latency and rates.
//!
//! The text form is one condition or several, joined by `and` or a comma:
//! `p99<2ms`, `read.p99.9 < 5ms and write.mean < 1ms`, `iops>10k`,
//! `throughput >= 500MB/s`. Without a prefix a latency condition holds for
//! every kind of operation, and a rate counts all data operations together.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::OpKind;
use crate::unit::{parse_bytes, parse_count, parse_duration};

/// Conditions that must all hold; at least one, at most [`Slo::MOST`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Slo {
    conditions: Vec<Condition>,
}

/// One condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// Only this kind of operation; all where it is missing.
    pub op: Option<OpKind>,
    /// What is held against the bound.
    pub figure: SloFigure,
    /// The bound itself is allowed.
    pub inclusive: bool,
    /// Nanoseconds, operations per second or bytes per second.
    pub bound: u64,
}

/// What a condition is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SloFigure {
    /// A percentile of the latency, in hundredths of a percent: 9990 is p99.9.
    Percentile(u32),
    /// The mean latency.
    Mean,
    /// The largest latency.
    Max,
    /// Operations per second, at least.
    Ops,
    /// Bytes per second, at least.
    Bytes,
}

impl SloFigure {
    /// Whether more is better: the bound is a lower one.
    pub fn is_rate(self) -> bool {
        matches!(self, SloFigure::Ops | SloFigure::Bytes)
    }

    /// The percentile in percent.
    pub fn percent(self) -> Option<f64> {
        match self {
            SloFigure::Percentile(hundredths) => Some(f64::from(hundredths) / 100.0),
            _ => None,
        }
    }
}

impl fmt::Display for SloFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SloFigure::Percentile(hundredths) => write!(f, "p{}", f64::from(*hundredths) / 100.0),
            SloFigure::Mean => write!(f, "mean"),
            SloFigure::Max => write!(f, "max"),
            SloFigure::Ops => write!(f, "iops"),
            SloFigure::Bytes => write!(f, "throughput"),
        }
    }
}

/// A text that says no conditions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a target to hold: {reason}")]
pub struct SloError {
    text: String,
    reason: String,
}

const EXAMPLE: &str = "write for example p99<2ms, read.p99.9<5ms, iops>10k or throughput>500MB/s";

impl Slo {
    /// Conditions at most.
    pub const MOST: usize = 16;

    /// The conditions, at least one.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }
}

impl FromStr for Slo {
    type Err = SloError;

    fn from_str(text: &str) -> Result<Slo, SloError> {
        let error = |reason: String| SloError {
            text: text.to_owned(),
            reason,
        };
        let lower = text.to_lowercase().replace('≤', "<=").replace('≥', ">=");
        let parts = lower.split(',').flat_map(|part| part.split(" and "));
        let conditions = parts
            .map(condition)
            .collect::<Result<Vec<Condition>, String>>()
            .map_err(error)?;
        match conditions.len() {
            0 => Err(error(EXAMPLE.to_owned())),
            n if n > Slo::MOST => Err(error(format!("more than {} conditions", Slo::MOST))),
            _ => Ok(Slo { conditions }),
        }
    }
}

fn condition(text: &str) -> Result<Condition, String> {
    let text = text.trim();
    let at = text.find(['<', '>']).ok_or_else(|| EXAMPLE.to_owned())?;
    let (left, right) = text.split_at(at);
    let below = right.starts_with('<');
    let right = &right[1..];
    let (inclusive, right) = match right.strip_prefix('=') {
        Some(rest) => (true, rest),
        None => (false, right),
    };
    let (op, name) = prefix(left.trim());
    let figure = figure(name)?;
    if figure.is_rate() == below {
        return Err(match below {
            true => format!("{figure} is better when higher; write {figure}>…"),
            false => format!("{figure} is better when lower; write {figure}<…"),
        });
    }
    let right = right.trim();
    let bound = bound(figure, right)?;
    if bound == 0 {
        return Err(format!("{right} can never be held"));
    }
    Ok(Condition {
        op,
        figure,
        inclusive,
        bound,
    })
}

fn prefix(text: &str) -> (Option<OpKind>, &str) {
    let named = OpKind::ALL.into_iter().find_map(|kind| {
        let rest = text.strip_prefix(kind.name())?.strip_prefix('.')?;
        Some((Some(kind), rest))
    });
    named.unwrap_or((None, text))
}

fn figure(name: &str) -> Result<SloFigure, String> {
    match name {
        "mean" | "avg" => return Ok(SloFigure::Mean),
        "max" => return Ok(SloFigure::Max),
        "iops" | "ops" => return Ok(SloFigure::Ops),
        "throughput" | "bw" => return Ok(SloFigure::Bytes),
        _ => {}
    }
    let percent = name.strip_prefix('p').and_then(|p| match p {
        "50" => Some(5000),
        "90" => Some(9000),
        "95" => Some(9500),
        "99" => Some(9900),
        "99.9" | "999" => Some(9990),
        "99.99" | "9999" => Some(9999),
        _ => None,
    });
    percent.map(SloFigure::Percentile).ok_or_else(|| {
        format!(
            "'{name}' is not known; use p50, p90, p95, p99, p99.9, p99.99, mean, max, iops or \
             throughput"
        )
    })
}

fn bound(figure: SloFigure, text: &str) -> Result<u64, String> {
    let told = |error: crate::unit::UnitError| error.to_string();
    match figure {
        SloFigure::Ops => parse_count(text.trim_end_matches("/s")).map_err(told),
        SloFigure::Bytes => match text.strip_suffix("/s") {
            Some(amount) => parse_bytes(amount).map_err(told),
            None => Err(format!("'{text}' is not a throughput; write 500MB/s")),
        },
        _ => parse_duration(text).map_err(told),
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(op) = self.op {
            write!(f, "{}.", op.name())?;
        }
        let sign = if self.figure.is_rate() { '>' } else { '<' };
        let equal = if self.inclusive { "=" } else { "" };
        write!(f, "{}{sign}{equal}", self.figure)?;
        let units: &[(u64, &str)] = match self.figure {
            SloFigure::Ops => &[(1, "")],
            SloFigure::Bytes => &[
                (1 << 30, "GiB/s"),
                (1_000_000_000, "GB/s"),
                (1 << 20, "MiB/s"),
                (1_000_000, "MB/s"),
                (1, "B/s"),
            ],
            _ => &[
                (1_000_000_000, "s"),
                (1_000_000, "ms"),
                (1000, "us"),
                (1, "ns"),
            ],
        };
        let exact = units
            .iter()
            .find(|(size, _)| self.bound.is_multiple_of(*size));
        let (size, unit) = exact.copied().unwrap_or((1, ""));
        write!(f, "{}{unit}", self.bound / size)
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, condition) in self.conditions.iter().enumerate() {
            if i > 0 {
                write!(f, " and ")?;
            }
            write!(f, "{condition}")?;
        }
        Ok(())
    }
}

impl TryFrom<String> for Slo {
    type Error = SloError;

    fn try_from(text: String) -> Result<Slo, SloError> {
        text.parse()
    }
}

impl From<Slo> for String {
    fn from(slo: Slo) -> String {
        slo.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_and_written_back() {
        for (text, written) in [
            ("p99<2ms", "p99<2ms"),
            ("P99 < 2 ms", "p99<2ms"),
            (
                "read.p99.9<=1500us,write.mean<1s",
                "read.p99.9<=1500us and write.mean<1s",
            ),
            ("iops>10k and max<0.5s", "iops>10000 and max<500ms"),
            ("throughput>=500MB/s", "throughput>=500MB/s"),
            ("throughput>1GiB/s", "throughput>1GiB/s"),
            ("commit.p999<10ms", "commit.p99.9<10ms"),
        ] {
            let slo: Slo = text.parse().unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(slo.to_string(), written);
            assert_eq!(written.parse::<Slo>().unwrap(), slo);
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_what_to_write() {
        for (text, told) in [
            ("", "p99<2ms"),
            ("p99", "p99<2ms"),
            ("p99>2ms", "better when lower"),
            ("iops<5", "better when higher"),
            ("p98<2ms", "p99.9"),
            ("p99<2", "unit"),
            ("p99<0ms", "never be held"),
            ("throughput>5", "500MB/s"),
            ("read.<2ms", "not known"),
        ] {
            let error = text.parse::<Slo>().unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
