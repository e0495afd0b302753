//! A drive's description in a file: TOML with `model`, `seed` and parameters.

use std::ops::Range;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::description::Described;
use super::error::{DescriptionError, Error};

/// Largest file that is read; a description has some hundred bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Reads a description from a file.
pub(super) fn read(path: &Path) -> Result<Described, Error> {
    let unreadable = |source| Error::Unreadable {
        path: path.to_owned(),
        source,
    };
    let length = std::fs::metadata(path).map_err(unreadable)?.len();
    if length > FILE_BYTES_MAX {
        return Err(Error::TooLarge {
            path: path.to_owned(),
            bytes: length,
            most_bytes: FILE_BYTES_MAX,
        });
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    parse(&text, path)
}

/// Reads a description; `path` is for the errors.
pub(super) fn parse(text: &str, path: &Path) -> Result<Described, Error> {
    let at = |span: Range<usize>, fault: DescriptionError| {
        let (line, column) = place(text, span.start);
        Error::InFile {
            path: path.to_owned(),
            line,
            column,
            fault,
        }
    };
    let table = DeTable::parse(text).map_err(|error| {
        let words = error.message().trim().to_owned();
        at(
            error.span().unwrap_or(0..0),
            DescriptionError::Syntax(words),
        )
    })?;
    let table = table.get_ref();
    let Some((_, model)) = table.iter().find(|(key, _)| key.get_ref() == "model") else {
        return Err(at(0..0, DescriptionError::NoModel));
    };
    let DeValue::String(name) = model.get_ref() else {
        return Err(at(model.span(), DescriptionError::ModelType));
    };
    let mut described = Described::new(name).map_err(|fault| at(model.span(), fault))?;
    for (key, value) in table {
        if key.get_ref() == "model" {
            continue;
        }
        let name = key.get_ref();
        let given = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
            DeValue::Float(number) => number.as_str().to_owned(),
            DeValue::Boolean(on) => u8::from(*on).to_string(),
            _ => {
                return Err(at(
                    value.span(),
                    DescriptionError::ValueType(name.to_string()),
                ));
            }
        };
        // A name that does not exist is at fault itself, a bad value is.
        let known = described.knows(name);
        let span = if known { value.span() } else { key.span() };
        described
            .set(name, &given)
            .map_err(|fault| at(span, fault))?;
    }
    Ok(described)
}

/// Line and column of a byte, both from 1; the column counts characters.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before[start..].chars().count() + 1)
}
