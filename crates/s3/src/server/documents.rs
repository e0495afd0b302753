//! The documents that requests bring, as a store reads them, and texts within
//! those that it answers with.

use crate::xml::{self, XmlError};

/// An object, or a version of it, that a list of removals names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Removal {
    pub(super) key: String,
    pub(super) version: Option<String>,
}

/// What a list of removals names.
pub(super) fn removals(body: &[u8]) -> Result<Vec<Removal>, XmlError> {
    let mut removals = Vec::new();
    xml::read(
        body,
        |root| root == "Delete",
        |elements, name| {
            if name != "Object" {
                return Ok(());
            }
            let (mut key, mut version) = (None, None);
            elements.children(|elements, name| match name {
                "Key" => elements.text_into(&mut key, name),
                "VersionId" => elements.text_into(&mut version, name),
                _ => Ok(()),
            })?;
            let key = key.unwrap_or_default();
            removals.push(Removal { key, version });
            Ok::<_, XmlError>(())
        },
    )?;
    Ok(removals)
}

/// The checksums of the parts of an upload, which are in elements `checksum`.
pub(super) fn part_checksums(body: &[u8], checksum: &str) -> Result<Vec<Option<String>>, XmlError> {
    let mut sums = Vec::new();
    xml::read(
        body,
        |root| root == "CompleteMultipartUpload",
        |elements, name| {
            if name != "Part" {
                return Ok(());
            }
            let mut sum = None;
            elements.children(|elements, name| match name {
                name if name == checksum => elements.text_into(&mut sum, name),
                _ => Ok(()),
            })?;
            sums.push(sum);
            Ok::<_, XmlError>(())
        },
    )?;
    Ok(sums)
}

/// Whether a retention has a mode and an end.
pub(super) fn is_retention(body: &[u8]) -> Result<bool, XmlError> {
    let (mut mode, mut until) = (None, None);
    xml::read(
        body,
        |root| root == "Retention",
        |elements, name| match name {
            "Mode" => elements.text_into(&mut mode, name),
            "RetainUntilDate" => elements.text_into(&mut until, name),
            _ => Ok(()),
        },
    )?;
    Ok(mode.is_some() && until.is_some())
}

/// A text as it stands in a document.
pub(super) fn escaped(text: &str) -> String {
    let mut out = Vec::new();
    xml::escape(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_understood_or_an_error() {
        let list = b"<Delete><Quiet>true</Quiet><Object><Key>a&amp;</Key></Object><Object>\
            <Key>b</Key><VersionId>v</VersionId></Object></Delete>";
        let named = removals(list).unwrap();
        assert_eq!((named[0].key.as_str(), &named[0].version), ("a&", &None));
        assert_eq!(named[1].version.as_deref(), Some("v"));
        for end in 0..list.len() {
            assert!(removals(&list[..end]).is_err(), "{end}");
        }
        let parts = b"<CompleteMultipartUpload><Part><Sum>s</Sum></Part><Part/>\
            </CompleteMultipartUpload>";
        let sums = part_checksums(parts, "Sum").unwrap();
        assert_eq!(sums, [Some("s".to_owned()), None]);
        let retention = b"<Retention><Mode>m</Mode><RetainUntilDate/></Retention>";
        assert_eq!(is_retention(retention), Ok(true));
        assert_eq!(is_retention(b"<Retention/>"), Ok(false));
        assert!(is_retention(b"").is_err());
    }
}
