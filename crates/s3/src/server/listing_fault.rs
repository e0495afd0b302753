//! Answers of stores that are wrong on purpose: each is a way in which a store,
//! a proxy or an attacker between them makes a client remove too much, never
//! end, or fill its memory.

use std::fmt::Write;

use super::documents::escaped;
use super::objects::{Objects, Response};
use super::request::ReceivedRequest;

/// Keys of a page that is made up.
const PAGE: u64 = 5;
/// Keys of a page of a listing without end.
const ENDLESS_PAGE: u64 = 1000;
/// Bytes of an answer that is too long: more than a client has to keep.
const HUGE_BYTES: usize = 40 << 20;
/// The run that made-up keys are of where the prefix names none.
const RUN: &str = "0123456789abcdef";

/// What is wrong with a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListingFault {
    /// It lists everything, whatever the prefix is.
    IgnorePrefix,
    /// It lists what lies below another prefix.
    OtherPrefix,
    /// Every page says that the next one begins at the same place.
    RepeatToken,
    /// Every page is the first, with a token of its own.
    RepeatPage,
    /// The same objects are listed however often they are removed.
    NeverShrink,
    /// Sizes are below 0.
    NegativeSizes,
    /// New keys follow without end.
    Endless,
    /// Pages without keys follow without end.
    EmptyPages,
    /// Nothing is listed, as by an index that lags behind.
    Empty,
    /// Only the first few keys are listed, as if there were no more.
    Partial,
    /// The document ends in the middle.
    CutOff,
    /// It is longer than any page.
    Huge,
    /// Keys with control characters, and such that lead elsewhere.
    OddKeys,
    /// Keys descend.
    Unordered,
    /// Keys are percent-encoded though the client did not ask for it.
    Encoded,
    /// A page of a web server.
    Html,
    /// A key ends under another name, and everything behind it is whole.
    Malformed,
    /// Entities that would expand to gigabytes.
    Bomb,
}

/// Their names in scripts.
const NAMES: [(&str, ListingFault); 18] = [
    ("ignore-prefix", ListingFault::IgnorePrefix),
    ("other-prefix", ListingFault::OtherPrefix),
    ("repeat-token", ListingFault::RepeatToken),
    ("repeat-page", ListingFault::RepeatPage),
    ("never-shrink", ListingFault::NeverShrink),
    ("negative-sizes", ListingFault::NegativeSizes),
    ("endless", ListingFault::Endless),
    ("empty-pages", ListingFault::EmptyPages),
    ("empty", ListingFault::Empty),
    ("partial", ListingFault::Partial),
    ("cut-off", ListingFault::CutOff),
    ("huge", ListingFault::Huge),
    ("odd-keys", ListingFault::OddKeys),
    ("unordered", ListingFault::Unordered),
    ("encoded", ListingFault::Encoded),
    ("html", ListingFault::Html),
    ("malformed", ListingFault::Malformed),
    ("bomb", ListingFault::Bomb),
];

impl ListingFault {
    /// All of them, by name.
    pub fn all() -> impl Iterator<Item = (&'static str, ListingFault)> {
        NAMES.into_iter()
    }

    pub(super) fn parse(name: &str) -> Option<ListingFault> {
        NAMES.iter().find(|(known, _)| *known == name).map(|n| n.1)
    }
}

/// The answer to a listing; `number` is another for each request.
pub(super) fn list(
    kind: ListingFault,
    request: &ReceivedRequest,
    objects: &Objects,
    number: u64,
) -> Response {
    let prefix = request.parameter("prefix").unwrap_or_default();
    let own = |n: u64| own_key(&prefix, n);
    let plain = |keys: Vec<String>| keys.into_iter().map(|key| (key, 7)).collect::<Vec<_>>();
    let first = || plain((0..PAGE).map(own).collect());
    match kind {
        ListingFault::IgnorePrefix => objects.answer(&request.without("prefix"), Vec::new()),
        ListingFault::OtherPrefix => page(request, &plain(elsewhere()), None),
        ListingFault::RepeatToken => page(request, &first(), Some("again")),
        ListingFault::RepeatPage => page(request, &first(), Some(&format!("page-{number}"))),
        ListingFault::NeverShrink => page(request, &first(), None),
        ListingFault::NegativeSizes => {
            let keys: Vec<_> = (0..PAGE).map(|n| (own(n), -7)).collect();
            page(request, &keys, None)
        }
        ListingFault::Endless => {
            let from = ["continuation-token", "key-marker"];
            let from = from.iter().find_map(|name| request.parameter(name));
            let from = from.and_then(|token| token.rsplit('/').next()?.parse().ok());
            let from: u64 = from.map_or(0, |last: u64| last + 1);
            let keys = plain((from..from + ENDLESS_PAGE).map(own).collect());
            page(request, &keys, Some(&own(from + ENDLESS_PAGE - 1)))
        }
        ListingFault::EmptyPages => page(request, &[], Some(&format!("page-{number}"))),
        ListingFault::Empty => page(request, &[], None),
        ListingFault::Partial => partial(&objects.answer(request, Vec::new())),
        ListingFault::CutOff => {
            let mut answer = page(request, &first(), None);
            answer.body.truncate(answer.body.len() / 2);
            answer
        }
        ListingFault::Huge => {
            let mut answer = page(request, &first(), None);
            answer.body.resize(HUGE_BYTES, b' ');
            answer
        }
        ListingFault::OddKeys => page(request, &plain(odd_keys(&own(0))), None),
        ListingFault::Unordered => page(request, &plain((0..PAGE).rev().map(own).collect()), None),
        ListingFault::Encoded => {
            let encode = |n| own(n).replace('/', "%2F").replace('f', "%66");
            page(request, &plain((0..PAGE).map(encode).collect()), None)
        }
        ListingFault::Malformed => {
            let answer = page(request, &first(), None);
            let text = String::from_utf8_lossy(&answer.body);
            Response::document(text.replacen("</Key>", "</Kay>", 1))
        }
        ListingFault::Bomb => {
            let answer = page(request, &first(), None);
            let text = String::from_utf8_lossy(&answer.body);
            Response::document(entities() + &text.replacen("<Key>", "<Key>&e9;", 1))
        }
        ListingFault::Html => Response::document("<html><body>It works!</body></html>".to_owned()),
    }
}

