//! The little XML that object stores answer with: texts of elements by name.
//!
//! A listing is read without a tree: elements are found by name, in order.
//! Attributes, comments and name spaces mean nothing in these documents.

/// The text of the first element `name`, unescaped.
pub fn text(document: &[u8], name: &str) -> Option<String> {
    elements(document, name).next().map(unescape)
}

/// The raw contents of every element `name`, in order. Elements of one name
/// must not lie within one another.
pub fn elements<'a>(document: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> + 'a {
    let mut rest = document;
    std::iter::from_fn(move || {
        loop {
            let open = find(rest, b"<")?;
            rest = &rest[open + 1..];
            let Some(tail) = rest.strip_prefix(name.as_bytes()) else {
                continue;
            };
            match tail.first() {
                Some(b'>' | b' ') => {}
                // An empty element.
                Some(b'/') => {
                    rest = tail;
                    return Some(&tail[..0]);
                }
                _ => continue,
            }
            let start = find(tail, b">")? + 1;
            let tail = &tail[start..];
            let end = closing(tail, name)?;
            rest = &tail[end..];
            return Some(&tail[..end]);
        }
    })
}

fn closing(text: &[u8], name: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + find(&text[from..], b"</")?;
        let tail = &text[at + 2..];
        if tail
            .strip_prefix(name.as_bytes())
            .is_some_and(|t| t.first() == Some(&b'>'))
        {
            return Some(at);
        }
        from = at + 2;
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

/// Text with its entities resolved; what is none stays.
pub fn unescape(raw: &[u8]) -> String {
    let raw = String::from_utf8_lossy(raw);
    if !raw.contains('&') {
        return raw.into_owned();
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw.as_ref();
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(';').filter(|end| *end < 12);
        let resolved = end.and_then(|end| entity(&rest[1..end]));
        match (resolved, end) {
            (Some(char), Some(end)) => {
                out.push(char);
                rest = &rest[end + 1..];
            }
            _ => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

/// Appends `text` with what XML reserves escaped.
pub fn escape(out: &mut Vec<u8>, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_listing_is_read() {
        let document =
            b"<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3\"><Name>b</Name>\
            <Contents><Key>a&amp;b</Key><Size>1</Size></Contents><Prefix/>\
            <Contents><Key>c&#x41;&#66;&nope;</Key></Contents>\
            <IsTruncated>true</IsTruncated></ListBucketResult>";
        assert_eq!(text(document, "Name").as_deref(), Some("b"));
        assert_eq!(text(document, "Prefix").as_deref(), Some(""));
        assert_eq!(text(document, "IsTruncated").as_deref(), Some("true"));
        assert_eq!(text(document, "NextContinuationToken"), None);
        let keys: Vec<String> = elements(document, "Contents")
            .filter_map(|entry| text(entry, "Key"))
            .collect();
        assert_eq!(keys, ["a&b", "cAB&nope;"]);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_fall(document: Vec<u8>, name in "[a-zA-Z]{1,8}") {
            prop_assert!(elements(&document, &name).count() <= document.len());
        }

        #[test]
        fn escaped_text_comes_back(given in "\\PC{0,40}") {
            let mut out = Vec::new();
            escape(&mut out, &given);
            prop_assert_eq!(unescape(&out), given);
        }
    }
}
