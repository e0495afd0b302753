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
use super::encode;
use super::fault::Fault;
use super::list_query::{VERSION_BEHIND, list_query};
use super::page::{Entry, Listed, NextPage, Page, PageError};
use super::printable::shown;
use super::request::{Method, Request, Sink};

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

impl From<ListingError> for Broken {
    fn from(error: ListingError) -> Broken {
        Broken::Wrong(error.to_string())
    }
}

impl From<PageError> for Broken {
    fn from(error: PageError) -> Broken {
        Broken::Wrong(error.to_string())
    }
}

/// What cannot be right about a listing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListingError {
    /// A key that was not asked for.
    #[error("the store returned keys outside of {prefix} (for example '{}')", shown(.key))]
    Outside {
        /// What was asked for.
        prefix: String,
        /// What came.
        key: String,
    },
    /// A key that came before.
    #[error("the listing names '{}' twice", shown(.0))]
    Twice(String),
    /// Keys that follow no order.
    #[error(
        "the listing is not in order: '{}' comes behind '{}'",
        shown(.key),
        shown(.last)
    )]
    OutOfOrder {
        /// What came.
        key: String,
        /// What came before it.
        last: String,
    },
    /// More entries than are believed.
    #[error(
        "the listing does not end: {entries} {} so far, the last one '{last}'",
        .what.name()
    )]
    TooMany {
        /// How many came.
        entries: u64,
        /// Of what.
        what: Listed,
        /// The last of them.
        last: String,
    },
    /// Pages without entries.
    #[error("the listing does not end: page after page is empty")]
    EmptyPages,
    /// Pages in a circle.
    #[error(
        "a page of the listing says that the next one begins where an earlier one began ('{}'), so \
         that it would never end",
        shown(.0)
    )]
    Circle(String),
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
        let page = Page::read(&document, self.what)?;
        let ordered = !access.bucket.ends_with(UNORDERED);
        let entries = self.entries(page.entries, ordered)?;
        self.go_on(page.next, &entries)?;
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
                    &self.token,
                    versions,
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

    /// The entries of a page, if all of them may be there.
    fn entries(
        &mut self,
        page: [Vec<Entry>; 2],
        ordered: bool,
    ) -> Result<Vec<Entry>, ListingError> {
        for (entries, order) in page.iter().zip(&mut self.orders) {
            for entry in entries {
                is_below(&entry.key, self.prefix)?;
                if ordered {
                    order.next(&entry.key, self.what == Listed::Objects)?;
                }
            }
        }
        let [mut entries, others] = page;
        entries.extend(others);
        Ok(entries)
    }

    /// Takes note of a page, and of where the next one begins.
    fn go_on(&mut self, next: Option<NextPage>, entries: &[Entry]) -> Result<(), ListingError> {
        self.entries += entries.len() as u64;
        let Some(NextPage { token, mark }) = next else {
            self.over = true;
            return Ok(());
        };
        if self.entries > self.most {
            let last = entries.last().map(|entry| shown(&entry.key));
            return Err(ListingError::TooMany {
                entries: self.entries,
                what: self.what,
                last: last.unwrap_or_default(),
            });
        }
        self.empty_pages = match entries {
            [] => self.empty_pages + 1,
            _ => 0,
        };
        if self.empty_pages > MOST_EMPTY_PAGES {
            return Err(ListingError::EmptyPages);
        }
        self.token = match (mark, self.what) {
            (Some(mark), Listed::Versions | Listed::Uploads) => {
                format!("{token}{VERSION_BEHIND}{mark}")
            }
            (None, Listed::Uploads) => format!("{token}{VERSION_BEHIND}"),
            (_, Listed::Objects) | (None, Listed::Versions) => token,
        };
        match self.tokens.insert(self.hashes.hash_one(&self.token)) {
            true => Ok(()),
            false => Err(ListingError::Circle(self.token.clone())),
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

/// Whether a key begins with the prefix of its listing.
///
/// # Errors
/// That it does not.
pub fn is_below(key: &str, prefix: &str) -> Result<(), ListingError> {
    match key.starts_with(prefix) {
        true => Ok(()),
        false => Err(ListingError::Outside {
            prefix: prefix.to_owned(),
            key: key.to_owned(),
        }),
    }
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
    fn next(&mut self, key: &str, strict: bool) -> Result<(), ListingError> {
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
            true if last == key => Err(ListingError::Twice(last)),
            true => Err(ListingError::OutOfOrder {
                key: key.to_owned(),
                last,
            }),
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
}
