//! Observations as columns that carry their own names.
//!
//! What a host can tell grows with every kernel and with fathom itself, so the
//! format does not know the fields: an observation is taken apart into its
//! leaves (`devices` 0 `reads`), and each leaf is a column over the rows. A
//! field that an old blob lacks is read as `None`; a field that this build
//! does not know is passed over.
//!
//! ```text
//! columns           how many (varint)
//! each column:
//!   path            length, then segments (an index, a word's number, a text)
//!   types           runs of (type, rows) until all rows are covered
//!   integers        differences; the type tells the sign
//!   floats          differences of their bits
//!   texts           0 for the one before again, else length + 1 and UTF-8
//! ```

use std::collections::HashMap;

use fathom_model::Observation;
use serde_json::{Map, Value};

use super::tree::{Path, Segment, insert, leaves, put_path, take_path};
use super::varint::{Reader, put_column, put_u64};
use super::{Budget, CodecError};

/// Memory of one decoded leaf, with its share of the tree around it.
const CELL_BYTES: usize = 160;

const ABSENT: u8 = 0;
const NULL: u8 = 1;
const FALSE: u8 = 2;
const TRUE: u8 = 3;
const POSITIVE: u8 = 4;
const NEGATIVE: u8 = 5;
const FLOAT: u8 = 6;
const TEXT: u8 = 7;
const EMPTY_LIST: u8 = 8;
const EMPTY_MAP: u8 = 9;

/// One leaf over all rows: its type in each row, and the values that have one.
struct Column {
    path: Path,
    types: Vec<u8>,
    integers: Vec<u64>,
    floats: Vec<u64>,
    texts: Vec<String>,
}

impl Column {
    fn new(path: Path) -> Column {
        Column {
            path,
            types: Vec::new(),
            integers: Vec::new(),
            floats: Vec::new(),
            texts: Vec::new(),
        }
    }

    fn push(&mut self, row: usize, leaf: &Value) {
        // Resizing to fewer would cut rows off and shift those behind them.
        debug_assert!(
            self.types.len() <= row,
            "a leaf twice in row {row} of {:?}",
            self.path
        );
        self.types.resize(row, ABSENT);
        let kind = match leaf {
            Value::Null => NULL,
            Value::Bool(false) => FALSE,
            Value::Bool(true) => TRUE,
            Value::Array(_) => EMPTY_LIST,
            Value::Object(_) => EMPTY_MAP,
            Value::String(text) => {
                self.texts.push(text.clone());
                TEXT
            }
            Value::Number(number) => {
                if let Some(value) = number.as_u64() {
                    self.integers.push(value);
                    POSITIVE
                } else if let Some(value) = number.as_i64() {
                    self.integers.push(value as u64);
                    NEGATIVE
                } else {
                    self.floats.push(number.as_f64().unwrap_or(0.0).to_bits());
                    FLOAT
                }
            }
        };
        self.types.push(kind);
    }
}

/// What a leaf costs when it is decoded.
fn charge(budget: &mut Budget, path: &Path, text: Option<&str>) -> Result<(), CodecError> {
    let names: usize = path
        .iter()
        .map(|segment| match segment {
            Segment::Index(_) => 0,
            Segment::Name(name) => name.len(),
        })
        .sum();
    budget.charge(CELL_BYTES + names + text.map_or(0, str::len))
}

pub(super) fn put(
    out: &mut Vec<u8>,
    observations: &[Observation],
    budget: &mut Budget,
) -> Result<(), CodecError> {
    if observations.is_empty() {
        return Ok(());
    }
    let mut columns: Vec<Column> = Vec::new();
    let mut known: HashMap<Path, usize> = HashMap::new();
    for (row, observation) in observations.iter().enumerate() {
        let value = serde_json::to_value(observation)
            .map_err(|_| CodecError::Malformed("an observation has no JSON form"))?;
        leaves(&value, &mut Vec::new(), &mut |path, leaf| {
            charge(budget, path, leaf.as_str())?;
            let column = match known.get(path) {
                Some(column) => *column,
                None => {
                    columns.push(Column::new(path.clone()));
                    known.insert(path.clone(), columns.len() - 1);
                    columns.len() - 1
                }
            };
            columns[column].push(row, leaf);
            Ok(())
        })?;
    }
    put_u64(out, columns.len() as u64);
    for mut column in columns {
        debug_assert!(column.types.len() <= observations.len());
        column.types.resize(observations.len(), ABSENT);
        put_column_of_leaves(out, &column)?;
    }
    Ok(())
}

