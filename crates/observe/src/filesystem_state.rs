//! The state of a file system that its mount does not show: operations that
//! run in the background, missing members, errors, the link to a server.
//!
//! Scrubs of btrfs and ZFS and the properties of ZFS show only to their own
//! tools; here nothing is said about them.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use fathom_model::fingerprint::{DeviceFacts, FilesystemFacts};

use crate::Sysroot;
use crate::block_link::insert;

/// Adds what sysfs and procfs tell about the kind of file system.
pub(crate) fn add_state_facts(
    sys: &Sysroot,
    filesystem: &mut FilesystemFacts,
    devices: &[DeviceFacts],
) {
    let kind = filesystem.kind.clone();
    let options = filesystem.options.clone();
    let source = filesystem.source.clone();
    let facts = &mut filesystem.facts;
    match kind.as_str() {
        "btrfs" => add_btrfs(sys, devices, facts),
        "zfs" => add_zfs(sys, &source, facts),
        "ext4" => {
            let name = devices.first().map(|device| device.name.as_str());
            let errors = name.and_then(|n| sys.text(format!("/sys/fs/ext4/{n}/errors_count")));
            insert(facts, "errors_count", errors);
        }
        kind if kind.starts_with("nfs") || kind == "cifs" || kind == "smb3" => {
            add_network(sys, &options, facts);
        }
        _ => {}
    }
}

/// `exclusive_operation` since Linux 5.10, `devinfo` since 5.6.
fn add_btrfs(sys: &Sysroot, devices: &[DeviceFacts], facts: &mut BTreeMap<String, String>) {
    for uuid in sys.names("/sys/fs/btrfs") {
        let folder = format!("/sys/fs/btrfs/{uuid}");
        let members = sys.names(format!("{folder}/devices"));
        if !members.iter().any(|m| devices.iter().any(|d| &d.name == m)) {
            continue;
        }
        let operation = sys.text(format!("{folder}/exclusive_operation"));
        insert(facts, "exclusive_operation", operation);
        let numbers = sys.names(format!("{folder}/devinfo"));
        let missing = numbers.iter().filter(|number| {
            let missing = sys.text(format!("{folder}/devinfo/{number}/missing"));
            missing.as_deref() == Some("1")
        });
        if !numbers.is_empty() {
            facts.insert("missing_devices".to_owned(), missing.count().to_string());
        }
        return;
    }
}

/// State of the pool: OpenZFS 0.8 and later.
fn add_zfs(sys: &Sysroot, source: &str, facts: &mut BTreeMap<String, String>) {
    let pool = source.split('/').next().unwrap_or(source);
    let state = sys.text(format!("/proc/spl/kstat/zfs/{pool}/state"));
    insert(facts, "pool_state", state);
}

/// The interface towards the server, its speed in Mbit/s and its duplex mode.
fn add_network(sys: &Sysroot, options: &[String], facts: &mut BTreeMap<String, String>) {
    let server = options
        .iter()
        .find_map(|option| option.strip_prefix("addr="));
    let server: Option<Ipv4Addr> = server.and_then(|text| text.parse().ok());
    let routes = sys.text("/proc/net/route").unwrap_or_default();
    let Some(name) = server.and_then(|server| route_to(&routes, server)) else {
        return;
    };
    let of_card = |file: &str| sys.text(format!("/sys/class/net/{name}/{file}"));
    // A card without a link or a virtual one shows -1.
    let speed = of_card("speed").filter(|speed| speed.parse::<u64>().is_ok());
    insert(facts, "nic_speed_mbit", speed);
    insert(facts, "nic_duplex", of_card("duplex"));
    facts.insert("nic".to_owned(), name.to_owned());
}

/// The interface of the most specific route (`/proc/net/route`: hexadecimal
/// numbers in the host's byte order).
fn route_to(routes: &str, server: Ipv4Addr) -> Option<&str> {
    let address = u32::from_ne_bytes(server.octets());
    let found = routes.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let hex = |at: usize| u32::from_str_radix(fields.get(at)?, 16).ok();
        let (destination, flags, mask) = (hex(1)?, hex(3)?, hex(7)?);
        let up = flags & 1 == 1;
        (up && address & mask == destination).then_some((mask.count_ones(), *fields.first()?))
    });
    found.max_by_key(|(bits, _)| *bits).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(kind: &str, options: &[&str], files: &[(&str, &str)]) -> BTreeMap<String, String> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut filesystem = FilesystemFacts {
            kind: kind.to_owned(),
            source: "tank/data".to_owned(),
            options: options.iter().map(|o| (*o).to_owned()).collect(),
            ..FilesystemFacts::default()
        };
        let device = DeviceFacts {
            name: "sdb".to_owned(),
            ..DeviceFacts::default()
        };
        add_state_facts(&Sysroot::at(root.path()), &mut filesystem, &[device]);
        filesystem.facts
    }

    #[test]
    fn btrfs_shows_its_operation_and_its_missing_members() {
        let found = facts(
            "btrfs",
            &[],
            &[
                ("sys/fs/btrfs/other/devices/sdz", ""),
                ("sys/fs/btrfs/uuid/devices/sdb", ""),
                ("sys/fs/btrfs/uuid/exclusive_operation", "balance\n"),
                ("sys/fs/btrfs/uuid/devinfo/1/missing", "0\n"),
                ("sys/fs/btrfs/uuid/devinfo/2/missing", "1\n"),
            ],
        );
        assert_eq!(found["exclusive_operation"], "balance");
        assert_eq!(found["missing_devices"], "1");
    }

    #[test]
    fn a_pool_and_an_ext4_show_their_state() {
        let zfs = facts(
            "zfs",
            &[],
            &[("proc/spl/kstat/zfs/tank/state", "DEGRADED\n")],
        );
        assert_eq!(zfs["pool_state"], "DEGRADED");
        let ext4 = facts("ext4", &[], &[("sys/fs/ext4/sdb/errors_count", "3\n")]);
        assert_eq!(ext4["errors_count"], "3");
        assert!(facts("ext4", &[], &[]).is_empty());
        assert!(facts("btrfs", &[], &[]).is_empty());
    }

    #[test]
    fn the_most_specific_route_leads_to_the_server() {
        let hex = |a, b, c, d| format!("{:08X}", u32::from_ne_bytes([a, b, c, d]));
        let (any, net, mask) = (hex(0, 0, 0, 0), hex(10, 0, 0, 0), hex(255, 0, 0, 0));
        let routes = format!(
            "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n\
             eth0\t{any}\t{net}\t0003\t0\t0\t0\t{any}\n\
             eth1\t{net}\t{any}\t0001\t0\t0\t0\t{mask}\n"
        );
        let files = [
            ("proc/net/route", routes.as_str()),
            ("sys/class/net/eth1/speed", "100\n"),
            ("sys/class/net/eth1/duplex", "half\n"),
            ("sys/class/net/eth0/speed", "-1\n"),
        ];
        let near = facts("nfs4", &["rw", "addr=10.1.2.3"], &files);
        assert_eq!(
            (near["nic"].as_str(), near["nic_speed_mbit"].as_str()),
            ("eth1", "100")
        );
        assert_eq!(near["nic_duplex"], "half");
        let far = facts("nfs4", &["addr=192.0.2.9"], &files);
        assert_eq!(far["nic"], "eth0");
        assert!(!far.contains_key("nic_speed_mbit"));
        assert!(facts("nfs4", &["addr=nonsense"], &files).is_empty());
    }
}
