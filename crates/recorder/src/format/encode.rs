//! A frame to bytes: each row as what changed since the thing was last seen.
//!
//! ```text
//! frame = unix_ms monotonic_ns rows row*
//! row   = 0 kind name_length name  changed value*      a thing seen first
//!       | 1 changed step*                              the thing after the last row's
//!       | 2+place changed step*                        the thing of that place
//! ```
//!
//! `changed` has a bit for each field. Times and values are steps from the
//! frame before, except in a key frame, where they are steps from 0.

use std::collections::HashMap;
use std::sync::Arc;

use super::varint::{put, put_step};
use crate::frame::{Frame, Instant};
use crate::kind::Kind;

/// Key frames come after so many frames.
const KEY_FRAMES: u32 = 60;
/// Or when so many things were named since the last one.
const MOST_THINGS: usize = 8192;

#[derive(Debug, Default)]
pub(super) struct Encoder {
    places: HashMap<(Kind, Arc<str>), usize>,
    values: Vec<Vec<u64>>,
    last: Instant,
    since_key: u32,
}

impl Encoder {
    /// Appends the frame to `out` and says whether it is a key frame.
    pub(super) fn encode(&mut self, frame: &Frame, out: &mut Vec<u8>) -> bool {
        let key = self.since_key == 0 || self.values.len() > MOST_THINGS;
        if key {
            self.places.clear();
            self.values.clear();
            self.last = Instant::default();
            self.since_key = 0;
        }
        self.since_key = (self.since_key + 1) % KEY_FRAMES;
        put_step(out, frame.at.unix_ms as u64, self.last.unix_ms as u64);
        put_step(out, frame.at.monotonic_ns, self.last.monotonic_ns);
        self.last = frame.at;
        put(out, frame.rows.len() as u64);
        let mut next = 0;
        for row in &frame.rows {
            let place = match self.places.get(&(row.kind, Arc::clone(&row.name))) {
                Some(&place) => {
                    put(out, if place == next { 1 } else { place as u64 + 2 });
                    place
                }
                None => {
                    let place = self.values.len();
                    put(out, 0);
                    put(out, row.kind as u64);
                    put(out, row.name.len() as u64);
                    out.extend_from_slice(row.name.as_bytes());
                    self.places.insert((row.kind, Arc::clone(&row.name)), place);
                    self.values.push(vec![0; row.values.len()]);
                    place
                }
            };
            put_row(out, &row.values, &mut self.values[place]);
            next = place + 1;
        }
        key
    }
}

fn put_row(out: &mut Vec<u8>, now: &[u64], last: &mut Vec<u64>) {
    // A bit for each field: one more would be written over another's.
    assert!(now.len() <= 64, "{} values in a row", now.len());
    last.resize(now.len(), 0);
    let changed = now.iter().zip(last.iter()).enumerate();
    let changed = changed.fold(0_u64, |bits, (place, (now, last))| {
        bits | u64::from(now != last) << place
    });
    put(out, changed);
    for (now, last) in now.iter().zip(last.iter_mut()) {
        if now != last {
            put_step(out, *now, *last);
            *last = *now;
        }
    }
}
