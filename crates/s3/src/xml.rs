//! The XML of object stores, element by element.
//!
//! A document is read in one pass without a tree. It is read to its end or it is
//! an error: nothing that came before the place of an error may be taken for all
//! that there is. Attributes, comments and prefixes of names mean nothing in
//! these documents. A document type is refused, so entities of its own are never
//! expanded.

use quick_xml::Reader;
use quick_xml::errors::{Error, SyntaxError};
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::printable::shown;

/// Bytes of a document that an error shows.
const SHOWN_BYTES: usize = 60;

/// Why a document cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum XmlError {
    /// There is nothing in it.
    #[error("the answer is empty")]
    Empty,
    /// It is another document, or no XML; how it begins.
    #[error("the answer is something else ('{0}')")]
    Foreign(String),
    /// It ends before its elements do.
    #[error("the answer is cut off after {0} bytes")]
    CutOff(u64),
    /// It is not well-formed.
    #[error("the answer is malformed XML at byte {at}: {problem}")]
    Malformed {
        /// Where.
        at: u64,
        /// What is wrong there.
        problem: String,
    },
    /// An element whose value is a text holds elements.
    #[error("the element {name} of the answer holds other elements, at byte {at}")]
    Nested {
        /// The name of the element.
        name: String,
        /// Where the first one within it begins.
        at: u64,
    },
    /// An element that has one value is there twice.
    #[error("the answer has the element {name} twice, at byte {at}")]
    Repeated {
        /// The name of the element.
        name: String,
        /// Behind the second one.
        at: u64,
    },
}

/// Reads a document: `each` sees the elements within its root, whose name
/// `is_root` knows and which is returned.
///
/// # Errors
/// Those of `each`, and why the document cannot be read to its end.
pub(crate) fn read<E: From<XmlError>>(
    document: &[u8],
    is_root: impl Fn(&str) -> bool,
    each: impl FnMut(&mut Elements<'_>, &str) -> Result<(), E>,
) -> Result<String, E> {
    let mut reader = Reader::from_reader(document);
    reader.config_mut().expand_empty_elements = true;
    let mut elements = Elements {
        reader,
        length: document.len() as u64,
        depth: 0,
        root: String::new(),
        stopped: false,
    };
    let foreign = || {
        let start = &document[..document.len().min(SHOWN_BYTES)];
        XmlError::Foreign(shown(String::from_utf8_lossy(start).trim()))
    };
    let root = elements.open()?.ok_or_else(foreign)?;
    local_name(&root).clone_into(&mut elements.root);
    if !is_root(&elements.root) {
        return Err(foreign().into());
    }
    elements.children(each)?;
    match elements.stopped {
        false => elements.end()?,
        true if is_closed(document, root.name().into_inner()) => {}
        true => return Err(XmlError::CutOff(elements.length).into()),
    }
    Ok(elements.root)
}

/// The elements of a document, up to where it has been read.
pub(crate) struct Elements<'d> {
    reader: Reader<&'d [u8]>,
    length: u64,
    /// Elements that are open.
    depth: usize,
    /// The name of the root.
    root: String,
    /// Nothing more is wanted.
    stopped: bool,
}

