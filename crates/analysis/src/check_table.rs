//! The table of checks: thresholds are data.
//!
//! `checks.toml` is compiled in and read once. Checks take their thresholds
//! from here and from nowhere else; `fathom explain`, `docs/checks.md` and the
//! remedies in findings are the same text.

use std::sync::LazyLock;

use serde::Deserialize;

/// The question that a check helps to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Is the number true?
    Validity,
    /// What set it?
    Limiter,
}

impl Axis {
    /// The lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Axis::Validity => "validity",
            Axis::Limiter => "limiter",
        }
    }
}

/// What lies under a target, as far as checks differ by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A block device.
    Device,
    /// A file on a file system on local block devices.
    File,
    /// A file on a network file system.
    Network,
    /// A file in memory.
    Memory,
    /// A file on a file system that lies on another one (FUSE, overlay).
    Stacked,
    /// A bucket of an object store.
    ObjectStore,
    /// The null target.
    Null,
    /// A simulated drive.
    Sim,
    /// A path about which nothing is known.
    Unknown,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Stable id, for example `V01`.
    pub id: String,
    /// Stable name, for example `APP_VS_DEVICE_BYTES`.
    pub name: String,
    /// Title in plain words.
    pub title: String,
    /// Which question it helps to answer.
    pub axis: Axis,
    /// What it finds, in words for somebody who supports storage.
    pub detects: String,
    /// How the measured value comes about.
    pub computed: String,
    /// Unit of the measured value and the thresholds.
    pub unit: String,
    /// Values under the thresholds are bad, not those over them.
    #[serde(default)]
    pub below: bool,
    /// From here on worth knowing, without influence on validity.
    pub info: Option<f64>,
    /// From here on a caveat.
    pub caveat: Option<f64>,
    /// From here on invalid.
    pub invalid: Option<f64>,
    /// The other end of a range: values over it are a caveat as well.
    pub upper: Option<f64>,
    /// From here on the figures of another tool contradict one another: invalid.
    pub impossible: Option<f64>,
    /// Half the width of an interval over its value from which on the interval is
    /// not printed.
    pub unprintable: Option<f64>,
    /// From here on a caveat for fathom's own trials, where `caveat` is for the
    /// results of other tools.
    pub own_caveat: Option<f64>,
    /// Excursion of a fitted line that is allowed.
    pub excursion: Option<f64>,
    /// Share of the measure phase from which on it is invalid.
    pub invalid_share: Option<f64>,
    /// Share of time at which a worker thread counts as saturated.
    pub busy_thread: Option<f64>,
    /// Share of a CPU quota's periods that were cut short that counts.
    pub quota: Option<f64>,
    /// Share of one CPU's time in interrupts at which it counts as saturated.
    pub interrupts: Option<f64>,
    /// Cost of one clock reading that counts as slow, in nanoseconds.
    pub slow_read_ns: Option<f64>,
    /// Rate below which nothing is concluded, in bytes per second.
    pub floor_bytes_per_second: Option<f64>,
    /// Rate of operations below which nothing is concluded, per second.
    pub floor_ops_per_second: Option<f64>,
    /// Requests that a journal sends to its device for one commit, the request
    /// to empty the device's cache included.
    pub writes_per_commit: Option<f64>,
    /// Flushes of the device's cache that one commit causes.
    pub flushes_per_commit: Option<f64>,
    /// Distance to a limit that was set, as a share of it, at which nothing
    /// else needs to explain the rate.
    pub at_limit: Option<f64>,
    /// Share of time with CPU pressure that counts.
    pub pressure: Option<f64>,
    /// Share of the workers' time spent waiting for a CPU that counts.
    pub run_delay: Option<f64>,
    /// Distance to the warning temperature that counts as near, in °C.
    pub margin_celsius: Option<f64>,
    /// Time to wake from sleep that counts as deep, in microseconds.
    pub deep_idle_us: Option<f64>,
    /// Kinds of target on which a verdict of "trusted" rests on this check: where
    /// it applies to the workload and could not run, V90 says so.
    pub required: Vec<TargetKind>,
    /// What a required check needs in order to run.
    pub needs: Option<String>,
    /// Share of the required checks that could not run from which on validity is
    /// not determined.
    pub undetermined: Option<f64>,
    /// Public source of the method or the threshold.
    pub source: String,
    /// What the user can do.
    pub remedy: String,
    /// What the user of another tool can do, where that differs.
    pub other_tools: Option<String>,
    /// Version of fathom that brought it.
    pub since: String,
}

