//! What hangs on what: socket, PCIe ports, adapters, disks and interfaces,
//! with the width of each link. Virtual devices (loops, mappings, bridges) are
//! no parts of the machine and stay out.

use std::path::Path;

use fathom_model::machine::{HostReading, MachineLink, MachineNode};
use fathom_stats::moments;

use super::interfaces::interfaces;
use crate::Sysroot;
use crate::device::{device_dir, device_facts};
use crate::network::link_facts;
use crate::stack::{adapter, is_pci_address, transfers};
use crate::whole_disks::whole_disks;

/// Reads the picture; `readings` tell what moved over links.
pub fn machine_picture(sys: &Sysroot, readings: &[HostReading]) -> Vec<MachineNode> {
    let mut picture = Picture {
        sys,
        nodes: Vec::new(),
    };
    for disk in whole_disks(sys) {
        let name = disk.device.name;
        let above = picture.above(&device_dir(&name));
        let link = disk_link(sys, &name);
        let model = disk.device.model.unwrap_or_else(|| "disk".to_owned());
        picture.add("disk", &name, model.trim().to_owned(), above, link);
    }
    for name in interfaces(sys) {
        let facts = link_facts(sys, &name);
        let folder = Path::new("/sys/class/net").join(&name);
        let above = (!facts.is_virtual)
            .then(|| picture.above(&folder))
            .flatten();
        let label = facts.driver.clone().unwrap_or_else(|| "virtual".to_owned());
        let speed = facts.speed_bits.filter(|_| !facts.is_virtual);
        let link = speed.map(|bits| MachineLink {
            kind: "ethernet".to_owned(),
            now: Some(fathom_model::unit::bits(bits as f64)),
            bits_per_second: Some(bits as f64),
            used: mean(readings, "nic_use", &name),
            ..MachineLink::default()
        });
        picture.add("interface", &name, label, above, link);
    }
    let mut nodes = picture.nodes;
    used(&mut nodes, readings);
    narrowest(&mut nodes);
    nodes
}

struct Picture<'a> {
    sys: &'a Sysroot,
    nodes: Vec<MachineNode>,
}

impl Picture<'_> {
    fn add(
        &mut self,
        kind: &str,
        name: &str,
        label: String,
        above: Option<String>,
        link: Option<MachineLink>,
    ) {
        if self.nodes.iter().any(|node| node.name == name) {
            return;
        }
        self.nodes.push(MachineNode {
            name: name.to_owned(),
            kind: kind.to_owned(),
            label,
            above,
            link,
        });
    }

    /// Adds the adapters and ports above a device, and its socket; gives the
    /// name of the nearest.
    fn above(&mut self, folder: &Path) -> Option<String> {
        let real = self.sys.resolve(folder)?;
        let ports: Vec<&Path> = real.ancestors().filter(|dir| is_pci_address(dir)).collect();
        let nearest = ports.first()?;
        let node = self
            .sys
            .number(nearest.join("numa_node"))
            .filter(|n| *n < 1 << 16);
        let socket = format!("socket {}", node.unwrap_or(0));
        let label = self.socket_label(node.unwrap_or(0));
        self.add("socket", &socket, label, None, None);
        let mut above = socket;
        for (depth, port) in ports.iter().enumerate().rev() {
            let found = adapter(self.sys, port);
            let kind = if depth == 0 { "adapter" } else { "port" };
            let what = match (kind, found.kind.as_str()) {
                ("port", _) => "PCIe port".to_owned(),
                (_, what) => what.to_owned(),
            };
            let driver = found.driver.as_ref();
            let label = driver.map_or(what.clone(), |driver| format!("{what} ({driver})"));
            let link = pcie(&found);
            self.add(kind, &found.name, label, Some(above), link);
            above = found.name;
        }
        Some(above)
    }

    fn socket_label(&self, node: u64) -> String {
        let cpus = self
            .sys
            .text(format!("/sys/devices/system/node/node{node}/cpulist"));
        cpus.map_or("CPUs".to_owned(), |cpus| format!("CPUs {cpus}"))
    }
}

