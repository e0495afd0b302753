//! What a model may know of written bytes: whether they were there before, and
//! what a compressor would leave of them.

use fathom_drives::SimContent;
use xxhash_rust::xxh3::xxh3_64;

/// Parts of a block whose compressibility is estimated.
const SAMPLE_BYTES: usize = 4096;

/// The models whose speed depends on content.
const LOOK_INSIDE: [&str; 1] = ["dedup"];

/// Whether the speed of the model of this name depends on content.
pub(super) fn matters_to(model: &str) -> bool {
    LOOK_INSIDE.contains(&model)
}

/// Looks at the bytes themselves.
pub(super) fn content_of(data: &[u8]) -> SimContent {
    SimContent {
        // 0 stands for a block unlike any other.
        fingerprint: xxh3_64(data).max(1),
        kept_permille: kept_permille(data),
    }
}

/// What a compressor leaves, estimated by the order-0 entropy of parts and by
/// runs of equal eight-byte words: no compressor's own figure, but 0 for zeros,
/// near 1000 for random bytes, and between for mixtures of both.
fn kept_permille(data: &[u8]) -> u16 {
    if data.is_empty() {
        return 1000;
    }
    let kept: f64 = data.chunks(SAMPLE_BYTES).map(kept_bytes).sum();
    (kept * 1000.0 / data.len() as f64)
        .round()
        .clamp(0.0, 1000.0) as u16
}

fn kept_bytes(part: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    let mut repeated = 0usize;
    let mut last: Option<&[u8]> = None;
    let mut counted = 0usize;
    for word in part.chunks(8) {
        // A word that only repeats the one before costs nearly nothing.
        if last == Some(word) {
            repeated += word.len();
        } else {
            for byte in word {
                counts[usize::from(*byte)] += 1;
            }
            counted += word.len();
        }
        last = Some(word);
    }
    debug_assert_eq!(repeated + counted, part.len());
    let total = counted.max(1) as f64;
    let bits: f64 = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / total;
            -share * share.log2()
        })
        .sum();
    // Few samples of a uniform source look more ordered than they are.
    let correction = 255.0 / (2.0 * total * std::f64::consts::LN_2);
    let bits = if bits > 6.0 {
        (bits + correction).min(8.0)
    } else {
        bits
    };
    bits / 8.0 * counted as f64
}

#[cfg(test)]
mod tests {
    use fathom_model::rng::Rng;

    use super::content_of;

    fn random(bytes: usize) -> Vec<u8> {
        let mut rng = Rng::new(7);
        (0..bytes.div_ceil(8))
            .flat_map(|_| rng.next_u64().to_le_bytes())
            .collect()
    }

    #[test]
    fn zeros_vanish_and_random_bytes_stay() {
        assert!(content_of(&[0; 65536]).kept_permille <= 2);
        assert!(content_of(&random(65536)).kept_permille >= 985);
        assert!(content_of(&random(4096)).kept_permille >= 985);
        let half: Vec<u8> = random(65536)
            .chunks(2048)
            .flat_map(|part| part.iter().copied().chain([0; 2048]))
            .collect();
        let kept = content_of(&half).kept_permille;
        assert!((470..530).contains(&kept), "{kept}");
    }

    #[test]
    fn the_models_that_look_inside_exist() {
        for name in super::LOOK_INSIDE {
            let mut models = fathom_drives::models().iter();
            assert!(models.any(|model| model.name == name), "{name}");
        }
    }

    #[test]
    fn the_same_bytes_are_the_same() {
        let data = random(4096);
        assert_eq!(content_of(&data), content_of(&data.clone()));
        assert_ne!(
            content_of(&data).fingerprint,
            content_of(&data[1..]).fingerprint
        );
    }
}
