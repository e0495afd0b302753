//! Answers of object stores: HTTP/1.1 in pieces, and their XML.
#![no_main]

use fathom_s3::fuzzing::{read_reply, read_xml};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((way, data)) = data.split_first() else {
        return;
    };
    let piece = usize::from(way >> 2) + 1;
    match way % 4 {
        0 => read_reply(data, piece, false),
        1 => read_reply(data, piece, true),
        _ => read_xml(data),
    }
});