impl<'d> Elements<'d> {
    /// Opens the root; `None` where something else is there.
    fn open(&mut self) -> Result<Option<BytesStart<'d>>, XmlError> {
        loop {
            match self.next()? {
                Event::Start(tag) => return Ok(Some(tag)),
                Event::Eof => return Err(XmlError::Empty),
                Event::Text(text) if text.trim().is_empty() => {}
                Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
                _ => return Ok(None),
            }
        }
    }

    /// The name of the root.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// Leaves out the rest of the document, all but the end of its root.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Shows every element within the innermost open one, and closes that. What
    /// `each` does not read of an element is left out.
    pub(crate) fn children<E: From<XmlError>>(
        &mut self,
        mut each: impl FnMut(&mut Self, &str) -> Result<(), E>,
    ) -> Result<(), E> {
        let level = self.depth;
        loop {
            match self.next()? {
                Event::Start(tag) => {
                    each(self, local_name(&tag))?;
                    if self.stopped {
                        return Ok(());
                    }
                    while self.depth > level {
                        self.next()?;
                    }
                }
                Event::End(_) => return Ok(()),
                _ => {}
            }
        }
    }

    /// The text of the innermost open element `name`, as it is with all its
    /// spaces, and closes it.
    pub(crate) fn text(&mut self, name: &str) -> Result<String, XmlError> {
        let mut value = String::new();
        loop {
            let at = self.reader.buffer_position();
            match self.next()? {
                Event::Text(text) => value.push_str(&text),
                Event::CData(text) => value.push_str(&text),
                Event::GeneralRef(reference) => match resolved(&reference) {
                    Some(resolved) => value.push_str(&resolved),
                    None => {
                        let problem = format!("the reference &{}; is unknown", &*reference);
                        return Err(malformed(at, &problem));
                    }
                },
                Event::End(_) => return Ok(value),
                Event::Start(_) => {
                    let name = name.to_owned();
                    return Err(XmlError::Nested { name, at });
                }
                _ => {}
            }
        }
    }

    /// Reads the text of an element that is there once at most.
    pub(crate) fn text_into(
        &mut self,
        value: &mut Option<String>,
        name: &str,
    ) -> Result<(), XmlError> {
        match value.replace(self.text(name)?) {
            None => Ok(()),
            Some(_) => Err(XmlError::Repeated {
                name: name.to_owned(),
                at: self.reader.buffer_position(),
            }),
        }
    }

    /// Whether nothing follows the root.
    fn end(&mut self) -> Result<(), XmlError> {
        loop {
            let at = self.reader.buffer_position();
            match self.next()? {
                Event::Eof => return Ok(()),
                Event::Text(text) if text.trim().is_empty() => {}
                Event::PI(_) | Event::Comment(_) => {}
                _ => return Err(malformed(at, "something follows the document")),
            }
        }
    }

    fn next(&mut self) -> Result<Event<'d>, XmlError> {
        let at = self.reader.buffer_position();
        let event = match self.reader.read_event() {
            Ok(event) => event,
            Err(Error::Syntax(error)) if error != SyntaxError::InvalidBangMarkup => {
                return Err(XmlError::CutOff(self.length));
            }
            Err(error) => {
                let at = self.reader.error_position();
                return Err(malformed(at, &error.to_string()));
            }
        };
        match &event {
            Event::Start(_) => self.depth += 1,
            Event::End(_) => self.depth -= 1,
            Event::Eof if self.depth > 0 => return Err(XmlError::CutOff(self.length)),
            Event::DocType(_) if self.depth > 0 => {
                return Err(malformed(at, "a document type within the document"));
            }
            _ => {}
        }
        Ok(event)
    }
}

/// Whether a document ends with the end of its root.
fn is_closed(document: &[u8], root: &str) -> bool {
    let rest = document.trim_ascii_end().strip_suffix(b">");
    let rest = rest.and_then(|rest| rest.trim_ascii_end().strip_suffix(root.as_bytes()));
    rest.is_some_and(|rest| rest.ends_with(b"</"))
}

fn malformed(at: u64, problem: &str) -> XmlError {
    let problem = shown(problem);
    XmlError::Malformed { at, problem }
}

/// The name of an element without its prefix.
fn local_name<'t>(tag: &'t BytesStart<'_>) -> &'t str {
    tag.local_name().into_inner()
}

/// What a reference stands for.
fn resolved(reference: &BytesRef<'_>) -> Option<String> {
    match reference.resolve_char_ref() {
        Ok(Some(char)) => Some(char.to_string()),
        Ok(None) => resolve_predefined_entity(reference).map(str::to_owned),
        Err(_) => None,
    }
}

