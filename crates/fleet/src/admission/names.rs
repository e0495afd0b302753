//! Texts of a message that become part of a path, an address or a line of a
//! report.

use std::borrow::Cow;
use std::path::{Component, Path};

use fathom_model::limits::{MAX_ENDPOINTS, MAX_FILES};
use fathom_model::workload::{ObjectStore, Peer, PeerProtocol};
use fathom_model::{ScheduledTrial, Target};

use super::{AdmissionError, at_most, shown};

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

pub(super) fn check_trial(spec: &ScheduledTrial) -> Result<(), AdmissionError> {
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
            return Err(AdmissionError::Empty {
                field: "workload.named.paths",
            });
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
pub(super) fn check_file_name(field: &'static str, text: &str) -> Result<(), AdmissionError> {
    let fits = (1..=MAX_PREFIX_BYTES).contains(&text.len())
        && !text.starts_with('.')
        && !text.chars().any(|c| c == '/' || c.is_control());
    if fits {
        return Ok(());
    }
    let problem = format!(
        "it must begin a file's name: 1 to {MAX_PREFIX_BYTES} bytes, no slash, no dot in front"
    );
    Err(malformed(field, text, problem))
}

/// A path without `..`, which would lead elsewhere when a link is on the way.
fn check_path(field: &'static str, path: &Path, absolute: bool) -> Result<(), AdmissionError> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let problem: Cow<'static, str> = if bytes.is_empty() || bytes.len() > MAX_PATH_BYTES {
        format!("it must have 1 to {MAX_PATH_BYTES} bytes").into()
    } else if bytes.iter().any(u8::is_ascii_control) {
        "it has control characters".into()
    } else if path.components().any(|part| part == Component::ParentDir) {
        "an agent accepts no '..' in a path".into()
    } else if absolute && !path.is_absolute() {
        "an agent needs an absolute path".into()
    } else {
        return Ok(());
    };
    Err(malformed(field, &path.to_string_lossy(), problem))
}

fn check_bucket(bucket: &str) -> Result<(), AdmissionError> {
    check_text("target", bucket, MAX_ADDRESS_BYTES)?;
    let odd = |part: &str| part.is_empty() || part == "." || part == "..";
    if !bucket.split('/').any(odd) {
        return Ok(());
    }
    Err(AdmissionError::Malformed {
        field: "target",
        text: format!("s3://{}", shown(bucket)),
        problem: "a part of a prefix cannot be empty, '.' or '..'".into(),
    })
}

fn check_peer(peer: &Peer) -> Result<(), AdmissionError> {
    match peer.protocol {
        PeerProtocol::Unix => check_path("workload.peer.host", Path::new(&peer.host), true)?,
        _ => check_text("workload.peer.host", &peer.host, MAX_HOST_BYTES)?,
    }
    check_text("workload.peer.interface", &peer.interface, MAX_HOST_BYTES)
}

fn check_store(store: &ObjectStore) -> Result<(), AdmissionError> {
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
            return Err(AdmissionError::NoHttpAddress {
                field,
                text: shown(endpoint),
            });
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
fn check_region(region: &str) -> Result<(), AdmissionError> {
    let fits = region.len() <= MAX_REGION_BYTES
        && region
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if fits {
        return Ok(());
    }
    let problem =
        format!("it must have at most {MAX_REGION_BYTES} letters, digits, hyphens and underscores");
    Err(malformed("workload.store.region", region, problem))
}

pub(super) fn check_text(
    field: &'static str,
    text: &str,
    most: usize,
) -> Result<(), AdmissionError> {
    if text.len() > most {
        return Err(AdmissionError::TooLong {
            field,
            bytes: text.len(),
            most,
        });
    }
    if text.chars().any(char::is_control) {
        return Err(malformed(field, text, "it has control characters"));
    }
    Ok(())
}

fn malformed(
    field: &'static str,
    text: &str,
    problem: impl Into<Cow<'static, str>>,
) -> AdmissionError {
    AdmissionError::Malformed {
        field,
        text: shown(text),
        problem: problem.into(),
    }
}
