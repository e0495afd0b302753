//! Pages of documentation, written from the tables of rules.

use std::fmt::Write as _;

use crate::rules::{Rule, RuleTable, alarm_rules, cluster_rules, diagnosis_rules, stack_rules};

/// `docs/stack.md`: the rules of `fathom stack`.
pub fn stack_markdown() -> String {
    page(STACK_HEAD, stack_rules())
}

/// `docs/alarms.md`: the alarms.
pub fn alarms_markdown() -> String {
    page(ALARMS_HEAD, alarm_rules())
}

const ALARMS_HEAD: &str = "\
<!-- Written by fathom from crates/rules/tables/alarm.toml. Do not edit; run
     UPDATE_DOCS=1 cargo test -p fathom-diagnose --lib rules_page -->
# Alarms

`fathom alarms` reads this host for some seconds and holds what it sees against
the rules below; `fathom alarms FILE…` does so with recordings of fathom (parts
of one host are joined, a folder stands for all in it) and of iostat, sar, vmstat
and top, with dumps of Ceph and volume profiles of Gluster, with what
`smartctl -j -a` wrote, with runs of fathom against an object store as JSON, and
with descriptions of services. `--json` also has what was read. Each rule is in
one of three states:

- **firing**: the threshold was crossed for as long as the rule asks;
- **ok**: it was not;
- **not measurable**: nothing that was read tells it, or it was crossed but seen
  for too short a time. The reason is given, and no alarm is raised.

A rule with a time looks at means over a tenth of that time; a time without
readings that is as long ends a stretch. SMART of SATA and SAS disks is asked by
smartctl (smartmontools 7.0 or later, root), every ten minutes in recordings; a
disk that sleeps is not woken. For cron:

| exit status | meaning |
|---|---|
| 0 | no alarm of the asked severity fires (`--severity`, by default `warning` and above) |
| 10 | at least one fires |
| 1, 2 | it could not be done; it was called wrongly |

`fathom alarms list` and `fathom alarms explain NAME` print this text;
`fathom alarms --format prometheus` writes the same rules for Prometheus, in terms of the
metrics of the exporters named below.

";

/// `docs/clusters.md`: the rules for dumps of clusters.
pub fn clusters_markdown() -> String {
    page(CLUSTERS_HEAD, cluster_rules())
}

const CLUSTERS_HEAD: &str = "\
<!-- Written by fathom from crates/rules/tables/cluster.toml. Do not edit; run
     UPDATE_DOCS=1 cargo test -p fathom-diagnose --lib rules_page -->
# Dumps of storage clusters

`fathom diagnose FILE...` knows a volume profile of Gluster (text; XML with
--gluster-version) and, as JSON, `ceph status`, `ceph health detail`,
`ceph osd perf`, `ceph osd df`, `dump_historic_ops` and `perf dump` of Ceph. It
says which operations take the time, which brick or OSD is slow, how small
writes are, where slow operations wait, and what the cluster does beside. These
are its rules.

";

/// `docs/diagnosis-rules.md`: the rules of `fathom diagnose`.
pub fn diagnosis_markdown() -> String {
    page(DIAGNOSIS_HEAD, diagnosis_rules())
}

const DIAGNOSIS_HEAD: &str = "\
<!-- Written by fathom from crates/rules/tables/diagnosis.toml. Do not edit; run
     UPDATE_DOCS=1 cargo test -p fathom-diagnose --lib rules_page -->
# Devices that hang, and evidence for NO

[`fathom diagnose`](diagnosis.md) answers YES where a device stopped completing
operations, and never NO where evidence is missing. These are the rules for both.

";

const STACK_HEAD: &str = "\
<!-- Written by fathom from crates/rules/tables/stack.toml. Do not edit; run
     UPDATE_DOCS=1 cargo test -p fathom-diagnose --lib rules_page -->
# What `fathom stack` looks at

`fathom stack PATH` shows the layers under a path or device, from the mount to
the controller, and says what is wrong with the way they lie on one another. It
reads and changes nothing else. These are its rules.

";

fn page(head: &str, table: &RuleTable) -> String {
    let mut page = head.to_owned();
    let _ = writeln!(page, "This is version {} of the table.\n", table.version);
    page.push_str("| rule | severity | what | threshold |\n|---|---|---|---|\n");
    for rule in &table.rules {
        let _ = writeln!(
            page,
            "| [{name}](#{name}) | {} | {} | {} |",
            rule.severity,
            rule.title,
            threshold(rule),
            name = rule.name,
        );
    }
    for rule in &table.rules {
        section(&mut page, rule);
    }
    page
}

/// The threshold in words, with how long it must hold.
pub fn threshold(rule: &Rule) -> String {
    let held = match rule.for_seconds {
        0 => String::new(),
        seconds if seconds % 60 == 0 => format!(" for {} min", seconds / 60),
        seconds => format!(" for {seconds} s"),
    };
    let sign = if rule.below { "<" } else { ">" };
    match rule.threshold {
        None => format!("a state{held}"),
        Some(_) if rule.unit == "state" => format!("it is so{held}"),
        Some(limit) if rule.unit == "ratio" => {
            let percent = (limit * 1e6).round() / 1e4;
            format!("{sign} {percent} %{held}")
        }
        Some(limit) => format!("{sign} {limit} {}{held}", rule.unit),
    }
}

fn section(page: &mut String, rule: &Rule) {
    let _ = writeln!(page, "\n## {}\n\n**{}**\n", rule.name, rule.title);
    let _ = writeln!(page, "{}\n", rule.detects);
    let _ = writeln!(page, "- how: {}", rule.computed);
    if !rule.told_by.is_empty() {
        let _ = writeln!(page, "- told by: {}", rule.told_by.join(", "));
    }
    let _ = writeln!(page, "- threshold: {}", threshold(rule));
    let _ = writeln!(page, "- severity: {}", rule.severity);
    if let Some(prometheus) = &rule.prometheus {
        let _ = writeln!(
            page,
            "- Prometheus: from the metrics of {}",
            prometheus.exporter
        );
    }
    let _ = writeln!(page, "- what to do: {}", rule.remedy);
    let _ = writeln!(page, "- source: {}", rule.source);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn committed(name: &str, page: &str) {
        let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, page).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == page,
            "docs/{name} is out of date; run UPDATE_DOCS=1 cargo test -p fathom-diagnose --lib \
             rules_page"
        );
    }

    #[test]
    fn the_committed_pages_are_the_tables() {
        committed("clusters.md", &clusters_markdown());
        committed("diagnosis-rules.md", &diagnosis_markdown());
        committed("stack.md", &stack_markdown());
        committed("alarms.md", &alarms_markdown());
    }
}
