//! The document of one page of a listing.

use super::printable::shown;
use super::xml::{self, Elements, XmlError};

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

/// Why a page of a listing cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// It cannot be read to its end.
    #[error(transparent)]
    Xml(#[from] XmlError),
    /// An entry names nothing.
    #[error("the listing has an entry without a key")]
    NoKey,
    /// A size is not a number of bytes.
    #[error("the listing gives '{}' the size '{}'", shown(key), shown(size))]
    Size {
        /// Whose size it is.
        key: String,
        /// As it is written.
        size: String,
    },
    /// It does not say whether it is the last one.
    #[error("a page of the listing says '{}' to whether more follows", shown(.0))]
    Truncated(String),
    /// It is not the last one, and the next one cannot be found.
    #[error("a page of the listing says that more follows, but not where")]
    NoNext,
}

/// Where the next page of a listing begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextPage {
    /// Behind which key, or a word of the store for that.
    pub token: String,
    /// Behind which version or upload of the key, where that was said.
    pub mark: Option<String>,
}

impl NextPage {
    /// The token of the next page, for a load that only goes through pages; `None`
    /// where this is the last one. What comes behind the token is not read, only
    /// that the document has its end: entries would cost more than the request.
    ///
    /// # Errors
    /// Why there is none.
    pub fn token_behind(document: &[u8]) -> Result<Option<String>, PageError> {
        let mut ending = Ending::default();
        xml::read(document, is_listing, |elements, name| {
            ending.take(elements, name)?;
            if ending.is_known() {
                elements.stop();
            }
            Ok::<_, PageError>(())
        })?;
        Ok(ending.next()?.map(|next| next.token))
    }
}

/// A page of a listing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Its entries; those of versions, and behind them those of markers.
    pub entries: [Vec<Entry>; 2],
    /// Prefixes that stand for everything below them.
    pub prefixes: Vec<String>,
    /// Where the next one begins; `None` where it is the last one.
    pub next: Option<NextPage>,
}

impl Page {
    /// Reads a page of what is listed.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn read(document: &[u8], what: Listed) -> Result<Page, PageError> {
        let mut page = Page::default();
        let Page {
            entries, prefixes, ..
        } = &mut page;
        let mut ending = Ending::default();
        xml::read(document, is_listing, |elements, name| {
            let place = what.elements().iter().position(|known| *known == name);
            match place.and_then(|place| entries.get_mut(place)) {
                Some(entries) => entries.push(entry(elements, what)?),
                None if name == "CommonPrefixes" => prefixes.push(prefix(elements)?),
                None => ending.take(elements, name)?,
            }
            Ok::<_, PageError>(())
        })?;
        page.next = ending.next()?;
        Ok(page)
    }
}

fn is_listing(root: &str) -> bool {
    root.starts_with("List") && root.ends_with("Result")
}

/// What a page says of the next one.
#[derive(Default)]
struct Ending {
    truncated: Option<String>,
    token: Option<String>,
    mark: Option<String>,
}

impl Ending {
    fn take(&mut self, elements: &mut Elements<'_>, name: &str) -> Result<(), XmlError> {
        let value = match name {
            "IsTruncated" => &mut self.truncated,
            "NextContinuationToken" | "NextKeyMarker" => &mut self.token,
            "NextVersionIdMarker" | "NextUploadIdMarker" => &mut self.mark,
            _ => return Ok(()),
        };
        elements.text_into(value, name)
    }

    /// Whether it is known that there is none, or where it begins.
    fn is_known(&self) -> bool {
        let truncated = self.truncated.as_deref();
        truncated.is_some_and(|text| self.token.is_some() || matches!(text, "false" | "0"))
    }

    fn next(self) -> Result<Option<NextPage>, PageError> {
        match self.truncated.as_deref().map(str::trim) {
            None | Some("false" | "0") => return Ok(None),
            Some("true" | "1") => {}
            Some(other) => return Err(PageError::Truncated(other.to_owned())),
        }
        match self.token.filter(|token| !token.is_empty()) {
            Some(token) => Ok(Some(NextPage {
                token,
                mark: self.mark.filter(|mark| !mark.is_empty()),
            })),
            None => Err(PageError::NoNext),
        }
    }
}