fn put_column_of_leaves(out: &mut Vec<u8>, column: &Column) -> Result<(), CodecError> {
    put_path(out, &column.path)?;
    for run in column.types.chunk_by(|a, b| a == b) {
        out.push(run[0]);
        put_u64(out, run.len() as u64);
    }
    put_column(out, column.integers.iter().copied());
    put_column(out, column.floats.iter().copied());
    let mut previous = None;
    for text in &column.texts {
        if previous == Some(text) {
            out.push(0);
        } else {
            put_u64(out, text.len() as u64 + 1);
            out.extend_from_slice(text.as_bytes());
            previous = Some(text);
        }
    }
    Ok(())
}

pub(super) fn take(
    reader: &mut Reader<'_>,
    count: usize,
    budget: &mut Budget,
) -> Result<Vec<Observation>, CodecError> {
    if count == 0 {
        return Ok(Vec::new());
    }
    budget.charge(count.saturating_mul(CELL_BYTES))?;
    let mut rows = vec![Value::Object(Map::new()); count];
    // A column takes at least two bytes.
    for _ in 0..reader.count(reader.remaining())? {
        take_column(reader, &mut rows, budget)?;
    }
    rows.into_iter()
        .map(|row| {
            serde_json::from_value(row)
                .map_err(|_| CodecError::Malformed("a field of an observation"))
        })
        .collect()
}

/// Reads one column into the rows.
fn take_column(
    reader: &mut Reader<'_>,
    rows: &mut [Value],
    budget: &mut Budget,
) -> Result<(), CodecError> {
    let path = take_path(reader)?;
    let mut types = Vec::with_capacity(rows.len());
    while types.len() < rows.len() {
        let kind = reader.byte()?;
        let run = reader.count(rows.len() - types.len())?;
        if kind > EMPTY_MAP || run == 0 {
            return Err(CodecError::Malformed("the types of a column"));
        }
        types.resize(types.len() + run, kind);
    }
    let of = |wanted: &[u8]| types.iter().filter(|kind| wanted.contains(kind)).count();
    let mut integers = reader.column(of(&[POSITIVE, NEGATIVE]))?.into_iter();
    let mut floats = reader.column(of(&[FLOAT]))?.into_iter();
    let mut text = "";
    for (row, kind) in rows.iter_mut().zip(types) {
        let leaf = match kind {
            ABSENT => continue,
            NULL => Value::Null,
            FALSE => Value::Bool(false),
            TRUE => Value::Bool(true),
            POSITIVE => Value::from(integers.next().unwrap_or(0)),
            NEGATIVE => Value::from(integers.next().unwrap_or(0) as i64),
            FLOAT => Value::from(f64::from_bits(floats.next().unwrap_or(0))),
            EMPTY_LIST => Value::Array(Vec::new()),
            EMPTY_MAP => Value::Object(Map::new()),
            _ => {
                text = take_text(reader, text)?;
                Value::from(text)
            }
        };
        charge(budget, &path, leaf.as_str())?;
        insert(row, &path, leaf)?;
    }
    Ok(())
}

fn take_text<'a>(reader: &mut Reader<'a>, previous: &'a str) -> Result<&'a str, CodecError> {
    match reader.count(usize::MAX)? {
        0 => Ok(previous),
        length => std::str::from_utf8(reader.take(length - 1)?)
            .map_err(|_| CodecError::Malformed("a text is not UTF-8")),
    }
}
