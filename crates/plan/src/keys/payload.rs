//! The keys of what is written: `payload` of a workload.

use crate::keys::groups::CONTENT;
use crate::section::section;
use crate::value::{ContentValue, Percent};

section! {
    /// What is written.
    PayloadKeys, "payload" {
        /// Content: random (incompressible, unique), zeros, 0xdeadbeef or text:abc over and over,
        /// or parts as "abc"0xdead-12%o, where %o is the offset of the block. Zeros flatter
        /// drives and file systems that leave them out.
        [CONTENT; default "random"; example "random"; alias "buffer_pattern"]
        content: ContentValue,
        /// Share of each 4 KiB that compresses away, percent.
        [CONTENT; default "0"; example "50"; alias "buffer_compress_percentage"]
        compress: Percent,
        /// Share of blocks that repeat an earlier one, percent.
        [CONTENT; default "0"; example "30"; alias "dedupe_percentage"]
        duplicates: Percent,
    }
}