/// A check of the method that is not made.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MissingCheck {
    /// What would be checked.
    pub what: String,
    /// Why it is not.
    pub reason: String,
}

#[derive(Deserialize)]
struct Table {
    version: u32,
    check: Vec<Check>,
    missing: Vec<MissingCheck>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    // The text is part of the program and a test reads it.
    toml::from_str(include_str!("../../rules/tables/check.toml")).expect("checks.toml is well-formed")
});

/// Every check, by id.
pub fn check_table() -> &'static [Check] {
    &TABLE.check
}

/// What is not checked, and why.
pub fn missing_checks() -> &'static [MissingCheck] {
    &TABLE.missing
}

/// Version of the table. It changes when a threshold or a method changes.
pub fn check_table_version() -> u32 {
    TABLE.version
}

/// The check with this id or name, whatever its case.
pub fn find_check(id_or_name: &str) -> Option<&'static Check> {
    let wanted = id_or_name.trim();
    check_table()
        .iter()
        .find(|c| c.id.eq_ignore_ascii_case(wanted) || c.name.eq_ignore_ascii_case(wanted))
}

/// The checks whose id or name comes nearest to what was typed, best first, at
/// most three; empty when nothing comes near.
pub fn suggest_checks(id_or_name: &str) -> Vec<&'static Check> {
    let wanted: String = id_or_name
        .trim()
        .to_ascii_uppercase()
        .chars()
        .take(64)
        .collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut near: Vec<(usize, &Check)> = check_table()
        .iter()
        .filter_map(|check| Some((nearness(&wanted, check)?, check)))
        .collect();
    near.sort_by_key(|(distance, check)| (*distance, &check.id));
    near.into_iter().take(3).map(|(_, check)| check).collect()
}

/// Edit distance to the id, the name or a word of the name; `None` when more
/// than a third would have to change.
fn nearness(wanted: &str, check: &Check) -> Option<usize> {
    let words = check.name.split('_').filter(|w| w.len() > 2);
    let contained = wanted.len() > 2 && check.name.contains(wanted);
    let best = [check.id.as_str(), check.name.as_str()]
        .into_iter()
        .chain(words)
        .map(|text| edit_distance(wanted, text))
        .min()?;
    let best = if contained { best.min(1) } else { best };
    (best <= wanted.len().div_ceil(3)).then_some(best)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_complete_and_in_order() {
        let ids: Vec<&str> = check_table().iter().map(|c| c.id.as_str()).collect();
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(ids, sorted);
        let text = include_str!("../../rules/tables/check.toml");
        assert_eq!(ids.len(), text.matches("[[check]]\nid").count());
        assert!(check_table_version() >= 1);
        for check in check_table() {
            for text in [
                &check.title,
                &check.detects,
                &check.computed,
                &check.source,
                &check.remedy,
            ] {
                assert!(
                    text.len() > 10 && !text.contains('|'),
                    "{}: {text}",
                    check.id
                );
            }
            let thresholds = [check.info, check.caveat, check.invalid];
            assert!(thresholds.iter().any(Option::is_some), "{}", check.id);
            assert!(thresholds.iter().flatten().all(|t| t.is_finite()));
        }
    }

    #[test]
    fn checks_are_found_by_id_and_name() {
        assert_eq!(find_check("v01").unwrap().name, "APP_VS_DEVICE_BYTES");
        assert_eq!(find_check(" little ").unwrap().id, "V20");
        assert!(find_check("V99").is_none());
    }

    #[test]
    fn near_misses_get_suggestions() {
        let first = |text: &str| suggest_checks(text).first().map(|c| c.id.as_str());
        assert_eq!(first("LITLE"), Some("V20"));
        assert_eq!(first("durabillity"), Some("V07"));
        assert_eq!(first("cache"), Some("V02"));
        assert!(suggest_checks("xyzzyplugh").is_empty());
        assert!(suggest_checks("").is_empty());
    }
}
