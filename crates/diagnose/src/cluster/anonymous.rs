//! A judged cluster without the names of its owner, for tickets that strangers
//! read: hosts, folders of bricks, pools, objects, files and addresses. Numbers
//! of OSDs stay, since without them there is no evidence.

use std::collections::BTreeSet;

use fathom_model::cluster::ClusterLook;
use serde_json::Value;

use super::CephDump;
use crate::anonymous::Words;

/// Longer dumps have their names all the same; this bounds the search.
const VALUES_MAX: usize = 1_000_000;
/// Keys of Ceph's dumps whose values are names of hosts or daemons on them.
const HOSTS: [&str; 6] = [
    "hostname",
    "active_name",
    "quorum_names",
    "mon_name",
    "standby_name",
    "host",
];
/// Keys whose values are names that the owner gave.
const OWN: [&str; 4] = ["pool_name", "fs_name", "bucket", "user"];
/// Words in Ceph's sentences that a name follows.
const BEFORE_NAMES: [&str; 6] = ["host ", "pool ", "mon.", "mds.", "mgr.", "fs "];

/// Puts `host-1`, `brick-1`, `name-1`, `file-1`, `address-1` … for what they
/// stand for, the same for the same one everywhere.
pub fn anonymised_cluster(mut look: ClusterLook, dumps: &[CephDump]) -> ClusterLook {
    let mut names = Names::default();
    for member in &look.members {
        if let Some((host, folder)) = member.name.split_once(":/") {
            names.hosts.insert(host.to_owned());
            names.bricks.insert(format!("/{folder}"));
        }
    }
    for dump in dumps {
        let mut left = VALUES_MAX;
        names.of(dump.value(), "", &mut left);
    }
    for finding in &look.findings {
        names.of_sentence(&finding.found);
    }
    let mut files = 0;
    for source in &mut look.sources {
        if let Some((what, _)) = source.split_once("profile ") {
            files += 1;
            *source = format!("{what}profile file-{files}");
        }
    }
    let mut words = Words::named(names.words());
    let found = look.findings.iter_mut().map(|finding| &mut finding.found);
    let members = look.members.iter_mut().map(|member| &mut member.name);
    for text in found.chain(members).chain(&mut look.notes) {
        *text = words.without(&without_objects(text));
    }
    look
}

#[derive(Default)]
struct Names {
    hosts: BTreeSet<String>,
    bricks: BTreeSet<String>,
    own: BTreeSet<String>,
}

impl Names {
    fn words(self) -> Vec<(String, String)> {
        let lists = [
            (self.hosts, "host"),
            (self.bricks, "brick"),
            (self.own, "name"),
        ];
        let lists = lists.into_iter().flat_map(|(names, word)| {
            let numbered = names.into_iter().zip(1..);
            numbered.map(move |(name, number)| (name, format!("{word}-{number}")))
        });
        lists.collect()
    }

    /// Names in a dump, by the keys under which they stand.
    fn of(&mut self, value: &Value, key: &str, left: &mut usize) {
        let Some(fewer) = left.checked_sub(1) else {
            return;
        };
        *left = fewer;
        match value {
            Value::String(text) if HOSTS.contains(&key) => {
                // Daemons are called after their host: `ceph3.xyzabc`.
                let host = text.split('.').next().unwrap_or(text);
                self.hosts.extend([text.clone(), host.to_owned()]);
            }
            Value::String(text) if OWN.contains(&key) => {
                self.own.insert(text.clone());
            }
            Value::Array(values) => {
                let inside = if key == "pools" { "pool" } else { key };
                values.iter().for_each(|value| self.of(value, inside, left));
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    let key = match (key, name.as_str()) {
                        ("pool", "name") => "pool_name",
                        ("mons" | "standbys", "name") => "hostname",
                        (_, name) => name,
                    };
                    self.of(value, key, left);
                }
            }
            _ => {}
        }
    }

    /// Names in what Ceph says in words: in quotes, and behind what they are.
    fn of_sentence(&mut self, text: &str) {
        let quoted = text.split('\'').skip(1).step_by(2);
        self.own
            .extend(quoted.filter(|name| !name.is_empty()).map(str::to_owned));
        for before in BEFORE_NAMES {
            for (at, _) in text.match_indices(before) {
                let alone = !text[..at].ends_with(|c: char| c.is_alphanumeric());
                let rest = &text[at + before.len()..];
                let end = rest.find(|c: char| !(c.is_alphanumeric() || "-_".contains(c)));
                let name = &rest[..end.unwrap_or(rest.len())];
                if alone && name.len() > 1 && !name.bytes().all(|b| b.is_ascii_digit()) {
                    self.hosts.insert(name.to_owned());
                }
            }
        }
    }
}

/// `osd_op(client.7 2.1a 2:58e::: NAME:head …)` without the object's name.
fn without_objects(text: &str) -> String {
    let mut parts = text.split(":::");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find([':', ' ', ')']).unwrap_or(part.len());
        out.push_str(":::object");
        out.push_str(&part[end..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use fathom_model::cluster::{ClusterFinding, ClusterMember};
    use serde_json::json;

    use super::*;

    fn look(found: &str, member: &str) -> ClusterLook {
        ClusterLook {
            sources: vec!["volume profile /home/me/secret.txt".to_owned()],
            findings: vec![ClusterFinding {
                found: found.to_owned(),
                ..ClusterFinding::default()
            }],
            members: vec![ClusterMember {
                name: member.to_owned(),
                ..ClusterMember::default()
            }],
            ..ClusterLook::default()
        }
    }

    #[test]
    fn bricks_lose_their_hosts_and_folders() {
        let told = look(
            "filer7:/export/b1 takes 8 times as long",
            "filer7:/export/b1",
        );
        let found = anonymised_cluster(told, &[]);
        assert_eq!(found.members[0].name, "host-1:brick-1");
        assert_eq!(
            found.findings[0].found,
            "host-1:brick-1 takes 8 times as long"
        );
        assert_eq!(found.sources, ["volume profile file-1"]);
    }

    #[test]
    fn ceph_loses_hosts_pools_objects_and_addresses() {
        let status = json!({
            "quorum_names": ["ceph-a1", "ceph-a2"],
            "mgrmap": {"active_name": "ceph-a1.xyzabc"},
            "pools": [{"name": "payroll", "id": 1}],
            "fsid": "x"
        });
        let sentence = "SLOW_OPS: 3 slow ops, mon.ceph-a2 and ceph-a1.xyzabc at 10.1.2.3, pool \
                        'hr' and payroll, host rack7 (4 osds) down, osd.5 osd_op(client.7.0:1 2.1a \
                        2:58:::rbd_data.1f:head [write])";
        let found = anonymised_cluster(look(sentence, "osd.5"), &[CephDump::Status(status)]);
        let text = &found.findings[0].found;
        for name in [
            "ceph-a1", "ceph-a2", "xyzabc", "payroll", "'hr'", "rack7", "rbd_data", "10.1.2.3",
        ] {
            assert!(!text.contains(name), "{name}: {text}");
        }
        for kept in [
            "SLOW_OPS: 3 slow ops",
            "osd.5",
            ":::object:head [write])",
            "(4 osds) down",
        ] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
        assert_eq!(found.members[0].name, "osd.5");
    }
}
