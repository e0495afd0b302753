//! The versions of objects that the store in memory keeps, where it keeps them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use super::documents::escaped;
use super::objects::{Response, key_of, start_of};
use super::request::ReceivedRequest;
use crate::checksum::Checksum;

/// An object, or a version of one.
#[derive(Debug, Clone, Default)]
pub(super) struct Object {
    pub(super) bytes: Arc<Vec<u8>>,
    /// The checksum that it was put with.
    pub(super) checksum: Option<(Checksum, String)>,
    /// Its name among the versions; empty where none are kept.
    pub(super) version: String,
}

/// A version: an object, or the mark that it was removed.
#[derive(Debug)]
struct Version {
    id: String,
    object: Option<Object>,
}

/// All versions by path, the latest last.
#[derive(Debug, Default)]
pub(super) struct Versions {
    all: BTreeMap<String, Vec<Version>>,
    next: u64,
}

impl Versions {
    /// Takes note of an object that is put, and gives its version a name.
    pub(super) fn put(&mut self, path: &str, object: &mut Object) {
        object.version = self.name();
        self.push(path, object.version.clone(), Some(object.clone()));
    }

    /// An object was removed: its versions stay, behind a mark. Its name.
    pub(super) fn mark(&mut self, path: &str) -> String {
        let id = self.name();
        self.push(path, id.clone(), None);
        id
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("version-{:012}", self.next)
    }

    fn push(&mut self, path: &str, id: String, object: Option<Object>) {
        let all = self.all.entry(path.to_owned()).or_default();
        all.push(Version { id, object });
    }

    /// A version that is an object.
    pub(super) fn get(&self, path: &str, id: &str) -> Option<&Object> {
        let mut all = self.all.get(path)?.iter();
        all.find(|version| version.id == id)?.object.as_ref()
    }

    /// Removes one version. The bytes that it had, and the object that is the
    /// latest now; `None` when there is no such version.
    pub(super) fn remove(&mut self, path: &str, id: &str) -> Option<(u64, Option<Object>)> {
        let all = self.all.get_mut(path)?;
        let at = all.iter().position(|version| version.id == id)?;
        let gone = all.remove(at);
        let latest = all.last().and_then(|version| version.object.clone());
        if all.is_empty() {
            self.all.remove(path);
        }
        let bytes = gone.object.map_or(0, |object| object.bytes.len() as u64);
        Some((bytes, latest))
    }

    /// A page of versions, the latest of each key first.
    pub(super) fn list(&self, request: &ReceivedRequest) -> Response {
        let start = start_of(request);
        let most = request.number("max-keys").unwrap_or(1000);
        let marker = request.parameter("key-marker").unwrap_or_default();
        let marker = format!("{}/{marker}", request.path.trim_end_matches('/'));
        let after = request.parameter("version-id-marker").unwrap_or_default();
        let (mut text, mut count, mut next) = (String::new(), 0, String::new());
        let below = self.all.range(start.clone()..);
        'all: for (path, versions) in below.take_while(|(path, _)| path.starts_with(&start)) {
            let mut skips = *path == marker;
            if *path < marker || (skips && after.is_empty()) {
                continue;
            }
            let key = escaped(key_of(path, request).unwrap_or_default());
            for version in versions.iter().rev() {
                if skips {
                    skips = version.id != after;
                    continue;
                }
                if count == most {
                    break 'all;
                }
                count += 1;
                let id = &version.id;
                let bytes = version.object.as_ref().map(|object| object.bytes.len());
                let name = bytes.map_or("DeleteMarker", |_| "Version");
                let _ = write!(
                    text,
                    "<{name}><Key>{key}</Key><VersionId>{id}</VersionId><Size>{}</Size></{name}>",
                    bytes.unwrap_or(0)
                );
                next = format!(
                    "<NextKeyMarker>{key}</NextKeyMarker>\
                     <NextVersionIdMarker>{id}</NextVersionIdMarker>"
                );
            }
        }
        let truncated = count == most && most > 0;
        let next = if truncated { next.as_str() } else { "" };
        Response::document(format!(
            "<ListVersionsResult><IsTruncated>{truncated}</IsTruncated>{next}{text}\
             </ListVersionsResult>"
        ))
    }
}
