//! What is written: bytes that neither compress nor repeat, unless asked.

use fathom_model::rng::{Rng, derive_seed};
use fathom_model::workload::Payload;

/// One worker's source of payload. The same seed and worker give the same
/// bytes in the same order.
#[derive(Debug, Clone)]
pub struct PayloadPool {
    rng: Rng,
}

impl PayloadPool {
    /// The payload of worker `worker_index`.
    pub fn new(payload: &Payload, seed: u64, worker_index: u32) -> PayloadPool {
        let _ = payload;
        PayloadPool {
            rng: Rng::new(derive_seed(seed, u64::from(worker_index))),
        }
    }

    /// Fills one block. Every call is a new block.
    pub fn fill(&mut self, block: &mut [u8]) {
        for piece in block.chunks_mut(8) {
            let word = self.rng.next_u64().to_le_bytes();
            piece.copy_from_slice(&word[..piece.len()]);
        }
    }
}
