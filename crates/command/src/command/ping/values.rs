//! Values of the options of `fathom ping`.

use fathom_model::unit;

pub(super) fn parse_count(text: &str) -> Result<u64, String> {
    match unit::parse_count(text) {
        Ok(0) => Err("at least 1".to_owned()),
        Ok(count) => Ok(count),
        Err(error) => Err(error.to_string()),
    }
}

/// A time; a bare number is seconds.
pub(super) fn parse_time(text: &str) -> Result<u64, String> {
    unit::parse_seconds(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_times_are_seconds() {
        assert_eq!(parse_time("0.2"), Ok(200_000_000));
        assert_eq!(parse_time("1"), Ok(1_000_000_000));
        assert_eq!(parse_time("250ms"), Ok(250_000_000));
        for wrong in ["", "-1", "nan", "inf", "1e300", "soon"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
    }
}
