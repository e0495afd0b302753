//! Network interfaces: use of the rated speed, drops, errors.

use super::{MachineCounters, Readings};
use crate::Sysroot;
use crate::network::link_facts;

/// More interfaces than any host is asked about.
const INTERFACES_MAX: usize = 256;

/// Interfaces that are up and lead somewhere.
pub(super) fn interfaces(sys: &Sysroot) -> Vec<String> {
    let names = sys.names("/sys/class/net").into_iter();
    let kept = names.filter(|name| {
        let leads = ![
            "lo",
            "docker",
            "br-",
            "virbr",
            "cni",
            "veth",
            "ifb",
            "dummy",
            "bonding_m",
        ]
        .iter()
        .any(|kind| name.starts_with(kind));
        let state = sys.text(format!("/sys/class/net/{name}/operstate"));
        leads && state.as_deref() != Some("down")
    });
    kept.take(INTERFACES_MAX).collect()
}

pub(super) fn counters(sys: &Sysroot, now: &mut MachineCounters) {
    for name in interfaces(sys) {
        let count = |files: &[&str]| -> Option<f64> {
            let values = files.iter().map(|file| {
                let path = format!("/sys/class/net/{name}/statistics/{file}");
                sys.number(path).map(|value| value as f64)
            });
            values.sum()
        };
        for (quantity, files) in [
            ("nic_received", &["rx_bytes"][..]),
            ("nic_sent", &["tx_bytes"]),
            ("nic_errors", &["rx_errors", "tx_errors"]),
            (
                "nic_dropped",
                &["rx_dropped", "tx_dropped", "rx_missed_errors"],
            ),
        ] {
            if let Some(value) = count(files) {
                now.insert((quantity, name.clone()), value);
            }
        }
    }
}

/// What follows from rates: use of the link, share sent again.
pub(super) fn shares(sys: &Sysroot, out: &mut Readings) {
    for name in interfaces(sys) {
        let facts = link_facts(sys, &name);
        // What a link without hardware claims is no speed.
        let speed = facts.speed_bits.filter(|_| !facts.is_virtual);
        let most = out.of("nic_received", &name).zip(out.of("nic_sent", &name));
        if let Some((speed, (received, sent))) = speed.zip(most) {
            out.add("nic_use", &name, received.max(sent) * 8.0 / speed as f64);
        }
    }
    let resent = out.of("tcp_retransmitted", "").zip(out.of("tcp_sent", ""));
    if let Some((again, sent)) = resent.filter(|(_, sent)| *sent > 0.0) {
        out.add("tcp_retransmits", "", again / sent);
    }
}
