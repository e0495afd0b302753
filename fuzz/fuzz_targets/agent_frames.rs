//! Messages between coordinator and agents, from strangers and from known hosts.
#![no_main]

use fathom_fleet::fuzzing::read_frames;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((trusted, data)) = data.split_first() else {
        return;
    };
    match trusted % 4 {
        // As it comes, and as one message of the right length.
        0 => read_frames(data, false),
        1 => read_frames(data, true),
        _ => {
            let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
            let mut framed = length.to_be_bytes().to_vec();
            framed.extend_from_slice(data);
            read_frames(&framed, trusted % 2 == 1);
        }
    }
});
