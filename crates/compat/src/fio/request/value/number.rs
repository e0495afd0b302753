//! Numbers, sizes and times, with fio's units.
//!
//! With `kb_base=1024` (the default) `k`, `m`, `g`, `t`, `p` are powers of 1024
//! and `ki`, `mi`, … powers of 1000; with `kb_base=1000` it is the other way
//! round, as the standards have it. A `b` at the end changes nothing; case
//! does not matter. A value in parentheses is a sum.

use super::{Units, Wrong, not};
use crate::fio::request::arithmetic;

/// Nanoseconds in a second.
pub(crate) const SECOND_NS: u64 = 1_000_000_000;
/// Nanoseconds in a microsecond.
pub(crate) const MICROSECOND_NS: u64 = 1000;
/// The largest number that is taken; far above any disk.
const MAX: f64 = (1u64 << 62) as f64;

/// A size that may be relative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Amount {
    Bytes(u64),
    /// Of the file or device, 0 to 100.
    Percent(u64),
    Zones(u64),
}

/// The factor of a unit of size.
fn size_unit(unit: &str, units: Units) -> Option<f64> {
    let unit = unit.to_ascii_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    let (prefix, marked) = match unit.strip_suffix('i') {
        Some(prefix) => (prefix, true),
        None => (unit, false),
    };
    let power = match prefix {
        "" if !marked => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    let base: u64 = match (units.kb_base == 1000, marked) {
        (false, false) | (true, true) => 1024,
        (false, true) | (true, false) => 1000,
    };
    Some(base.pow(power) as f64)
}

/// The nanoseconds of a unit of time.
fn time_unit(unit: &str) -> Option<f64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "us" | "usec" => 1e3,
        "ms" | "msec" => 1e6,
        "s" | "sec" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        _ => return None,
    })
}

/// A sign, digits, and what follows them.
fn parts(text: &str) -> Option<(bool, u64, &str)> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hex = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"));
    let (digits, radix) = match hex {
        Some(digits) => (digits, 16),
        None => (rest, 10),
    };
    let end = digits
        .find(|c: char| !c.is_digit(radix))
        .unwrap_or(digits.len());
    let (number, unit) = digits.split_at(end);
    let number = u64::from_str_radix(number, radix).ok()?;
    Some((negative, number, unit.trim()))
}

fn sum(text: &str, unit: &dyn Fn(&str) -> Option<f64>) -> Result<f64, Wrong> {
    arithmetic::evaluate(text, unit).map_err(|(at, wrong)| Wrong::new(at, wrong))
}

fn whole(value: f64, text: &str) -> Result<u64, Wrong> {
    match value {
        value if value < 0.0 => Err(not(text, "possible: it is below 0")),
        value if value > MAX => Err(not(text, "possible: it is too large")),
        value => Ok(value.round() as u64),
    }
}

/// A whole number; units of size count.
pub(crate) fn integer(text: &str, units: Units) -> Result<i64, Wrong> {
    let text = text.trim();
    let value = if text.starts_with('(') {
        sum(text, &|unit| size_unit(unit, units))?
    } else {
        let (negative, number, unit) = parts(text).ok_or_else(|| not(text, "a whole number"))?;
        let factor = match unit {
            // Shares are often written with a sign.
            "%" => 1.0,
            unit => size_unit(unit, units).ok_or_else(|| not(text, "a whole number"))?,
        };
        let value = number as f64 * factor;
        if negative { -value } else { value }
    };
    match value.abs() <= MAX {
        true => Ok(value as i64),
        false => Err(not(text, "possible: it is too large")),
    }
}

/// A size in bytes.
pub(crate) fn bytes(text: &str, units: Units) -> Result<u64, Wrong> {
    match amount(text, units)? {
        Amount::Bytes(bytes) => Ok(bytes),
        Amount::Percent(_) | Amount::Zones(_) => Err(not(text, "a size in bytes")),
    }
}

