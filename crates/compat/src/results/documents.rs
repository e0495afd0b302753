//! JSON documents in a text that may hold other things as well.
//!
//! fio writes messages and JSON to the same stream: a file can begin with
//! notes and errors, have lines of them inside, hold one document per status
//! interval, or break off when the disk was full or fio was killed.

use serde_json::Value;

use super::error::ResultError;

/// Documents of a file at most.
const MOST_DOCUMENTS: usize = 10_000;
/// Messages kept.
const MOST_MESSAGES: usize = 20;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    pub(crate) values: Vec<Value>,
    /// Lines beside the documents.
    pub(crate) messages: Vec<String>,
    pub(crate) text_bytes: usize,
    pub(crate) damage: Vec<String>,
}

impl Documents {
    /// The schema of a document that fathom itself wrote.
    pub(crate) fn own_schema(&self) -> Option<String> {
        let schema = self.values.first()?.get("schema")?.as_str()?;
        schema.starts_with("fathom.").then(|| schema.to_owned())
    }

    fn note(&mut self, text: &str) {
        let lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
        for line in lines {
            self.text_bytes += line.len();
            if self.messages.len() < MOST_MESSAGES {
                self.messages.push(line.chars().take(300).collect());
            }
        }
    }
}

/// Every JSON object of the text.
pub(crate) fn read(text: &str) -> Result<Documents, ResultError> {
    let mut found = Documents::default();
    let mut at = 0;
    while found.values.len() < MOST_DOCUMENTS {
        let Some(start) = next_object(text, at) else {
            break;
        };
        found.note(&text[at..start]);
        let rest = &text[start..];
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                at = start + stream.byte_offset();
                found.values.push(value);
            }
            Some(Err(error)) => {
                repair(rest, &error, &mut found)?;
                return Ok(found);
            }
            None => break,
        }
    }
    found.note(&text[at.min(text.len())..]);
    match found.values.is_empty() {
        true => Err(ResultError::Unknown(first_words(text))),
        false => Ok(found),
    }
}

/// The next brace that opens a line.
fn next_object(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    for line in text.get(from..)?.split_inclusive('\n') {
        let blank = line.len() - line.trim_start().len();
        if line[blank..].starts_with('{') {
            return Some(at + blank);
        }
        at += line.len();
    }
    None
}

/// What can still be had from a document that does not parse.
fn repair(rest: &str, error: &serde_json::Error, found: &mut Documents) -> Result<(), ResultError> {
    // Messages between the lines of the document.
    let is_message = |line: &&str| line.starts_with("fio: ") || line.starts_with("fio ");
    if rest.lines().any(|line| is_message(&line)) {
        let (messages, lines): (Vec<&str>, Vec<&str>) = rest.lines().partition(is_message);
        let cleaned = lines.join("\n");
        found.note(&messages.join("\n"));
        let mut stream = serde_json::Deserializer::from_str(&cleaned).into_iter::<Value>();
        if let Some(Ok(value)) = stream.next() {
            found.values.push(value);
            return Ok(());
        }
    }
    if !error.is_eof() {
        let whole = !found.values.is_empty();
        let reason = error.to_string();
        found
            .damage
            .push(format!("a part of the file cannot be read: {reason}"));
        return if whole {
            Ok(())
        } else {
            Err(ResultError::Json(reason))
        };
    }
    match last_complete_job(rest) {
        Some(end) => {
            let mended = format!("{}]}}", &rest[..end]);
            let value: Value = serde_json::from_str(&mended)
                .map_err(|error| ResultError::Json(error.to_string()))?;
            found.values.push(value);
            found.damage.push(format!(
                "the file breaks off after {} bytes; only jobs that are complete were read",
                rest.len()
            ));
            Ok(())
        }
        None if !found.values.is_empty() => {
            found
                .damage
                .push("the last document of the file breaks off and was left out".to_owned());
            Ok(())
        }
        None => Err(ResultError::Truncated(rest.len())),
    }
}

/// Byte after the last complete object in the first list of the document
/// (its jobs).
fn last_complete_job(text: &str) -> Option<usize> {
    let mut stack: Vec<u8> = Vec::new();
    let mut inside_text = false;
    let mut escaped = false;
    let mut end = None;
    for (at, byte) in text.bytes().enumerate() {
        if inside_text {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => inside_text = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => inside_text = true,
            b'{' | b'[' => stack.push(byte),
            b'}' | b']' => {
                stack.pop()?;
                match stack.as_slice() {
                    b"{[" if byte == b'}' => end = Some(at + 1),
                    // The jobs are over; what follows lies outside of them.
                    b"{" if byte == b']' && end.is_some() => return end,
                    _ => {}
                }
            }
            _ => {}
        }
    }
    end
}

fn first_words(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|l| !l.is_empty());
    let words: String = line.unwrap_or("").chars().take(60).collect();
    format!("text that begins with '{}'", words.escape_debug())
}
