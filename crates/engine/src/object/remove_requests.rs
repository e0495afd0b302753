//! The requests that remove objects. Nothing that is not of the run gets into
//! one of them, whoever asks.

use fathom_s3::{Body, Entry, Method, Request, Sink, encode, error_codes, escape, md5, shown};

use super::remove::{Early, Remover};
use super::stalled::{REMOVAL, Stalled};

/// What a store says of an object that is kept from being removed.
const DENIED: &str = "AccessDenied";
/// What it says of one that is not there: it is removed, then.
const GONE: [&str; 2] = ["NoSuchKey", "NoSuchVersion"];
impl Remover<'_> {
    /// Removes what a list names; what its owner keeps from being removed as well,
    /// where that can be lifted: all of it is of the run.
    pub(super) fn send_batch(&mut self, own: &[Entry]) -> Result<(), Early> {
        let mut said = self.send_list(own, false)?;
        if said.as_deref() == Some(DENIED) {
            said = self.send_list(own, true)?;
        }
        match said {
            Some(code) => Err(Early::Refused(format!("removing objects failed: {code}"))),
            None => Ok(()),
        }
    }

    /// Sends a list; the code of the first error in the answer.
    fn send_list(&mut self, own: &[Entry], bypass: bool) -> Result<Option<String>, Early> {
        let list = self.list(own)?;
        let sum = encode::base64(&md5(&list));
        let path = self.access.bucket_path();
        let both: [(&[u8], &[u8]); 2] = [
            (b"content-md5", sum.as_bytes()),
            (b"x-amz-bypass-governance-retention", b"true"),
        ];
        let request = Request {
            method: Method::Post,
            path: &path,
            query: b"delete=",
            extra: match bypass {
                true => &both,
                false => &both[..1],
            },
            body: Body::Bytes(list),
            sink: Sink::Keep,
        };
        let hooks = &*self.hooks;
        let asked = Stalled::begin(REMOVAL, &self.access);
        let end = match self.pool.ask_unless(request, &|| asked.look(hooks)) {
            Ok(end) => end,
            Err(_) if hooks.stop_requested() => return Err(Early::Stopped),
            // Some stores refuse all of the list for one of its objects.
            Err(fault) if fault.status == 403 && !bypass => return Ok(Some(DENIED.to_owned())),
            Err(fault) => return Err(Early::failed("removing objects", &fault)),
        };
        let codes = error_codes(self.pool.kept(end.connection));
        let codes = codes.map_err(|error| {
            Early::Refused(format!(
                "what became of removing objects is unknown: {error}"
            ))
        })?;
        let mut codes = codes.into_iter();
        let code = codes.find(|code| !GONE.contains(&code.as_str()));
        Ok(code.map(|code| shown(&code)))
    }

    /// The document that removes objects, or versions of them. Nothing that is
    /// not of the run gets into it, whoever asks.
    fn list(&self, own: &[Entry]) -> Result<Vec<u8>, Early> {
        let mut list = b"<Delete><Quiet>true</Quiet>".to_vec();
        for entry in own {
            self.must_own(&entry.key)?;
            list.extend_from_slice(b"<Object><Key>");
            escape(&mut list, &entry.key);
            list.extend_from_slice(b"</Key>");
            if !entry.mark.is_empty() {
                list.extend_from_slice(b"<VersionId>");
                escape(&mut list, &entry.mark);
                list.extend_from_slice(b"</VersionId>");
            }
            list.extend_from_slice(b"</Object>");
        }
        list.extend_from_slice(b"</Delete>");
        Ok(list)
    }

    pub(super) fn abort(&mut self, upload: &Entry) -> Result<(), Early> {
        self.must_own(&upload.key)?;
        let path = self.access.path_of(&upload.key);
        let mut query = b"uploadId=".to_vec();
        encode::percent(&mut query, upload.mark.as_bytes(), false);
        let request = Request {
            method: Method::Delete,
            path: &path,
            query: &query,
            extra: &[],
            body: Body::None,
            sink: Sink::Discard,
        };
        let hooks = &*self.hooks;
        let asked = Stalled::begin("a request to give up an upload", &self.access);
        match self.pool.ask_unless(request, &|| asked.look(hooks)) {
            Ok(_) => Ok(()),
            Err(_) if hooks.stop_requested() => Err(Early::Stopped),
            // It ended meanwhile.
            Err(fault) if fault.status == 404 => Ok(()),
            Err(fault) => Err(Early::failed("giving up an upload", &fault)),
        }
    }

    /// The last look before a request that removes something.
    fn must_own(&self, key: &str) -> Result<(), Early> {
        match self.own.owns(key) {
            true => Ok(()),
            false => Err(Early::Untrusted(format!(
                "'{}' is not below {}",
                shown(key),
                self.own.prefix()
            ))),
        }
    }
}
