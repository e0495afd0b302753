//! The mount itself, and those of servers.

use fathom_model::stack::{MountServer, Stack};
use fathom_model::unit::bytes_exact;
use fathom_rules::stack;

use super::Findings;

pub(super) fn judge(stack: &Stack, found: &mut Findings) {
    let Some(filesystem) = &stack.filesystem else {
        return;
    };
    let at = filesystem.mount_point.as_str();
    let has = |word: &str| filesystem.options.iter().any(|option| option == word);
    let volatile = stack.devices.iter().find(|device| {
        let cache = device.facts.write_cache.as_deref();
        device.facts.below.is_empty() && cache == Some("write back")
    });
    if let Some(device) = volatile.filter(|_| has("nobarrier") || has("barrier=0")) {
        let words = format!(
            "mounted without barriers, and the cache of {} is write back",
            device.facts.name
        );
        found.add(stack::NOBARRIER, at, words);
    }
    if filesystem.kind == "overlay" {
        let words = "the first write to a file copies all of it to the upper layer".to_owned();
        found.add(stack::UNION, at, words);
    } else if stack.devices.is_empty() && stack.server.is_none() {
        let why = filesystem.facts.get("virtual_reason");
        let why = why.map_or("nothing tells which", String::as_str);
        found.add(
            stack::NO_DEVICE,
            at,
            format!("no block device of this host is below: {why}"),
        );
    }
    if let Some(server) = &stack.server {
        of_server(server, at, &has, found);
    }
}

fn of_server(server: &MountServer, at: &str, has: &dyn Fn(&str) -> bool, found: &mut Findings) {
    let least = stack::nfs_small_requests::THRESHOLD;
    for (name, bytes) in [("reads", server.read_bytes), ("writes", server.write_bytes)] {
        if let Some(bytes) = bytes.filter(|bytes| (*bytes as f64) < least) {
            let words = format!(
                "{name} go to the server in requests of at most {}",
                bytes_exact(bytes)
            );
            found.add(stack::NFS_SMALL_REQUESTS, at, words);
        }
    }
    if server.protocol != "nfs" {
        return;
    }
    if server.transport.as_deref() == Some("udp") {
        found.add(
            stack::NFS_UDP,
            at,
            format!("{} is reached over UDP", server.server),
        );
    }
    let told = ["noac", "actimeo=0", "sync"]
        .into_iter()
        .filter(|word| has(word));
    let told: Vec<&str> = told.collect();
    if !told.is_empty() {
        found.add(
            stack::NFS_NO_CACHE,
            at,
            format!("mounted with {}", told.join(", ")),
        );
    }
    if has("soft") && has("rw") {
        found.add(stack::NFS_SOFT, at, "mounted soft and writable".to_owned());
    }
    let one = server.connections.is_none_or(|count| count < 2);
    if one && server.transport.as_deref() == Some("tcp") {
        let words = format!("one TCP connection to {}", server.server);
        found.add(stack::NFS_ONE_CONNECTION, at, words);
    }
}
