//! The page of checks, written from the table.

use std::fmt::Write as _;

use crate::check_table::{Check, TargetKind, check_table, check_table_version, missing_checks};

/// `docs/checks.md`: every check with its method, thresholds and source.
pub fn checks_markdown() -> String {
    let mut page = String::from(INTRODUCTION);
    let _ = writeln!(
        page,
        "This is version {} of the table.\n",
        check_table_version()
    );
    page.push_str("| id | name | axis | info | caveat | invalid | unit |\n");
    page.push_str("|---|---|---|---|---|---|---|\n");
    for check in check_table() {
        let _ = writeln!(
            page,
            "| [{id}](#{anchor}) | {} | {} | {} | {} | {} | {} |",
            check.name,
            check.axis.name(),
            threshold(check, check.info),
            caveat(check),
            invalid(check),
            check.unit,
            id = check.id,
            anchor = anchor(check),
        );
    }
    for check in check_table() {
        page.push_str(&section(check));
    }
    page.push_str("\n## What is not checked, and why\n\n");
    for missing in missing_checks() {
        let _ = writeln!(page, "- **{}**. {}", missing.what, missing.reason);
    }
    page
}

const INTRODUCTION: &str = "\
<!-- Written by fathom from crates/rules/tables/check.toml. Do not edit; run
     UPDATE_DOCS=1 cargo test -p fathom-analysis -->
# Checks

Every check that fathom makes on a result, with how it is computed, from which
value on it speaks, and where the rule comes from. `fathom explain ID` prints
the same text.

A finding has one of five outcomes:

- **pass**: measured, and within the threshold.
- **not measured**: there were no data for it; the finding says why. It lowers
  the verdict to *caveats* only on the targets for which the check is required.
- **info**: worth knowing; no influence on the verdict.
- **caveat**: the number is true within the limits that the finding states. The
  verdict is *caveats*.
- **invalid**: the number is not what it says it is. The verdict is *not
  trusted*.

The worst finding decides the verdict on validity. A check that is required on a
kind of target and could not run lowers it as well (V90). Short measurements are never
condemned for being short: what their data cannot support is not printed
(V15, V17), and that is information.

";

fn section(check: &Check) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "\n## {} {}\n", check.id, check.name);
    let _ = writeln!(text, "**{}** (axis: {})\n", check.title, check.axis.name());
    let _ = writeln!(text, "Detects: {}\n", check.detects);
    let _ = writeln!(text, "Computed: {}\n", check.computed);
    let _ = writeln!(text, "- unit: {}", check.unit);
    for (name, value) in [
        ("info", threshold(check, check.info)),
        ("caveat", caveat(check)),
        ("invalid", invalid(check)),
    ] {
        if value != NEVER {
            let _ = writeln!(text, "- {name}: {value}");
        }
    }
    for (name, value) in extras(check) {
        let _ = writeln!(text, "- {name}: {value}");
    }
    if !check.required.is_empty() {
        let kinds: Vec<&str> = check.required.iter().map(|k| kind_name(*k)).collect();
        let _ = writeln!(text, "- required on: {}", kinds.join(", "));
    }
    if let Some(needs) = &check.needs {
        let _ = writeln!(text, "- needs: {needs}");
    }
    let _ = writeln!(text, "- since: {}\n", check.since);
    let _ = writeln!(text, "Remedy: {}\n", check.remedy);
    let _ = writeln!(text, "Source: {}", check.source);
    text
}

const NEVER: &str = "–";

fn threshold(check: &Check, value: Option<f64>) -> String {
    match (value, check.below) {
        (None, _) => NEVER.to_owned(),
        (Some(value), true) => format!("< {value}"),
        (Some(value), false) if check.unit == "count" && value >= 1.0 => format!("≥ {value}"),
        (Some(value), false) => format!("> {value}"),
    }
}

fn caveat(check: &Check) -> String {
    match (check.caveat, check.upper) {
        (Some(_), Some(upper)) => format!("{} or > {upper}", threshold(check, check.caveat)),
        _ => threshold(check, check.caveat),
    }
}

fn invalid(check: &Check) -> String {
    match check.invalid_share {
        Some(share) => format!("> {} % of the measure phase", share * 100.0),
        None => threshold(check, check.invalid),
    }
}

type Extra = (&'static str, Option<String>);

fn extras(check: &Check) -> Vec<(&'static str, String)> {
    let all = shares_of_time(check).into_iter().chain(bounds(check));
    all.filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

fn shares_of_time(check: &Check) -> Vec<Extra> {
    let percent = |share: f64| format!("> {} % of the time", share * 100.0);
    vec![
        (
            "caveat, busiest worker thread",
            check.busy_thread.map(percent),
        ),
        (
            "caveat, periods cut short by a CPU quota",
            check.quota.map(|share| format!("> {} %", share * 100.0)),
        ),
        (
            "caveat, one CPU in interrupts",
            check.interrupts.map(percent),
        ),
        ("caveat, CPU pressure", check.pressure.map(percent)),
        (
            "caveat, workers waiting for a CPU",
            check.run_delay.map(percent),
        ),
    ]
}

fn bounds(check: &Check) -> Vec<Extra> {
    vec![
        (
            "caveat, excursion of the fitted line",
            check.excursion.map(|share| format!("> {share}")),
        ),
        (
            "no interval is printed, half its width over the value",
            check.unprintable.map(|share| format!("> {share}")),
        ),
        (
            "invalid, figures of other tools",
            check.impossible.map(|ratio| format!("> {ratio}")),
        ),
        (
            "caveat, fathom's own trials",
            check.own_caveat.map(|seconds| format!("< {seconds} s")),
        ),
        (
            "validity not determined, share of required checks",
            check.undetermined.map(|share| format!("≥ {share}")),
        ),
        (
            "caveat, one reading of the clock",
            check.slow_read_ns.map(|ns| format!("> {ns} ns")),
        ),
        (
            "nothing is concluded below",
            check
                .floor_bytes_per_second
                .map(|b| format!("{} KiB/s", b / 1024.0)),
        ),
        (
            "nothing is concluded below",
            check
                .floor_ops_per_second
                .map(|n| format!("{n} requests/s")),
        ),
        (
            "requests to the device for one commit",
            check.writes_per_commit.map(|n| format!("<= {n}")),
        ),
        (
            "flushes of the device for one commit",
            check.flushes_per_commit.map(|n| format!("<= {n}")),
        ),
        (
            "goes before foreign load, distance to the limit",
            check
                .at_limit
                .map(|share| format!("<= {} %", share * 100.0)),
        ),
        (
            "caveat, distance to the warning temperature",
            check.margin_celsius.map(|c| format!("<= {c} °C")),
        ),
        (
            "info, time to wake from idle",
            check.deep_idle_us.map(|us| format!("> {us} µs")),
        ),
    ]
}

fn kind_name(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Device => "devices",
        TargetKind::File => "files on local devices",
        TargetKind::Network => "files on network file systems",
        TargetKind::Memory => "files in memory",
        TargetKind::Stacked => "files on stacked file systems",
        TargetKind::ObjectStore => "object stores",
        TargetKind::Null => "the null target",
        TargetKind::Sim => "simulated drives",
        TargetKind::Unknown => "unknown targets",
    }
}

fn anchor(check: &Check) -> String {
    format!("{}-{}", check.id, check.name).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_page_is_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/checks.md");
        let page = checks_markdown();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).unwrap();
            std::fs::write(path, &page).unwrap();
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            committed == page,
            "docs/checks.md is out of date; run UPDATE_DOCS=1 cargo test -p fathom-analysis"
        );
    }
}