/// Appends `text` with what XML reserves escaped, and carriage returns, which
/// readers take for ends of lines.
pub fn escape(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(quick_xml::escape::escape(text).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The texts of all elements `K` within elements `E`.
    fn keys(document: &[u8]) -> Result<Vec<String>, XmlError> {
        let mut keys = Vec::new();
        read(
            document,
            |root| root == "R",
            |elements, name| match name {
                "E" => elements.children(|elements, name| {
                    if name == "K" {
                        keys.push(elements.text(name)?);
                    }
                    Ok::<_, XmlError>(())
                }),
                _ => Ok(()),
            },
        )?;
        Ok(keys)
    }

    #[test]
    fn texts_come_as_they_were_written() {
        for (document, expected) in [
            (&b"<R/>"[..], &[][..]),
            (
                b"
<?xml version=\"1.0\"?>\n<!-- a --><R xmlns=\"http://s3\"></R>\n",
                &[],
            ),
            (b"\xef\xbb\xbf<R><E><K>a</K></E></R>", &["a"]),
            (b"<R><E><K> a \n\t</K></E><E><K/></E></R>", &[" a \n\t", ""]),
            (
                b"<R><E><K>a&amp;b&lt;&gt;&quot;&apos;</K></E></R>",
                &["a&b<>\"'"],
            ),
            (b"<R><E><K>&#x41;&#66;&#1;\x1b</K></E></R>", &["AB\x01\x1b"]),
            (
                b"<R><E><K>a<![CDATA[<&amp;>]]>b</K></E></R>",
                &["a<&amp;>b"],
            ),
            (b"<R><E><K>a<!-- <K> -->b<?p?></K></E></R>", &["ab"]),
            (b"<s:R xmlns:s='x'><s:E><s:K>a</s:K></s:E></s:R>", &["a"]),
            (b"<R><E a='>'><K b=\"</K>\">a</K></E></R>", &["a"]),
            // Of an element that nobody knows, elements count for nothing.
            (
                b"<R><U><E><K>no</K></E><U><U/></U></U><E><K>a</K></E></R>",
                &["a"],
            ),
            (
                b"<R><E><U><K>no</K>&nope;</U><K>a</K></E><K>no</K></R>",
                &["a"],
            ),
        ] {
            let text = String::from_utf8_lossy(document);
            assert_eq!(keys(document).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_an_error_and_not_less_of_the_document() {
        for (document, expected) in [
            (&b" \n"[..], "is empty"),
            (b"<!-- nothing -->", "is empty"),
            (b"It works!", "something else ('It works!')"),
            (b"{\"E\": []}", "something else"),
            (b"<html><R/></html>", "something else"),
            (b"<R><E><K>a</K></E>", "cut off after 18 bytes"),
            (b"<R><E><K>a</K></E></R", "cut off"),
            (b"<R><E><K>a</K></E><!-- ", "cut off"),
            (b"<R><E><K>a<![CDATA[", "cut off"),
            (b"<R><E></R>", "malformed XML at byte 6"),
            (b"<R></E></R>", "malformed XML"),
            (b"<R/><R/>", "something follows"),
            (b"<R/>E", "something follows"),
            (b"<R/></R>", "malformed XML"),
            (b"<R><E><K>a&b</K></E></R>", "malformed XML"),
            (
                b"<R><E><K>&nope;</K></E></R>",
                "the reference &nope; is unknown",
            ),
            (b"<R><E><K>&#0;</K></E></R>", "&#0; is unknown"),
            (b"<R><E><K>&#xd800;</K></E></R>", "is unknown"),
            (
                b"<R><E><K>a<b>c</b></K></E></R>",
                "K of the answer holds other elements",
            ),
            (b"<R><E><K>\xff</K></E></R>", "malformed XML"),
        ] {
            let text = String::from_utf8_lossy(document);
            let error = keys(document).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn a_document_type_is_refused_and_nothing_of_it_expanded() {
        let bomb = b"<?xml version=\"1.0\"?><!DOCTYPE R [<!ENTITY a \"aaaaaaaaaa\">\
            <!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;&b;&b;\">]>\
            <R><E><K>&c;</K></E></R>";
        assert!(matches!(keys(bomb), Err(XmlError::Foreign(_))));
        let file = b"<!DOCTYPE R [<!ENTITY f SYSTEM \"file:///etc/hostname\">]><R>&f;</R>";
        assert!(matches!(keys(file), Err(XmlError::Foreign(_))));
        let inside = b"<R><!DOCTYPE R [<!ENTITY a \"a\">]></R>";
        assert!(matches!(keys(inside), Err(XmlError::Malformed { .. })));
    }

    #[test]
    fn depth_costs_no_stack() {
        let (open, close) = ("<U>".repeat(1 << 18), "</U>".repeat(1 << 18));
        let deep = format!("<R>{open}{close}<E><K>a</K></E></R>");
        assert_eq!(keys(deep.as_bytes()).unwrap(), ["a"]);
        let cut = format!("<R>{open}");
        assert!(matches!(keys(cut.as_bytes()), Err(XmlError::CutOff(_))));
    }

    #[test]
    fn carriage_returns_are_escaped() {
        let mut out = Vec::new();
        escape(&mut out, "a\r\n<");
        assert_eq!(out, b"a&#13;\n&lt;");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_an_error(bytes: Vec<u8>, inside in "[<>/RKE&;! -]{0,40}") {
            let _ = keys(&bytes);
            let _ = keys(format!("<R>{inside}</R>").as_bytes());
        }

        #[test]
        fn escaped_text_comes_back(given: String) {
            // The one character that no reference may name.
            let given = given.replace('\0', "");
            let mut document = b"<R><E><K>".to_vec();
            escape(&mut document, &given);
            document.extend_from_slice(b"</K></E></R>");
            prop_assert_eq!(keys(&document).unwrap(), [given]);
        }

        #[test]
        fn no_part_of_a_document_is_a_document(end in 0_usize..1 << 16) {
            let document = b"<?xml version=\"1.0\"?><R a=\"b\"><E><K>a&amp;<![CDATA[b]]></K></E></R>";
            let end = end % document.len();
            prop_assert!(keys(&document[..end]).is_err());
        }
    }
}
