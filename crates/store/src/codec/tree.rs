//! A JSON value as a set of leaves with paths, and back.

use serde_json::{Map, Value};

use super::CodecError;
use super::varint::{Reader, put_bytes, put_u64};
use super::words::WORDS;

/// Deepest nesting, and longest name, that is stored.
const MAX_DEPTH: usize = 16;
const MAX_NAME_BYTES: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Segment {
    Index(usize),
    Name(String),
}

pub(super) type Path = Vec<Segment>;

/// Calls `emit` with every leaf below `value`.
pub(super) fn leaves<'v>(
    value: &'v Value,
    path: &mut Path,
    emit: &mut impl FnMut(&Path, &'v Value) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    match value {
        Value::Array(items) if !items.is_empty() => {
            for (i, item) in items.iter().enumerate() {
                path.push(Segment::Index(i));
                leaves(item, path, emit)?;
                path.pop();
            }
            Ok(())
        }
        Value::Object(fields) if !fields.is_empty() => {
            for (name, field) in fields {
                path.push(Segment::Name(name.clone()));
                leaves(field, path, emit)?;
                path.pop();
            }
            Ok(())
        }
        leaf => emit(path, leaf),
    }
}

pub(super) fn put_path(out: &mut Vec<u8>, path: &Path) -> Result<(), CodecError> {
    if path.len() > MAX_DEPTH {
        return Err(CodecError::Malformed("an observation is nested too deeply"));
    }
    put_u64(out, path.len() as u64);
    for segment in path {
        match segment {
            Segment::Index(index) => put_u64(out, (*index as u64) << 1 | 1),
            Segment::Name(name) => match WORDS.iter().position(|word| word == name) {
                Some(word) => put_u64(out, (word as u64 + 1) << 1),
                None if name.len() > MAX_NAME_BYTES => {
                    return Err(CodecError::Malformed("a name is too long"));
                }
                None => {
                    out.push(0);
                    put_bytes(out, name.as_bytes());
                }
            },
        }
    }
    Ok(())
}

pub(super) fn take_path(reader: &mut Reader<'_>) -> Result<Path, CodecError> {
    let depth = reader.count(MAX_DEPTH)?;
    (0..depth)
        .map(|_| {
            let code = reader.count(usize::MAX)?;
            if code & 1 == 1 {
                return Ok(Segment::Index(code >> 1));
            }
            if code == 0 {
                let name = reader.bytes()?;
                let name = std::str::from_utf8(name)
                    .map_err(|_| CodecError::Malformed("a name is not UTF-8"))?;
                return Ok(Segment::Name(name.to_owned()));
            }
            WORDS
                .get((code >> 1) - 1)
                .map(|word| Segment::Name((*word).to_owned()))
                .ok_or(CodecError::Malformed("an unknown word"))
        })
        .collect()
}

/// Puts a leaf into its place in a tree, which grows on the way.
pub(super) fn insert(tree: &mut Value, path: &[Segment], leaf: Value) -> Result<(), CodecError> {
    const CLASH: CodecError = CodecError::Malformed("a column clashes with another");
    let mut place = tree;
    for segment in path {
        place = match segment {
            Segment::Name(name) => {
                if place.is_null() {
                    *place = Value::Object(Map::new());
                }
                let fields = place.as_object_mut().ok_or(CLASH)?;
                fields.entry(name.clone()).or_insert(Value::Null)
            }
            Segment::Index(index) => {
                if place.is_null() {
                    *place = Value::Array(Vec::new());
                }
                let items = place.as_array_mut().ok_or(CLASH)?;
                if *index == items.len() {
                    items.push(Value::Null);
                }
                items.get_mut(*index).ok_or(CLASH)?
            }
        };
    }
    if !place.is_null() {
        return Err(CLASH);
    }
    *place = leaf;
    Ok(())
}
