//! The title of each layer and the settings that matter at it, in words.

use fathom_model::fingerprint::FilesystemFacts;
use fathom_model::stack::{FilesystemLayout, MountServer, StackController, StackDevice};
use fathom_model::unit;

/// Title and lines of a layer.
type Words = (String, Vec<String>);

fn size(bytes: u64) -> String {
    unit::bytes(bytes).to_string()
}

/// `63 sectors` is no size that people know; exact bytes are.
fn place(bytes: u64) -> String {
    match bytes % 1024 {
        0 => size(bytes),
        _ => unit::bytes_exact(bytes),
    }
}

pub(super) fn mount(filesystem: &FilesystemFacts, server: Option<&MountServer>) -> Words {
    let title = format!("mount {}", filesystem.mount_point);
    let mut lines = vec![filesystem.options.join(",")];
    if let Some(server) = server {
        lines.push(of_server(server));
    } else if filesystem.source.starts_with('/') {
        lines.push(format!("of {}", filesystem.source));
    }
    (title, lines)
}

fn of_server(server: &MountServer) -> String {
    let mut parts = vec![format!("server {}", server.server)];
    let mut add = |what: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            parts.push(format!("{what} {value}"));
        }
    };
    add("at", server.address.clone());
    add("export", Some(server.export.clone()));
    add(
        &server.protocol,
        Some(
            server
                .version
                .clone()
                .unwrap_or("of unknown version".to_owned()),
        ),
    );
    add("over", server.transport.clone());
    add("port", server.port.map(|port| port.to_string()));
    add("reads to", server.read_bytes.map(size));
    add("writes to", server.write_bytes.map(size));
    add(
        "connections",
        server.connections.map(|count| count.to_string()),
    );
    parts.join(", ")
}

pub(super) fn filesystem(filesystem: &FilesystemFacts, layout: Option<&FilesystemLayout>) -> Words {
    let mut lines = Vec::new();
    if filesystem.total_bytes > 0 {
        lines.push(format!(
            "{} free of {}",
            size(filesystem.available_bytes),
            size(filesystem.total_bytes)
        ));
    }
    lines.extend(layout.map(laid_out).filter(|words| !words.is_empty()));
    for name in [
        "upper_layer",
        "virtual_reason",
        "devices",
        "exclusive_operation",
    ] {
        if let Some(value) = filesystem.facts.get(name).filter(|value| *value != "none") {
            lines.push(match name {
                "upper_layer" => format!("upper layer: {value}"),
                "exclusive_operation" => format!("running now: {value}"),
                _ => value.clone(),
            });
        }
    }
    (filesystem.kind.clone(), lines)
}

/// What a device holds that is not mounted.
pub(super) fn content(layout: &FilesystemLayout) -> Words {
    let title = format!("{} (asked as a device, by its superblock)", layout.kind);
    (title, vec![laid_out(layout)])
}

fn laid_out(layout: &FilesystemLayout) -> String {
    let mut parts = Vec::new();
    if let Some(bytes) = layout.block_bytes {
        parts.push(format!("blocks {}", size(bytes)));
    }
    if let Some(bytes) = layout.sector_bytes {
        let what = if layout.kind == "btrfs" {
            "nodes"
        } else {
            "sectors"
        };
        parts.push(format!("{what} {}", size(bytes)));
    }
    match (layout.stripe_unit_bytes, layout.stripe_width_bytes) {
        (None, None) if layout.kind == "btrfs" => {}
        (None, None) => parts.push("no stripe".to_owned()),
        (unit, width) => {
            let told = |bytes: Option<u64>| bytes.map_or("not told".to_owned(), size);
            parts.push(format!("stripe unit {}, width {}", told(unit), told(width)));
        }
    }
    parts.join(", ")
}

/// Where a device begins on one below it.
pub(super) fn begins(above: &StackDevice, name: &str) -> Option<String> {
    let found = above.places.iter().find(|place| place.below == name)?;
    match found.offset_bytes {
        Some(0) => None,
        Some(bytes) => Some(format!("{} begins at {}", above.facts.name, place(bytes))),
        None if above.layer == "loop" => None,
        None => Some(format!("where {} begins is not known", above.facts.name)),
    }
}

pub(super) fn device(device: &StackDevice) -> Words {
    let facts = &device.facts;
    let fact = |name: &str| facts.facts.get(name).map(String::as_str);
    let mut title = format!("{}: {}", facts.name, what(device));
    if let Some(model) = &facts.model {
        title += &format!(", {model}");
    }
    if facts.size_bytes > 0 {
        title += &format!(", {}", size(facts.size_bytes));
    }
    let mut lines = Vec::new();
    if let Some(file) = fact("backing_file") {
        let cached = match fact("dio") {
            Some("0") => "through the page cache",
            Some(_) => "with direct I/O",
            None => "",
        };
        let offset = fact("offset").filter(|offset| *offset != "0");
        let offset = offset.map_or(String::new(), |offset| format!(" from byte {offset}"));
        lines.push(
            format!("file {file}{offset} {cached}")
                .trim_end()
                .to_owned(),
        );
    }
    lines.push(queue(device));
    lines.push(blocks(device));
    lines.push(link(device));
    lines.retain(|line| !line.is_empty());
    (title, lines)
}

