//! Rules about work on an object store.

use fathom_model::OpKind;
use fathom_model::workload::{EngineKind, ObjectWork};

use super::{Context, at};
use crate::diagnostic::{Problem, error, warning};
use crate::section::Section;
use crate::value::VerifyChoice;

impl Context<'_> {
    /// The first thing that is wrong about work on an object store.
    pub(super) fn work_on_objects(&self) -> Option<Problem> {
        let object = self.workload.requests()?;
        let keys = self.keys;
        let engine = self.workload.engine;
        if !matches!(engine, EngineKind::S3 | EngineKind::Null) {
            let message = format!("the engine {} sends no requests", engine.name());
            let help = format!("write {}", self.spelling.pair("engine", "s3"));
            return Some(error("conflict", self.place(&keys.engine), message).help(help));
        }
        if let Some(problem) = self.without_meaning() {
            return Some(problem);
        }
        if crate::resolve::rate_counts_bytes(self.workload.rate.as_ref()) {
            let message = "a rate of requests is in operations";
            let help = format!("write {}", self.spelling.pair("rate", "1000/s"));
            return Some(error("rate_in_bytes", at(&keys.rate), message).help(help));
        }
        if let Some(problem) = self.verified_as_read() {
            return Some(problem);
        }
        if object.existing && !object.only_reads() {
            let message = "objects that are there already are only read";
            let help = format!("take {}", self.spelling.pair("request", "get"));
            return Some(error("conflict", at(&keys.existing), message).help(help));
        }
        let versions = object.ops.iter().any(|share| share.kind.is_of_version());
        if object.existing && versions {
            let message = "the versions of objects that are there already are not known";
            let help = format!("take {}", self.spelling.pair("request", "get"));
            return Some(error("conflict", at(&keys.existing), message).help(help));
        }
        if keys.versions.is_some() && !versions {
            let message = format!("{} has no effect on this request", self.key("versions"));
            let help = format!("take {}", self.spelling.pair("request", "get_version"));
            return Some(error("without_effect", at(&keys.versions), message).help(help));
        }
        if let Some(problem) = self.trailing_checksum() {
            return Some(problem);
        }
        let bounded = self.workload.bounds.time_ns.is_some() || self.workload.bounds.ops.is_some();
        if !bounded && (object.phase().is_none() || object.repeat) {
            let message = "this workload has no end";
            let help = format!(
                "add {}, or {}",
                self.spelling.pair("runtime", "30s"),
                self.spelling.pair("number_ios", "100k")
            );
            return Some(error("no_bound", self.place(&keys.runtime), message).help(help));
        }
        self.rate_and_think_time()
    }

    /// A checksum behind a payload that has none, or is signed.
    fn trailing_checksum(&self) -> Option<Problem> {
        let store = self.workload.store()?;
        let (message, help) = match (store.checksum.is_none(), store.sign_payload) {
            _ if !store.checksum_trailing => return None,
            (true, _) => (
                "no checksum is named that could follow the payload",
                format!("write {}", self.spelling.pair("checksum", "crc32c")),
            ),
            (false, true) => (
                "a checksum that follows the payload is not signed with it",
                format!("remove {}", self.key("sign_payload")),
            ),
            (false, false) => return None,
        };
        let place = at(&self.keys.checksum_trailing);
        Some(error("conflict", place, message).help(help))
    }

    /// Keys of requests that the workload does not send.
    pub(super) fn of_other_requests(&self) -> Vec<Problem> {
        use OpKind::{DeleteMany, GetParallel, GetRange, List, ListVersions, PutMultipart};
        let Some(object) = self.workload.requests() else {
            return Vec::new();
        };
        let kinds_of = |name: &str| -> Option<&[OpKind]> {
            Some(match name {
                "range_size" => &[GetRange],
                "part_size" | "parts_at_once" => &[PutMultipart, GetParallel],
                "page_keys" | "list_delimiter" => &[List, ListVersions],
                "delete_batch" => &[DeleteMany],
                _ => return None,
            })
        };
        let sent = |kinds: &[OpKind]| object.ops.iter().any(|share| kinds.contains(&share.kind));
        let entries = self.keys.entries();
        let idle = entries.iter().filter_map(|(name, _)| {
            kinds_of(name).filter(|kinds| !sent(kinds))?;
            let message = format!("{} has no effect on what is requested", self.key(name));
            Some(warning("without_effect", self.entry, message).help("remove it"))
        });
        idle.collect()
    }

    /// Objects and many files are compared as they are read, and in no other
    /// way.
    pub(super) fn verified_as_read(&self) -> Option<Problem> {
        let verify = self.keys.verify.as_ref()?;
        let object = self.workload.requests();
        let unread = |object: &ObjectWork| !object.ops.iter().any(|s| s.kind.gives_contents());
        if verify.value == VerifyChoice::OnRead && object.is_some_and(unread) {
            let message = "nothing is read while measuring, so nothing can be checked";
            let help = format!("remove {}", self.key("verify"));
            return Some(error("verify_nothing", at(&self.keys.verify), message).help(help));
        }
        if !matches!(verify.value, VerifyChoice::After | VerifyChoice::Stamp) {
            return None;
        }
        let message = "contents are compared as they are read, not afterwards";
        let help = format!("write {}", self.spelling.pair("verify", "on_read"));
        Some(error("conflict", at(&self.keys.verify), message).help(help))
    }
}
