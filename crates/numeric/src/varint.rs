// SPDX-License-Identifier: GPL-3.0-or-later
//! Whole numbers in as few bytes as they need: seven bits a byte, the lowest first; the highest bit
//! says that another byte follows.

/// The most bytes of a number.
const LONGEST: usize = 10;

/// Appends `value`.
#[inline]
pub fn append(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        #[allow(clippy::cast_possible_truncation)] // the low seven bits
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    #[allow(clippy::cast_possible_truncation)] // below 128
    out.push(value as u8);
}

/// Takes a number from the front of `bytes`; `None` if it breaks off, exceeds 64 bits or is longer
/// than it needs to be.
#[inline]
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    /// The high bit of each byte.
    const MARKS: u64 = 0x8080_8080_8080_8080;
    let Some(&eight) = bytes.first_chunk() else { return take_slowly(bytes) };
    let eight = u64::from_le_bytes(eight);
    let ends = !eight & MARKS;
    if ends == 0 {
        return take_slowly(bytes);
    }
    let last = ends.trailing_zeros();
    let value = eight & (u64::MAX >> (63 - last)) & !MARKS;
    if last > 7 && (eight >> (last - 7)).trailing_zeros() >= 8 {
        return None;
    }
    // Seven bits of each byte are moved together: first of pairs, then of fours, then of all.
    let value = value & 0x007f_007f_007f_007f | (value & 0x7f00_7f00_7f00_7f00) >> 1;
    let value = value & 0x0000_3fff_0000_3fff | (value & 0x3fff_0000_3fff_0000) >> 2;
    let value = value & 0x0fff_ffff | (value & 0x0fff_ffff_0000_0000) >> 4;
    *bytes = &bytes[last as usize / 8 + 1..];
    Some(value)
}

/// The same, byte by byte.
fn take_slowly(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for at in 0..LONGEST.min(bytes.len()) {
        let byte = bytes[at];
        let part = u64::from(byte & 0x7f);
        if at == LONGEST - 1 && byte > 1 {
            return None;
        }
        value |= part << (7 * at);
        if byte & 0x80 == 0 {
            if byte == 0 && at > 0 {
                return None;
            }
            *bytes = &bytes[at + 1..];
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let mut values: Vec<u64> = (0..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit]).collect();
        values.push(u64::MAX);
        let mut bytes = Vec::new();
        for &value in &values {
            append(&mut bytes, value);
        }
        let (mut rest, mut slow) = (bytes.as_slice(), bytes.as_slice());
        for &value in &values {
            assert_eq!(take(&mut rest), Some(value));
            assert_eq!(take_slowly(&mut slow), Some(value));
        }
        assert_eq!(take(&mut rest), None);
    }

    #[test]
    fn broken_numbers_are_refused() {
        let too_large = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2];
        let long = [0x81, 0x80, 0, 1, 1, 1, 1, 1];
        for bytes in [&[0x80][..], &[0x80, 0], &too_large, &[0xff; 11], &long, &[]] {
            assert_eq!(take(&mut &*bytes), None, "{bytes:?}");
        }
    }
}