/// What the device is, in words.
fn what(device: &StackDevice) -> String {
    let facts = &device.facts.facts;
    let name = facts.get("dm_name").map(String::as_str);
    let named = |what: &str| match name {
        Some(name) => format!("{what} {name}"),
        None => what.to_owned(),
    };
    match device.layer.as_str() {
        "raid" => {
            let level = facts.get("level").map_or("array", String::as_str);
            let members = facts.get("raid_disks");
            let members = members.map_or(String::new(), |n| format!(" of {n} members"));
            let stripe = device.stripe.as_ref();
            let stripe = stripe.map_or(String::new(), |stripe| {
                format!(
                    ", chunks {}, stripes {}",
                    size(stripe.chunk_bytes),
                    size(stripe.width_bytes())
                )
            });
            let state = facts.get("sync_action").filter(|action| *action != "idle");
            let state = state.map_or(String::new(), |action| format!(", running: {action}"));
            format!("{level}{members}{stripe}{state}")
        }
        "lvm" => named("LVM volume"),
        "thin" => named("thin volume"),
        "thin-pool" => named("pool of thin volumes"),
        "cache" => named("cached volume"),
        "crypt" => named("LUKS"),
        "multipath" => format!(
            "{} over {} paths",
            named("multipath"),
            device.facts.below.len()
        ),
        "striped" => named("striped volume"),
        "disk" => match facts.get("transport") {
            Some(transport) => format!("{transport} disk"),
            None => "disk".to_owned(),
        },
        "nvme" => "NVMe drive".to_owned(),
        "loop" => "loop device".to_owned(),
        other => named(other),
    }
}

fn queue(device: &StackDevice) -> String {
    let facts = &device.facts;
    let mut parts = Vec::new();
    if let Some(scheduler) = &facts.scheduler {
        parts.push(format!("scheduler {scheduler}"));
    }
    if let Some(requests) = facts.queue_requests {
        let queues = facts.facts.get("hardware_queues").filter(|n| *n != "1");
        let queues = queues.map_or(String::new(), |n| format!(" in each of {n} queues"));
        parts.push(format!("{requests} requests{queues}"));
    }
    if let Some(depth) = device.device_queue_depth {
        parts.push(format!("device depth {depth}"));
    }
    if let Some(cache) = &facts.write_cache {
        parts.push(format!("cache {cache}"));
    }
    if let Some(bytes) = facts.read_ahead_bytes {
        parts.push(format!("read-ahead {}", size(bytes)));
    }
    match facts.rotational {
        Some(true) => parts.push("rotational, it says".to_owned()),
        Some(false) => parts.push("not rotational".to_owned()),
        None => {}
    }
    parts.join(", ")
}

fn blocks(device: &StackDevice) -> String {
    let facts = &device.facts;
    let mut parts = Vec::new();
    if let (Some(logical), Some(physical)) = (facts.logical_block_bytes, facts.physical_block_bytes)
    {
        parts.push(format!("blocks {logical} logical, {physical} physical"));
    }
    let told = |bytes: Option<u64>| bytes.filter(|bytes| *bytes > 0);
    if let Some(bytes) = told(device.minimum_io_bytes) {
        parts.push(format!("minimum {}", size(bytes)));
    }
    if let Some(bytes) = told(facts.optimal_io_bytes) {
        parts.push(format!("optimal {}", size(bytes)));
    }
    match (
        facts.discard_max_bytes,
        told(device.discard_granularity_bytes),
    ) {
        (Some(0), _) => parts.push("no discard".to_owned()),
        (Some(_), Some(unit)) => parts.push(format!("discard {}", size(unit))),
        _ => {}
    }
    if let Some(off) = device.alignment_offset_bytes.filter(|off| *off != 0) {
        parts.push(format!("alignment offset {off}"));
    }
    parts.join(", ")
}

fn link(device: &StackDevice) -> String {
    let fact = |name: &str| device.facts.facts.get(name);
    let mut parts = Vec::new();
    if let Some(speed) = fact("sata_link") {
        parts.push(format!("SATA link {speed}"));
    }
    for (name, words) in [
        ("cache_mode", "cache mode"),
        ("state", "state"),
        ("dirty_data", "dirty"),
        ("algorithm", "compression"),
        ("sequential_cutoff", "sequential cut-off"),
    ] {
        if let Some(value) = fact(name).filter(|value| *value != "live" && *value != "running") {
            parts.push(format!("{words} {value}"));
        }
    }
    parts.join(", ")
}

pub(super) fn controller(controller: &StackController) -> Words {
    let mut title = format!("{}: {}", controller.name, controller.kind);
    if let Some(driver) = &controller.driver {
        title += &format!(" ({driver})");
    }
    let link = |speed: &Option<String>, width: Option<u64>| {
        let speed = speed
            .as_ref()
            .map(|s| s.trim_end_matches(" PCIe").to_owned())?;
        Some(format!("{speed} x{}", width?))
    };
    let now = link(&controller.link_speed, controller.link_width);
    let most = link(&controller.link_speed_max, controller.link_width_max);
    let mut parts = Vec::new();
    match (now, most) {
        (Some(now), Some(most)) if now != most => parts.push(format!("PCIe {now} of {most}")),
        (Some(now), _) => parts.push(format!("PCIe {now}")),
        _ => {}
    }
    if let Some(node) = controller.numa_node {
        parts.push(format!("NUMA node {node}"));
    }
    (
        title,
        vec![parts.join(", ")]
            .into_iter()
            .filter(|line| !line.is_empty())
            .collect(),
    )
}
