//! Sizes, times, counts, shares and switches.

use fathom_model::unit::{parse_bytes, parse_count, parse_duration};
use schemars::{Schema, json_schema};

use super::Value;
use crate::node::Out;

/// A size in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

impl Value for Size {
    const KIND: &'static str = "size";

    fn from_text(text: &str) -> Result<Self, String> {
        if text.trim_end().ends_with('%') {
            return Err(format!(
                "'{text}' is not a size; shares of a target are not supported, write for \
                 example 16g"
            ));
        }
        parse_bytes(text).map(Size).map_err(|e| e.to_string())
    }

    fn to_out(&self) -> Out {
        size_out(self.0)
    }

    fn example() -> &'static str {
        "4k"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "A size: bytes, or a number with a unit. k, M, G, T and KiB … TiB are powers of 1024; kB, MB, GB, TB powers of 1000.",
            "type": ["string", "integer"],
            "pattern": "^[0-9.]+ *([kKmMgGtTpP]?([iI]?[bB]?)?)$",
            "minimum": 0
        })
    }
}

/// `65536` as `64k`, and bytes where no unit fits.
pub(crate) fn size_text(bytes: u64) -> String {
    let units = ["", "k", "m", "g", "t"];
    let mut power = 0;
    let mut whole = bytes;
    while power + 1 < units.len() && whole > 0 && whole.is_multiple_of(1024) {
        whole /= 1024;
        power += 1;
    }
    format!("{whole}{}", units[power])
}

/// A size that may go back: `4k`, `-8k`.
pub(crate) fn parse_signed_size(text: &str) -> Result<i64, String> {
    let text = text.trim();
    let (digits, sign) = match text.strip_prefix('-') {
        Some(digits) => (digits, -1),
        None => (text, 1),
    };
    let Size(bytes) = Size::from_text(digits)?;
    match i64::try_from(bytes) {
        Ok(bytes) if bytes <= 1 << 52 => Ok(sign * bytes),
        _ => Err(format!("'{text}' is beyond the limit of 4 PiB")),
    }
}

/// `-8k`.
pub(crate) fn signed_size_text(bytes: i64) -> String {
    let sign = if bytes < 0 { "-" } else { "" };
    format!("{sign}{}", size_text(bytes.unsigned_abs()))
}

fn size_out(bytes: u64) -> Out {
    let text = size_text(bytes);
    match text.parse() {
        Ok(number) => Out::Number(number),
        Err(_) => Out::Text(text),
    }
}

/// A time in nanoseconds that needs its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

impl Value for Time {
    const KIND: &'static str = "time";

    fn from_text(text: &str) -> Result<Self, String> {
        parse_duration(text).map(Time).map_err(|e| e.to_string())
    }

    fn to_out(&self) -> Out {
        time_out(self.0)
    }

    fn example() -> &'static str {
        "500ms"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "A time with its unit: ns, us, ms, s, m, h or d; units may be chained, as in 1h30m.",
            "type": "string",
            "pattern": "^(0|([0-9.]+ *(ns|us|µs|ms|s|sec|m|min|h|d) *)+)$"
        })
    }
}

/// A time in nanoseconds; a bare number is seconds, as people know it from
/// `runtime=60`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seconds(pub u64);

impl Value for Seconds {
    const KIND: &'static str = "time";

    fn from_text(text: &str) -> Result<Self, String> {
        if let Ok(seconds) = text.trim().parse::<u64>() {
            let time = seconds.checked_mul(1_000_000_000).map(Seconds);
            return time.ok_or_else(|| format!("'{text}' seconds are too long"));
        }
        parse_duration(text).map(Seconds).map_err(|e| e.to_string())
    }

    fn to_out(&self) -> Out {
        time_out(self.0)
    }

    fn example() -> &'static str {
        "30s"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "A time with its unit (30s, 10m, 1h30m); a bare number is seconds.",
            "type": ["string", "integer"],
            "pattern": "^([0-9]+|([0-9.]+ *(ns|us|µs|ms|s|sec|m|min|h|d) *)+)$",
            "minimum": 0
        })
    }
}

