//! Where each block device of a host is mounted, and the devices that it lies on.

use std::collections::BTreeMap;

use crate::Sysroot;
use crate::device::disk_of_partition;
use crate::device_stack::device_stack;
use crate::filesystem::devices_under_mount;
use crate::target::mounts;

/// One block device among the others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DevicePlace {
    /// Where file systems on it are mounted, also those on its partitions and on
    /// devices that lie on it.
    pub mounts: Vec<String>,
    /// The devices that it lies on, directly or not, with their kind:
    /// `md0 (md)`, `sda (disk)`.
    pub below: Vec<String>,
    /// Devices that lie on it.
    pub above: Vec<String>,
    /// Vendor and model, where the kernel knows them.
    pub model: Option<String>,
    /// Size.
    pub size_bytes: u64,
}

/// The place of each whole device, by its kernel name.
pub fn device_places(sys: &Sysroot) -> BTreeMap<String, DevicePlace> {
    let mounts = mounts(sys);
    let mut places = BTreeMap::new();
    let names = sys.names("/sys/class/block").into_iter();
    for name in names.filter(|name| disk_of_partition(sys, name).is_none()) {
        let stack = device_stack(sys, &mounts, std::slice::from_ref(&name), 0);
        let mut facts = stack.into_iter();
        let own = facts.next();
        let place = DevicePlace {
            size_bytes: own.as_ref().map_or(0, |own| own.size_bytes),
            model: own.and_then(|own| own.model),
            below: facts
                .map(|lower| format!("{} ({})", lower.name, lower.kind))
                .collect(),
            ..DevicePlace::default()
        };
        places.insert(name, place);
    }
    let mut stacks: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    // Whole file systems before folders of them that are mounted elsewhere as well.
    let (whole, parts): (Vec<_>, Vec<_>) = mounts.iter().partition(|mount| mount.root == "/");
    for mount in whole.into_iter().chain(parts) {
        let tops = devices_under_mount(sys, &mounts, mount, 0);
        if tops.is_empty() {
            continue;
        }
        let names = stacks.entry(tops).or_insert_with_key(|tops| {
            let stack = device_stack(sys, &mounts, tops, 0);
            stack.into_iter().map(|device| device.name).collect()
        });
        let point = mount.mount_point.display().to_string();
        for name in names.iter() {
            if let Some(place) = places.get_mut(name)
                && !place.mounts.contains(&point)
            {
                place.mounts.push(point.clone());
            }
        }
    }
    add_devices_above(&mut places);
    places
}

fn add_devices_above(places: &mut BTreeMap<String, DevicePlace>) {
    let mut above: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, place) in places.iter() {
        for lower in &place.below {
            let lower = lower.split(" (").next().unwrap_or(lower);
            above
                .entry(lower.to_owned())
                .or_default()
                .push(name.clone());
        }
    }
    for (name, upper) in above {
        if let Some(place) = places.get_mut(&name) {
            place.above = upper;
        }
    }
}
