//! The target in a few words: its name, file system, device and size.

use fathom_model::{Target, unit};
use fathom_observe::Sysroot;

/// What a line says of the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Described {
    /// As the user typed it.
    pub(super) target: String,
    /// File system and device, or the kind, with the size.
    pub(super) what: String,
    pub(super) simulated: bool,
    /// Files of this file system are memory.
    pub(super) memory: bool,
}

/// File systems whose files are in memory and nowhere else.
const MEMORY_FILE_SYSTEMS: [&str; 2] = ["tmpfs", "ramfs"];

/// Looks at a target.
pub(super) fn describe(target: &Target) -> Described {
    let mut memory = false;
    let what = match target {
        Target::Null => "nothing is done".to_owned(),
        Target::Sim(_) => "simulated".to_owned(),
        Target::Peer(_) => "a connection over TCP".to_owned(),
        Target::Bucket(_) => "a bucket".to_owned(),
        Target::Path(path) => {
            let facts = fathom_observe::target_fingerprint(&Sysroot::host(), path);
            match (&facts.filesystem, facts.devices.first()) {
                (Some(fs), _) => {
                    memory = MEMORY_FILE_SYSTEMS.contains(&fs.kind.as_str());
                    let size = unit::bytes(fs.total_bytes);
                    match fs.kind == fs.source {
                        true => format!("{} {size}", fs.kind),
                        false => format!("{} {} {size}", fs.kind, fs.source),
                    }
                }
                (None, Some(device)) => {
                    let model = device.model.as_deref().unwrap_or(&device.kind);
                    format!("{model} {}", unit::bytes(device.size_bytes))
                }
                (None, None) => "nothing is known of it".to_owned(),
            }
        }
    };
    Described {
        target: match fathom_engine::ping::address(target) {
            Some(address) => format!("tcp://{address}"),
            None => target.to_string(),
        },
        what,
        simulated: matches!(target, Target::Sim(_)),
        memory,
    }
}
