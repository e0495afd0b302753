//! Answers of object stores: HTTP/1.1 in pieces, HTTP/2, and their XML.
#![no_main]

use fathom_s3::fuzzing::{read_http2, read_reply, read_xml};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((way, data)) = data.split_first() else {
        return;
    };
    let piece = usize::from(way >> 2) + 1;
    match way % 4 {
        0 => read_reply(data, piece, false),
        1 => read_reply(data, piece, true),
        2 => read_http2(data, 97 * piece),
        _ => read_xml(data),
    }
});
