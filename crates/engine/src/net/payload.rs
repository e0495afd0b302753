//! What is sent: bytes that no device on the way can compress.

use fathom_model::rng::Rng;

/// A block of random bytes from `seed`.
pub(super) fn block(bytes: usize, seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut block = vec![0; bytes];
    for chunk in block.chunks_mut(8) {
        let word = rng.next_u64().to_le_bytes();
        chunk.copy_from_slice(&word[..chunk.len()]);
    }
    block
}
