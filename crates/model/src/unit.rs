//! Reading and writing sizes, times, counts and rates with their units.
//!
//! Sizes: a bare number is bytes; `k`, `M`, `G`, `T`, `P` and `KiB` … `PiB`
//! are powers of 1024, `kB`, `MB` … `PB` powers of 1000. So `4k` means what
//! storage people type, and who writes `MB` gets 10^6. Times need a unit.

use std::fmt;

/// Bytes of a MiB.
pub const MIB: u64 = 1 << 20;

/// A text that is no quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not {expected}")]
pub struct UnitError {
    text: String,
    expected: &'static str,
}

const SIZE_EXPECTED: &str =
    "a size; write a number with an optional unit, for example 4096, 4k, 1MiB or 20GB";
const TIME_EXPECTED: &str =
    "a time; write a number with a unit, for example 500ms, 30s, 10m or 1h30m";
const COUNT_EXPECTED: &str = "a count; write a number, for example 1000, 10k or 2.5M";

fn split_number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    Some((number, text[end..].trim_start()))
}

const SIZE_IN_RANGE: &str = "within the range of sizes: at most 7.99 PiB";

fn whole(value: f64) -> Option<u64> {
    // Above 2^53 not every integer has a float; sizes that large are typos.
    (value.is_finite() && (0.0..=9.0e15).contains(&value)).then(|| value.round() as u64)
}

/// Reads a size in bytes.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    let error = || UnitError {
        text: text.to_owned(),
        expected: SIZE_EXPECTED,
    };
    let (number, unit) = split_number(text).ok_or_else(error)?;
    let lower = unit.to_ascii_lowercase();
    let (prefix, base) = match lower.as_str() {
        "" | "b" => return whole(number).ok_or_else(error),
        _ if lower.ends_with("ib") => (&lower[..lower.len() - 2], 1024f64),
        _ if lower.ends_with('i') => (&lower[..lower.len() - 1], 1024f64),
        _ if lower.ends_with('b') => (&lower[..lower.len() - 1], 1000f64),
        _ => (lower.as_str(), 1024f64),
    };
    let power = ["k", "m", "g", "t", "p", "e"]
        .iter()
        .position(|p| *p == prefix)
        .ok_or_else(error)?;
    whole(number * base.powi(power as i32 + 1)).ok_or_else(|| UnitError {
        expected: SIZE_IN_RANGE,
        ..error()
    })
}

/// Reads a time in nanoseconds. Units may be chained: `1h30m`.
pub fn parse_duration(text: &str) -> Result<u64, UnitError> {
    let error = || UnitError {
        text: text.to_owned(),
        expected: TIME_EXPECTED,
    };
    let mut rest = text.trim();
    let mut total = 0u64;
    if rest == "0" {
        return Ok(0);
    }
    while !rest.is_empty() {
        let (number, after) = split_number(rest).ok_or_else(error)?;
        let end = after
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(after.len());
        let scale = match &after[..end] {
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "s" | "sec" => 1e9,
            "m" | "min" => 60e9,
            "h" => 3600e9,
            "d" => 86_400e9,
            _ => return Err(error()),
        };
        let part = number * scale;
        if !part.is_finite() || part > 9.0e18 {
            return Err(error());
        }
        total = total.checked_add(part.round() as u64).ok_or_else(error)?;
        rest = after[end..].trim_start();
    }
    if text.trim().is_empty() {
        Err(error())
    } else {
        Ok(total)
    }
}

/// Reads a time in nanoseconds in which a bare number is seconds: how long something
/// is measured or watched.
pub fn parse_seconds(text: &str) -> Result<u64, UnitError> {
    let bare = text.trim();
    let is_bare = !bare.is_empty() && bare.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match is_bare {
        true => parse_duration(&format!("{bare}s")),
        false => parse_duration(text),
    }
}

/// Reads a count; `k`, `M`, `G` are powers of 1000.
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    let error = || UnitError {
        text: text.to_owned(),
        expected: COUNT_EXPECTED,
    };
    let (number, unit) = split_number(text).ok_or_else(error)?;
    let scale = match unit {
        "" => 1.0,
        "k" | "K" => 1e3,
        "m" | "M" => 1e6,
        "g" | "G" => 1e9,
        _ => return Err(error()),
    };
    whole(number * scale).ok_or_else(error)
}

/// A size in the largest binary unit that keeps it readable: `1.00 GiB`.
pub fn bytes(value: u64) -> impl fmt::Display {
    scaled(
        value as f64,
        1024.0,
        ["B", "KiB", "MiB", "GiB", "TiB", "PiB"],
    )
}

/// A size without decimals where it is a whole number of a unit: `4 KiB`.
pub fn bytes_exact(value: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut power = 0;
    let mut whole = value;
    while power + 1 < units.len() && whole >= 1024 && whole.is_multiple_of(1024) {
        whole /= 1024;
        power += 1;
    }
    if whole >= 10_000 {
        bytes(value).to_string()
    } else {
        format!("{whole} {}", units[power])
    }
}

/// A block size in the words of spec sheets: `4K`, `1M`, `512`.
pub fn bytes_short(value: u64) -> String {
    let exact = bytes_exact(value);
    exact
        .trim_end_matches("iB")
        .trim_end_matches('B')
        .replace(' ', "")
}

