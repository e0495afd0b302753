//! How fathom recognises what it wrote itself, so that it may write it again.

/// Bytes at the beginning of a file in which its mark lies.
pub(crate) const HEAD_BYTES: u64 = 64 << 10;
/// An address in a file of its own is shorter than this.
const ADDRESS_CHARS: usize = 64;

/// What a file of fathom looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// An HTML page that names fathom as its generator.
    Page,
    /// A chart as SVG or PNG that names fathom as its program.
    Image,
    /// A document of fathom's: JSON that names one of its schemas.
    Document,
    /// The JSON of smallfile, with fathom's own section.
    Smallfile,
    /// A result of fio: text, terse lines or JSON.
    FioResult,
    /// A log of fio: lines of numbers with commas.
    FioLog,
    /// A list of operations for a replay.
    FioIoLog,
    /// A job file of fio that fathom wrote.
    JobFile,
    /// Times of single operations, as smallfile writes them.
    ResponseTimes,
    /// A table whose first line is this one, and to which lines are only added.
    Table(&'static str),
    /// One address with its port.
    Address,
    /// A text that begins with this line.
    Line(&'static str),
}

impl Mark {
    /// Whether other programs write files with this mark as well.
    pub(crate) fn is_shared(self) -> bool {
        matches!(
            self,
            Mark::FioResult | Mark::FioLog | Mark::FioIoLog | Mark::ResponseTimes | Mark::Address
        )
    }

    /// Whether a file that begins with `head` has the mark. An empty file
    /// holds nothing that could be lost.
    pub(crate) fn is_on(self, head: &[u8]) -> bool {
        let text = String::from_utf8_lossy(head);
        let first = text.lines().next().unwrap_or_default();
        if head.is_empty() {
            return true;
        }
        match self {
            Mark::Page => text.contains("<meta name=\"generator\" content=\"fathom "),
            Mark::Image => {
                let svg = first.starts_with("<svg ");
                let png = head.starts_with(b"\x89PNG");
                svg && first.contains(" data-generator=\"fathom ")
                    || png && text.contains("tEXtSoftware\0fathom ")
            }
            Mark::Document => names_schema(&text),
            Mark::Smallfile => text.trim_start().starts_with('{') && text.contains("\"fathom\""),
            Mark::FioResult => is_fio_result(&text),
            Mark::FioLog => is_log_line(first),
            Mark::FioIoLog => first.starts_with("fio version ") && first.ends_with(" iolog"),
            Mark::JobFile => first.starts_with("# Written by fathom"),
            Mark::ResponseTimes => first.split_once(',').is_some_and(|(word, numbers)| {
                let word = word.trim();
                word.starts_with(|c: char| c.is_ascii_lowercase()) && numbers_only(numbers, 2)
            }),
            Mark::Table(line) | Mark::Line(line) => first == line.trim_end(),
            Mark::Address => {
                text.len() <= ADDRESS_CHARS && text.trim().parse::<std::net::SocketAddr>().is_ok()
            }
        }
    }
}

/// `"schema": "fathom.…"` near the beginning.
fn names_schema(text: &str) -> bool {
    let after = text.split_once("\"schema\"").map(|(_, after)| after);
    let value = after.and_then(|after| after.trim_start().strip_prefix(':'));
    text.trim_start().starts_with('{')
        && value.is_some_and(|value| value.trim_start().starts_with("\"fathom."))
}

fn is_fio_result(text: &str) -> bool {
    let json = text.contains("\"fio version\"");
    let normal = text.contains(": (groupid=") && text.contains("err=");
    let terse = text.lines().next().is_some_and(|line| {
        let mut fields = line.split(';');
        let version = fields.next().is_some_and(|v| v.parse::<u32>().is_ok());
        version && fields.next().is_some_and(|name| name.starts_with("fio-"))
    });
    json || normal || terse
}

/// `msec, value, direction, bytes` and what may follow.
fn is_log_line(line: &str) -> bool {
    numbers_only(line, 3)
}

/// At least so many numbers with commas between them and nothing else.
fn numbers_only(line: &str, least: usize) -> bool {
    let fields = || line.split(',').map(str::trim);
    let is_number = |field: &str| match field.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).is_ok(),
        None => field.parse::<f64>().is_ok_and(f64::is_finite),
    };
    fields().count() >= least && fields().all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fathom_writes_is_recognised_and_other_texts_are_not() {
        let cases: [(Mark, &str, &str); 12] = [
            (
                Mark::Image,
                "<svg xmlns=\"x\" data-generator=\"fathom 0.1.0\">",
                "<svg xmlns=\"x\">",
            ),
            (
                Mark::Page,
                "<!doctype html>\n<meta name=\"generator\" content=\"fathom 0.1.0\">",
                "<!doctype html>\n<title>fathom</title>",
            ),
            (
                Mark::Document,
                "{\n  \"schema\": \"fathom.lab.link/1\"}",
                "{\"schema\": \"other\"}",
            ),
            (
                Mark::Smallfile,
                "{\"params\": 1, \"fathom\": {}}",
                "{\"params\": 1}",
            ),
            (Mark::FioResult, "{\n  \"fio version\" : \"fio-3.36\"", "{}"),
            (
                Mark::FioResult,
                "a: (groupid=0, jobs=1): err= 0: pid=1",
                "thesis",
            ),
            (Mark::FioResult, "3;fio-3.36;a;0;0", "3;4"),
            (Mark::FioLog, "1000, 25, 0, 4096, 0, 0x0000\n", "1, two, 3"),
            (
                Mark::FioIoLog,
                "fio version 3 iolog\n0 a add",
                "fio version",
            ),
            (
                Mark::ResponseTimes,
                "  create,  0.000123,  0.000456\n",
                "create,a,b",
            ),
            (Mark::Table("a,b"), "a,b\n1,2\n", "a,c\n"),
            (Mark::Address, "127.0.0.1:9000\n", "localhost\n"),
        ];
        for (mark, own, other) in cases {
            assert!(mark.is_on(own.as_bytes()), "{mark:?} {own}");
            assert!(!mark.is_on(other.as_bytes()), "{mark:?} {other}");
            assert!(mark.is_on(b""), "{mark:?}");
            assert!(!mark.is_on(b"\xff\xfe\x00binary"), "{mark:?}");
        }
    }
}
