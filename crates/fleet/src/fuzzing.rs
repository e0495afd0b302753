//! What the fuzz targets reach of the link between coordinator and agents.

use std::io::Cursor;

use serde::de::DeserializeOwned;

use crate::launchers::call_back::{Call, CallBackAnswer};
use crate::protocol::frame::FrameReader;
use crate::protocol::wire::{FromAgent, Greeting, ToAgent};

/// Messages that are read of one stream at most.
const MOST: usize = 16;

/// Reads a stream of frames as each side would, from a stranger and from one that
/// was recognised.
pub fn read_frames(bytes: &[u8], trusted: bool) {
    read::<Greeting>(bytes, trusted, |greeting| {
        let _ = greeting.check("agent");
    });
    read::<FromAgent>(bytes, trusted, |_| {});
    read::<ToAgent>(bytes, trusted, |_| {});
    read::<Call>(bytes, trusted, |_| {});
    read::<CallBackAnswer>(bytes, trusted, |_| {});
}

fn read<T: DeserializeOwned>(bytes: &[u8], trusted: bool, mut with: impl FnMut(T)) {
    let mut reader = FrameReader::new(Box::new(Cursor::new(bytes.to_vec())));
    if trusted {
        reader.trust();
    }
    for _ in 0..MOST {
        match reader.next::<T>() {
            Ok(message) => with(message),
            Err(_) => break,
        }
    }
}
