//! Frames come back as they were, from whole, torn and damaged files.

use std::io::Cursor;

use proptest::prelude::*;

use super::reader::{ReadError, RecordingReader};
use super::writer::RecordingWriter;
use super::*;
use crate::frame::{Frame, Instant, Row};
use crate::kind::ABSENT;

fn header() -> Header {
    let host = HostFacts {
        name: "db1".to_owned(),
        kernel: "6.1".to_owned(),
        cpus: 4,
        tick_hz: 100,
        booted_unix_s: None,
    };
    Header::new(host, 1_000_000_000)
}

fn frame(second: u64, disks: u64) -> Frame {
    let row = |number: u64| {
        let kind = Kind::Disk;
        let mut row = Row::absent(kind, format!("sd{number}").into());
        for (place, value) in row.values.iter_mut().enumerate().take(11) {
            *value = (second + 1) * (place as u64 + 3) * (number + 7);
        }
        row
    };
    let at = Instant {
        unix_ms: 1_700_000_000_000 + second as i64 * 1000,
        monotonic_ns: 77 + second * 1_000_000_000,
    };
    Frame {
        at,
        rows: (0..disks).map(row).collect(),
    }
}

fn written(frames: &[Frame], finish: bool) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.frec");
    let mut writer = RecordingWriter::create(&path, &header()).unwrap();
    for frame in frames {
        writer.append(frame).unwrap();
    }
    let bytes = writer.bytes();
    if finish {
        writer.finish().unwrap();
    } else {
        assert_eq!(bytes, std::fs::metadata(&path).unwrap().len());
    }
    std::fs::read(&path).unwrap()
}

fn read(bytes: Vec<u8>) -> (Vec<Frame>, u32, bool) {
    let mut reader = RecordingReader::new(Cursor::new(bytes)).unwrap();
    assert_eq!(reader.header(), &header());
    let frames = reader.by_ref().collect();
    (frames, reader.damaged(), reader.finished())
}

#[test]
fn what_is_written_is_read_again() {
    // Things come, go, and come back; a key frame lies between.
    let frames: Vec<Frame> = (0..150).map(|s| frame(s, 1 + s % 5)).collect();
    assert_eq!(read(written(&frames, true)), (frames.clone(), 0, true));
    assert_eq!(read(written(&frames, false)), (frames, 0, false));
}

#[test]
fn a_torn_end_costs_the_last_frame_only() {
    let frames: Vec<Frame> = (0..10).map(|s| frame(s, 3)).collect();
    let whole = written(&frames, false);
    let nine = written(&frames[..9], false).len();
    for length in nine..whole.len() {
        let (found, damaged, finished) = read(whole[..length].to_vec());
        assert_eq!(found, frames[..9], "{length} bytes");
        assert_eq!((damaged, finished), (u32::from(length > nine), false));
    }
}

#[test]
fn after_damage_reading_goes_on_at_the_next_key_frame() {
    let frames: Vec<Frame> = (0..130).map(|s| frame(s, 3)).collect();
    let mut bytes = written(&frames, true);
    let place = written(&frames[..30], false).len() + 40;
    bytes[place] ^= 0x10;
    let (found, damaged, finished) = read(bytes);
    assert_eq!((damaged, finished), (1, true));
    assert_eq!(found.len(), 30 + 70);
    assert_eq!(found[..30], frames[..30]);
    assert_eq!(found[30..], frames[60..]);
}

