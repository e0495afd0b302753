//! Texts of a message that become part of a path, an address or a line of a
//! report.

use std::path::{Component, Path};

use fathom_model::limits::{MAX_ENDPOINTS, MAX_FILES};
use fathom_model::workload::{ObjectStore, Peer, PeerProtocol};
use fathom_model::{ScheduledTrial, Target};

use super::{at_most, shown};

/// Longest text of a report: a name, a label with the values of its matrix.
pub(super) const MAX_TEXT_BYTES: usize = 4096;

/// Longest beginning of a file's name. What fathom puts behind it (host, set,
/// number, suffix) fits into the 255 bytes that a file system allows.
const MAX_PREFIX_BYTES: usize = 160;

/// Longest path (`PATH_MAX`).
const MAX_PATH_BYTES: usize = 4096;

/// Longest address of a store, longest name of a profile.
const MAX_ADDRESS_BYTES: usize = 1024;

/// Longest name of a region (the longest label of a host's name).
const MAX_REGION_BYTES: usize = 63;

/// Longest name of a network interface or host.
const MAX_HOST_BYTES: usize = 255;

pub(super) fn check_trial(spec: &ScheduledTrial) -> Result<(), String> {
    check_text("label", &spec.label, MAX_TEXT_BYTES)?;
    let workload = &spec.workload;
    check_text("workload.name", &workload.name, MAX_TEXT_BYTES)?;
    match &spec.target {
        Target::Path(path) => check_path("target", path, true)?,
        Target::Bucket(bucket) => check_bucket(bucket)?,
        Target::Sim(text) | Target::Peer(text) => check_text("target", text, MAX_TEXT_BYTES)?,
        Target::Null => {}
    }
    if let Some(named) = &workload.data_set.named {
        if named.paths.is_empty() {
            return Err("workload.named.paths is empty".to_owned());
        }
        at_most(
            "workload.named.paths",
            named.paths.len(),
            MAX_FILES as usize,
        )?;
        for path in &named.paths {
            check_path("workload.named.paths", path, false)?;
        }
    }
    if let Some(replay) = workload.replay() {
        check_path("workload.replay.path", &replay.path, false)?;
    }
    if let Some(peer) = workload.peer() {
        check_peer(peer)?;
    }
    workload.store().map_or(Ok(()), check_store)
}

/// A text that begins a file's name, and leads nowhere else.
pub(super) fn check_file_name(field: &str, text: &str) -> Result<(), String> {
    let fits = (1..=MAX_PREFIX_BYTES).contains(&text.len())
        && !text.starts_with('.')
        && !text.chars().any(|c| c == '/' || c.is_control());
    match fits {
        true => Ok(()),
        false => Err(format!(
            "{field} is '{}'; it must begin a file's name: 1 to {MAX_PREFIX_BYTES} bytes, no \
             slash, no dot in front",
            shown(text)
        )),
    }
}

/// A path without `..`, which would lead elsewhere when a link is on the way.
fn check_path(field: &str, path: &Path, absolute: bool) -> Result<(), String> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let wrong = if bytes.is_empty() || bytes.len() > MAX_PATH_BYTES {
        format!("it must have 1 to {MAX_PATH_BYTES} bytes")
    } else if bytes.iter().any(u8::is_ascii_control) {
        "it has control characters".to_owned()
    } else if path.components().any(|part| part == Component::ParentDir) {
        "an agent accepts no '..' in a path".to_owned()
    } else if absolute && !path.is_absolute() {
        "an agent needs an absolute path".to_owned()
    } else {
        return Ok(());
    };
    Err(format!(
        "{field} is '{}'; {wrong}",
        shown(&path.to_string_lossy())
    ))
}

fn check_bucket(bucket: &str) -> Result<(), String> {
    check_text("target", bucket, MAX_ADDRESS_BYTES)?;
    let odd = |part: &str| part.is_empty() || part == "." || part == "..";
    match bucket.split('/').any(odd) {
        true => Err(format!(
            "target is 's3://{}'; a part of a prefix cannot be empty, '.' or '..'",
            shown(bucket)
        )),
        false => Ok(()),
    }
}

fn check_peer(peer: &Peer) -> Result<(), String> {
    match peer.protocol {
        PeerProtocol::Unix => check_path("workload.peer.host", Path::new(&peer.host), true)?,
        _ => check_text("workload.peer.host", &peer.host, MAX_HOST_BYTES)?,
    }
    check_text("workload.peer.interface", &peer.interface, MAX_HOST_BYTES)
}

fn check_store(store: &ObjectStore) -> Result<(), String> {
    let field = "workload.store.endpoints";
    at_most(field, store.endpoints.len(), MAX_ENDPOINTS)?;
    at_most(
        "workload.store.endpoint_keys",
        store.endpoint_keys.len(),
        store.endpoints.len(),
    )?;
    for endpoint in &store.endpoints {
        check_text(field, endpoint, MAX_ADDRESS_BYTES)?;
        if !(endpoint.starts_with("http://") || endpoint.starts_with("https://")) {
            return Err(format!(
                "{field} has '{}'; an address begins with http:// or https://",
                shown(endpoint)
            ));
        }
    }
    check_region(&store.region)?;
    let headers = [
        ("workload.store.storage_class", &store.storage_class),
        (
            "workload.store.sse_customer_algorithm",
            &store.sse_customer_algorithm,
        ),
    ];
    for (field, text) in headers {
        check_text(
            field,
            text.as_deref().unwrap_or_default(),
            MAX_ADDRESS_BYTES,
        )?;
    }
    let files = store
        .ca_file
        .as_deref()
        .into_iter()
        .chain(store.key_files());
    for file in files {
        check_path("workload.store: a file", Path::new(file), true)?;
    }
    Ok(())
}

/// A region becomes part of a host's name where no endpoint is given.
fn check_region(region: &str) -> Result<(), String> {
    let fits = region.len() <= MAX_REGION_BYTES
        && region
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    match fits {
        true => Ok(()),
        false => Err(format!(
            "workload.store.region is '{}'; it must have at most {MAX_REGION_BYTES} letters, \
             digits, hyphens and underscores",
            shown(region)
        )),
    }
}

pub(super) fn check_text(field: &str, text: &str, most: usize) -> Result<(), String> {
    if text.len() > most {
        return Err(format!(
            "{field} has {} bytes; an agent accepts at most {most}",
            text.len()
        ));
    }
    match text.chars().any(char::is_control) {
        true => Err(format!(
            "{field} is '{}'; it has control characters",
            shown(text)
        )),
        false => Ok(()),
    }
}
