//! Times as tools of this family print them.

use jiff::civil::DateTime;

/// What is known: `11/21/26 13:17:30`, `11/21/2026 01:17:30 PM`,
/// `21.11.2026 13:17:30`, `2026-11-21T13:17:30+0100` and the same with a space.
/// Clocks are the host's own; offsets from UTC are left out.
const FORMATS: [&str; 9] = [
    "%m/%d/%y %H:%M:%S",
    "%m/%d/%y %I:%M:%S %p",
    "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%Y %H:%M:%S",
    "%d.%m.%Y %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S%z",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
];

/// The time in a text, or nothing when it holds none.
pub(crate) fn parse(text: &str) -> Option<DateTime> {
    let text = text.trim();
    if text.len() > 40 {
        return None;
    }
    FORMATS.iter().find_map(|format| {
        let parsed = jiff::fmt::strtime::parse(format, text).ok()?;
        parsed.to_datetime().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_locales_are_read() {
        let expected = jiff::civil::date(2026, 11, 21).at(13, 17, 30, 0);
        for text in [
            "11/21/26 13:17:30",
            "11/21/2026 01:17:30 PM",
            "11/21/26 01:17:30 PM",
            "21.11.2026 13:17:30",
            "2026-11-21T13:17:30+0100",
            "2026-11-21T13:17:30Z",
            "2026-11-21 13:17:30",
        ] {
            assert_eq!(parse(text), Some(expected), "{text}");
        }
        for text in ["", "Device", "avg-cpu: 1", "99/99/99 10:00:00"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
