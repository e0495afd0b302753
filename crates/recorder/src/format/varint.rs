//! Whole numbers in as few bytes as they need, seven bits in each (LEB128);
//! signed ones with the sign in the lowest bit.

/// Appends a number.
pub(super) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends the distance between two numbers, around the end of the range if
/// that is shorter.
pub(super) fn put_step(out: &mut Vec<u8>, now: u64, last: u64) {
    let step = now.wrapping_sub(last) as i64;
    put(out, ((step << 1) ^ (step >> 63)) as u64);
}

/// Takes a number from the front.
pub(super) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(first & 0x7F);
        if shift == 63 && part > 1 {
            return None;
        }
        value |= part << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Takes the number at a distance from the last one.
pub(super) fn take_step(bytes: &mut &[u8], last: u64) -> Option<u64> {
    let coded = take(bytes)?;
    let step = (coded >> 1) as i64 ^ -((coded & 1) as i64);
    Some(last.wrapping_add(step as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_steps_come_back() {
        let numbers = [0, 1, 127, 128, 300, 1 << 35, u64::MAX - 1, u64::MAX];
        for now in numbers {
            for last in numbers {
                let mut out = Vec::new();
                put(&mut out, now);
                put_step(&mut out, now, last);
                let mut bytes = out.as_slice();
                assert_eq!(take(&mut bytes), Some(now));
                assert_eq!(take_step(&mut bytes, last), Some(now));
                assert!(bytes.is_empty());
            }
        }
        assert_eq!(take(&mut [0xFF; 11].as_slice()), None);
        assert_eq!(take(&mut [0x80].as_slice()), None);
    }
}
