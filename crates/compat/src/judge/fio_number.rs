//! Sizes, times and lists as fio writes them in options.
//!
//! fio's rule is the reverse of the standard: with its default `kb_base=1024`
//! both `4k` and `4kb` are 4,096 bytes and `4KiB` is 4,000 (fio HOWTO,
//! "Parameter types", kb_base).

/// A size in bytes; `base` is fio's `kb_base`.
pub(super) fn size(text: &str, base: u32) -> Option<f64> {
    let (number, unit) = split(text)?;
    let lower = unit.to_ascii_lowercase();
    let lower = lower.strip_suffix('b').unwrap_or(&lower);
    let (prefix, reversed) = match lower.strip_suffix('i') {
        Some(prefix) => (prefix, true),
        None => (lower, false),
    };
    let power = match prefix {
        "" if !reversed => return Some(number),
        prefix => ["k", "m", "g", "t", "p"]
            .iter()
            .position(|p| *p == prefix)?,
    };
    let unit: f64 = match (base == 1000, reversed) {
        (false, false) | (true, true) => 1024.0,
        _ => 1000.0,
    };
    Some(number * unit.powi(power as i32 + 1)).filter(|n| n.is_finite())
}

/// Whether a size carries an `i` (`KiB`, `Mi`).
pub(super) fn says_binary(text: &str) -> bool {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '%');
    matches!(
        unit.to_ascii_lowercase().trim_end_matches('b'),
        "ki" | "mi" | "gi" | "ti" | "pi"
    )
}

/// A time in seconds; a bare number is seconds.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let (number, unit) = split(text)?;
    let scale = match unit.to_ascii_lowercase().as_str() {
        "" | "s" => 1.0,
        "us" | "usec" => 1e-6,
        "ms" | "msec" => 1e-3,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    Some(number * scale)
}

/// The value of a list `read,write,trim` for a direction; a short list goes on
/// with its last value.
pub(super) fn of_direction(list: &str, index: usize) -> Option<&str> {
    let parts: Vec<&str> = list.split(',').map(str::trim).take(3).collect();
    let part = parts.get(index).or(parts.last())?;
    (!part.is_empty()).then_some(*part)
}

fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    number.is_finite().then_some((number, text[end..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_fio_and_not_the_standard() {
        assert_eq!(size("4k", 1024), Some(4096.0));
        assert_eq!(size("4KB", 1024), Some(4096.0));
        assert_eq!(size("4KiB", 1024), Some(4000.0));
        assert_eq!(size("4KiB", 1000), Some(4096.0));
        assert_eq!(size("4k", 1000), Some(4000.0));
        assert_eq!(size("512", 1024), Some(512.0));
        assert_eq!(size("1g", 1024), Some(1_073_741_824.0));
        for odd in ["", "k", "4q", "4i", "50%", "-4k"] {
            assert_eq!(size(odd, 1024), None, "{odd}");
        }
        assert!(says_binary("4KiB") && says_binary("1gi") && !says_binary("4k"));
    }

    #[test]
    fn times_and_lists_are_read() {
        assert_eq!(seconds("30"), Some(30.0));
        assert_eq!(seconds("2m"), Some(120.0));
        assert_eq!(seconds("soon"), None);
        assert_eq!(of_direction("4k,8k", 1), Some("8k"));
        assert_eq!(of_direction("4k", 2), Some("4k"));
        assert_eq!(of_direction("1000,,", 1), None);
    }
}
