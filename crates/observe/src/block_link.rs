//! How a device is attached: transport, link speed and width, read from the
//! folders above it in sysfs.

use std::collections::BTreeMap;
use std::path::Path;

use crate::Sysroot;

/// Adds `transport`, `pcie_*`, `numa_node` and `sata_link` as far as they show.
/// `device` is the real path of the device in sysfs.
pub(crate) fn add_link_facts(sys: &Sysroot, device: &Path, facts: &mut BTreeMap<String, String>) {
    if let Some(transport) = transport(device) {
        facts
            .entry("transport".to_owned())
            .or_insert_with(|| transport.to_owned());
    }
    if let Some(port) = component_with_digits(device, "ata") {
        let path = format!("/sys/class/ata_link/link{port}/sata_spd");
        insert(facts, "sata_link", sys.text(path));
    }
    // The nearest PCI device above: the drive itself for NVMe, else its adapter.
    let pci = device
        .ancestors()
        .find(|dir| sys.exists(dir.join("current_link_speed")));
    let Some(pci) = pci else { return };
    for (name, file) in [
        ("pcie_link_speed", "current_link_speed"),
        ("pcie_link_speed_max", "max_link_speed"),
        ("pcie_link_width", "current_link_width"),
        ("pcie_link_width_max", "max_link_width"),
    ] {
        insert(
            facts,
            name,
            sys.text(pci.join(file))
                .filter(|value| is_link_value(value)),
        );
    }
    let node = sys.text(pci.join("numa_node")).filter(|node| node != "-1");
    insert(facts, "numa_node", node);
    let address = pci.file_name().and_then(|name| name.to_str());
    insert(facts, "pcie_address", address.map(str::to_owned));
}

/// Emulated drives have no link: speed `Unknown`, width 0 of 255.
fn is_link_value(value: &str) -> bool {
    !value.starts_with("Unknown") && !matches!(value, "0" | "255")
}

/// Adds a fact that is known.
pub(crate) fn insert(facts: &mut BTreeMap<String, String>, name: &str, value: Option<String>) {
    if let Some(value) = value {
        facts.insert(name.to_owned(), value);
    }
}

fn transport(device: &Path) -> Option<&'static str> {
    let has = |prefix: &str| component_with_digits(device, prefix).is_some();
    // Outer adapters come after inner protocols: iSCSI may run on any of them.
    Some(if has("session") {
        "iscsi"
    } else if has("rport-") {
        "fc"
    } else if has("usb") {
        "usb"
    } else if has("ata") {
        "sata"
    } else if has("end_device-") {
        "sas"
    } else if has("virtio") {
        "virtio"
    } else if has("vbd-") {
        "xen"
    } else if has("mmc") {
        "mmc"
    } else {
        return None;
    })
}

/// What follows `prefix` in the path component that has it and then a digit.
fn component_with_digits<'a>(path: &'a Path, prefix: &str) -> Option<&'a str> {
    path.components().find_map(|component| {
        let rest = component.as_os_str().to_str()?.strip_prefix(prefix)?;
        rest.starts_with(|c: char| c.is_ascii_digit())
            .then_some(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_tells_the_transport() {
        let of = |path: &str| transport(Path::new(path));
        assert_eq!(
            of("/sys/devices/pci0/0000:00:1f.2/ata3/host2/target2:0:0/2:0:0:0/block/sda"),
            Some("sata")
        );
        assert_eq!(
            of("/sys/devices/platform/host6/session1/target6:0:0/6:0:0:1/block/sdb"),
            Some("iscsi")
        );
        assert_eq!(
            of("/sys/devices/pci0/0000:00:02.0/virtio1/block/vda"),
            Some("virtio")
        );
        assert_eq!(of("/sys/devices/virtual/block/loop0"), None);
        assert_eq!(
            of("/sys/devices/pci0/usb2/2-1/host7/target7:0:0/7:0:0:0/block/sdc"),
            Some("usb")
        );
    }
}
