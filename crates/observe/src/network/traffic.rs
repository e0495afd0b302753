//! What goes over the links of this host, all programs together, and what kind
//! of links they are.

use std::collections::BTreeSet;

use fathom_model::host_load::LinkLoad;
use fathom_model::network::LinkFacts;

use super::addresses::{index_of, interfaces, mtu_bytes};
use super::link::{link_counters, link_facts};
use crate::Sysroot;

/// Links that are looked at.
const MAX_LINKS: usize = 32;

/// The counters of all links that have an address and are no loop, since they
/// came up. Empty where the kernel does not show them.
pub fn read_traffic(sys: &Sysroot) -> Vec<LinkLoad> {
    let load = |interface: String| {
        let count = |name: &str| {
            let path = format!("/sys/class/net/{interface}/statistics/{name}");
            sys.number(path).unwrap_or(0)
        };
        let facts = link_facts(sys, &interface);
        LinkLoad {
            received_bytes: count("rx_bytes"),
            sent_bytes: count("tx_bytes"),
            lost_frames: link_counters(sys, &interface).total(),
            speed_bits: facts.speed_bits.filter(|_| !facts.is_virtual),
            interface,
        }
    };
    own_links(sys).into_iter().map(load).collect()
}

/// What went over each link between two readings.
pub fn traffic_since(before: &[LinkLoad], after: &[LinkLoad]) -> Vec<LinkLoad> {
    let grown = |now: &LinkLoad| {
        let last = before.iter().find(|last| last.interface == now.interface)?;
        Some(LinkLoad {
            received_bytes: now.received_bytes.saturating_sub(last.received_bytes),
            sent_bytes: now.sent_bytes.saturating_sub(last.sent_bytes),
            lost_frames: now.lost_frames.saturating_sub(last.lost_frames),
            ..now.clone()
        })
    };
    after.iter().filter_map(grown).collect()
}

/// The kinds of links of this host in words, names left out, so that alike
/// hosts say the same: `25 Gbit/s, full duplex, MTU 9000`.
pub fn link_words(sys: &Sysroot) -> Option<String> {
    let mut kinds: Vec<String> = own_links(sys)
        .iter()
        .map(|interface| {
            let facts = link_facts(sys, interface);
            let mtu_bytes = mtu_bytes(interface).or(facts.mtu_bytes);
            words(&LinkFacts { mtu_bytes, ..facts })
        })
        .collect();
    kinds.sort();
    (!kinds.is_empty()).then(|| kinds.join(" + "))
}

fn words(facts: &LinkFacts) -> String {
    let mut words = Vec::new();
    if let Some(bits) = facts.speed_bits.filter(|_| !facts.is_virtual) {
        words.push(match bits % 1_000_000_000 {
            0 => format!("{} Gbit/s", bits / 1_000_000_000),
            _ => format!("{} Mbit/s", bits / 1_000_000),
        });
        if let Some(duplex) = &facts.duplex {
            words.push(format!("{duplex} duplex"));
        }
    }
    if !facts.bonded.is_empty() {
        let mode = facts.bond_mode.as_deref().unwrap_or("unknown mode");
        words.push(format!("bond of {} ({mode})", facts.bonded.len()));
    }
    if facts.is_virtual {
        words.push("virtual".to_owned());
    }
    let mtu = facts
        .mtu_bytes
        .map_or("not known".to_owned(), |mtu| mtu.to_string());
    words.push(format!("MTU {mtu}"));
    words.join(", ")
}

/// Links of this network namespace that lead somewhere: not loops, and not the
/// bridges of containers and guests, which come and go.
fn own_links(sys: &Sysroot) -> Vec<String> {
    if !sys.is_host() {
        return Vec::new();
    }
    let names: BTreeSet<String> = interfaces()
        .into_iter()
        .filter(|link| !link.address.is_loopback())
        .map(|link| link.name)
        .filter(|name| {
            !["docker", "br-", "virbr", "cni", "veth"]
                .iter()
                .any(|kind| name.starts_with(kind))
        })
        .collect();
    // A folder of another network namespace tells of another link.
    let is_own = |name: &String| {
        let index = sys.number(format!("/sys/class/net/{name}/ifindex"));
        index.is_some() && index == index_of(name).map(u64::from)
    };
    names.into_iter().filter(is_own).take(MAX_LINKS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_links_say_the_same() {
        let real = LinkFacts {
            interface: "eth0".to_owned(),
            speed_bits: Some(25_000_000_000),
            duplex: Some("full".to_owned()),
            mtu_bytes: Some(9000),
            ..LinkFacts::default()
        };
        assert_eq!(words(&real), "25 Gbit/s, full duplex, MTU 9000");
        // What a link without hardware claims is no speed.
        let virtual_one = LinkFacts {
            is_virtual: true,
            ..real
        };
        assert_eq!(words(&virtual_one), "virtual, MTU 9000");
    }

    #[test]
    fn only_growth_counts_and_only_of_links_that_stayed() {
        let link = |name: &str, bytes| LinkLoad {
            interface: name.to_owned(),
            received_bytes: bytes,
            ..LinkLoad::default()
        };
        let grown = traffic_since(
            &[link("eth0", 100), link("eth1", 50)],
            &[link("eth0", 175), link("eth1", 10), link("eth2", 9)],
        );
        assert_eq!(grown, [link("eth0", 75), link("eth1", 0)]);
    }
}
