//! A recording for other programs: JSON lines and CSV.
//!
//! Counters are given as their growth per second, under their name with
//! `_per_second`; gauges as they are.

use serde_json::{Map, Number, Value};

use crate::frame::Frame;
use crate::growth::{Change, Growth};
use crate::kind::{ABSENT, Nature};

/// Turns frames into lines.
#[derive(Debug, Default)]
pub struct Export {
    growth: Growth,
}

/// One thing in one interval.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportLine {
    /// The end of the interval, RFC 3339 in UTC with milliseconds.
    pub at: String,
    /// `disk`, `cpu`, ….
    pub kind: &'static str,
    /// Which one; empty where a host has one only.
    pub name: String,
    /// Length of the interval; 0 where all values are gauges.
    pub seconds: f64,
    /// Names and values.
    pub values: Vec<(String, f64)>,
}

impl Export {
    /// What happened up to this frame; nothing for counters of the first.
    pub fn advance(&mut self, frame: &Frame) -> Vec<ExportLine> {
        let at = jiff::Timestamp::from_millisecond(frame.at.unix_ms).unwrap_or_default();
        let at = format!("{at:.3}");
        let changes = self.growth.advance(frame);
        changes.iter().map(|change| line(&at, change)).collect()
    }
}

fn line(at: &str, change: &Change) -> ExportLine {
    let fields = change.kind.fields().iter().zip(&change.values);
    let values = fields.filter(|(_, value)| **value != ABSENT);
    let values = values.map(|(field, value)| match field.nature {
        Nature::Gauge => (field.name.to_owned(), *value as f64),
        Nature::Counter => (
            format!("{}_per_second", field.name),
            *value as f64 / change.seconds,
        ),
    });
    ExportLine {
        at: at.to_owned(),
        kind: change.kind.name(),
        name: change.name.to_string(),
        seconds: change.seconds,
        values: values.collect(),
    }
}

impl ExportLine {
    /// As one JSON object.
    pub fn json(&self) -> Value {
        let mut object = Map::new();
        object.insert("at".to_owned(), self.at.clone().into());
        object.insert("kind".to_owned(), self.kind.into());
        object.insert("name".to_owned(), self.name.clone().into());
        if let Some(seconds) = Number::from_f64(self.seconds).filter(|_| self.seconds > 0.0) {
            object.insert("seconds".to_owned(), Value::Number(seconds));
        }
        for (name, value) in &self.values {
            let number = match value.fract() == 0.0 && value.abs() < 9e15 {
                true => Some(Number::from(*value as i64)),
                false => Number::from_f64(*value),
            };
            object.insert(name.clone(), number.map_or(Value::Null, Value::Number));
        }
        Value::Object(object)
    }

    /// As lines of CSV: `at,kind,name,field,value`, one for each value.
    pub fn csv(&self, out: &mut String) {
        let quoted = quoted(&self.name);
        for (name, value) in &self.values {
            out.push_str(&format!(
                "{},{},{quoted},{name},{value}\n",
                self.at, self.kind
            ));
        }
    }
}

/// First line of the CSV.
pub const CSV_HEAD: &str = "at,kind,name,field,value\n";

/// RFC 4180; what a spreadsheet would take for a formula is made text.
fn quoted(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = match formula {
        true => format!("'{text}"),
        false => text.to_owned(),
    };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Instant, Row};
    use crate::kind::{Kind, disk};

    #[test]
    fn counters_become_rates_and_gauges_stay() {
        let frame = |ms: i64, bytes: u64| {
            let mut row = Row::absent(Kind::Disk, "a,\"b".into());
            row.values[disk::READ_BYTES] = bytes;
            row.values[disk::IN_FLIGHT] = 4;
            let at = Instant {
                unix_ms: ms,
                monotonic_ns: ms as u64 * 1_000_000,
            };
            Frame {
                at,
                rows: vec![row],
            }
        };
        let mut export = Export::default();
        assert!(export.advance(&frame(1_000, 0)).is_empty());
        let lines = export.advance(&frame(3_000, 4096));
        let json = lines[0].json().to_string();
        let expected = r#"{"at":"1970-01-01T00:00:03.000Z","in_flight":4,"kind":"disk","name":"a,\"b","read_bytes_per_second":2048,"seconds":2.0}"#;
        assert_eq!(json, expected);
        let mut csv = String::new();
        lines[0].csv(&mut csv);
        assert!(
            csv.starts_with(
                "1970-01-01T00:00:03.000Z,disk,\"a,\"\"b\",read_bytes_per_second,2048\n"
            ),
            "{csv}"
        );
        assert_eq!(quoted("=1+1"), "'=1+1");
    }
}
