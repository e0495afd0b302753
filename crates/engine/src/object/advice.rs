//! What to do about what a store or the way to it said.

use fathom_s3::{Error, Fault, Hint};

/// Signs in a message, and what helps.
const KNOWN: [(&str, &str); 12] = [
    ("NoSuchBucket", "make the bucket first, or name another"),
    (
        "InvalidBucketName",
        "a bucket's name has 3 to 63 of a-z, 0-9, - and . and begins and ends with a letter or \
         digit; name another as s3://BUCKET/PREFIX (for gosbench with --target)",
    ),
    (
        "AuthorizationHeaderMalformed",
        "name the region of the bucket with --s3-region REGION",
    ),
    (
        "PermanentRedirect",
        "name the region of the bucket with --s3-region REGION, or its own --endpoint",
    ),
    (
        "AccessDenied",
        "these keys may not; name others with --profile or --credentials-file",
    ),
    (
        "InvalidAccessKeyId",
        "the store does not know the key; name another with --profile or --credentials-file",
    ),
    (
        "SignatureDoesNotMatch",
        "look at the secret key, at --s3-region, and whether a proxy changes the host's name",
    ),
    (
        "RequestTimeTooSkewed",
        "the clocks of this host and of the store differ; set them",
    ),
    (
        "UnknownIssuer",
        "name the certificate of the store's authority with --ca-file, or take any with \
         --unverified-tls",
    ),
    (
        "Connection refused",
        "nothing listens there; look at the address and the port of --endpoint",
    ),
    (
        "lookup address",
        "look at --endpoint, or the variable AWS_ENDPOINT_URL",
    ),
    (
        "InvalidContentType",
        "what listens there does not speak TLS; try http:// in --endpoint",
    ),
];

/// What happened to a request, and what its hint means to somebody who types
/// commands.
pub(super) fn told(fault: &Fault) -> String {
    let text = &fault.text;
    match &fault.hint {
        None => text.clone(),
        Some(Hint::Region(region)) => {
            format!("{text}; the bucket is in another region: add --s3-region {region}")
        }
        Some(Hint::NoTls) => {
            format!("{text}; if what listens there does not speak TLS, write http:// in --endpoint")
        }
    }
}

/// An error of the client, and what helps where that is known.
pub(crate) fn told_of(error: &Error) -> String {
    match error {
        Error::NoConnection { endpoints, fault } => format!(
            "no connection to {}: {}",
            endpoints.join(" or "),
            advised(&told(fault))
        ),
        Error::NoAuthorities => format!("{error}; name a file with --ca-file"),
        Error::NoKeys { .. } => {
            format!("{error}, or name a file with --credentials-file; --anonymous signs nothing")
        }
        Error::Lookup { .. } => advised(&error.to_string()),
        _ => error.to_string(),
    }
}

/// `text`, and what helps where that is known.
pub(super) fn advised(text: &str) -> String {
    // A store that names the region has given the advice itself.
    let known = KNOWN.iter().find(|(sign, _)| text.contains(sign));
    match known.filter(|_| !text.contains("--s3-region")) {
        Some((_, advice)) => format!("{text}; {advice}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_comes_with_advice() {
        let told = advised("status 404, NoSuchBucket, none of that name");
        assert!(told.ends_with("none of that name; make the bucket first, or name another"));
        assert_eq!(advised("status 500"), "status 500");
        let told = advised("status 400, InvalidBucketName");
        assert!(
            told.contains("3 to 63") && told.contains("--target"),
            "{told}"
        );
        let told = advised("status 301, PermanentRedirect; add --s3-region eu-1");
        assert!(told.ends_with("--s3-region eu-1"), "{told}");
    }
}
