//! Dumps of storage clusters, judged: Gluster's volume profile and what Ceph
//! prints as JSON. The rules are
//! [`fathom_rules::cluster`].

mod anonymous;
mod ceph;
mod ceph_operations;
mod ceph_readings;
mod gluster;
mod outlier;

use fathom_model::cluster::{ClusterFinding, ClusterLook};
use fathom_rules::Rule;

pub use anonymous::anonymised_cluster;
pub use ceph::{CephDump, judge_ceph, parse_ceph};
pub use ceph_readings::ceph_readings;
pub use gluster::judge_bricks;

/// Adds what a rule found.
fn add(look: &mut ClusterLook, rule: &Rule, found: String) {
    look.findings.push(ClusterFinding {
        rule: rule.id.to_owned(),
        severity: rule.gravity().name().to_owned(),
        found,
        remedy: rule.remedy.to_owned(),
        source: rule.source.to_owned(),
    });
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
