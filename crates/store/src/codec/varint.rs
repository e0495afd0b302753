//! Variable-length integers (LEB128), zigzag, and columns of differences.
//!
//! Neighbouring seconds resemble one another, so a column is stored as the
//! difference of each value to the one before it. All arithmetic wraps: every
//! `u64` survives the round trip.

use super::CodecError;

/// Appends an integer in groups of seven bits, lowest first.
pub(crate) fn put_u64(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The same for 128 bits.
pub(crate) fn put_u128(out: &mut Vec<u8>, mut value: u128) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Small magnitudes become small numbers, whatever their sign.
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Appends a column as differences.
pub(crate) fn put_column(out: &mut Vec<u8>, values: impl IntoIterator<Item = u64>) {
    let mut previous = 0u64;
    for value in values {
        put_u64(out, zigzag(value.wrapping_sub(previous) as i64));
        previous = value;
    }
}

/// Appends a column of 128-bit numbers as differences.
pub(crate) fn put_column_u128(out: &mut Vec<u8>, values: impl IntoIterator<Item = u128>) {
    let mut previous = 0u128;
    for value in values {
        let difference = value.wrapping_sub(previous) as i128;
        put_u128(out, ((difference << 1) ^ (difference >> 127)) as u128);
        previous = value;
    }
}

/// Appends a length and the bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_u64(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads what the functions above wrote. Every read is bounds-checked.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    pub(crate) fn byte(&mut self) -> Result<u8, CodecError> {
        let (&first, rest) = self.rest.split_first().ok_or(CodecError::Truncated)?;
        self.rest = rest;
        Ok(first)
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], CodecError> {
        if length > self.rest.len() {
            return Err(CodecError::Truncated);
        }
        let (head, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(head)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, CodecError> {
        let value = self.limited(64)?;
        u64::try_from(value).map_err(|_| CodecError::Malformed("a number is too long"))
    }

    pub(crate) fn u128(&mut self) -> Result<u128, CodecError> {
        self.limited(128)
    }

    fn limited(&mut self, bits: u32) -> Result<u128, CodecError> {
        let mut value = 0u128;
        let mut shift = 0;
        loop {
            let byte = self.byte()?;
            let group = u128::from(byte & 0x7f);
            if shift >= bits || (group << shift) >> shift != group {
                return Err(CodecError::Malformed("a number is too long"));
            }
            value |= group << shift;
            if byte < 0x80 {
                return Ok(value);
            }
            shift += 7;
        }
    }

    /// A count of things, at most `limit`.
    pub(crate) fn count(&mut self, limit: usize) -> Result<usize, CodecError> {
        match usize::try_from(self.u64()?) {
            Ok(count) if count <= limit => Ok(count),
            _ => Err(CodecError::TooLarge),
        }
    }

    /// A column of `count` numbers. Each takes at least one byte, so a count
    /// that the bytes cannot hold is refused before anything is allocated.
    pub(crate) fn column(&mut self, count: usize) -> Result<Vec<u64>, CodecError> {
        if count > self.remaining() {
            return Err(CodecError::Truncated);
        }
        let mut previous = 0u64;
        (0..count)
            .map(|_| {
                previous = previous.wrapping_add(unzigzag(self.u64()?) as u64);
                Ok(previous)
            })
            .collect()
    }

    /// A column of numbers that must fit into 32 bits.
    pub(crate) fn column_u32(&mut self, count: usize) -> Result<Vec<u32>, CodecError> {
        self.column(count)?
            .into_iter()
            .map(|value| {
                u32::try_from(value).map_err(|_| CodecError::Malformed("a number is too large"))
            })
            .collect()
    }

    /// A column of 128-bit numbers.
    pub(crate) fn column_u128(&mut self, count: usize) -> Result<Vec<u128>, CodecError> {
        if count > self.remaining() {
            return Err(CodecError::Truncated);
        }
        let mut previous = 0u128;
        (0..count)
            .map(|_| {
                let value = self.u128()?;
                let difference = (value >> 1) as i128 ^ -((value & 1) as i128);
                previous = previous.wrapping_add(difference as u128);
                Ok(previous)
            })
            .collect()
    }

    /// A length and as many bytes.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], CodecError> {
        let length = self.count(usize::MAX)?;
        self.take(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn columns_survive_the_round_trip(
            small in proptest::collection::vec(any::<u64>(), 0..50),
            large in proptest::collection::vec(any::<u128>(), 0..50),
        ) {
            let mut out = Vec::new();
            put_column(&mut out, small.iter().copied());
            put_column_u128(&mut out, large.iter().copied());
            let mut reader = Reader::new(&out);
            prop_assert_eq!(reader.column(small.len()).unwrap(), small);
            prop_assert_eq!(reader.column_u128(large.len()).unwrap(), large);
            prop_assert!(reader.is_empty());
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        let mut over = vec![0xff; 9];
        over.push(0x02);
        assert_eq!(
            Reader::new(&over).u64(),
            Err(CodecError::Malformed("a number is too long"))
        );
        over.truncate(9);
        assert_eq!(Reader::new(&over).u64(), Err(CodecError::Truncated));
        let endless = [0x80; 40];
        assert!(Reader::new(&endless).u128().is_err());
    }

    #[test]
    fn a_steady_counter_takes_a_byte_a_second() {
        let mut out = Vec::new();
        put_column(&mut out, (0..1000u64).map(|i| 1_000_000 + i * 3));
        assert_eq!(out.len(), 3 + 999);
    }
}
