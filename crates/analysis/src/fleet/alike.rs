//! Are the hosts alike, and do they measure the same thing? "All nodes alike"
//! is the first rule of a common measurement.

use std::collections::BTreeMap;

use fathom_model::fingerprint::TargetFingerprint;
use fathom_model::fleet::FleetHost;
use fathom_model::run::{RunRecord, TrialRecord};
use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::{Rule, check};

use crate::outcome::Outcome;

const SAME_TARGET: &Rule = check::V43;
const ALIKE: &Rule = check::V46;

/// A fact by its name, in words.
type Fact<T> = (&'static str, fn(&T) -> String);

/// Hosts that are named for one value.
const NAMED: usize = 3;

/// File systems that several hosts see as one.
const SHARED: [&str; 10] = [
    "nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "lustre", "gpfs", "beegfs", "gfs2",
];

/// In what the hosts differ, one entry a fact.
pub(super) fn differences(record: &RunRecord) -> Vec<String> {
    let present = || record.meta.hosts.iter().filter(|host| host.lost.is_none());
    let mut found = Vec::new();
    let facts: [Fact<FleetHost>; 8] = [
        ("version of fathom", |h| h.tool_version.clone()),
        ("kernel", |h| h.fingerprint.kernel.clone()),
        ("distribution", |h| {
            h.fingerprint.os.clone().unwrap_or_default()
        }),
        ("CPU", |h| {
            h.fingerprint.cpu_model.clone().unwrap_or_default()
        }),
        ("CPUs", |h| h.fingerprint.cpus.to_string()),
        ("CPU governor", |h| {
            h.fingerprint.cpu_governor.clone().unwrap_or_default()
        }),
        ("memory", |h| memory(h.fingerprint.memory_bytes)),
        ("network", |h| {
            let links = h.fingerprint.facts.get("links");
            links.cloned().unwrap_or_default()
        }),
    ];
    for (name, fact) in facts {
        found.extend(split(name, present().map(|h| (h.name.as_str(), fact(h)))));
    }
    for (target, of_hosts) in targets(record) {
        let facts: [Fact<TargetFingerprint>; 4] = [
            ("file system", |t| {
                t.filesystem
                    .as_ref()
                    .map_or(String::new(), |fs| fs.kind.clone())
            }),
            ("mount options", |t| {
                let fs = t.filesystem.as_ref();
                fs.map_or(String::new(), |fs| fs.options.join(","))
            }),
            ("drive", drives),
            ("firmware", firmware),
        ];
        for (name, fact) in facts {
            let name = format!("{name} of {target}");
            let values = of_hosts.iter().map(|(host, facts)| (*host, fact(facts)));
            found.extend(split(&name, values));
        }
    }
    found
}

/// V46, from the differences.
pub(super) fn finding(differences: &[String], hosts: usize) -> Option<Outcome> {
    let evidence = match differences.is_empty() {
        true => format!("{hosts} hosts with the same software, CPUs, mounts and drives"),
        false => differences.join("; "),
    };
    (hosts > 1).then(|| Outcome::graded(ALIKE, differences.len() as f64, evidence))
}

/// V43: a path that is a shared file system on one host and something else on
/// another is not one target.
pub(super) fn same_target(record: &RunRecord) -> Option<Outcome> {
    let mut compared = false;
    for (target, of_hosts) in targets(record) {
        let identity = |facts: &TargetFingerprint| {
            let Some(fs) = &facts.filesystem else {
                return "no file system".to_owned();
            };
            match is_shared(&fs.kind) {
                true => format!("{} from {}", fs.kind, fs.source),
                false => "a file system of its own".to_owned(),
            }
        };
        compared |= of_hosts.len() > 1;
        let values = of_hosts
            .iter()
            .map(|(host, facts)| (*host, identity(facts)));
        if let Some(difference) = split(&target, values) {
            let (status, evidence) = (FindingStatus::Invalid, difference);
            return Some(Outcome::decided(
                SAME_TARGET,
                status,
                1.0,
                Some(0.0),
                evidence,
            ));
        }
    }
    compared.then(|| {
        let evidence = "the targets are the same kind of place on all hosts".to_owned();
        Outcome::graded(SAME_TARGET, 0.0, evidence)
    })
}

pub(super) fn is_shared(kind: &str) -> bool {
    SHARED.contains(&kind) || kind.starts_with("fuse.")
}

/// The facts of each path, by host.
fn targets(record: &RunRecord) -> BTreeMap<String, Vec<(&str, &TargetFingerprint)>> {
    let mut targets: BTreeMap<String, Vec<(&str, &TargetFingerprint)>> = BTreeMap::new();
    for TrialRecord {
        spec,
        target_before,
        ..
    } in &record.trials
    {
        let host = spec
            .host
            .and_then(|host| record.meta.hosts.get(host as usize));
        let (Some(host), Some(facts)) = (host, target_before) else {
            continue;
        };
        let of_hosts = targets.entry(spec.target.to_string()).or_default();
        if of_hosts.iter().all(|(name, _)| *name != host.name) {
            of_hosts.push((&host.name, facts));
        }
    }
    targets
}

/// Memory that differs by a little is the same: firmware keeps some.
fn memory(bytes: u64) -> String {
    let gib = (bytes as f64 / f64::from(1 << 30)).round();
    unit::bytes((gib * f64::from(1 << 30)) as u64).to_string()
}

fn drives(facts: &TargetFingerprint) -> String {
    let leaves = facts.devices.iter().filter(|d| d.below.is_empty());
    let models = leaves.map(|d| d.model.clone().unwrap_or_else(|| d.kind.clone()));
    models.collect::<Vec<_>>().join(" + ")
}

fn firmware(facts: &TargetFingerprint) -> String {
    let leaves = facts.devices.iter().filter(|d| d.below.is_empty());
    let versions = leaves.filter_map(|d| d.firmware.clone());
    versions.collect::<Vec<_>>().join(" + ")
}

/// How values divide the hosts; `None` when all have the same. The most common
/// value comes first.
fn split<'h>(name: &str, values: impl Iterator<Item = (&'h str, String)>) -> Option<String> {
    let mut by_value: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (host, value) in values {
        by_value.entry(value).or_default().push(host);
    }
    if by_value.len() < 2 {
        return None;
    }
    let mut groups: Vec<(String, Vec<&str>)> = by_value.into_iter().collect();
    groups.sort_by_key(|(_, hosts)| std::cmp::Reverse(hosts.len()));
    let told: Vec<String> = groups
        .iter()
        .map(|(value, hosts)| {
            let value = if value.is_empty() { "unknown" } else { value };
            let named: Vec<&str> = hosts.iter().copied().take(NAMED).collect();
            let more = match hosts.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{value} on {}{more}", named.join(", "))
        })
        .collect();
    Some(format!("{name}: {}", told.join(", ")))
}