fn time_out(nanoseconds: u64) -> Out {
    let units = [
        ("h", 3_600_000_000_000),
        ("m", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
    ];
    let (unit, scale) = units
        .into_iter()
        .find(|(_, scale)| nanoseconds > 0 && nanoseconds.is_multiple_of(*scale))
        .unwrap_or(("s", 1_000_000_000));
    Out::Text(format!("{}{unit}", nanoseconds / scale))
}

/// A whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count(pub u64);

impl Value for Count {
    const KIND: &'static str = "number";

    fn from_text(text: &str) -> Result<Self, String> {
        // Digits alone are read exactly: a seed has 64 bits.
        if let Ok(number) = text.trim().parse() {
            return Ok(Count(number));
        }
        if text.contains(',') {
            return Err(format!(
                "'{text}' gives reads and writes values of their own; write one number for both, \
                 and their shares with rwmixread"
            ));
        }
        parse_count(text).map(Count).map_err(|e| e.to_string())
    }

    fn to_out(&self) -> Out {
        Out::Number(self.0)
    }

    fn example() -> &'static str {
        "32"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "A whole number; k, M and G are powers of 1000.",
            "type": ["integer", "string"],
            "pattern": "^[0-9.]+ *[kKmMgG]?$",
            "minimum": 0
        })
    }
}

/// A share, 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent(pub u8);

impl Value for Percent {
    const KIND: &'static str = "percentage";

    fn from_text(text: &str) -> Result<Self, String> {
        let digits = text.trim().trim_end_matches('%').trim_end();
        match digits.parse::<u8>() {
            Ok(percent) if percent <= 100 => Ok(Percent(percent)),
            _ => Err(format!(
                "'{text}' is not a percentage; write a whole number from 0 to 100, for example 70"
            )),
        }
    }

    fn to_out(&self) -> Out {
        Out::Number(u64::from(self.0))
    }

    fn example() -> &'static str {
        "70"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "A whole percentage.",
            "type": ["integer", "string"],
            "pattern": "^[0-9]+ *%?$",
            "minimum": 0,
            "maximum": 100
        })
    }
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch(pub bool);

impl Value for Switch {
    const KIND: &'static str = "switch";

    fn from_text(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Ok(Switch(true)),
            "false" | "no" | "off" | "0" => Ok(Switch(false)),
            _ => Err(format!(
                "'{text}' is neither on nor off; write true or false"
            )),
        }
    }

    fn to_out(&self) -> Out {
        Out::Switch(self.0)
    }

    fn example() -> &'static str {
        "true"
    }

    fn schema() -> Schema {
        json_schema!({
            "description": "true or false; yes, no, on, off, 1 and 0 are understood.",
            "enum": [true, false, 1, 0, "true", "false", "yes", "no", "on", "off"]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_back_as_written() {
        for bytes in [0, 1, 512, 2300, 4096, 1 << 20, 3 << 30, 1 << 41] {
            assert_eq!(Size::from_text(&Size(bytes).to_text()), Ok(Size(bytes)));
        }
        for ns in [0, 1, 1500, 2_000_000, 90_000_000_000, 7_200_000_000_000] {
            assert_eq!(Time::from_text(&Time(ns).to_text()), Ok(Time(ns)));
            assert_eq!(Seconds::from_text(&Seconds(ns).to_text()), Ok(Seconds(ns)));
        }
        assert_eq!(Count::from_text(&u64::MAX.to_string()), Ok(Count(u64::MAX)));
    }

    #[test]
    fn only_seconds_take_a_bare_number() {
        assert_eq!(Seconds::from_text("60"), Ok(Seconds(60_000_000_000)));
        assert!(Time::from_text("60").unwrap_err().contains("500ms"));
        assert!(Seconds::from_text("99999999999999999").is_err());
    }

    #[test]
    fn mistakes_are_answered_with_an_example() {
        assert!(Size::from_text("4q").unwrap_err().contains("4k"));
        assert!(Size::from_text("50%").unwrap_err().contains("16g"));
        assert!(Percent::from_text("101").unwrap_err().contains("0 to 100"));
        assert!(
            Switch::from_text("maybe")
                .unwrap_err()
                .contains("true or false")
        );
    }
}
