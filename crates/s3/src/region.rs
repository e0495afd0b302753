//! The region that a store names when a request was signed for another one.

use super::answer::Complaint;

/// Characters of a region's name at most.
const MOST_CHARACTERS: usize = 40;
/// What stores say of a signature for another region.
const CODES: [&str; 5] = [
    "AuthorizationHeaderMalformed",
    "AuthorizationQueryParametersError",
    "PermanentRedirect",
    "TemporaryRedirect",
    "IllegalLocationConstraintException",
];
/// What stands before the region in messages that name it nowhere else.
const EXPECTING: &str = "expecting '";

/// The region in which a bucket is, as far as an answer that refuses says so:
/// in a header, in an element, or in the words of the message.
pub(crate) fn named(status: u16, header: &str, complaint: &Complaint) -> Option<String> {
    let code = complaint.code.as_deref().unwrap_or_default();
    let elsewhere = matches!(status, 301 | 307) || CODES.contains(&code);
    if !elsewhere {
        return None;
    }
    let message = complaint.message.as_deref().unwrap_or_default();
    let expected = message.split_once(EXPECTING).map(|(_, rest)| rest);
    let expected = expected.and_then(|rest| rest.split('\'').next());
    let places = [complaint.region.as_deref(), expected, Some(header)];
    let found = places.into_iter().flatten().find(|name| is_region(name))?;
    Some(found.to_owned())
}

/// Whether a text can be typed as the name of a region.
fn is_region(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !text.is_empty() && text.len() <= MOST_CHARACTERS && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_found_wherever_a_store_names_it() {
        let wrong = b"<Error><Code>AuthorizationHeaderMalformed</Code><Message>the region 'a' is \
            wrong; expecting 'eu-1'</Message></Error>";
        let with_element = b"<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-2</Region>\
            </Error>";
        for (status, header, document, expected) in [
            (400, "", &wrong[..], Some("eu-1")),
            (400, "", with_element, Some("eu-2")),
            (301, "eu-3", b"", Some("eu-3")),
            (301, "$(reboot)", b"", None),
            (
                403,
                "eu-3",
                b"<Error><Code>AccessDenied</Code></Error>",
                None,
            ),
            (
                400,
                "",
                b"<Error><Code>AuthorizationHeaderMalformed</Code></Error>",
                None,
            ),
        ] {
            assert_eq!(
                named(status, header, &Complaint::read(document)).as_deref(),
                expected,
                "{status} {header}"
            );
        }
    }
}
