//! Recordings of fathom: whole files, and blocks whose checksum is right, turned
//! into moments and diagnosed.
#![no_main]

use std::io::Cursor;
use std::path::PathBuf;

use fathom_diagnose::diagnose;
use fathom_diagnose::recording::Recording;
use fathom_recorder::format::{Header, fuzzed_block};
use fathom_recorder::{
    HostFacts, Moments, RecordingReader, joined, joined_readings, recorded_host,
};
use libfuzzer_sys::fuzz_target;

/// More frames tell nothing new.
const MOST_FRAMES: usize = 64;

fuzz_target!(|data: &[u8]| {
    let Some((kind, data)) = data.split_first() else {
        return;
    };
    let file = match kind % 2 {
        0 => data.to_vec(),
        _ => blocks(data),
    };
    joined_parts(&file);
    let Ok(mut reader) = RecordingReader::new(Cursor::new(file)) else {
        return;
    };
    let mut moments = Moments::new(reader.header().interval_ns);
    let mut recording = Recording {
        host: recorded_host(&reader.header().host),
        ..Recording::default()
    };
    for frame in reader.by_ref().take(MOST_FRAMES) {
        recording.moments.extend(moments.advance(&frame));
    }
    let found = diagnose(&recording, |_| None);
    assert!(!found.evidence.is_empty() && found.evidence.len() <= 3);
});

/// As a file in memory: by the readers that join the parts of a recording.
fn joined_parts(file: &[u8]) {
    let path = PathBuf::from(format!("/dev/shm/fathom-fuzz-{}.frec", std::process::id()));
    if std::fs::write(&path, file).is_ok() {
        let parts = [path];
        let _ = joined(&parts);
        let _ = joined_readings(&parts);
        let _ = std::fs::remove_file(&parts[0]);
    }
}

/// A header, and blocks whose kinds and lengths are in the data.
fn blocks(mut data: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let header = Header::new(HostFacts::default(), 1_000_000_000);
    let json = serde_json::to_vec(&header);
    fuzzed_block(0, &json.unwrap_or_default(), &mut file);
    while let [kind, low, high, rest @ ..] = data {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (raw, rest) = rest.split_at(length);
        fuzzed_block(kind % 4, raw, &mut file);
        data = rest;
    }
    file
}
