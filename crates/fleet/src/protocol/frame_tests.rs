//! Messages of every kind of length and content.

use proptest::prelude::*;

use super::*;
use crate::protocol::wire::{FromAgent, Greeting, ToAgent};

fn reader(bytes: Vec<u8>) -> FrameReader {
    FrameReader::new(Box::new(io::Cursor::new(bytes)))
}

fn frame(body: &[u8]) -> Vec<u8> {
    let mut frame = (body.len() as u32).to_be_bytes().to_vec();
    frame.extend_from_slice(body);
    frame
}

proptest! {
    #[test]
    fn any_bytes_give_a_message_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let framed = reader(frame(&bytes)).next::<ToAgent>();
        prop_assert!(framed.is_err() || !bytes.is_empty());
        let _ = reader(bytes).next::<FromAgent>();
    }

    #[test]
    fn a_mangled_message_is_no_disaster(at in 0usize..200, byte in any::<u8>()) {
        let mut whole = framed(&ToAgent::Begin(crate::protocol::wire::RemoteSettings {
            run: "run".to_owned(),
            place: 0,
            file_prefix: "fathom-test".to_owned(),
            destructive: false,
            keep_files: false,
            ceiling_ns: 9,
        })).unwrap();
        let at = at % whole.len();
        whole[at] = byte;
        // Whatever comes of it, it is one of the errors or a message.
        match reader(whole).next::<ToAgent>() {
            Ok(message) => prop_assert!(matches!(message, ToAgent::Begin(_))),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
fn a_length_is_only_a_claim() {
    // 64 KiB from a stranger, not 4 GiB.
    let mut bytes = u32::MAX.to_be_bytes().to_vec();
    bytes.extend_from_slice(b"{}");
    let error = reader(bytes).next::<Greeting>().unwrap_err();
    assert!(matches!(error, FrameError::TooLong { .. }), "{error}");
    // Announced and never sent.
    let mut cut = (1u32 << 20).to_be_bytes().to_vec();
    cut.extend_from_slice(b"{}");
    let mut reader = reader(cut);
    reader.trust();
    assert!(matches!(reader.next::<Greeting>(), Err(FrameError::Closed)));
}

#[test]
fn deep_nesting_is_refused() {
    let deep = [vec![b'['; 20_000], vec![b']'; 20_000]].concat();
    let error = reader(frame(&deep)).next::<ToAgent>().unwrap_err();
    assert!(matches!(error, FrameError::Malformed(_)), "{error}");
}

#[test]
fn another_version_is_named() {
    let mut greeting = Greeting::agent();
    greeting.check("agent").unwrap();
    assert!(greeting.check("coordinator").is_err());
    greeting.protocol += 1;
    greeting.version = "9.9\u{1b}[31m".to_owned();
    let error = greeting.check("agent").unwrap_err().to_string();
    assert!(error.contains("fathom 9.9[31m)"), "{error}");
    assert!(error.contains("same version"), "{error}");
}
