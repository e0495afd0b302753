//! Bytes to a frame; the format is that of [`super::encode`].
//!
//! Kinds and fields go by the names of the header: those that this fathom does
//! not know are passed over, those that the file lacks are absent.

use std::sync::Arc;

use super::varint::{take, take_step};
use super::{Header, KindNames};
use crate::frame::{Frame, Instant, Row};
use crate::kind::{ABSENT, Kind};

/// Longer names, more things or fields are damage.
const MOST_NAME: usize = 8192;
const MOST_THINGS: usize = 1 << 17;
const MOST_FIELDS: usize = 64;
const MOST_KINDS: usize = 256;

// `changed` has a bit for each field.
const _: () = assert!(MOST_FIELDS <= u64::BITS as usize);

/// A kind of the file: what it is here, and where each of its fields belongs.
#[derive(Debug)]
struct KnownKind {
    kind: Option<Kind>,
    places: Vec<Option<usize>>,
}

#[derive(Debug)]
struct Thing {
    kind: usize,
    name: Arc<str>,
    values: Vec<u64>,
}

#[derive(Debug)]
pub(super) struct Decoder {
    kinds: Vec<KnownKind>,
    things: Vec<Thing>,
    last: Instant,
}

impl Decoder {
    /// A decoder of a file with this header; `None` where the header names more
    /// than a recording can hold.
    pub(super) fn new(header: &Header) -> Option<Decoder> {
        let fits = |kind: &KindNames| kind.fields.len() <= MOST_FIELDS;
        if header.kinds.len() > MOST_KINDS || !header.kinds.iter().all(fits) {
            return None;
        }
        let kinds = header.kinds.iter().map(|names| {
            let kind = Kind::of_name(&names.name);
            let place = |name: &str| kind?.fields().iter().position(|field| field.name == name);
            KnownKind {
                kind,
                places: names
                    .fields
                    .iter()
                    .map(|field| place(&field.name))
                    .collect(),
            }
        });
        Some(Decoder {
            kinds: kinds.collect(),
            things: Vec::new(),
            last: Instant::default(),
        })
    }

    /// Forgets what was seen, before a key frame.
    pub(super) fn restart(&mut self) {
        self.things.clear();
        self.last = Instant::default();
    }

    /// The frame in a payload; `None` when it is none.
    pub(super) fn decode(&mut self, mut bytes: &[u8]) -> Option<Frame> {
        let bytes = &mut bytes;
        let unix_ms = take_step(bytes, self.last.unix_ms as u64)? as i64;
        let monotonic_ns = take_step(bytes, self.last.monotonic_ns)?;
        self.last = Instant {
            unix_ms,
            monotonic_ns,
        };
        let count = take(bytes)?;
        // Each row takes two bytes at least.
        if count > bytes.len() as u64 / 2 || count > MOST_THINGS as u64 {
            return None;
        }
        let mut rows = Vec::with_capacity(count as usize);
        let mut next = 0;
        for _ in 0..count {
            let place = match take(bytes)? {
                0 => self.name_thing(bytes)?,
                1 => next,
                place => usize::try_from(place - 2).ok()?,
            };
            next = place + 1;
            let thing = self.things.get_mut(place)?;
            let changed = take(bytes)?;
            for (bit, value) in thing.values.iter_mut().enumerate() {
                if changed >> bit & 1 == 1 {
                    *value = take_step(bytes, *value)?;
                }
            }
            rows.extend(row(&self.kinds[thing.kind], thing));
        }
        bytes.is_empty().then_some(Frame {
            at: self.last,
            rows,
        })
    }

    /// Takes the kind and name of a thing that is seen first.
    fn name_thing(&mut self, bytes: &mut &[u8]) -> Option<usize> {
        let kind = usize::try_from(take(bytes)?).ok()?;
        let fields = self.kinds.get(kind)?.places.len();
        let length = usize::try_from(take(bytes)?).ok()?;
        if length > MOST_NAME || self.things.len() >= MOST_THINGS {
            return None;
        }
        let (name, rest) = bytes.split_at_checked(length)?;
        *bytes = rest;
        self.things.push(Thing {
            kind,
            name: std::str::from_utf8(name).ok()?.into(),
            values: vec![0; fields],
        });
        Some(self.things.len() - 1)
    }
}

fn row(known: &KnownKind, thing: &Thing) -> Option<Row> {
    let kind = known.kind?;
    let mut values = vec![ABSENT; kind.fields().len()];
    for (place, value) in known.places.iter().zip(&thing.values) {
        if let Some(place) = place {
            values[*place] = *value;
        }
    }
    Some(Row {
        kind,
        name: Arc::clone(&thing.name),
        values,
    })
}