#[test]
fn fields_go_by_their_names() {
    let mut other = header();
    // Another fathom knows a kind more, and one field less.
    let disk = &mut other.kinds[Kind::Disk as usize];
    disk.name = "aquarium".to_owned();
    let cpu = &mut other.kinds[Kind::Cpu as usize];
    cpu.fields.remove(0);
    let mut encoder = encode::Encoder::default();
    let rows = vec![
        Row {
            kind: Kind::Disk,
            name: "sda".into(),
            values: vec![9; Kind::Disk.fields().len()],
        },
        Row {
            kind: Kind::Cpu,
            name: "all".into(),
            values: vec![1, 2, 3, 4, 5, 6, 7],
        },
    ];
    let sent = Frame {
        at: Instant::default(),
        rows,
    };
    let mut payload = Vec::new();
    encoder.encode(&sent, &mut payload);
    let mut decoder = decode::Decoder::new(&other).unwrap();
    let found = decoder.decode(&payload).unwrap();
    assert_eq!(found.rows.len(), 1);
    assert_eq!(found.rows[0].values, [ABSENT, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn other_files_are_refused_in_words() {
    let refused = |bytes: &[u8]| {
        let reader = RecordingReader::new(Cursor::new(bytes.to_vec()));
        reader.err().unwrap().to_string()
    };
    assert!(refused(b"").contains("not a recording of fathom"));
    assert!(refused(b"{\"sysstat\": {}}").contains("not a recording of fathom"));
    let mut bytes = Vec::new();
    block(HEADER, br#"{"format":"fathom.recording/9"}"#, &mut bytes);
    assert!(refused(&bytes).contains("fathom.recording/9"));
}

#[test]
fn a_new_recording_never_replaces_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.frec");
    std::fs::write(&path, "precious").unwrap();
    assert!(RecordingWriter::create(&path, &header()).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_values_come_back(
        values in prop::collection::vec(prop::collection::vec(any::<u64>(), Kind::Disk.fields().len()), 1..40)
    ) {
        let frames: Vec<Frame> = values.iter().enumerate().map(|(second, values)| {
            let mut frame = frame(second as u64, 1);
            frame.rows[0].values.clone_from(values);
            frame
        }).collect();
        prop_assert_eq!(read(written(&frames, true)).0, frames);
    }

    #[test]
    fn damaged_files_are_read_without_panic_and_without_invention(
        count in 1_u64..80,
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let frames: Vec<Frame> = (0..count).map(|s| frame(s, 2)).collect();
        let mut bytes = written(&frames, true);
        let first = written(&[], false).len();
        for (place, byte) in places {
            let place = first + place.index(bytes.len() - first);
            bytes[place] = byte;
        }
        bytes.truncate(first + cut.index(bytes.len() - first));
        for found in read(bytes).0 {
            prop_assert!(frames.contains(&found));
        }
    }

    #[test]
    fn any_payload_with_a_right_checksum_is_bounded(
        payloads in prop::collection::vec((0_u8..6, prop::collection::vec(any::<u8>(), 0..200)), 0..20)
    ) {
        let mut bytes = written(&[frame(0, 1)], false);
        for (kind, payload) in &payloads {
            block(*kind, payload, &mut bytes);
        }
        let (found, _, _) = read(bytes);
        prop_assert!(found.len() <= 1 + payloads.len());
        prop_assert!(found.iter().map(|f| f.rows.len()).sum::<usize>() < 4_000);
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let reader = RecordingReader::new(Cursor::new(bytes));
        if let Ok(reader) = reader {
            prop_assert!(reader.count() < 400);
        }
    }
}

/// Bytes, and then a mount that no longer answers.
struct Silenced(Cursor<Vec<u8>>);

impl std::io::Read for Silenced {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(std::io::ErrorKind::TimedOut.into()),
            read => Ok(read),
        }
    }
}

#[test]
fn what_cannot_be_read_any_more_is_no_damage_and_no_end() {
    let frames: Vec<Frame> = (0..10).map(|s| frame(s, 3)).collect();
    let mut bytes = written(&frames, true);
    bytes.truncate(written(&frames[..9], false).len() + 5);
    let mut reader = RecordingReader::new(Silenced(Cursor::new(bytes))).unwrap();
    let found: Vec<Frame> = reader.by_ref().collect();
    assert_eq!(found, frames[..9]);
    assert_eq!((reader.damaged(), reader.finished()), (0, false));
    let failure = reader.take_failure().unwrap();
    assert_eq!(failure.kind(), std::io::ErrorKind::TimedOut);
    // At its beginning it is not called another kind of file.
    let nothing = RecordingReader::new(Silenced(Cursor::new(Vec::new())));
    assert!(matches!(nothing.err(), Some(ReadError::Io(_))));
}
