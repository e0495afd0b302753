//! Queries of listings.

use super::encode;

/// Stands between key and version in the place where a listing goes on.
pub const VERSION_BEHIND: char = '\0';

/// Writes the query of a page of keys, or of versions; its parameters are in the
/// order in which they are signed.
pub fn list_query(
    query: &mut Vec<u8>,
    prefix: &str,
    token: &str,
    versions: bool,
    keys: u32,
    delimiter: bool,
) {
    // Of versions a page may end between two of one key.
    let (token, version) = match versions {
        true => token.split_once(VERSION_BEHIND).unwrap_or((token, "")),
        false => (token, ""),
    };
    query.clear();
    if !versions && !token.is_empty() {
        query.extend_from_slice(b"continuation-token=");
        encode::percent(query, token.as_bytes(), false);
        query.push(b'&');
    }
    if delimiter {
        query.extend_from_slice(b"delimiter=%2F&");
    }
    if versions && !token.is_empty() {
        query.extend_from_slice(b"key-marker=");
        encode::percent(query, token.as_bytes(), false);
        query.push(b'&');
    }
    if !versions {
        query.extend_from_slice(b"list-type=2&");
    }
    query.extend_from_slice(b"max-keys=");
    encode::decimal(query, u64::from(keys));
    query.extend_from_slice(b"&prefix=");
    encode::percent(query, prefix.as_bytes(), false);
    if versions && !version.is_empty() {
        query.extend_from_slice(b"&version-id-marker=");
        encode::percent(query, version.as_bytes(), false);
    }
    if versions {
        query.extend_from_slice(b"&versions=");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_sorted_as_they_are_signed() {
        let mut query = Vec::new();
        list_query(&mut query, "a/b", "x=", false, 7, true);
        let text = String::from_utf8(query.clone()).unwrap();
        let expected = "continuation-token=x%3D&delimiter=%2F&list-type=2&max-keys=7&prefix=a%2Fb";
        assert_eq!(text, expected);
        list_query(&mut query, "a", "k", true, 7, false);
        let text = String::from_utf8(query.clone()).unwrap();
        assert_eq!(text, "key-marker=k&max-keys=7&prefix=a&versions=");
        list_query(&mut query, "a", "k\0v", true, 7, false);
        let text = String::from_utf8(query).unwrap();
        let expected = "key-marker=k&max-keys=7&prefix=a&version-id-marker=v&versions=";
        assert_eq!(text, expected);
    }
}
