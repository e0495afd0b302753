//! What `/sys/class/net` says of a link.

use std::net::IpAddr;

use fathom_model::network::{LinkCounters, LinkFacts};

use super::addresses::{index_of, interfaces, mtu_bytes};
use crate::Sysroot;

/// The link of this host that has `address`, with its facts; `None` when there
/// is none.
pub fn link_with(sys: &Sysroot, address: IpAddr) -> Option<LinkFacts> {
    let all = interfaces();
    let found = all.iter().find(|one| one.address == address)?;
    // A folder of another network namespace tells of another link.
    let index = sys.number(format!("/sys/class/net/{}/ifindex", found.name));
    let mut facts = match index.is_some() && index == index_of(&found.name).map(u64::from) {
        true => link_facts(sys, &found.name),
        false => LinkFacts {
            interface: found.name.clone(),
            is_virtual: true,
            ..LinkFacts::default()
        },
    };
    facts.mtu_bytes = mtu_bytes(&found.name).or(facts.mtu_bytes);
    Some(facts)
}

/// Facts of a link by its name. Missing facts are `None`.
pub fn link_facts(sys: &Sysroot, interface: &str) -> LinkFacts {
    let folder = format!("/sys/class/net/{interface}");
    let text = |name: &str| sys.text(format!("{folder}/{name}"));
    let queues = sys.names(format!("{folder}/queues"));
    let count = |kind: &str| {
        let of_kind = queues.iter().filter(|name| name.starts_with(kind));
        u32::try_from(of_kind.count()).unwrap_or(u32::MAX)
    };
    let driver = sys
        .resolve(format!("{folder}/device/driver"))
        .and_then(|path| path.file_name()?.to_str().map(str::to_owned));
    let bonded: Vec<String> = text("bonding/slaves")
        .map(|names| names.split_whitespace().map(str::to_owned).collect())
        .unwrap_or_default();
    let has_hardware = sys.exists(format!("{folder}/device"))
        || bonded
            .iter()
            .any(|part| sys.exists(format!("/sys/class/net/{part}/device")));
    LinkFacts {
        interface: interface.to_owned(),
        speed_bits: text("speed").as_deref().and_then(speed_bits),
        duplex: text("duplex").filter(|word| word != "unknown"),
        mtu_bytes: text("mtu").and_then(|mtu| mtu.parse().ok()),
        driver,
        receive_queues: count("rx-"),
        transmit_queues: count("tx-"),
        bonded,
        bond_mode: text("bonding/mode")
            .and_then(|mode| mode.split_whitespace().next().map(str::to_owned)),
        is_virtual: !has_hardware,
        counters: link_counters(sys, interface),
    }
}

/// The counters of a link; zeros where there are none.
pub fn link_counters(sys: &Sysroot, interface: &str) -> LinkCounters {
    let count = |name: &str| {
        let path = format!("/sys/class/net/{interface}/statistics/{name}");
        sys.number(path).unwrap_or(0)
    };
    LinkCounters {
        receive_errors: count("rx_errors"),
        receive_dropped: count("rx_dropped").saturating_add(count("rx_missed_errors")),
        transmit_errors: count("tx_errors"),
        transmit_dropped: count("tx_dropped"),
    }
}

/// `speed` is in Mbit/s, and -1 or 2^32 - 1 where it is not known.
fn speed_bits(text: &str) -> Option<u64> {
    let megabits: i64 = text.parse().ok()?;
    let known = megabits > 0 && megabits < i64::from(u32::MAX);
    known.then(|| megabits as u64 * 1_000_000)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_recorded_bond_is_read() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("sys/class/net/bond0");
        fs::create_dir_all(folder.join("queues/rx-0")).unwrap();
        fs::create_dir_all(folder.join("queues/tx-0")).unwrap();
        fs::create_dir_all(folder.join("statistics")).unwrap();
        fs::create_dir_all(folder.join("bonding")).unwrap();
        fs::create_dir_all(root.path().join("sys/class/net/eth0/device")).unwrap();
        for (name, text) in [
            ("speed", "50000\n"),
            ("duplex", "full\n"),
            ("mtu", "9000\n"),
            ("statistics/rx_dropped", "17\n"),
            ("bonding/slaves", "eth0 eth1\n"),
            ("bonding/mode", "802.3ad 4\n"),
        ] {
            fs::write(folder.join(name), text).unwrap();
        }
        let facts = link_facts(&Sysroot::at(root.path()), "bond0");
        assert_eq!(facts.speed_bits, Some(50_000_000_000));
        assert_eq!(facts.mtu_bytes, Some(9000));
        assert_eq!((facts.receive_queues, facts.transmit_queues), (1, 1));
        assert_eq!(facts.bond_mode.as_deref(), Some("802.3ad"));
        assert_eq!(facts.bonded, ["eth0", "eth1"]);
        assert_eq!(facts.counters.receive_dropped, 17);
        assert!(!facts.is_virtual);
        let none = link_facts(&Sysroot::at(root.path()), "eth9");
        assert_eq!((none.speed_bits, none.is_virtual), (None, true));
    }

    #[test]
    fn an_unknown_speed_is_none() {
        for text in ["-1", "4294967295", "0", "fast", ""] {
            assert_eq!(speed_bits(text), None, "{text}");
        }
    }
}
