//! Rates: operations or bytes per second.

use fathom_model::unit::{parse_bytes, parse_count};
use fathom_model::workload::RateUnit;
use schemars::{Schema, json_schema};

use super::Value;
use crate::node::Out;

/// A rate as written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateValue {
    pub(crate) per_second: f64,
    pub(crate) unit: RateUnit,
}

impl Value for RateValue {
    const KIND: &'static str = "rate";

    fn from_text(text: &str) -> Result<Self, String> {
        let Some(amount) = text.trim().strip_suffix("/s").map(str::trim_end) else {
            return Err(format!(
                "'{text}' is not a rate: 1000/s are operations per second, 50MiB/s are bytes"
            ));
        };
        let lower = amount.to_ascii_lowercase();
        let amount = lower
            .strip_suffix("iops")
            .or_else(|| lower.strip_suffix("ops"))
            .map_or(lower.as_str(), str::trim_end);
        if amount.ends_with('b') {
            let bytes = parse_bytes(amount).map_err(|e| e.to_string())?;
            return Ok(RateValue {
                per_second: bytes as f64,
                unit: RateUnit::Bytes,
            });
        }
        if amount.ends_with(['m', 'g', 't', 'i']) {
            return Err(format!(
                "'{text}' could be operations or bytes; write 1000k/s for operations or \
                 50MiB/s for bytes"
            ));
        }
        let fraction = amount.parse::<f64>().ok().filter(|_| plain_number(amount));
        let per_second = match fraction {
            Some(number) => number,
            None => parse_count(amount).map_err(|e| e.to_string())? as f64,
        };
        Ok(RateValue {
            per_second,
            unit: RateUnit::Ops,
        })
    }

    fn to_out(&self) -> Out {
        Out::Text(match self.unit {
            RateUnit::Ops => format!("{}/s", self.per_second),
            RateUnit::Bytes => bytes_text(self.per_second as u64),
        })
    }

    fn example() -> &'static str {
        "1000/s"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "Operations per second (1000/s) or bytes per second (50MiB/s).",
            "type": "string",
            "pattern": "/s *$"
        })
    }
}

fn plain_number(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

fn bytes_text(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB"];
    let mut power = 0;
    let mut whole = bytes;
    while power + 1 < units.len() && whole > 0 && whole.is_multiple_of(1024) {
        whole /= 1024;
        power += 1;
    }
    format!("{whole}{}/s", units[power])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_tells_operations_from_bytes() {
        let ops = RateValue::from_text("1000/s").unwrap();
        assert_eq!((ops.per_second, ops.unit), (1000.0, RateUnit::Ops));
        assert_eq!(RateValue::from_text("1k iops/s").unwrap(), ops);
        let bytes = RateValue::from_text("50MiB/s").unwrap();
        assert_eq!(bytes.unit, RateUnit::Bytes);
        assert_eq!(bytes.per_second, 50.0 * 1048576.0);
        for text in ["1000/s", "2.5/s", "50MiB/s", "12345B/s"] {
            assert_eq!(RateValue::from_text(text).unwrap().to_text(), text);
        }
    }

    #[test]
    fn a_rate_that_could_be_both_is_refused() {
        for text in [
            "1000", "50m/s", "1G/s", "/s", "x/s", "-1/s", "nan/s", "inf/s",
        ] {
            assert!(RateValue::from_text(text).is_err(), "{text}");
        }
    }
}
