//! What fathom wrote, as a number: a file that differs from it has been edited since,
//! and its notes are the user's. An accident is to be seen, not an attack.

use std::fs::File;
use std::io::{self, Read, Write};

use xxhash_rust::xxh3::Xxh3;

/// Read at a time.
const PIECE_BYTES: usize = 64 << 10;
/// Around the digest at the end of a page: an editor that saves under the name of
/// the page makes another file, without attributes.
const PAGE_BEGIN: &str = "<!-- as fathom wrote it: ";
const PAGE_END: &str = " -->\n";

/// The digest of what came so far.
pub(crate) struct Digest {
    state: Xxh3,
    bytes: u64,
}

impl Digest {
    pub(crate) fn new() -> Digest {
        Digest {
            state: Xxh3::new(),
            bytes: 0,
        }
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.state.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    /// Whether nothing came.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// As it is kept.
    pub(crate) fn text(&self) -> String {
        format!("{:016x}-{}", self.state.digest(), self.bytes)
    }

    /// Of a whole file.
    pub(crate) fn of(mut file: File) -> io::Result<Digest> {
        let mut digest = Digest::new();
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            match file.read(&mut piece) {
                Ok(0) => return Ok(digest),
                Ok(bytes) => digest.add(&piece[..bytes]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Passes on what is written, and keeps its digest.
pub(crate) struct Digested<W> {
    inner: W,
    pub(crate) digest: Digest,
}

impl<W: Write> Digested<W> {
    pub(crate) fn new(inner: W) -> Digested<W> {
        Digested {
            inner,
            digest: Digest::new(),
        }
    }

    /// Ends a page with the digest of what is above.
    pub(crate) fn end_page(&mut self) -> io::Result<()> {
        let line = format!("{PAGE_BEGIN}{}{PAGE_END}", self.digest.text());
        self.write_all(line.as_bytes())
    }
}

impl<W: Write> Write for Digested<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.digest.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Whether a page has a digest. One without is of an earlier fathom, its end was cut
/// off, or somebody made it from the beginning of one.
pub(crate) fn has_digest(page: &[u8]) -> bool {
    digest_at(page).is_some()
}

/// Whether a page differs from the digest that it ends with.
pub(crate) fn is_edited_page(page: &[u8]) -> bool {
    let Some(at) = digest_at(page) else {
        return false;
    };
    let mut digest = Digest::new();
    digest.add(&page[..at]);
    let noted = format!("{PAGE_BEGIN}{}{PAGE_END}", digest.text());
    page[at..] != *noted.as_bytes()
}

fn digest_at(page: &[u8]) -> Option<usize> {
    let begin = PAGE_BEGIN.as_bytes();
    page.windows(begin.len())
        .rposition(|window| window == begin)
}
