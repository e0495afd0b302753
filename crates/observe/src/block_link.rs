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
        let of_link = |file: &str| sys.text(format!("/sys/class/ata_link/link{port}/{file}"));
        insert(facts, "sata_link", of_link("sata_spd"));
        insert(facts, "sata_link_port_max", of_link("hw_sata_spd_limit"));
        let drops = sys.text(format!("/sys/class/ata_device/dev{port}.0/spdn_cnt"));
        insert(facts, "sata_link_slowdowns", drops);
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
    add_port_facts(sys, pci, facts);
    add_error_counts(sys, pci, facts);
    let node = sys.text(pci.join("numa_node")).filter(|node| node != "-1");
    insert(facts, "numa_node", node);
    let address = pci.file_name().and_then(|name| name.to_str());
    insert(facts, "pcie_address", address.map(str::to_owned));
}

/// What the port above could do: a drive that is faster than its slot is no
/// fault of the link.
fn add_port_facts(sys: &Sysroot, pci: &Path, facts: &mut BTreeMap<String, String>) {
    let Some(port) = pci.parent() else { return };
    for (name, file) in [
        ("pcie_port_link_speed_max", "max_link_speed"),
        ("pcie_port_link_width_max", "max_link_width"),
    ] {
        let value = sys.text(port.join(file));
        insert(facts, name, value.filter(|value| is_link_value(value)));
    }
}

/// Errors that the adapter counted (Advanced Error Reporting,
/// Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats).
fn add_error_counts(sys: &Sysroot, pci: &Path, facts: &mut BTreeMap<String, String>) {
    for (name, file, total) in [
        (
            "pcie_errors_corrected",
            "aer_dev_correctable",
            "TOTAL_ERR_COR",
        ),
        (
            "pcie_errors_nonfatal",
            "aer_dev_nonfatal",
            "TOTAL_ERR_NONFATAL",
        ),
        ("pcie_errors_fatal", "aer_dev_fatal", "TOTAL_ERR_FATAL"),
    ] {
        let text = sys.text(pci.join(file));
        let count = text.as_deref().and_then(|text| error_total(text, total));
        insert(facts, name, count.map(|count| count.to_string()));
    }
}

/// The line `TOTAL_ERR_COR 12` of a list of error counts.
fn error_total(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().parse().ok()
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
    fn the_port_above_and_its_errors_are_found() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let port = "sys/devices/pci0000:00/0000:00:01.1";
        write(&format!("{port}/max_link_speed"), "16.0 GT/s PCIe\n");
        write(&format!("{port}/max_link_width"), "4\n");
        let drive = format!("{port}/0000:01:00.0");
        write(&format!("{drive}/current_link_speed"), "8.0 GT/s PCIe\n");
        write(&format!("{drive}/max_link_speed"), "16.0 GT/s PCIe\n");
        let errors = "RxErr 3\nBadTLP 9\nTOTAL_ERR_COR 12\n";
        write(&format!("{drive}/aer_dev_correctable"), errors);
        let mut facts = BTreeMap::new();
        let device = format!("/{drive}/nvme/nvme0/nvme0n1");
        add_link_facts(&Sysroot::at(root.path()), Path::new(&device), &mut facts);
        assert_eq!(facts["pcie_link_speed"], "8.0 GT/s PCIe");
        assert_eq!(facts["pcie_port_link_speed_max"], "16.0 GT/s PCIe");
        assert_eq!(facts["pcie_port_link_width_max"], "4");
        assert_eq!(facts["pcie_errors_corrected"], "12");
        assert_eq!(facts.get("pcie_errors_fatal"), None);
        assert_eq!(error_total("TOTAL_ERR_COR x", "TOTAL_ERR_COR"), None);
    }

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