/// A throughput in binary units: `345 MiB/s`. Below 10,000 MiB/s it stays in MiB/s, so
/// that sentences agree with the columns of tables: `3,200 MiB/s`.
pub fn throughput(bytes_per_second: f64) -> String {
    const MIB: f64 = 1_048_576.0;
    let mib = bytes_per_second / MIB;
    if (1_023.0..9_995.0).contains(&mib) {
        return format!("{} MiB/s", count(mib));
    }
    format!(
        "{}/s",
        scaled(
            bytes_per_second,
            1024.0,
            ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
        )
    )
}

/// A throughput in decimal units: `362 MB/s`.
pub fn throughput_decimal(bytes_per_second: f64) -> String {
    format!(
        "{}/s",
        scaled(
            bytes_per_second,
            1000.0,
            ["B", "kB", "MB", "GB", "TB", "PB"]
        )
    )
}

/// A rate of bits in decimal units, as links are rated: `941 Mbit/s`.
pub fn bits(bits_per_second: f64) -> String {
    format!(
        "{}it/s",
        scaled(bits_per_second, 1000.0, ["b", "kb", "Mb", "Gb", "Tb", "Pb"])
    )
}

/// A latency with three significant digits: `82.3 µs`.
pub fn latency(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        ns if ns < 999.5 => (ns, "ns"),
        ns if ns < 999.5e3 => (ns / 1e3, "µs"),
        ns if ns < 999.5e6 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A span of time for people: `90 s`, `12 min`, `3 h 20 min`.
pub fn span(nanoseconds: u64) -> String {
    let seconds = nanoseconds as f64 / 1e9;
    match seconds {
        s if s < 1.0 => latency(nanoseconds as f64),
        s if s < 10.0 && s.fract() > 0.05 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => {
            let minutes = (s / 60.0).round() as u64;
            match (minutes / 60, minutes % 60) {
                (h, 0) => format!("{h} h"),
                (h, m) => format!("{h} h {m} min"),
            }
        }
    }
}

/// A rate or count with three significant digits and thin grouping: `87,400`.
pub fn count(value: f64) -> String {
    // What rounds to 1,000 is grouped as that is.
    if value < 999.5 {
        return three_digits(value);
    }
    let digits = value.log10().floor() as i32;
    let step = 10f64.powi((digits - 2).max(0));
    group(((value / step).round() as u64).saturating_mul(step as u64))
}

/// A whole number with its thousands grouped: `1,234,567`.
pub fn group(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// So many of something: `1 reading`, `1,234 readings`.
pub fn counted(count: u64, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {word}{ending}", group(count))
}

fn three_digits(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

fn scaled(value: f64, base: f64, units: [&'static str; 6]) -> impl fmt::Display {
    let mut value = value;
    let mut power = 0;
    while power + 1 < units.len() && value >= base * 0.9995 {
        value /= base;
        power += 1;
    }
    let text = if power == 0 {
        format!("{value:.0}")
    } else {
        three_digits(value)
    };
    format!("{text} {}", units[power])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_number_is_seconds_where_something_is_watched() {
        assert_eq!(parse_seconds("2"), Ok(2_000_000_000));
        assert_eq!(parse_seconds(" 0.5 "), Ok(500_000_000));
        assert_eq!(parse_seconds("1m30s"), Ok(90_000_000_000));
        for wrong in ["", ".", "-1", "2x", "1..5", "1e400"] {
            assert!(parse_seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_follow_the_written_unit() {
        let cases = [
            ("4096", 4096),
            ("4k", 4096),
            ("4K", 4096),
            ("4KiB", 4096),
            ("4 KiB", 4096),
            ("4kB", 4000),
            ("1.5M", 1_572_864),
            ("20GB", 20_000_000_000),
            ("1t", 1 << 40),
            ("0", 0),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        let large = parse_bytes("16EiB").unwrap_err().to_string();
        assert!(large.contains("at most 7.99 PiB"), "{large}");
        for text in ["", "k", "4q", "-1", "1e400", "4 k k", "99999P"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_need_a_unit_and_may_be_chained() {
        assert_eq!(parse_duration("1h30m"), Ok(5_400_000_000_000));
        assert_eq!(parse_duration("1.5s"), Ok(1_500_000_000));
        assert_eq!(parse_duration("250µs"), Ok(250_000));
        for text in ["", "10", "10x", "s", "1h 30"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts_are_decimal() {
        assert_eq!(parse_count("10k"), Ok(10_000));
        assert!(parse_count("10KiB").is_err());
    }

    #[test]
    fn printed_quantities_name_their_unit() {
        assert_eq!(bytes(1 << 30).to_string(), "1.00 GiB");
        assert_eq!(bytes_exact(4096), "4 KiB");
        assert_eq!(bytes_exact(1 << 20), "1 MiB");
        assert_eq!(bytes_short(512), "512");
        assert_eq!(bytes_short(1 << 30), "1G");
        assert_eq!(throughput(354.7 * 1048576.0), "355 MiB/s");
        assert_eq!(throughput(3204.0 * 1048576.0), "3,200 MiB/s");
        assert_eq!(throughput(9996.0 * 1048576.0), "9.76 GiB/s");
        assert_eq!(throughput_decimal(363.2e6), "363 MB/s");
        assert_eq!(latency(82_310.0), "82.3 µs");
        assert_eq!(latency(999_600.0), "1.00 ms");
        assert_eq!(count(87_412.0), "87,400");
        assert_eq!(count(5.0), "5.00");
        assert_eq!(count(1e300), group(u64::MAX));
        assert_eq!(group(1_234_567), "1,234,567");
        assert_eq!(span(12_000_000_000_000), "3 h 20 min");
    }
}