/// A listing that has forgotten all but its first keys.
fn partial(whole: &Response) -> Response {
    let text = String::from_utf8_lossy(&whole.body);
    let end = "</Contents>";
    let first = text.match_indices(end).nth(PAGE as usize - 1);
    let Some((cut, _)) = first else {
        return whole.clone();
    };
    let kept = text[..cut + end.len()].replace("<IsTruncated>true", "<IsTruncated>false");
    Response::document(kept + "</ListBucketResult>")
}

/// Where a bucket of another region is.
pub(super) fn redirect() -> Response {
    let mut answer = Response::error(301, "PermanentRedirect");
    answer.headers =
        "location: http://127.0.0.1:1/elsewhere\r\nx-amz-bucket-region: eu-central-1\r\n"
            .to_owned();
    answer
}

/// What AWS says of a signature for another region.
pub(super) fn wrong_region() -> Response {
    let text = "<Error><Code>AuthorizationHeaderMalformed</Code><Message>The authorization header \
                is malformed; the region 'us-east-1' is wrong; expecting 'eu-central-1'</Message>\
                <Region>eu-central-1</Region></Error>";
    Response {
        status: 400,
        body: text.as_bytes().to_vec(),
        headers: "x-amz-bucket-region: eu-central-1\r\n".to_owned(),
    }
}

/// A document type whose last entity stands for 10^9 letters.
fn entities() -> String {
    let mut text = "<!DOCTYPE ListBucketResult [<!ENTITY e0 \"a\">".to_owned();
    for level in 1..=9 {
        let before = format!("&e{};", level - 1).repeat(10);
        let _ = write!(text, "<!ENTITY e{level} \"{before}\">");
    }
    text + "]>"
}

/// Keys that are not the client's.
fn elsewhere() -> Vec<String> {
    ["elsewhere/1", "precious/1", "precious/2"]
        .map(str::to_owned)
        .into()
}

/// Keys below the prefix of a run that the run cannot have made. One could be
/// taken for a key elsewhere by what resolves `..`.
fn odd_keys(own: &str) -> Vec<String> {
    let place = own.rsplit_once('/').map_or(own, |(place, _)| place);
    let names = [
        "\u{1}",
        "\0",
        "\u{1b}[2J",
        "%2e%2e/precious/1",
        "../../../../precious/1",
        "a//b",
        "a\\b",
    ];
    let mut keys: Vec<String> = names.iter().map(|name| format!("{place}/{name}")).collect();
    keys.sort();
    keys
}

/// A key as a run makes it below a prefix.
fn own_key(prefix: &str, number: u64) -> String {
    let below = match prefix.split_once("fathom-") {
        None => "",
        Some((_, "")) => return format!("{prefix}{RUN}/t/00c0ffee-0/w0/{number:012}"),
        Some((_, rest)) if rest.ends_with('/') && rest.matches('/').count() == 1 => {
            "t/00c0ffee-0/w0/"
        }
        Some(_) => "00c0ffee-0/w0/",
    };
    format!("{prefix}{below}{number:012}")
}

/// A page of any kind of listing.
fn page(request: &ReceivedRequest, keys: &[(String, i64)], next: Option<&str>) -> Response {
    let asks = |name: &str| request.parameter(name).is_some();
    let (root, entry, more, token) = match (asks("versions"), asks("uploads")) {
        (true, _) => (
            "ListVersionsResult",
            "Version",
            "<VersionId>v</VersionId>",
            "NextKeyMarker",
        ),
        (_, true) => (
            "ListMultipartUploadsResult",
            "Upload",
            "<UploadId>u</UploadId>",
            "NextKeyMarker",
        ),
        _ => ("ListBucketResult", "Contents", "", "NextContinuationToken"),
    };
    let mut text = format!("<{root}><IsTruncated>{}</IsTruncated>", next.is_some());
    if let Some(next) = next {
        let _ = write!(text, "<{token}>{}</{token}>", escaped(next));
    }
    for (key, bytes) in keys {
        let key = escaped(key);
        let _ = write!(
            text,
            "<{entry}><Key>{key}</Key>{more}<Size>{bytes}</Size></{entry}>"
        );
    }
    let _ = write!(text, "</{root}>");
    Response::document(text)
}