fn entry(elements: &mut Elements<'_>, what: Listed) -> Result<Entry, PageError> {
    let (mut key, mut size, mut mark) = (None, None, None);
    elements.children(|elements, name| match name {
        "Key" => elements.text_into(&mut key, name),
        "Size" => elements.text_into(&mut size, name),
        _ if what.mark() == Some(name) => elements.text_into(&mut mark, name),
        _ => Ok(()),
    })?;
    let key = key.filter(|key| !key.is_empty()).ok_or(PageError::NoKey)?;
    let bytes = match size {
        None => 0,
        Some(size) => match size.trim().parse::<i64>().ok().map(u64::try_from) {
            Some(Ok(bytes)) => bytes,
            _ => return Err(PageError::Size { key, size }),
        },
    };
    Ok(Entry {
        key,
        bytes,
        mark: mark.unwrap_or_default(),
    })
}

fn prefix(elements: &mut Elements<'_>) -> Result<String, PageError> {
    let mut prefix = None;
    elements.children(|elements, name| match name {
        "Prefix" => elements.text_into(&mut prefix, name),
        _ => Ok(()),
    })?;
    prefix.ok_or(PageError::NoKey)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>\
        <Prefix/><IsTruncated>true</IsTruncated>\
        <NextContinuationToken>t&amp;</NextContinuationToken>\
        <Contents><Key>a&amp;b</Key><Size>1</Size><Owner><ID>o</ID><Key>no</Key></Owner>\
        <StorageClass>STANDARD</StorageClass></Contents>\
        <Unknown><Contents><Key>no</Key></Contents><IsTruncated>false</IsTruncated></Unknown>\
        <Contents><Key> <![CDATA[c<d]]>\u{1b}&#10;</Key></Contents>\
        <CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes></ListBucketResult>";

    fn keys(page: &Page) -> Vec<&str> {
        let entries = page.entries.iter().flatten();
        entries.map(|entry| entry.key.as_str()).collect()
    }

    #[test]
    fn a_page_is_read() {
        let page = Page::read(WHOLE.as_bytes(), Listed::Objects).unwrap();
        assert_eq!(keys(&page), ["a&b", " c<d\u{1b}\n"]);
        assert_eq!(page.entries[0][0].bytes, 1);
        assert_eq!(page.prefixes, ["p/"]);
        let next = NextPage {
            token: "t&".to_owned(),
            mark: None,
        };
        assert_eq!(page.next, Some(next));
        let token = NextPage::token_behind(WHOLE.as_bytes());
        assert_eq!(token, Ok(Some("t&".to_owned())));
    }

    #[test]
    fn versions_and_markers_are_read_with_their_marks() {
        let document = "<ListVersionsResult><IsTruncated>true</IsTruncated>\
            <NextKeyMarker>k</NextKeyMarker><NextVersionIdMarker>w</NextVersionIdMarker>\
            <DeleteMarker><Key>a</Key><VersionId>v2</VersionId></DeleteMarker>\
            <Version><Key>a</Key><VersionId>v1</VersionId><Size> 7</Size></Version>\
            </ListVersionsResult>";
        let page = Page::read(document.as_bytes(), Listed::Versions).unwrap();
        let [versions, markers] = &page.entries;
        assert_eq!((versions[0].mark.as_str(), versions[0].bytes), ("v1", 7));
        assert_eq!((markers[0].mark.as_str(), markers[0].bytes), ("v2", 0));
        assert_eq!(page.next.unwrap().mark.as_deref(), Some("w"));
    }

    #[test]
    fn no_part_of_a_page_is_a_page() {
        for end in 0..WHOLE.len() {
            let part = &WHOLE.as_bytes()[..end];
            assert!(Page::read(part, Listed::Objects).is_err(), "{end}");
            assert!(NextPage::token_behind(part).is_err(), "{end}");
        }
    }

    #[test]
    fn a_document_is_a_whole_listing_or_an_error() {
        for whole in [
            "<ListVersionsResult></ListVersionsResult>",
            "<ListMultipartUploadsResult/>\n",
            "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>",
        ] {
            let page = Page::read(whole.as_bytes(), Listed::Objects);
            assert_eq!(page, Ok(Page::default()), "{whole}");
        }
        for (bad, expected) in [
            ("", "empty"),
            (
                "<html><body>ListBucketResult</body></html>",
                "something else",
            ),
            ("<!DOCTYPE html><html><br></html>", "something else"),
            ("{\"Contents\": []}", "something else"),
            ("<Error><Code>AccessDenied</Code></Error>", "something else"),
            ("<?xml", "cut off"),
            (
                "<ListBucketResult><Contents><Key>a</Key></Contents>",
                "cut off",
            ),
            (
                "<ListBucketResult><Contents></ListBucketResult>",
                "malformed",
            ),
            (
                "<ListBucketResult/><ListBucketResult/>",
                "something follows",
            ),
        ] {
            let error = Page::read(bad.as_bytes(), Listed::Objects).unwrap_err();
            assert!(error.to_string().contains(expected), "{bad}: {error}");
        }
    }

    #[test]
    fn a_token_is_found_before_and_behind_the_entries() {
        let (entry, last) = (
            "<Contents><Key>a</Key></Contents>",
            "<IsTruncated>0</IsTruncated>",
        );
        let more = "<IsTruncated>true</IsTruncated><NextKeyMarker>k</NextKeyMarker>";
        for (inside, expected) in [
            (format!("{more}{entry}"), Some("k".to_owned())),
            (format!("{entry}{more}"), Some("k".to_owned())),
            (format!("{last}{entry}"), None),
            (entry.to_owned(), None),
        ] {
            let whole = format!("<s:ListBucketResult>{inside}</s:ListBucketResult >\n");
            let token = NextPage::token_behind(whole.as_bytes());
            assert_eq!(token, Ok(expected), "{whole}");
            let cut = whole.trim_end().trim_end_matches('>');
            let error = NextPage::token_behind(cut.as_bytes()).unwrap_err();
            assert!(
                matches!(error, PageError::Xml(XmlError::CutOff(_))),
                "{cut}: {error}"
            );
        }
    }

    #[test]
    fn what_a_page_says_must_make_sense() {
        let read = |inside: &str| {
            let document = format!("<ListBucketResult>{inside}</ListBucketResult>");
            Page::read(document.as_bytes(), Listed::Objects)
        };
        for (inside, expected) in [
            ("<Contents><Size>7</Size></Contents>", "without a key"),
            ("<Contents><Key/></Contents>", "without a key"),
            ("<Contents/>", "without a key"),
            ("<CommonPrefixes/>", "without a key"),
            (
                "<Contents><Key>a</Key><Size>-7</Size></Contents>",
                "size '-7'",
            ),
            ("<Contents><Key>a</Key><Size/></Contents>", "size ''"),
            (
                "<Contents><Key>a</Key><Size>99999999999999999999</Size></Contents>",
                "size '99999999999999999999'",
            ),
            ("<Contents><Key>a</Key><Key>b</Key></Contents>", "Key twice"),
            (
                "<IsTruncated>true</IsTruncated><IsTruncated>false</IsTruncated>",
                "IsTruncated twice",
            ),
            ("<IsTruncated>maybe</IsTruncated>", "says 'maybe'"),
            ("<IsTruncated>true</IsTruncated>", "but not where"),
            (
                "<IsTruncated>true</IsTruncated><NextContinuationToken/>",
                "but not where",
            ),
        ] {
            let error = read(inside).unwrap_err().to_string();
            assert!(error.contains(expected), "{inside}: {error}");
        }
    }
}
