//! Listings of a bucket, page by page, from stores that may be wrong.
//!
//! A listing comes to its end or to an error: a page that is cut off, keys that
//! do not begin with what was asked for, keys out of order or sizes below 0, a
//! page that comes twice, and keys without end are each an error of their own.
//! Whoever reads a listing therefore needs no bounds of its own, and none of
//! its keys lies outside of the prefix.

use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use super::access::Access;
use super::connection_pool::ConnectionPool;
use super::fault::Fault;
use super::list_query::{VERSION_BEHIND, list_query};
use super::printable::shown;
use super::request::{Method, Request, Sink};
use super::{encode, xml};

/// Keys of a page: the most that S3 gives.
const PAGE_KEYS: u32 = 1000;
/// Entries of a listing at most: more than a benchmark makes, and an end for a
/// store that invents keys.
pub const MOST_ENTRIES: u64 = 100_000_000;
/// Pages without an entry one after the other: stores send some while they skip
/// what was removed.
const MOST_EMPTY_PAGES: u32 = 100;
/// Buckets whose names end so list in no order (directory buckets).
const UNORDERED: &str = "--x-s3";

/// What is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// Objects.
    Objects,
    /// Versions, and markers of removed objects.
    Versions,
    /// Uploads in parts that nobody completed.
    Uploads,
}

impl Listed {
    /// What they are called.
    pub fn name(self) -> &'static str {
        match self {
            Listed::Objects => "objects",
            Listed::Versions => "versions",
            Listed::Uploads => "unfinished uploads",
        }
    }

    /// The elements that are entries.
    fn elements(self) -> &'static [&'static str] {
        match self {
            Listed::Objects => &["Contents"],
            Listed::Versions => &["Version", "DeleteMarker"],
            Listed::Uploads => &["Upload"],
        }
    }

    /// The element that names an entry beside its key.
    fn mark(self) -> Option<&'static str> {
        match self {
            Listed::Objects => None,
            Listed::Versions => Some("VersionId"),
            Listed::Uploads => Some("UploadId"),
        }
    }

    /// Where the next page begins: behind this key and this mark.
    fn markers(self) -> (&'static str, &'static str) {
        match self {
            Listed::Objects => ("NextContinuationToken", ""),
            Listed::Versions => ("NextKeyMarker", "NextVersionIdMarker"),
            Listed::Uploads => ("NextKeyMarker", "NextUploadIdMarker"),
        }
    }
}

/// An entry of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its key.
    pub key: String,
    /// Its bytes; 0 where the store says nothing of them.
    pub bytes: u64,
    /// The name of the version or upload; empty where there is none.
    pub mark: String,
}

/// Why a listing did not come to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// It could not be had.
    Fault(Fault),
    /// It cannot be right; what is wrong with it.
    Wrong(String),
    /// The user wants to stop.
    Stopped,
}

/// A listing under way.
#[derive(Debug)]
pub struct Listing<'p> {
    what: Listed,
    prefix: &'p str,
    most: u64,
    token: String,
    /// Hashes of all tokens that came.
    tokens: BTreeSet<u64>,
    hashes: RandomState,
    /// One for each of the elements.
    orders: [Order; 2],
    empty_pages: u32,
    /// Entries so far.
    entries: u64,
    over: bool,
}

impl<'p> Listing<'p> {
    /// A listing of what lies below a prefix.
    pub fn new(what: Listed, prefix: &'p str) -> Listing<'p> {
        Listing {
            what,
            prefix,
            most: MOST_ENTRIES,
            token: String::new(),
            tokens: BTreeSet::new(),
            hashes: RandomState::new(),
            orders: [Order::default(), Order::default()],
            empty_pages: 0,
            entries: 0,
            over: false,
        }
    }

    /// At most so many entries are believed.
    pub fn at_most(mut self, most: u64) -> Listing<'p> {
        self.most = most.min(MOST_ENTRIES);
        self
    }

