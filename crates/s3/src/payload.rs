//! Bodies that are too large to be kept: whoever uses the client says which
//! bytes they have, and a request names a run of them.

/// Where the bytes of bodies come from.
pub trait Payload: std::fmt::Debug + Send + Sync {
    /// The run of bytes of `object` that begins at `at`, up to a border of its
    /// own choice; never empty.
    fn piece(&self, object: u64, at: u64) -> Piece<'_>;

    /// Whether `bytes` are those of `object` from `at` on; if not, where the
    /// first piece lies that differs.
    ///
    /// # Errors
    /// The place of that piece.
    fn check(&self, object: u64, at: u64, bytes: &[u8]) -> Result<(), u64> {
        let mut done = 0;
        while done < bytes.len() {
            let piece = self.piece(object, at + done as u64);
            let expected = piece.bytes();
            debug_assert!(!expected.is_empty(), "no byte of {object} at {at}");
            let length = expected.len().min(bytes.len() - done);
            if bytes[done..done + length] != expected[..length] {
                return Err(at + done as u64);
            }
            done += length;
        }
        Ok(())
    }

    /// Gives all bytes of `object` from `at` on, `length` of them, in pieces.
    fn each(&self, object: u64, at: u64, length: u64, to: &mut dyn FnMut(&[u8])) {
        let mut done = 0;
        while done < length {
            let piece = self.piece(object, at + done);
            let bytes = piece.bytes();
            let most = bytes.len().min((length - done) as usize);
            debug_assert!(most > 0, "no byte of {object} at {}", at + done);
            to(&bytes[..most]);
            done += most as u64;
        }
    }
}

/// Bytes that a piece may hold itself.
pub const OWN_BYTES: usize = 16;

/// A run of bytes of a body.
#[derive(Debug, Clone, Copy)]
pub enum Piece<'a> {
    /// Bytes that were made for it, from and to.
    Own([u8; OWN_BYTES], usize, usize),
    /// Bytes that lie in memory.
    Borrowed(&'a [u8]),
}

impl<'a> Piece<'a> {
    /// Its first `most` bytes, or all of it.
    pub(crate) fn up_to(self, most: u64) -> Piece<'a> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        match self {
            Piece::Own(bytes, from, to) => {
                Piece::Own(bytes, from, to.min(from.saturating_add(most)))
            }
            Piece::Borrowed(bytes) => Piece::Borrowed(&bytes[..bytes.len().min(most)]),
        }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Piece::Own(bytes, from, to) => &bytes[*from..*to],
            Piece::Borrowed(bytes) => bytes,
        }
    }
}
