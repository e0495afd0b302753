//! V05: does something under the target compress or remove duplicates?

use fathom_model::verdict::FindingStatus;
use fathom_model::workload::{Content, Payload};
use fathom_rules::{Rule, TargetKind, check};

use super::Facts;
use super::device_facts::pairs;
use crate::outcome::Outcome;
use crate::trial::Trial;

const RULE: &Rule = check::V05;

/// V05 from the properties of file system and devices. The probe of the
/// payload, when there is one, decides over this.
pub(super) fn compress_dedup(facts: &Facts<'_>) -> Option<Outcome> {
    let trial = facts.trial;
    let probe = trial.record.spec.role == fathom_model::schedule::TrialRole::PayloadProbe;
    if trial.artificial().is_some() || probe {
        return None;
    }
    if trial.record.target_before.is_none() {
        return Some(Outcome::not_measured(RULE, "the target was not looked at"));
    }
    let layer = layer(trial);
    let compressible = is_compressible(&trial.workload.payload);
    let Some(layer) = layer else {
        let reason = match unknowable(trial) {
            Some(reason) => reason,
            // What a drive, an array or a hypervisor does inside shows nowhere.
            None if compressible => {
                "no layer of this host compresses; whether the drive or the storage behind it \
                 does was not probed (payload_probe), and the payload compresses"
            }
            None => {
                let evidence = "no layer of this host compresses or removes duplicates, and the \
                                payload does not compress";
                let pass = FindingStatus::Pass;
                return Some(Outcome::decided(RULE, pass, 0.0, None, evidence.to_owned()));
            }
        };
        return Some(Outcome::not_measured(RULE, reason));
    };
    let writes = trial.workload.mix.modifies();
    let (status, what) = match (compressible, writes) {
        (true, _) => (
            FindingStatus::Invalid,
            "the payload of this result compresses",
        ),
        (false, true) => (
            FindingStatus::Info,
            "the result holds for data that do not compress",
        ),
        (false, false) => (
            FindingStatus::Info,
            "the result holds for data like those that were read",
        ),
    };
    let evidence = format!("{layer}; {what}");
    let measured = 1.0;
    Some(Outcome::decided(
        RULE, status, measured, RULE.info, evidence,
    ))
}

/// Whether a good compressor or deduplication makes the payload smaller by a
/// tenth or more.
pub(crate) fn is_compressible(payload: &Payload) -> bool {
    match payload.content {
        Content::Random => payload.compress_percent >= 10 || payload.duplicate_percent >= 10,
        _ => true,
    }
}

/// The layer that compresses or removes duplicates, in words.
fn layer(trial: &Trial<'_>) -> Option<String> {
    if let Some(filesystem) = trial.filesystem() {
        let value = |name: &str| {
            let options = filesystem.options.iter();
            let mut values = options.filter_map(|o| o.strip_prefix(name)?.strip_prefix('='));
            values.next()
        };
        let found = match filesystem.kind.as_str() {
            "btrfs" => value("compress-force").or(value("compress")),
            "bcachefs" => value("compression"),
            "f2fs" => value("compress_mode").and(value("compress_algorithm")),
            "ntfs3" => filesystem
                .options
                .iter()
                .any(|o| o == "compress")
                .then_some("on"),
            "erofs" | "squashfs" => Some("always"),
            _ => None,
        };
        if let Some(how) = found.filter(|how| *how != "none" && *how != "no") {
            return Some(format!("{} compresses ({how})", filesystem.kind));
        }
    }
    pairs(trial).iter().find_map(|device| {
        let name = device.name();
        let vdo = device.fact("vdo").is_some()
            || device
                .fact("dm_uuid")
                .is_some_and(|uuid| uuid.starts_with("VDO-"))
            || device
                .fact("dm_name")
                .is_some_and(|dm| dm.ends_with("-vpool"));
        match device.before.kind.as_str() {
            "zram" => Some(format!(
                "{name} is compressed memory ({})",
                device.fact("algorithm").unwrap_or("unknown algorithm")
            )),
            _ if vdo => Some(format!(
                "{name} is a VDO volume: it compresses and deduplicates"
            )),
            _ => None,
        }
    })
}

/// Why the properties cannot be told here.
fn unknowable(trial: &Trial<'_>) -> Option<&'static str> {
    match (trial.kind, trial.filesystem()?.kind.as_str()) {
        (_, "zfs") => Some(
            "the compression of a ZFS data set shows only to its own tools; payload_probe tells",
        ),
        (TargetKind::Network, _) => {
            Some("what the server does with the data cannot be seen here; payload_probe tells")
        }
        (TargetKind::Stacked, _) => {
            Some("what lies below the file system cannot be seen; payload_probe tells")
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
