//! The time of its creation at the start of a file, for whoever waits for it on
//! another host: a word, the run, and nanoseconds since the gate was opened.

use fathom_model::workload::CREATION_STAMP_BYTES;
use rustix::fs::OFlags;
use rustix::io::read;

use super::{Hand, Trouble};

const WORD: &[u8; 8] = b"fathom@\n";
/// Bytes of a stamp.
pub(super) const BYTES: usize = CREATION_STAMP_BYTES as usize;

/// Writes a stamp.
pub(super) fn written(run_tag: u64, created_ns: u64) -> [u8; BYTES] {
    let mut stamp = [0; BYTES];
    stamp[..8].copy_from_slice(WORD);
    stamp[8..16].copy_from_slice(&run_tag.to_le_bytes());
    stamp[16..].copy_from_slice(&created_ns.to_le_bytes());
    stamp
}

/// Reads one; `None` where there is none of this run.
fn parsed(bytes: &[u8; BYTES], run_tag: u64) -> Option<u64> {
    let number = |at: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[at..at + 8]);
        u64::from_le_bytes(word)
    };
    (bytes[..8] == *WORD && number(8) == run_tag).then(|| number(16))
}

impl Hand {
    /// When the file that is created now was begun, since the gate was opened.
    pub(crate) fn set_created_ns(&mut self, created_ns: u64) {
        self.created_ns = Some(created_ns);
    }

    /// When the file that was found had been begun, since the gate was opened;
    /// `None` when another run has made it.
    pub(crate) fn created_ns(&self) -> Option<u64> {
        self.created_ns
    }

    /// Looks whether the file of the task is there with its first bytes.
    pub(super) fn look_for_file(&mut self) -> Result<u64, Trouble> {
        self.created_ns = None;
        let file = self.open(OFlags::RDONLY)?;
        let mut first = [0; BYTES];
        let mut got = 0;
        while got < BYTES {
            self.calls.count(super::Call::Read);
            match read(&file, &mut first[got..])? {
                0 => break,
                more => got += more,
            }
        }
        self.created_ns = parsed(&first, self.ways.run_tag).filter(|_| got == BYTES);
        let enough = match self.ways.stamped {
            // An older file of that name may still be seen.
            true => self.created_ns.is_some(),
            false => got as u64 >= self.size_bytes.min(CREATION_STAMP_BYTES),
        };
        match enough {
            true => Ok(0),
            false => Err(Trouble::Short(got as u64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_stamp_of_the_same_run_is_read() {
        let stamp = written(7, 1234);
        assert_eq!(parsed(&stamp, 7), Some(1234));
        assert_eq!(parsed(&stamp, 8), None);
        assert_eq!(parsed(&[0; BYTES], 0), None);
    }
}
