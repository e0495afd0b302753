//! A buffer whose start suits direct I/O.

/// Alignment that every block device and file system accepts.
pub(crate) const PAGE_BYTES: usize = 4096;

/// Bytes that start on a page.
#[derive(Debug)]
pub(crate) struct AlignedBuffer {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl AlignedBuffer {
    /// A zeroed buffer of `len` bytes.
    pub(crate) fn new(len: usize) -> AlignedBuffer {
        let bytes = vec![0; len + PAGE_BYTES];
        let start = bytes.as_ptr().align_offset(PAGE_BYTES).min(PAGE_BYTES);
        AlignedBuffer { bytes, start, len }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_on_a_page() {
        for len in [1, 512, 4096, 1 << 20] {
            let mut buffer = AlignedBuffer::new(len);
            assert_eq!(buffer.bytes_mut().len(), len);
            assert!((buffer.bytes_mut().as_ptr() as usize).is_multiple_of(PAGE_BYTES));
        }
    }
}
