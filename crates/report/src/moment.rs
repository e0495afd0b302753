//! Points in time for people: RFC 3339 dates in UTC.

use jiff::Timestamp;

fn timestamp(unix_ns: u64) -> Option<Timestamp> {
    Timestamp::from_nanosecond(i128::from(unix_ns)).ok()
}

/// `2026-11-21 15:45:30 UTC`.
pub(crate) fn readable(unix_ns: u64) -> String {
    timestamp(unix_ns).map_or_else(
        || "unknown date".to_owned(),
        |t| t.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
    )
}

/// `2026-11-21T15:45:30.123456789Z`.
pub(crate) fn rfc3339(unix_ns: u64) -> String {
    timestamp(unix_ns).map_or_else(String::new, |t| t.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_utc() {
        assert_eq!(
            readable(1_795_275_930_123_456_789),
            "2026-11-21 15:45:30 UTC"
        );
        assert_eq!(
            rfc3339(1_795_275_930_123_456_789),
            "2026-11-21T15:45:30.123456789Z"
        );
        assert_eq!(readable(0), "1970-01-01 00:00:00 UTC");
        assert!(!readable(u64::MAX).is_empty());
    }
}