    /// Whether the last page has come.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The next page; `None` behind the last. `stops` says that nobody waits for
    /// it any more.
    ///
    /// # Errors
    /// Why the listing does not come to its end.
    pub fn page(
        &mut self,
        pool: &mut ConnectionPool,
        access: &Access,
        stops: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<Entry>>, Broken> {
        if self.over {
            return Ok(None);
        }
        let document = self.ask(pool, access, stops)?;
        is_whole(&document).map_err(Broken::Wrong)?;
        let ordered = !access.bucket.ends_with(UNORDERED);
        let entries = self.entries(&document, ordered).map_err(Broken::Wrong)?;
        self.go_on(&document, &entries).map_err(Broken::Wrong)?;
        Ok(Some(entries))
    }

    fn ask(
        &self,
        pool: &mut ConnectionPool,
        access: &Access,
        stops: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, Broken> {
        let mut query = Vec::new();
        match self.what {
            Listed::Uploads => self.uploads_query(&mut query),
            what => {
                let versions = what == Listed::Versions;
                list_query(
                    &mut query,
                    self.prefix,
                    (&self.token, versions),
                    PAGE_KEYS,
                    false,
                );
            }
        }
        page_of(pool, access, &query, stops)
    }

    /// Parameters in the order in which they are signed.
    fn uploads_query(&self, query: &mut Vec<u8>) {
        let (key, upload) = self.token.split_once(VERSION_BEHIND).unwrap_or_default();
        if !key.is_empty() {
            query.extend_from_slice(b"key-marker=");
            encode::percent(query, key.as_bytes(), false);
            query.push(b'&');
        }
        query.extend_from_slice(b"max-uploads=");
        encode::decimal(query, u64::from(PAGE_KEYS));
        query.extend_from_slice(b"&prefix=");
        encode::percent(query, self.prefix.as_bytes(), false);
        if !upload.is_empty() {
            query.extend_from_slice(b"&upload-id-marker=");
            encode::percent(query, upload.as_bytes(), false);
        }
        query.extend_from_slice(b"&uploads=");
    }

    fn entries(&mut self, document: &[u8], ordered: bool) -> Result<Vec<Entry>, String> {
        let mut entries = Vec::new();
        for (name, order) in self.what.elements().iter().zip(&mut self.orders) {
            for element in xml::elements(document, name) {
                let entry = entry_of(element, self.what)?;
                is_below(&entry.key, self.prefix)?;
                if ordered {
                    order.next(&entry.key, self.what == Listed::Objects)?;
                }
                entries.push(entry);
            }
        }
        Ok(entries)
    }

    /// Takes note of a page, and of where the next one begins.
    fn go_on(&mut self, document: &[u8], entries: &[Entry]) -> Result<(), String> {
        self.entries += entries.len() as u64;
        self.over = xml::text(document, "IsTruncated").as_deref() != Some("true");
        if self.over {
            return Ok(());
        }
        if self.entries > self.most {
            let last = entries.last().map(|entry| shown(&entry.key));
            return Err(format!(
                "the listing does not end: {} {} so far, the last one '{}'",
                self.entries,
                self.what.name(),
                last.unwrap_or_default()
            ));
        }
        self.empty_pages = match entries {
            [] => self.empty_pages + 1,
            _ => 0,
        };
        if self.empty_pages > MOST_EMPTY_PAGES {
            return Err("the listing does not end: page after page is empty".to_owned());
        }
        let (key, mark) = self.what.markers();
        let Some(next) = xml::text(document, key).filter(|next| !next.is_empty()) else {
            return Err("a page says that more follows, and not where".to_owned());
        };
        let behind = match mark {
            "" => None,
            mark => xml::text(document, mark).filter(|behind| !behind.is_empty()),
        };
        self.token = match (behind, self.what) {
            (Some(behind), _) => format!("{next}{VERSION_BEHIND}{behind}"),
            (None, Listed::Uploads) => format!("{next}{VERSION_BEHIND}"),
            (None, _) => next,
        };
        match self.tokens.insert(self.hashes.hash_one(&self.token)) {
            true => Ok(()),
            false => Err(format!(
                "a page of the listing says that the next one begins where an earlier one began \
                 ('{}'), so that it would never end",
                shown(&self.token)
            )),
        }
    }
}

/// A page of a listing as it came. The answer is read to its end, unless `stops`
/// says that nobody waits for it any more.
///
/// # Errors
/// [`Broken::Fault`] or [`Broken::Stopped`].
pub fn page_of(
    pool: &mut ConnectionPool,
    access: &Access,
    query: &[u8],
    stops: &dyn Fn() -> bool,
) -> Result<Vec<u8>, Broken> {
    let path = access.bucket_path();
    let request = Request {
        method: Method::Get,
        path: &path,
        query,
        extra: &[],
        body: super::request::Body::None,
        sink: Sink::Keep,
    };
    let asked = pool.ask_unless(request, stops);
    match asked {
        Ok(end) => Ok(pool.kept(end.connection).to_vec()),
        Err(_) if stops() => Err(Broken::Stopped),
        Err(fault) => Err(Broken::Fault(fault)),
    }
}

/// Whether a document is a listing, and there to its end.
///
/// # Errors
/// What it is instead.
pub fn is_whole(document: &[u8]) -> Result<(), String> {
    let text = document.trim_ascii();
    let mut rest = text;
    while let Some(tail) = rest.strip_prefix(b"<?") {
        let end = tail.windows(2).position(|two| two == b"?>");
        rest = end.map_or(&[][..], |end| tail[end + 2..].trim_ascii_start());
    }
    let name = rest.strip_prefix(b"<").unwrap_or_default();
    let end = name.iter().position(|byte| !byte.is_ascii_alphanumeric());
    let name = &name[..end.unwrap_or(name.len())];
    if !name.starts_with(b"List") || !name.ends_with(b"Result") {
        let start: String = String::from_utf8_lossy(&text[..text.len().min(60)]).into_owned();
        return Err(match start.is_empty() {
            true => "the answer to a listing is empty".to_owned(),
            false => format!(
                "the answer to a listing is something else ('{}')",
                shown(&start)
            ),
        });
    }
    let closed = text
        .strip_suffix(b">")
        .and_then(|text| text.strip_suffix(name));
    match closed.is_some_and(|text| text.ends_with(b"</")) || rest.ends_with(b"/>") {
        true => Ok(()),
        false => Err("a page of the listing is cut off".to_owned()),
    }
}

/// Whether a key begins with the prefix of its listing.
///
/// # Errors
/// That it does not.
pub fn is_below(key: &str, prefix: &str) -> Result<(), String> {
    match key.starts_with(prefix) {
        true => Ok(()),
        false => Err(format!(
            "the store returned keys outside of {prefix} (for example '{}')",
            shown(key)
        )),
    }
}

fn entry_of(element: &[u8], what: Listed) -> Result<Entry, String> {
    let Some(key) = xml::text(element, "Key").filter(|key| !key.is_empty()) else {
        return Err("the listing has an entry without a key".to_owned());
    };
    let size = xml::text(element, "Size");
    let bytes = match size.as_deref().map(str::trim) {
        None => 0,
        Some(size) => match size.parse::<i64>().ok().map(u64::try_from) {
            Some(Ok(bytes)) => bytes,
            _ => {
                return Err(format!(
                    "the listing gives '{}' the size '{}'",
                    shown(&key),
                    shown(size)
                ));
            }
        },
    };
    let mark = what.mark().and_then(|mark| xml::text(element, mark));
    Ok(Entry {
        key,
        bytes,
        mark: mark.unwrap_or_default(),
    })
}

/// The order of the keys so far: that of their bytes, as S3 wants it, or that of
/// a walk through folders, as stores on top of file systems list. Either makes a
/// key that comes again an error.
#[derive(Debug, Default)]
struct Order {
    last: Option<String>,
    not_by_bytes: bool,
    not_by_folders: bool,
}

impl Order {
    /// Takes the next key; keys that must not repeat are `strict`.
    fn next(&mut self, key: &str, strict: bool) -> Result<(), String> {
        let last = self.last.replace(key.to_owned());
        let Some(last) = last else {
            return Ok(());
        };
        let before = |ordering: std::cmp::Ordering| match strict {
            true => ordering.is_lt(),
            false => ordering.is_le(),
        };
        self.not_by_bytes |= !before(last.as_str().cmp(key));
        self.not_by_folders |= !before(last.split('/').cmp(key.split('/')));
        match self.not_by_bytes && self.not_by_folders {
            true if last == key => Err(format!("the listing names '{}' twice", shown(key))),
            true => Err(format!(
                "the listing is not in order: '{}' comes behind '{}'",
                shown(key),
                shown(&last)
            )),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_order(keys: &[&str], strict: bool) -> bool {
        let mut order = Order::default();
        keys.iter().all(|key| order.next(key, strict).is_ok())
    }

    #[test]
    fn keys_come_in_one_of_two_orders() {
        assert!(in_order(&["a", "a-b/1", "a/1", "b"], true), "bytes");
        assert!(in_order(&["a/1", "a-b/1", "b"], true), "folders");
        assert!(!in_order(&["a/1", "a-b/1", "a/2"], true), "neither");
        assert!(!in_order(&["a", "a"], true) && in_order(&["a", "a"], false));
        assert!(!in_order(&["a", "b", "a"], false));
    }

    #[test]
    fn a_document_is_a_whole_listing_or_an_error() {
        for whole in [
            &b"<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://s3\"><A/></ListBucketResult>\n"[..],
            b"<ListVersionsResult></ListVersionsResult>",
            b"<ListMultipartUploadsResult/>",
        ] {
            assert_eq!(is_whole(whole), Ok(()));
        }
        for (bad, told) in [
            (&b""[..], "empty"),
            (
                b"<html><body>ListBucketResult</body></html>",
                "something else",
            ),
            (b"{\"Contents\": []}", "something else"),
            (b"<?xml", "something else"),
            (
                b"<ListBucketResult><Contents><Key>a</Key></Contents>",
                "cut off",
            ),
            (
                b"<ListBucketResult><Contents></Contents></ListBucketResul",
                "cut off",
            ),
        ] {
            assert!(is_whole(bad).unwrap_err().contains(told), "{told}");
        }
    }

    #[test]
    fn an_entry_has_a_key_and_a_size_of_0_or_more() {
        let of = |text: &str| entry_of(text.as_bytes(), Listed::Versions);
        let entry = of("<Key>a&amp;</Key><VersionId>v</VersionId><Size> 7</Size>").unwrap();
        assert_eq!(
            (entry.key.as_str(), entry.bytes, entry.mark.as_str()),
            ("a&", 7, "v")
        );
        assert_eq!(of("<Key>a</Key>").unwrap().bytes, 0, "a marker has no size");
        for bad in [
            "<Size>7</Size>",
            "<Key/>",
            "<Key>a</Key><Size>-7</Size>",
            "<Key>a</Key><Size>99999999999999999999</Size>",
            "<Key>a</Key><Size></Size>",
        ] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }
}
