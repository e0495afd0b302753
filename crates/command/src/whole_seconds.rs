//! Durations on the command line that are whole seconds: `30`, `30s`, `2m`.

use fathom_model::unit::parse_seconds;

const SECOND_NS: u64 = 1_000_000_000;

/// A parser of durations between `least` and `most` seconds. A number without a
/// unit counts as seconds.
pub(crate) fn whole_seconds(
    least: u32,
    most: u32,
) -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync + 'static {
    move |text| {
        let expected = || {
            format!("expected a whole number of seconds from {least} to {most}, such as 30s or 2m")
        };
        let nanoseconds = parse_seconds(text).map_err(|_| expected())?;
        if !nanoseconds.is_multiple_of(SECOND_NS) {
            return Err(expected());
        }
        u32::try_from(nanoseconds / SECOND_NS)
            .ok()
            .filter(|seconds| (least..=most).contains(seconds))
            .ok_or_else(expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_with_and_without_a_unit() {
        let parse = whole_seconds(1, 86_400);
        assert_eq!(parse("10"), Ok(10));
        assert_eq!(parse("2s"), Ok(2));
        assert_eq!(parse("1m30s"), Ok(90));
        for wrong in [
            "",
            "0",
            "1500ms",
            "2x",
            "-1",
            "86401",
            "99999999999999999999",
        ] {
            let error = parse(wrong).unwrap_err();
            assert!(
                error.contains("whole number of seconds from 1 to 86400"),
                "{wrong}: {error}"
            );
        }
    }
}
