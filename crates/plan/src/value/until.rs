//! States at which a trial may end before its bounds.

use fathom_model::workload::Until;
use schemars::{Schema, json_schema};

use super::Value;
use crate::node::Out;

/// Narrower intervals than this are beyond any storage.
const SMALLEST_PERCENT: f64 = 0.1;
/// Wider ones say nothing.
const LARGEST_PERCENT: f64 = 50.0;

/// When a trial may end, as written: `steady` or `precision 2%`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct UntilValue(pub(crate) Until);

impl Value for UntilValue {
    const KIND: &'static str = "state";

    fn from_text(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        if lower == "steady" {
            return Ok(UntilValue(Until::Steady));
        }
        let amount = lower
            .strip_prefix("precision")
            .ok_or_else(|| format!("'{text}' is no state to end at; write steady or precision 2%"))?
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
        })
    }

    fn example() -> &'static str {
        "steady"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "steady, or precision followed by a percentage.",
            "type": "string",
            "pattern": "^ *([sS][tT][eE][aA][dD][yY]|[pP][rR][eE][cC][iI][sS][iI][oO][nN][ :=]*[0-9.]+ *%?) *$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
