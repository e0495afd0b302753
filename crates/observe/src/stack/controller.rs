//! The adapter that a drive is attached to: the nearest PCI function above it
//! in sysfs (Documentation/ABI/testing/sysfs-bus-pci).

use std::path::Path;

use fathom_model::stack::StackController;

use crate::Sysroot;
use crate::device::device_dir;

/// The adapter above a drive; `None` for what hangs on no PCI bus.
pub(super) fn controller(sys: &Sysroot, name: &str) -> Option<StackController> {
    let real = sys.resolve(device_dir(name))?;
    let above = real.ancestors().find(|dir| is_pci_address(dir))?;
    Some(adapter(sys, above))
}

/// Whether a folder is that of a PCI function: `0000:01:00.0`.
pub(crate) fn is_pci_address(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| {
        let parts: Vec<&str> = name.split([':', '.']).collect();
        let hex = |part: &&str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
        parts.len() == 4 && name.len() >= 12 && parts.iter().all(hex)
    })
}

/// What a PCI function says of itself.
pub(crate) fn adapter(sys: &Sysroot, folder: &Path) -> StackController {
    let text = |file: &str| sys.text(folder.join(file));
    let class = text("class").unwrap_or_default();
    let speed = |file: &str| text(file).filter(|speed| !speed.starts_with("Unknown"));
    let width = |file: &str| {
        sys.number(folder.join(file))
            .filter(|w| (1..255).contains(w))
    };
    let port = folder.parent();
    let port_speed = port.and_then(|port| sys.text(port.join("max_link_speed")));
    let port_width = port.and_then(|port| sys.number(port.join("max_link_width")));
    let slower = |own: Option<String>| match (own, port_speed.filter(|s| !s.starts_with("Unk"))) {
        (Some(own), Some(port)) if transfers(&port) < transfers(&own) => Some(port),
        (own, _) => own,
    };
    let narrower = |own: Option<u64>| match port_width.filter(|w| (1..255).contains(w)) {
        Some(port) => own.map(|own| own.min(port)),
        None => own,
    };
    let driver = sys.resolve(folder.join("driver"));
    StackController {
        name: folder
            .file_name()
            .map_or(String::new(), |name| name.to_string_lossy().into_owned()),
        kind: kind(&class).to_owned(),
        driver: driver.and_then(|path| path.file_name()?.to_str().map(str::to_owned)),
        numa_node: sys.number(folder.join("numa_node")),
        link_speed: speed("current_link_speed"),
        link_speed_max: slower(speed("max_link_speed")),
        link_width: width("current_link_width"),
        link_width_max: narrower(width("max_link_width")),
    }
}

/// GT/s of `8.0 GT/s PCIe`; older kernels leave out the last word.
pub(crate) fn transfers(speed: &str) -> f64 {
    let number = speed.split_whitespace().next().and_then(|n| n.parse().ok());
    number.unwrap_or(f64::INFINITY)
}

/// Class codes of PCI (PCI Code and ID Assignment Specification).
fn kind(class: &str) -> &'static str {
    match class.get(2..6).unwrap_or("") {
        "0100" => "SCSI",
        "0101" => "IDE",
        "0104" => "RAID",
        "0106" => "SATA (AHCI)",
        "0107" => "SAS",
        "0108" => "NVMe",
        "0200" => "Ethernet",
        "0207" | "0c06" => "InfiniBand",
        "0c03" => "USB",
        "0c04" => "Fibre Channel",
        _ => "adapter",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_classes_and_speeds() {
        assert!(is_pci_address(Path::new(
            "/sys/devices/pci0000:00/0000:01:00.0"
        )));
        assert!(!is_pci_address(Path::new("/sys/devices/pci0000:00")));
        assert!(!is_pci_address(Path::new("/sys/devices/x/0:0:0:0")));
        assert_eq!(kind("0x010802"), "NVMe");
        assert_eq!(kind(""), "adapter");
        assert_eq!(transfers("8.0 GT/s PCIe"), 8.0);
        assert!(transfers("Unknown").is_infinite());
    }
}
