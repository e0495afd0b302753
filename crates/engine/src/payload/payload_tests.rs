use std::collections::HashSet;

use super::*;

fn payload(content: Content, compress_percent: u8, duplicate_percent: u8) -> Payload {
    Payload {
        content,
        compress_percent,
        duplicate_percent,
    }
}

fn random(compress_percent: u8, duplicate_percent: u8) -> Payload {
    payload(Content::Random, compress_percent, duplicate_percent)
}

fn stream(payload: &Payload, block_bytes: usize, blocks: usize) -> Vec<u8> {
    let mut pool = PayloadPool::new(payload, 7, 0);
    let mut out = vec![0xEE; block_bytes * blocks];
    for block in out.chunks_mut(block_bytes) {
        pool.fill(0, block);
    }
    out
}

fn compressed_share(bytes: &[u8]) -> f64 {
    lz4_flex::block::compress(bytes).len() as f64 / bytes.len() as f64
}

#[test]
fn default_does_not_compress_in_any_block_size() {
    for block_bytes in [512, 4096, 5000, 65536, 4 << 20] {
        let bytes = stream(&random(0, 0), block_bytes, (4 << 20) / block_bytes);
        let share = compressed_share(&bytes);
        assert!(share > 0.999, "{block_bytes}: {share}");
    }
}

#[test]
fn no_aligned_word_ever_repeats() {
    let bytes = stream(&random(0, 0), 4096, 4096);
    let words: HashSet<&[u8]> = bytes.chunks(8).collect();
    assert_eq!(words.len(), bytes.len() / 8);
}

#[test]
fn bits_are_balanced() {
    let bytes = stream(&random(0, 0), 65536, 16);
    let ones: u64 = bytes.iter().map(|b| u64::from(b.count_ones())).sum();
    let bits = bytes.len() as f64 * 8.0;
    assert!((ones as f64 / bits - 0.5).abs() < 0.001, "{ones}");
    let mut counts = [0u32; 256];
    for byte in &bytes {
        counts[usize::from(*byte)] += 1;
    }
    assert!(counts.iter().all(|n| n.abs_diff(4096) < 400), "{counts:?}");
}

#[test]
fn a_real_compressor_finds_the_asked_for_share() {
    for compress_percent in [10, 30, 50, 75, 90, 100] {
        for block_bytes in [4096, 65536] {
            let bytes = stream(
                &random(compress_percent, 0),
                block_bytes,
                (4 << 20) / block_bytes,
            );
            let saved = 100.0 * (1.0 - compressed_share(&bytes));
            let wanted = f64::from(compress_percent);
            assert!(
                (saved - wanted).abs() < 3.0,
                "{wanted} % asked, {saved} % saved"
            );
        }
    }
}

#[test]
fn compressible_blocks_are_still_distinct() {
    let bytes = stream(&random(100, 0), 4096, 5000);
    let blocks: HashSet<&[u8]> = bytes.chunks(4096).collect();
    assert_eq!(blocks.len(), 5000);
}

#[test]
fn the_asked_for_share_of_blocks_repeats_an_earlier_one() {
    for duplicate_percent in [0u8, 1, 25, 50, 99, 100] {
        let bytes = stream(&random(0, duplicate_percent), 4096, 5000);
        let distinct: HashSet<&[u8]> = bytes.chunks(4096).collect();
        let duplicates = 5000 - distinct.len();
        let wanted = 50 * usize::from(duplicate_percent);
        assert!(
            duplicates.abs_diff(wanted) <= 1,
            "{duplicate_percent} %: {duplicates}"
        );
    }
}

#[test]
fn zeros_and_patterns_are_as_asked() {
    assert!(
        stream(&payload(Content::Zeros, 0, 0), 1000, 3)
            .iter()
            .all(|b| *b == 0)
    );
    let pattern = payload(Content::Bytes(b"abc".to_vec()), 0, 0);
    assert_eq!(stream(&pattern, 8, 2), b"abcabcababcabcab");
    assert_eq!(stream(&pattern, 2, 1), b"ab");
    assert_eq!(stream(&payload(Content::Bytes(vec![]), 0, 0), 4, 1), [0; 4]);
}

#[test]
fn one_seed_regenerates_all_and_workers_differ() {
    let one = stream(&random(20, 30), 4096, 200);
    assert_eq!(one, stream(&random(20, 30), 4096, 200));
    let mut other = vec![0; 4096];
    PayloadPool::new(&random(20, 30), 7, 1).fill(0, &mut other);
    assert!(one.chunks(4096).all(|block| block != other));
}

#[test]
fn odd_lengths_are_filled_to_the_end() {
    for length in [1, 7, 8, 9, 511, 4095, 4097, 12_289] {
        let bytes = stream(&random(0, 0), length, 64);
        for block in bytes.chunks(length) {
            assert!(length < 16 || block[length - 1] != 0xEE || block[length - 2] != 0xEE);
        }
        let lasts: HashSet<u8> = bytes.chunks(length).map(|b| b[length - 1]).collect();
        assert!(lasts.len() > 20, "{length}: {}", lasts.len());
    }
}

// The format: these bytes may never change.
#[test]
fn bytes_of_a_seed_are_fixed() {
    let bytes = stream(&random(0, 0), 12, 2);
    assert_eq!(bytes, EXPECTED);
}

const EXPECTED: [u8; 24] = [
    39, 25, 48, 94, 27, 155, 102, 204, 147, 226, 157, 94, //
    98, 155, 130, 175, 63, 96, 199, 82, 6, 120, 85, 124,
];

#[test]
fn facts_tell_what_the_bytes_are() {
    for (compress_percent, duplicate_percent) in [(0, 0), (50, 30), (100, 90)] {
        let payload = Payload {
            content: Content::Random,
            compress_percent,
            duplicate_percent,
        };
        let mut pool = PayloadPool::new(&payload, 7, 3);
        let mut facts = PayloadFacts::new(&payload, 7, 3);
        let mut by_fingerprint = std::collections::HashMap::new();
        let mut contents = HashSet::new();
        for _ in 0..500 {
            let mut block = vec![0; 4096];
            pool.fill(0, &mut block);
            let fact = facts.next();
            assert_eq!(fact.kept_permille, 1000 - 10 * u16::from(compress_percent));
            contents.insert(block.clone());
            let first = by_fingerprint
                .entry(fact.fingerprint)
                .or_insert(block.clone());
            assert_eq!(*first, block);
        }
        assert_eq!(by_fingerprint.len(), contents.len());
    }
    let zeros = Payload {
        content: Content::Zeros,
        ..Payload::default()
    };
    let mut facts = PayloadFacts::new(&zeros, 1, 0);
    assert_eq!(facts.next(), facts.next());
}

#[test]
fn parts_make_up_the_same_block() {
    for content in [
        Content::Random,
        Content::Zeros,
        Content::Bytes(b"seven!!".to_vec()),
        Content::Bytes(vec![9; 5000]),
    ] {
        let mut pool = PayloadPool::new(&payload(content, 30, 20), 7, 0);
        let (mut whole, mut parts) = (vec![1; 50_000], vec![2; 50_000]);
        for number in 0..20 {
            pool.fill_numbered(number, 0, &mut whole);
            for from in (0..parts.len()).step_by(3 * PIECE_BYTES) {
                let to = parts.len().min(from + 3 * PIECE_BYTES);
                pool.fill_part(number, 0, from, &mut parts[from..to]);
            }
            assert!(whole == parts, "block {number}");
        }
    }
}
