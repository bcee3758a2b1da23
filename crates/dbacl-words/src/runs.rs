// SPDX-License-Identifier: GPL-3.0-or-later
//! Runs of bytes of a class, found eight bytes at a time.

/// A class of bytes whose runs are words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunClass {
    /// Letters.
    Alpha,
    /// Letters and digits.
    Alnum,
    /// Visible bytes.
    Graph,
}

/// One bit, the lowest, in each byte of a word.
pub(super) const ONES: u64 = 0x0101_0101_0101_0101;
/// The highest bit of each byte of a word.
pub(super) const HIGHS: u64 = 0x80 * ONES;

/// The highest bit of each byte of `x` (whose own highest bits are 0) that is at least `low` and at
/// most `high`.
pub(super) const fn between(x: u64, low: u8, high: u8) -> u64 {
    let at_least = x + (0x80 - low as u64) * ONES;
    let above = x + (0x7f - high as u64) * ONES;
    at_least & !above
}

/// The highest bits of the eight bytes of `x`, gathered: the first byte's is the lowest.
pub(super) const fn gathered(x: u64) -> u64 {
    ((x & HIGHS) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

impl RunClass {
    /// A bit for each of the eight bytes of `x`, the first byte's the lowest: whether it belongs to
    /// the class.
    const fn mask(self, x: u64) -> u64 {
        let low = x & !HIGHS;
        let letters = between(low | (0x20 * ONES), b'a', b'z');
        let member = match self {
            Self::Alpha => letters,
            Self::Alnum => letters | between(low, b'0', b'9'),
            Self::Graph => between(low, 0x21, 0x7e),
        };
        gathered(member & !x)
    }
}

/// Finds runs in masks of 64 bytes each; a set bit is a byte that belongs to a run.
#[derive(Default)]
pub(super) struct RunBounds {
    /// One bit: whether the byte before the block belonged to a run.
    inside: u64,
    /// Where that run began.
    start: usize,
}

impl RunBounds {
    /// Calls `run` with the bounds of each run that ends in the block of bytes from `base` on.
    #[inline]
    pub fn block(&mut self, mask: u64, base: usize, run: &mut impl FnMut(usize, usize)) {
        // A bit where membership changes.
        let mut edges = mask ^ (mask << 1 | self.inside);
        while edges != 0 {
            let at = base + edges.trailing_zeros() as usize;
            if self.inside == 0 {
                self.start = at;
            } else {
                run(self.start, at);
            }
            self.inside ^= 1;
            edges &= edges - 1;
        }
    }

    /// Ends the run that fills the last block to its end, if there is one, at `length`.
    #[inline]
    pub fn finish(self, length: usize, run: &mut impl FnMut(usize, usize)) {
        if self.inside != 0 {
            run(self.start, length);
        }
    }
}

/// Calls `take` with each 64 bytes of `text`, the last ones filled up with zeros, and where they
/// begin.
#[inline]
pub(super) fn blocks(text: &[u8], mut take: impl FnMut(&[u8; 64], usize)) {
    let (blocks, rest) = text.as_chunks::<64>();
    for (number, bytes) in blocks.iter().enumerate() {
        take(bytes, number * 64);
    }
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    take(&last, blocks.len() * 64);
}

/// Calls `run` with the bounds of each longest run of bytes of `class` in `text`, in order.
pub fn runs(class: RunClass, text: &[u8], mut run: impl FnMut(usize, usize)) {
    let mut bounds = RunBounds::default();
    blocks(text, |bytes, base| {
        let mut mask = 0;
        for (at, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
            mask |= class.mask(u64::from_le_bytes(*eight)) << (8 * at);
        }
        bounds.block(mask, base, &mut run);
    });
    bounds.finish(text.len(), &mut run);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::{is_alnum, is_alpha, is_graph};

    #[test]
    fn masks_agree_with_the_classes() {
        for byte in 0..=255u8 {
            let x = u64::from_le_bytes([byte, b'a', byte, 0, 0xff, b' ', b'~', byte]);
            for (class, member) in [
                (RunClass::Alpha, is_alpha as fn(u8) -> bool),
                (RunClass::Alnum, is_alnum),
                (RunClass::Graph, is_graph),
            ] {
                let bytes = x.to_le_bytes();
                let expected = bytes.iter().rev();
                let expected = expected.fold(0, |mask, &b| mask << 1 | u64::from(member(b)));
                assert_eq!(class.mask(x), expected, "{class:?} {byte:#x}");
            }
        }
    }

    #[test]
    fn runs_over_block_borders() {
        for length in [0, 1, 63, 64, 65, 127, 128, 200] {
            for gap in [0, 1, 62, 63, 64, 65, 130] {
                let mut text = vec![b'x'; length];
                if gap < length {
                    text[gap] = b' ';
                }
                let mut found = Vec::new();
                runs(RunClass::Alpha, &text, |start, end| found.push((start, end)));
                let expected: Vec<(usize, usize)> = if gap < length {
                    [(0, gap), (gap + 1, length)].into_iter().filter(|run| run.0 < run.1).collect()
                } else {
                    [(0, length)].into_iter().filter(|run| run.0 < run.1).collect()
                };
                assert_eq!(found, expected, "{length} {gap}");
            }
        }
    }
}
