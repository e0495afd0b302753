//! The documents of answers that are not listings: refusals, and what became of
//! uploads and of lists of removals.

use super::xml::{self, Elements, XmlError};

/// The element of a refusal, or of an object that was not removed.
const ERROR: &str = "Error";

/// What a document says of a request that was refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) code: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) region: Option<String>,
}

impl Complaint {
    /// Reads a complaint as far as it goes: only its beginning is kept, many
    /// stores and proxies send none, and the status has said already that the
    /// request failed.
    pub(crate) fn read(document: &[u8]) -> Complaint {
        let mut complaint = Complaint::default();
        let _ = xml::read(
            document,
            |_| true,
            |elements, name| match name {
                ERROR => elements.children(|elements, name| complaint.take(elements, name)),
                _ if elements.root() == ERROR => complaint.take(elements, name),
                _ => Ok(()),
            },
        );
        complaint
    }

    fn take(&mut self, elements: &mut Elements<'_>, name: &str) -> Result<(), XmlError> {
        match name {
            "Code" => elements.text_into(&mut self.code, name),
            "Message" => elements.text_into(&mut self.message, name),
            "Region" => elements.text_into(&mut self.region, name),
            _ => Ok(()),
        }
    }
}

/// The codes of the errors that an answer names though its status is 200: of a
/// completed upload, or of the objects of a list that were not removed. An
/// answer without a document names none.
///
/// # Errors
/// Why the document cannot be read to its end.
pub fn error_codes(document: &[u8]) -> Result<Vec<String>, XmlError> {
    let mut codes = Vec::new();
    if document.trim_ascii().is_empty() {
        return Ok(codes);
    }
    let is_root = |name: &str| name == ERROR || name.ends_with("Result");
    let mut own = None;
    let root = xml::read(document, is_root, |elements, name| match name {
        ERROR => {
            let mut code = None;
            elements.children(|elements, name| match name {
                "Code" => elements.text_into(&mut code, name),
                _ => Ok(()),
            })?;
            codes.push(code.unwrap_or_default());
            Ok(())
        }
        "Code" if elements.root() == ERROR => elements.text_into(&mut own, name),
        _ => Ok(()),
    })?;
    if root == ERROR {
        codes.push(own.unwrap_or_default());
    }
    Ok::<_, XmlError>(codes)
}

/// The name of an upload in parts that has begun; `None` where it has none.
///
/// # Errors
/// Why the document cannot be read to its end.
pub fn upload_id(document: &[u8]) -> Result<Option<String>, XmlError> {
    let mut upload = None;
    let is_root = |name: &str| name == "InitiateMultipartUploadResult";
    xml::read(document, is_root, |elements, name| match name {
        "UploadId" => elements.text_into(&mut upload, name),
        _ => Ok(()),
    })?;
    Ok(upload.filter(|upload| !upload.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_is_read_as_far_as_it_goes() {
        let read = |document: &str| Complaint::read(document.as_bytes());
        let whole = "<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code><Message>a &lt;b&gt;\
            </Message><Details><Code>no</Code></Details><Region>r</Region></Error>";
        let complaint = read(whole);
        assert_eq!(complaint.code.as_deref(), Some("NoSuchKey"));
        assert_eq!(complaint.message.as_deref(), Some("a <b>"));
        assert_eq!(complaint.region.as_deref(), Some("r"));
        let cut = read(&whole[..whole.len() - 20]);
        assert_eq!((cut.code, cut.region), (complaint.code, None));
        let within = read("<ErrorResponse><Error><Code>c</Code></Error></ErrorResponse>");
        assert_eq!(within.code.as_deref(), Some("c"));
        for other in ["", "busy", "<html><Code>c</Code></html>", "<Error/>"] {
            assert_eq!(read(other), Complaint::default(), "{other}");
        }
    }

    #[test]
    fn errors_behind_status_200_are_found() {
        let deleted = b"<DeleteResult><Deleted><Key>a</Key></Deleted><Error><Key>b</Key>\
            <Code>AccessDenied</Code></Error><Error/></DeleteResult>";
        assert_eq!(error_codes(deleted).unwrap(), ["AccessDenied", ""]);
        let late = b" \n <?xml version=\"1.0\"?>\n<Error><Code>InternalError</Code></Error>";
        assert_eq!(error_codes(late).unwrap(), ["InternalError"]);
        assert_eq!(error_codes(b"<Error/>").unwrap(), [""]);
        for none in [&b""[..], b"\n", b"<DeleteResult/>"] {
            assert_eq!(error_codes(none).unwrap(), [""; 0]);
        }
        for end in 1..deleted.len() {
            assert!(error_codes(&deleted[..end]).is_err(), "{end}");
        }
        assert!(error_codes(b"<html></html>").is_err());
    }

    #[test]
    fn an_upload_has_a_name_or_none() {
        let begun = b"<InitiateMultipartUploadResult xmlns=\"s3\"><Bucket>b</Bucket>\
            <UploadId>u&amp;</UploadId></InitiateMultipartUploadResult>";
        assert_eq!(upload_id(begun).unwrap().as_deref(), Some("u&"));
        assert_eq!(upload_id(b"<InitiateMultipartUploadResult/>"), Ok(None));
        assert!(upload_id(&begun[..begun.len() - 3]).is_err());
        assert!(upload_id(b"<Error><UploadId>u</UploadId></Error>").is_err());
        assert_eq!(upload_id(b""), Err(XmlError::Empty));
    }
}
