//! Which fields a version of fio has.

/// The number of a version text such as `fio-3.36` or `fio-3.42-135-gf5344`;
/// (3, 36) when it cannot be told.
pub(super) fn number_of(version: &str) -> (u32, u32) {
    let digits = version.trim_start_matches(|c: char| !c.is_ascii_digit());
    let mut parts = digits.split(|c: char| !c.is_ascii_digit());
    let major = parts.next().and_then(|part| part.parse().ok());
    let minor = parts.next().and_then(|part| part.parse().ok());
    match (major, minor) {
        (Some(major), Some(minor)) => (major, minor),
        _ => (3, 36),
    }
}

/// Fields that came with later versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VersionFields {
    /// `job_start` of a job, sectors of a disk: 3.36.
    pub(super) starts_and_sectors: bool,
    /// Units in the names of the latency target's fields: 3.42.
    pub(super) target_units: bool,
}

impl VersionFields {
    pub(super) fn of(version: &str) -> VersionFields {
        let number = number_of(version);
        VersionFields {
            starts_and_sectors: number >= (3, 36),
            target_units: number >= (3, 42),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_apart() {
        assert_eq!(number_of("fio-3.33"), (3, 33));
        assert_eq!(number_of("fio-3.42-135-gf5344"), (3, 42));
        assert_eq!(number_of("nonsense"), (3, 36));
        assert!(!VersionFields::of("fio-3.33").starts_and_sectors);
        assert!(VersionFields::of("fio-3.42").target_units);
    }
}
