//! A judged cluster as text and JSON.

use fathom_model::cluster::{ClusterLook, ClusterMember};
use fathom_model::unit;

use crate::table::{Align, Table, clean, wrap};

/// Rows of a table; all are in the JSON.
const MOST_ROWS: usize = 12;
/// Columns of a bar.
const BAR: f64 = 30.0;

/// A judged cluster as JSON.
///
/// # Errors
/// A figure that is not finite.
pub fn json(look: &ClusterLook) -> crate::Result<String> {
    Ok(serde_json::to_string_pretty(look)? + "\n")
}

/// The schema of the JSON.
///
/// # Errors
/// Never, as far as is known.
pub fn schema() -> crate::Result<String> {
    Ok(serde_json::to_string_pretty(&schemars::schema_for!(ClusterLook))? + "\n")
}

/// What stands out, then the tables that it rests on.
pub fn text(look: &ClusterLook, width: usize) -> String {
    let name = match look.kind.as_str() {
        "gluster" => "Gluster",
        _ => "Ceph",
    };
    let mut out = format!("{name}, from {}\n\n", look.sources.join(", "));
    if look.findings.is_empty() {
        out.push_str("Nothing stands out in what was given.\n");
    }
    for finding in &look.findings {
        let severity = finding.severity.to_uppercase();
        lines(
            &mut out,
            "",
            "  ",
            &format!("{severity}: {} ({})", finding.found, finding.rule),
            width,
        );
        lines(&mut out, "    -> ", "       ", &finding.remedy, width);
    }
    for part in [operations(look), steps(look), members(look), writes(look)]
        .into_iter()
        .flatten()
    {
        out.push_str(&format!("\n{part}"));
    }
    for note in &look.notes {
        lines(&mut out, "\nNote: ", "  ", note, width);
    }
    out
}

fn lines(out: &mut String, first: &str, next: &str, text: &str, width: usize) {
    let room = width.saturating_sub(first.len().max(next.len()));
    for (index, part) in wrap(&clean(text), room).iter().enumerate() {
        out.push_str(if index == 0 { first } else { next });
        out.push_str(part);
        out.push('\n');
    }
}

fn percent(share: f64) -> String {
    match share {
        small if small > 0.0 && small < 0.1 => format!("{:.1} %", 100.0 * small),
        share => format!("{:.0} %", 100.0 * share),
    }
}

fn time(ns: f64) -> String {
    match ns > 0.0 {
        true => unit::latency(ns),
        false => "-".to_owned(),
    }
}

fn more(table: &mut Table, shown: usize, all: usize) {
    if all > shown {
        table.line(format!("and {} more (--json has all)", all - shown));
    }
}

fn operations(look: &ClusterLook) -> Option<String> {
    let mut table = Table::new([
        ("operation", Align::Left),
        ("of time", Align::Right),
        ("calls", Align::Right),
        ("mean", Align::Right),
    ]);
    for one in look.operations.iter().take(MOST_ROWS) {
        table.row([
            one.name.clone(),
            percent(one.time_share),
            unit::group(one.calls),
            time(one.mean_ns),
        ]);
    }
    more(&mut table, MOST_ROWS, look.operations.len());
    (!look.operations.is_empty()).then(|| table.render())
}

fn steps(look: &ClusterLook) -> Option<String> {
    let mut table = Table::new([
        ("step of the slowest operations", Align::Left),
        ("of time", Align::Right),
        ("operations", Align::Right),
        ("mean", Align::Right),
    ]);
    for step in look.steps.iter().take(MOST_ROWS) {
        table.row([
            step.name.clone(),
            percent(step.share),
            unit::group(step.count),
            time(step.time_ns / step.count.max(1) as f64),
        ]);
    }
    more(&mut table, MOST_ROWS, look.steps.len());
    (!look.steps.is_empty()).then(|| table.render())
}

/// Slow members first, then by their distance from the middle.
fn members(look: &ClusterLook) -> Option<String> {
    let mut sorted: Vec<&ClusterMember> = look.members.iter().collect();
    let order = |m: &ClusterMember| m.times_middle.unwrap_or(0.0);
    sorted.sort_by(|a, b| b.slow.cmp(&a.slow).then(order(b).total_cmp(&order(a))));
    let what = if look.kind == "gluster" {
        "brick"
    } else {
        "OSD"
    };
    let mut table = Table::new([
        (what, Align::Left),
        ("calls", Align::Right),
        ("mean", Align::Right),
        ("x middle", Align::Right),
        ("full", Align::Right),
        ("", Align::Left),
    ]);
    for member in sorted.iter().take(MOST_ROWS) {
        let some = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        table.row([
            member.name.clone(),
            some(member.calls.map(unit::group)),
            some(member.mean_ns.map(time)),
            some(member.times_middle.map(|times| format!("{times:.2}"))),
            some(member.used.map(percent)),
            if member.slow {
                "SLOW".to_owned()
            } else {
                String::new()
            },
        ]);
    }
    more(&mut table, MOST_ROWS, sorted.len());
    (!sorted.is_empty()).then(|| table.render())
}

fn writes(look: &ClusterLook) -> Option<String> {
    let most = look.writes.iter().map(|size| size.count).max()?.max(1);
    let all: u64 = look.writes.iter().map(|size| size.count).sum();
    let mut table = Table::new([
        ("writes of", Align::Right),
        ("count", Align::Right),
        ("share", Align::Right),
        ("", Align::Left),
    ]);
    for size in &look.writes {
        let long = (size.count as f64 / most as f64 * BAR).round().max(1.0) as usize;
        table.row([
            format!("{} and more", unit::bytes(size.from_bytes)),
            unit::group(size.count),
            percent(size.count as f64 / all.max(1) as f64),
            "#".repeat(long),
        ]);
    }
    Some(table.render())
}

#[cfg(test)]
mod tests {
    use fathom_model::cluster::{ClusterFinding, ClusterOperation, SizeCount};

    use super::*;

    #[test]
    fn findings_come_before_the_tables() {
        let look = ClusterLook {
            kind: "gluster".to_owned(),
            sources: vec!["profile".to_owned()],
            findings: vec![ClusterFinding {
                rule: "slow-member".to_owned(),
                severity: "warning".to_owned(),
                found: "h9:/b takes 8 times as long".to_owned(),
                remedy: "Look at that host.".to_owned(),
                ..ClusterFinding::default()
            }],
            operations: vec![ClusterOperation {
                name: "LOOKUP".to_owned(),
                calls: 1000,
                mean_ns: 2e6,
                time_share: 0.75,
            }],
            members: vec![ClusterMember {
                name: "h9:/b".to_owned(),
                slow: true,
                times_middle: Some(8.0),
                ..ClusterMember::default()
            }],
            writes: vec![SizeCount {
                from_bytes: 4096,
                count: 9,
            }],
            ..ClusterLook::default()
        };
        let shown = text(&look, 80);
        assert!(
            shown.starts_with("Gluster, from profile\n\nWARNING: h9:/b takes"),
            "{shown}"
        );
        assert!(shown.contains("LOOKUP"), "{shown}");
        assert!(shown.contains("SLOW"), "{shown}");
        assert!(shown.contains("4.00 KiB and more"), "{shown}");
        assert!(text(&ClusterLook::default(), 80).contains("Nothing stands out"));
    }
}
