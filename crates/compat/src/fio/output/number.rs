//! Numbers as fio shortens them for people: `282k`, `1103MiB/s`, `40.2MiB`.

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// Things.
    Plain,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    ByteRate,
    /// Bytes per second, shown as bits.
    BitRate,
}

const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];

/// At most `digits` digits, a decimal point counting as one, and the prefix
/// that this takes.
pub(super) fn short(value: u64, digits: usize, binary: bool, unit: Unit) -> String {
    let (step, prefixes) = if binary {
        (1024, BINARY)
    } else {
        (1000, DECIMAL)
    };
    let (factor, name) = match unit {
        Unit::Plain => (1, ""),
        Unit::Bytes => (1, "B"),
        Unit::ByteRate => (1, "B/s"),
        Unit::BitRate => (8, "bit/s"),
    };
    let mut whole = u128::from(value) * factor;
    let (mut prefix, mut rest) = (0, None);
    while length(whole) > digits && prefix + 1 < prefixes.len() {
        rest = Some(whole % step);
        whole /= step;
        prefix += 1;
    }
    let prefix = prefixes[prefix];
    let decimals = digits.saturating_sub(length(whole) + 1);
    match rest {
        None => format!("{whole}{name}"),
        Some(rest) if decimals == 0 => {
            let rounded = whole + u128::from(rest >= step / 2);
            format!("{rounded}{prefix}{name}")
        }
        Some(rest) => {
            let fraction = format!("{:.decimals$}", rest as f64 / step as f64);
            // Rounded up to the next whole number.
            let whole = whole + u128::from(fraction.starts_with('1'));
            format!("{whole}.{}{prefix}{name}", &fraction[2..])
        }
    }
}

fn length(value: u128) -> usize {
    value.checked_ilog10().unwrap_or(0) as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_fio() {
        let plain = |value| short(value, 4, false, Unit::Plain);
        assert_eq!(plain(0), "0");
        assert_eq!(plain(1000), "1000");
        assert_eq!(plain(10_299), "10.3k");
        assert_eq!(plain(282_466), "282k");
        assert_eq!(plain(1_000_000), "1000k");
        assert_eq!(plain(12_345_678), "12.3M");
        let binary = |value| short(value, 4, true, Unit::ByteRate);
        assert_eq!(binary(1_157_000_000), "1103MiB/s");
        assert_eq!(binary(42_142_000), "40.2MiB/s");
        assert_eq!(short(16384, 4, true, Unit::Bytes), "16.0KiB");
        assert_eq!(short(4096, 4, true, Unit::Bytes), "4096B");
        assert_eq!(short(42_142_000, 4, false, Unit::ByteRate), "42.1MB/s");
        assert_eq!(short(1_000_000, 4, false, Unit::BitRate), "8000kbit/s");
        assert_eq!(short(4_014_600, 6, false, Unit::Plain), "4014.6k");
    }

    #[test]
    fn the_largest_number_is_no_problem() {
        assert!(short(u64::MAX, 4, true, Unit::BitRate).ends_with("Eibit/s"));
        assert_eq!(short(u64::MAX, 1, false, Unit::Plain), "18E");
    }
}
