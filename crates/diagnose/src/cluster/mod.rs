//! Dumps of storage clusters, judged: Gluster's volume profile and what Ceph
//! prints as JSON. The rules are in `cluster.toml`.

mod anonymous;
mod ceph;
mod ceph_operations;
mod ceph_readings;
mod gluster;
mod outlier;

use fathom_model::cluster::{ClusterFinding, ClusterLook};

use crate::rules::{Rule, cluster_rules};

pub use anonymous::anonymised_cluster;
pub use ceph::{CephDump, judge_ceph, parse_ceph};
pub use ceph_readings::ceph_readings;
pub use gluster::judge_bricks;

/// Adds what a rule found.
fn add(look: &mut ClusterLook, rule: &str, found: String) {
    if let Some(rule) = cluster_rules().find(rule) {
        look.findings.push(ClusterFinding {
            rule: rule.name.clone(),
            severity: rule.severity.clone(),
            found,
            remedy: rule.remedy.clone(),
            source: rule.source.clone(),
        });
    }
}

/// The threshold of a rule.
fn limit(rule: &str) -> f64 {
    cluster_rules()
        .find(rule)
        .map_or(f64::INFINITY, Rule::limit)
}

/// The gravest first.
fn sort(look: &mut ClusterLook) {
    let order = |severity: &str| match severity {
        "critical" => 0,
        "warning" => 1,
        _ => 2,
    };
    look.findings
        .sort_by_key(|finding| order(&finding.severity));
}

#[cfg(test)]
#[path = "cluster_tests.rs"]
mod tests;
