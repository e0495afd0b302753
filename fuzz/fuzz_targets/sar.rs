//! Recordings of sysstat: what sar prints, and the JSON of sadf: read and diagnosed.
#![no_main]

use fathom_compat::recordings;
use fathom_diagnose::{Ceiling, diagnose};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(recording) = recordings::read(text) else {
        return;
    };
    let found = diagnose(&recording, |_| None);
    assert!(!found.evidence.is_empty() && found.evidence.len() <= 3);
    // As a test load of itself.
    let _ = diagnose(&recording, |disk| Ceiling::of_test(&recording, disk));
});
