//! States at which a trial may end before its bounds.

use fathom_model::settled::{Figure, Settled};
use fathom_model::workload::Until;
use schemars::{Schema, json_schema};

use super::Value;
use crate::node::Out;

/// Narrower intervals than this are beyond any storage.
const SMALLEST_PERCENT: f64 = 0.1;
/// Wider ones say nothing.
const LARGEST_PERCENT: f64 = 50.0;

/// When a trial may end, as written: `steady`, `precision 2%` or `iops 10%
/// over 30s`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UntilValue(pub Until);

impl Value for UntilValue {
    const KIND: &'static str = "state";

    fn from_text(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        if lower == "steady" {
            return Ok(UntilValue(Until::Steady));
        }
        if let Some(rule) = settled(&lower)? {
            return Ok(UntilValue(Until::Settled(rule)));
        }
        let amount = lower
            .strip_prefix("precision")
            .ok_or_else(|| {
                format!("'{text}' is not a state to end at; write steady, precision 2% or iops 10% over 30s")
            })?
            .trim_start_matches([' ', ':', '='])
            .trim_end_matches('%')
            .trim();
        let percent = amount.parse::<f64>().ok().filter(|p| {
            let plain = amount.chars().all(|c| c.is_ascii_digit() || c == '.');
            plain && (SMALLEST_PERCENT..=LARGEST_PERCENT).contains(p)
        });
        percent
            .map(|percent| UntilValue(Until::Precision { percent }))
            .ok_or_else(|| {
                format!(
                    "'{text}' names no precision; write a percentage from {SMALLEST_PERCENT} to \
                     {LARGEST_PERCENT}, for example precision 2%"
                )
            })
    }

    fn to_out(&self) -> Out {
        Out::Text(match self.0 {
            Until::Steady => "steady".to_owned(),
            Until::Precision { percent } => format!("precision {percent}%"),
            Until::Settled(rule) => settled_text(&rule),
        })
    }

    fn example() -> &'static str {
        "steady"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "steady, precision followed by a percentage, or a figure, its limit and a window: iops 10% over 30s.",
            "type": "string",
            "pattern": "^ *([sS][tT][eE][aA][dD][yY]|[pP][rR][eE][cC][iI][sS][iI][oO][nN][ :=]*[0-9.]+ *%?|(iops|throughput|latency)( slope)? [0-9.]+%? over [0-9a-z.]+( after [0-9a-z.]+)?) *$"
        })
    }
}

/// Windows are whole seconds, up to a day.
const MOST_SECONDS: u64 = 86_400;

/// `iops [slope] LIMIT[%] over TIME [after TIME]`; nothing when the text does
/// not begin with a figure.
fn settled(text: &str) -> Result<Option<Settled>, String> {
    let mut words = text.split_whitespace().peekable();
    let figure = match words.next() {
        Some("iops") => Figure::Iops,
        Some("throughput") => Figure::Throughput,
        Some("latency") => Figure::Latency,
        _ => return Ok(None),
    };
    let wrong =
        || format!("'{text}' is not a state to end at; write for example iops 10% over 30s");
    let slope = words.next_if_eq(&"slope").is_some();
    let limit = words.next().ok_or_else(wrong)?;
    let percent = limit.ends_with('%');
    let limit = limit.trim_end_matches('%').parse::<f64>().ok();
    let limit = limit.filter(|l| l.is_finite() && *l > 0.0);
    let mut time = |word: &str| -> Result<Option<u64>, String> {
        if words.next_if_eq(&word).is_none() {
            return Ok(None);
        }
        let time = words.next().ok_or_else(wrong)?;
        super::Seconds::from_text(time).map(|time| Some(time.0))
    };
    let window_ns = time("over")?.ok_or_else(wrong)?;
    let ramp_ns = time("after")?.unwrap_or(0);
    let whole = window_ns.is_multiple_of(1_000_000_000);
    if words.next().is_some()
        || !whole
        || !(2..=MOST_SECONDS).contains(&(window_ns / 1_000_000_000))
    {
        return Err(format!(
            "'{text}': the window is 2 s to a day, in whole seconds; write for example iops 10% \
             over 30s"
        ));
    }
    Ok(Some(Settled {
        figure,
        slope,
        limit: limit.ok_or_else(wrong)?,
        percent,
        window_ns,
        ramp_ns,
        interval_ns: 1_000_000_000,
    }))
}

fn settled_text(rule: &Settled) -> String {
    let figure = match rule.figure {
        Figure::Iops => "iops",
        Figure::Throughput => "throughput",
        Figure::Latency => "latency",
    };
    let slope = if rule.slope { " slope" } else { "" };
    let unit = if rule.percent { "%" } else { "" };
    let seconds = |ns: u64| format!("{}s", ns.div_ceil(1_000_000_000));
    let ramp = match rule.ramp_ns {
        0 => String::new(),
        ns => format!(" after {}", seconds(ns)),
    };
    let window = seconds(rule.window_ns);
    format!("{figure}{slope} {}{unit} over {window}{ramp}", rule.limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_settle_are_read_and_written() {
        for text in [
            "iops 10% over 30s",
            "throughput slope 0.3% over 60s after 10s",
            "latency 500 over 5s",
        ] {
            let read = UntilValue::from_text(text).unwrap();
            assert_eq!(read.to_text(), text);
        }
        for text in [
            "iops",
            "iops 10%",
            "iops x over 5s",
            "iops 1% over 1s",
            "iops 1% over 9s 3",
        ] {
            let message = UntilValue::from_text(text).unwrap_err();
            assert!(message.contains("over 30s"), "{message}");
        }
    }

    #[test]
    fn states_are_read_in_the_forms_that_people_write() {
        let precision = |text: &str| match UntilValue::from_text(text) {
            Ok(UntilValue(Until::Precision { percent })) => percent,
            other => panic!("{text}: {other:?}"),
        };
        for text in [
            "precision 2%",
            "precision 2",
            "precision:2%",
            "Precision=2 %",
        ] {
            assert_eq!(precision(text), 2.0, "{text}");
        }
        assert_eq!(precision("precision 0.5%"), 0.5);
        let steady = UntilValue::from_text(" Steady ").unwrap();
        assert_eq!(steady.0, Until::Steady);
        for text in ["steady", "precision 2%", "precision 0.5%"] {
            assert_eq!(UntilValue::from_text(text).unwrap().to_text(), text);
        }
    }

    #[test]
    fn other_states_are_refused_with_an_example() {
        for text in [
            "",
            "stead",
            "precision",
            "precision 0%",
            "precision 90",
            "precision inf",
        ] {
            let message = UntilValue::from_text(text).unwrap_err();
            assert!(message.contains("precision 2%"), "{message}");
        }
    }
}
