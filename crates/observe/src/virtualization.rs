//! Hypervisor and container, as far as they show.

use std::path::Path;

use crate::Sysroot;
use fathom_deadline::{Mount, mount_of};

/// What the host runs in: `docker on kvm`, `amazon`, `none`, …. `None` when
/// there is no evidence either way.
pub(crate) fn virtualization(sys: &Sysroot, mounts: &[Mount]) -> Option<String> {
    let container = container(sys, mounts);
    let hypervisor = hypervisor(sys);
    match (container, hypervisor) {
        (Some(container), Some(hypervisor)) if hypervisor != "none" => {
            Some(format!("{container} on {hypervisor}"))
        }
        (Some(container), _) => Some(container),
        (None, hypervisor) => hypervisor,
    }
}

/// The container technology around this process.
pub(crate) fn container(sys: &Sysroot, mounts: &[Mount]) -> Option<String> {
    let release = sys.text("/proc/sys/kernel/osrelease").unwrap_or_default();
    if release.to_ascii_lowercase().contains("microsoft") {
        return Some("wsl".to_owned());
    }
    if sys.exists("/proc/vz") && !sys.exists("/proc/bc") {
        return Some("openvz".to_owned());
    }
    if let Some(name) = sys.text("/run/systemd/container") {
        return Some(name);
    }
    // Images of machines are made from images of containers and keep this
    // file; a container's root is never a whole file system of a device.
    let marked = if sys.exists("/run/.containerenv") {
        Some("podman")
    } else if sys.exists("/.dockerenv") {
        Some("docker")
    } else {
        None
    };
    if let Some(name) = marked.filter(|_| !root_is_a_whole_device(mounts)) {
        return Some(name.to_owned());
    }
    let groups = sys.text("/proc/self/cgroup").unwrap_or_default();
    let known = [
        ("kubepods", "kubernetes"),
        ("docker", "docker"),
        ("libpod", "podman"),
        ("cri-containerd", "containerd"),
        ("lxc", "lxc"),
    ];
    let found = known.into_iter().find(|(mark, _)| {
        // A host that runs containers has such groups, but not around itself.
        groups.lines().any(|line| {
            let path = line.splitn(3, ':').nth(2).unwrap_or("");
            path.split('/').any(|part| part.starts_with(mark)) && !root_is_a_whole_device(mounts)
        })
    });
    if let Some((_, name)) = found {
        return Some(name.to_owned());
    }
    let root = mount_of(mounts, Path::new("/"));
    let root_is_overlay = root.is_some_and(|mount| mount.kind == "overlay");
    root_is_overlay.then(|| "container".to_owned())
}

fn root_is_a_whole_device(mounts: &[Mount]) -> bool {
    let root = mount_of(mounts, Path::new("/"));
    root.is_some_and(|mount| mount.device.0 != 0 && mount.root == "/")
}

fn hypervisor(sys: &Sysroot) -> Option<String> {
    let dmi = |file: &str| {
        sys.text(format!("/sys/class/dmi/id/{file}"))
            .unwrap_or_default()
    };
    let maker = format!(
        "{} {} {}",
        dmi("sys_vendor"),
        dmi("product_name"),
        dmi("bios_vendor")
    );
    let cpuinfo = sys.text("/proc/cpuinfo").unwrap_or_default();
    let flagged = cpuinfo_flag(&cpuinfo, "hypervisor");
    if let Some(kind) = sys.text("/sys/hypervisor/type") {
        // A bare Xen host's first guest has this too and is no virtual disk user.
        let first = sys
            .text("/proc/xen/capabilities")
            .is_some_and(|text| text.contains("control_d"));
        return Some(if first { format!("{kind} dom0") } else { kind });
    }
    if let Some(name) = hypervisor_of_maker(&maker).filter(|_| flagged != Some(false)) {
        return Some(name.to_owned());
    }
    let clocks = sys
        .text("/sys/devices/system/clocksource/clocksource0/available_clocksource")
        .unwrap_or_default();
    if clocks.contains("kvm-clock") {
        return Some("kvm".to_owned());
    }
    if clocks.contains("hyperv") {
        return Some("hyper-v".to_owned());
    }
    match flagged {
        Some(true) => Some("unknown hypervisor".to_owned()),
        Some(false) => Some("none".to_owned()),
        None => None,
    }
}

fn hypervisor_of_maker(maker: &str) -> Option<&'static str> {
    if maker.contains(".metal") {
        return Some("none");
    }
    let known = [
        ("Amazon EC2", "amazon"),
        ("Google Compute Engine", "google"),
        ("DigitalOcean", "digitalocean"),
        ("Hetzner", "hetzner"),
        ("OpenStack", "openstack"),
        ("Alibaba Cloud", "alibaba"),
        ("VMware", "vmware"),
        ("innotek", "virtualbox"),
        ("VirtualBox", "virtualbox"),
        ("Microsoft Corporation Virtual Machine", "hyper-v"),
        ("Parallels", "parallels"),
        ("Xen", "xen"),
        ("Bochs", "qemu"),
        ("QEMU", "qemu"),
        ("KVM", "kvm"),
        ("Firecracker", "firecracker"),
    ];
    known
        .into_iter()
        .find(|(mark, _)| maker.contains(mark))
        .map(|(_, name)| name)
}

/// Whether the first CPU has a flag; `None` where `/proc/cpuinfo` lists none
/// that would tell (other architectures than x86 have no hypervisor flag).
pub(crate) fn cpuinfo_flag(cpuinfo: &str, flag: &str) -> Option<bool> {
    let line = cpuinfo.lines().find(|line| line.starts_with("flags"))?;
    let flags = line.split_once(':')?.1;
    Some(flags.split_ascii_whitespace().any(|name| name == flag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makers_are_known_by_their_marks() {
        assert_eq!(
            hypervisor_of_maker("QEMU Standard PC SeaBIOS"),
            Some("qemu")
        );
        assert_eq!(
            hypervisor_of_maker("Amazon EC2 i3.metal Amazon EC2"),
            Some("none")
        );
        assert_eq!(
            hypervisor_of_maker("Dell Inc. PowerEdge R740 Dell Inc."),
            None
        );
    }

    #[test]
    fn only_x86_has_the_hypervisor_flag() {
        assert_eq!(
            cpuinfo_flag("flags\t\t: fpu hypervisor lahf_lm\n", "hypervisor"),
            Some(true)
        );
        assert_eq!(cpuinfo_flag("flags\t\t: fpu\n", "hypervisor"), Some(false));
        assert_eq!(cpuinfo_flag("Features\t: fp asimd\n", "hypervisor"), None);
    }
}
