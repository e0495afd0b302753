//! How a recorded list is replayed: how fast, and without what.

use fathom_model::OpKind;
use fathom_model::workload::ReplayTiming;
use schemars::{Schema, json_schema};

use super::Value;
use crate::node::Out;

/// Fastest and slowest replay in percent of the record.
const LIMITS: std::ops::RangeInclusive<f64> = 0.01..=1e6;

/// `200`, `50%` or `max`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedValue(pub ReplayTiming);

impl Value for SpeedValue {
    const KIND: &'static str = "speed";

    fn from_text(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("max") {
            return Ok(SpeedValue(ReplayTiming::AsFastAsPossible));
        }
        match text.trim_end_matches('%').trim_end().parse::<f64>() {
            Ok(speed_percent) if LIMITS.contains(&speed_percent) => {
                Ok(SpeedValue(ReplayTiming::Recorded { speed_percent }))
            }
            _ => Err(format!(
                "'{text}' is not a speed; write a percentage, for example 200, or max"
            )),
        }
    }

    fn to_out(&self) -> Out {
        Out::Text(match self.0 {
            ReplayTiming::Recorded { speed_percent } => format!("{speed_percent}%"),
            ReplayTiming::AsFastAsPossible => "max".to_owned(),
        })
    }

    fn example() -> &'static str {
        "200"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "A percentage of the recorded speed, or max.",
            "type": ["integer", "number", "string"],
            "pattern": "^([0-9.]+ *%?|max)$"
        })
    }
}

/// Kinds of operations: `write,trim`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KindsValue {
    /// Reads, writes, trims, flushes.
    kinds: [bool; 4],
}

const KINDS: [(OpKind, &str); 4] = [
    (OpKind::Read, "read"),
    (OpKind::Write, "write"),
    (OpKind::Trim, "trim"),
    (OpKind::Sync, "sync"),
];

impl KindsValue {
    /// Whether a kind is among them.
    pub(crate) fn holds(self, kind: OpKind) -> bool {
        let known = KINDS.iter().position(|(known, _)| *known == kind);
        known.is_some_and(|at| self.kinds[at])
    }
}

impl Value for KindsValue {
    const KIND: &'static str = "kinds of operations";

    fn from_text(text: &str) -> Result<Self, String> {
        let mut value = KindsValue::default();
        for word in text.split(',').map(str::trim) {
            let known = KINDS.iter().position(|(_, name)| *name == word);
            let at = known.ok_or_else(|| {
                format!("'{word}' is not a kind of operation; write read, write, trim or sync")
            })?;
            value.kinds[at] = true;
        }
        Ok(value)
    }

    fn to_out(&self) -> Out {
        let names = KINDS.iter().zip(self.kinds).filter(|(_, held)| *held);
        let names: Vec<&str> = names.map(|((_, name), _)| *name).collect();
        Out::Text(names.join(","))
    }

    fn example() -> &'static str {
        "write,trim"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "Kinds of operations joined by commas: read, write, trim, sync.",
            "type": "string",
            "pattern": "^(read|write|trim|sync)( *, *(read|write|trim|sync))*$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_back_as_written() {
        for (text, out) in [("200", "200%"), ("50%", "50%"), ("Max", "max")] {
            assert_eq!(SpeedValue::from_text(text).unwrap().to_text(), out);
        }
        let kinds = KindsValue::from_text("trim, write").unwrap();
        assert_eq!(kinds.to_text(), "write,trim");
        assert!(kinds.holds(OpKind::Trim) && !kinds.holds(OpKind::Sync));
        for text in ["", "0", "-5", "nan", "fast"] {
            assert!(SpeedValue::from_text(text).is_err(), "{text}");
        }
        for text in ["", "reads", "read,,write"] {
            assert!(KindsValue::from_text(text).is_err(), "{text}");
        }
    }
}
