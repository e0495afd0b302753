//! Thresholds in words.

use crate::rule::{Axis, Grade, Parameter, Rule, Severity};

/// The threshold of a rule with a severity, with how long it must hold.
pub fn threshold(rule: &Rule) -> String {
    let held = match rule.for_seconds {
        0 => String::new(),
        seconds if seconds % 60 == 0 => format!(" for {} min", seconds / 60),
        seconds => format!(" for {seconds} s"),
    };
    let sign = if rule.below { "<" } else { ">" };
    match rule.threshold {
        None => format!("a state{held}"),
        Some(_) if rule.unit == "state" => format!("present{held}"),
        Some(limit) if rule.unit == "ratio" => format!("{sign} {}{held}", percent(limit)),
        Some(limit) => format!("{sign} {limit} {}{held}", rule.unit),
    }
}

/// What leads to a grade of a check: `< 0.95 or > 1.02`; `None` where nothing does.
pub fn graded(rule: &Rule, grade: Grade) -> Option<String> {
    let limit = match grade {
        Grade::Info => rule.info,
        Grade::Caveat => rule.caveat,
        Grade::Invalid => rule.invalid,
    };
    let words = limit.map(|limit| match rule.below {
        true => format!("< {limit}"),
        false if rule.unit == "count" && limit >= 1.0 => format!("≥ {limit}"),
        false => format!("> {limit}"),
    })?;
    match rule.upper.filter(|_| grade == Grade::Caveat) {
        Some(upper) => Some(format!("{words} or > {upper}")),
        None => Some(words),
    }
}

/// A parameter with its unit.
pub fn figure(parameter: &Parameter) -> String {
    let value = parameter.value;
    match parameter.unit {
        "share" => percent(value),
        "B" | "B/s" => {
            let per = parameter.unit.trim_start_matches('B');
            let steps =
                [(1 << 20, "MiB"), (1 << 10, "KiB")].map(|(size, unit)| (f64::from(size), unit));
            let whole = steps
                .iter()
                .find(|(size, _)| value >= *size && value % size == 0.0);
            match whole {
                Some((size, unit)) => format!("{} {unit}{per}", value / size),
                None => format!("{value} {}", parameter.unit),
            }
        }
        "ns" => {
            let steps = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
            let whole = steps
                .iter()
                .find(|(size, _)| value >= *size && value % size == 0.0);
            let (size, unit) = whole.copied().unwrap_or((1.0, "ns"));
            format!("{} {unit}", value / size)
        }
        // Pure numbers, and what is counted where the meaning says of what.
        "ratio" | "count" => value.to_string(),
        unit => format!("{value} {unit}"),
    }
}

/// A percentage without the dust of binary fractions.
fn percent(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}

/// `axis: validity` of a check, `severity: warning` of others.
pub(crate) fn kind(rule: &Rule) -> (&'static str, &'static str) {
    match (rule.axis, rule.severity) {
        (Some(axis), _) => ("axis", Axis::name(axis)),
        (None, severity) => ("severity", severity.unwrap_or(Severity::Info).name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{alarm, check, diagnosis};

    #[test]
    fn thresholds_are_written_as_people_read_them() {
        assert_eq!(threshold(alarm::DISK_SPACE), "> 80 %");
        assert_eq!(threshold(diagnosis::HUNG_DEVICE), "< 1 IOPS for 5 s");
        assert_eq!(
            graded(check::V20, Grade::Caveat).unwrap(),
            "< 0.95 or > 1.02"
        );
        assert_eq!(graded(check::V06, Grade::Caveat).unwrap(), "≥ 1");
        assert_eq!(graded(check::V05, Grade::Invalid), None);
        let of = |rule: &Rule, name: &str| {
            figure(rule.parameters.iter().find(|p| p.name == name).unwrap())
        };
        assert_eq!(of(check::V30, "floor_bytes_per_second"), "64 KiB/s");
        assert_eq!(of(check::V37, "pressure"), "10 %");
        assert_eq!(of(check::V24, "slow_read_ns"), "1 µs");
    }
}