fn pcie(found: &fathom_model::stack::StackController) -> Option<MachineLink> {
    let words = |speed: &str, width: u64| {
        let speed = speed.trim_end_matches(" PCIe");
        format!("{speed} x{width}")
    };
    let (speed, width) = (found.link_speed.as_deref()?, found.link_width?);
    let bits = pcie_bits(transfers(speed), width);
    let most = found.link_speed_max.as_deref().zip(found.link_width_max);
    let most_bits = most.map(|(speed, width)| pcie_bits(transfers(speed), width));
    Some(MachineLink {
        kind: "pcie".to_owned(),
        now: Some(words(speed, width)),
        bits_per_second: Some(bits),
        most: most.map(|(speed, width)| words(speed, width)),
        most_bits_per_second: most_bits,
        below_rated: most
            .is_some_and(|(top, lanes)| transfers(speed) < transfers(top) || width < lanes),
        ..MachineLink::default()
    })
}

/// Bits per second of data: 8b/10b up to 5 GT/s, 128b/130b up to 32 GT/s, flits
/// of 236 in 256 bytes from 64 GT/s (PCI Express Base Specification 6.0).
fn pcie_bits(giga_transfers: f64, width: u64) -> f64 {
    let coding = match giga_transfers {
        slow if slow <= 5.0 => 0.8,
        fast if fast < 64.0 => 128.0 / 130.0,
        _ => 236.0 / 256.0,
    };
    giga_transfers * 1e9 * coding * width as f64
}

/// SATA: 8b/10b. NVMe drives are their own adapter and have no second link.
fn disk_link(sys: &Sysroot, name: &str) -> Option<MachineLink> {
    let facts = device_facts(sys, name).facts;
    let speed = facts.get("sata_link")?;
    let gigabits: f64 = speed.split_whitespace().next()?.parse().ok()?;
    let most = facts
        .get("sata_link_port_max")
        .filter(|most| !most.starts_with('<'));
    let slowed = facts.get("sata_link_slowdowns").is_some_and(|n| n != "0");
    Some(MachineLink {
        kind: "sata".to_owned(),
        now: Some(speed.clone()),
        bits_per_second: Some(gigabits * 1e9 * 0.8),
        most: most.cloned(),
        below_rated: slowed,
        ..MachineLink::default()
    })
}

fn mean(readings: &[HostReading], quantity: &str, instance: &str) -> Option<f64> {
    let found = readings.iter();
    let values: Vec<f64> = found
        .filter(|r| r.quantity == quantity && r.instance == instance)
        .map(|r| r.value)
        .collect();
    moments::mean(&values)
}

/// What disks and interfaces moved goes over the links above them.
fn used(nodes: &mut [MachineNode], readings: &[HostReading]) {
    let above: Vec<(String, Option<String>)> = nodes
        .iter()
        .map(|node| (node.name.clone(), node.above.clone()))
        .collect();
    let mut moved: Vec<f64> = vec![0.0; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        let bytes = match node.kind.as_str() {
            "disk" => mean(readings, "disk_bytes", &node.name),
            "interface" => mean(readings, "nic_received", &node.name)
                .zip(mean(readings, "nic_sent", &node.name))
                .map(|(received, sent)| received.max(sent)),
            _ => None,
        };
        let Some(bytes) = bytes else { continue };
        let mut at = Some(index);
        for _ in 0..32 {
            let Some(here) = at else { break };
            moved[here] += bytes;
            at = above[here]
                .1
                .as_ref()
                .and_then(|up| above.iter().position(|(n, _)| n == up));
        }
    }
    for (node, bytes) in nodes.iter_mut().zip(moved) {
        if let Some(link) = node.link.as_mut().filter(|link| link.used.is_none()) {
            link.used = link.bits_per_second.map(|bits| bytes * 8.0 / bits);
        }
    }
}

/// Marks the link with the least room of all that data of disks pass. Where
/// several disks share a link, each has its part of it.
fn narrowest(nodes: &mut [MachineNode]) {
    let links = nodes.iter().enumerate().filter_map(|(index, node)| {
        let bits = node.link.as_ref()?.bits_per_second?;
        Some((index, bits))
    });
    let least = links.min_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((_, bits)) = least {
        for node in nodes.iter_mut() {
            if let Some(link) = node.link.as_mut() {
                link.narrowest = link.bits_per_second == Some(bits);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::pcie_bits;

    #[test]
    fn coding_is_taken_off() {
        assert_eq!(pcie_bits(5.0, 4), 16e9);
        assert!((pcie_bits(8.0, 4) / 1e9 - 31.507).abs() < 0.001);
    }
}