/// A size in bytes, percent (`50%`) or zones (`8z`).
pub(crate) fn amount(text: &str, units: Units) -> Result<Amount, Wrong> {
    let text = text.trim();
    if text.starts_with('(') {
        let value = sum(text, &|unit| size_unit(unit, units))?;
        return whole(value, text).map(Amount::Bytes);
    }
    let wrong = || not(text, "a size, for example 4k, 1g or 50%");
    let (negative, number, unit) = parts(text).ok_or_else(wrong)?;
    if negative {
        return Err(not(text, "possible: it is below 0"));
    }
    match unit {
        // Tools that write job files from templates double it, which fio takes.
        "%" | "%%" if number <= 100 => Ok(Amount::Percent(number)),
        "%" | "%%" => Err(not(text, "possible: a share goes up to 100%")),
        "z" => Ok(Amount::Zones(number)),
        unit => {
            let factor = size_unit(unit, units).ok_or_else(wrong)?;
            // Exact for all sizes without a unit.
            let exact = (factor as u64).checked_mul(number);
            let exact = exact.filter(|bytes| *bytes as f64 <= MAX);
            let exact = exact.ok_or_else(|| not(text, "possible: it is too large"))?;
            Ok(Amount::Bytes(exact))
        }
    }
}

/// A time in nanoseconds; `bare_ns` is what a number without a unit counts.
pub(crate) fn time_ns(text: &str, bare_ns: u64) -> Result<u64, Wrong> {
    let text = text.trim();
    if text.starts_with('(') {
        // Parts with a unit are times, parts without count in the bare unit.
        let bare = bare_ns as f64;
        let value = sum(text, &|unit| time_unit(unit).map(|ns| ns / bare))?;
        return whole(value * bare, text);
    }
    let wrong = || not(text, "a time, for example 30s, 5m or 100ms");
    let (negative, number, unit) = parts(text).ok_or_else(wrong)?;
    if negative {
        return Err(not(text, "possible: it is below 0"));
    }
    let factor = match unit {
        "" => bare_ns as f64,
        unit => time_unit(unit).ok_or_else(wrong)?,
    };
    whole(number as f64 * factor, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINARY: Units = Units { kb_base: 1024 };
    const DECIMAL: Units = Units { kb_base: 1000 };

    #[test]
    fn units_of_size_are_reversed_unless_the_base_is_1000() {
        for (text, binary, decimal) in [
            ("4096", 4096, 4096),
            ("4k", 4096, 4000),
            ("4Ki", 4000, 4096),
            ("4KiB", 4000, 4096),
            ("4kb", 4096, 4000),
            ("1M", 1 << 20, 1_000_000),
            ("1g", 1 << 30, 1_000_000_000),
            ("0x10", 16, 16),
            ("(4+4)k", 8192, 8000),
            ("512b", 512, 512),
        ] {
            assert_eq!(bytes(text, BINARY), Ok(binary), "{text}");
            assert_eq!(bytes(text, DECIMAL), Ok(decimal), "{text}");
        }
        assert_eq!(amount("50%", BINARY), Ok(Amount::Percent(50)));
        assert_eq!(amount("100%%", BINARY), Ok(Amount::Percent(100)));
        assert_eq!(amount("8z", BINARY), Ok(Amount::Zones(8)));
        for text in [
            "",
            "k",
            "4q",
            "-1",
            "101%",
            "99999999999999999999",
            "9000000p",
            "1.5g",
        ] {
            assert!(amount(text, BINARY).is_err(), "{text}");
        }
    }

    #[test]
    fn a_bare_time_counts_what_the_option_says() {
        for (text, seconds, micro) in [
            ("30", 30 * SECOND_NS, 30_000),
            ("30s", 30 * SECOND_NS, 30 * SECOND_NS),
            ("5m", 300 * SECOND_NS, 300 * SECOND_NS),
            ("100ms", 100_000_000, 100_000_000),
            ("10usec", 10_000, 10_000),
            ("1D", 86_400 * SECOND_NS, 86_400 * SECOND_NS),
            ("(1m + 30)", 90 * SECOND_NS, 60 * SECOND_NS + 30_000),
        ] {
            assert_eq!(time_ns(text, SECOND_NS), Ok(seconds), "{text}");
            assert_eq!(time_ns(text, MICROSECOND_NS), Ok(micro), "{text}");
        }
        for text in ["", "x", "5y", "-5", "99999999999d"] {
            assert!(time_ns(text, SECOND_NS).is_err(), "{text}");
        }
    }

    #[test]
    fn whole_numbers_may_be_negative() {
        assert_eq!(integer("-8", BINARY), Ok(-8));
        assert_eq!(integer("4k", BINARY), Ok(4096));
        assert_eq!(integer("70%", BINARY), Ok(70));
        assert!(integer("4.5", BINARY).is_err());
    }
}
