// SPDX-License-Identifier: GPL-3.0-or-later
//! Bit masks of 64 bytes, and runs of bytes that are found in them.

/// One bit for each byte of a block, the first byte's the lowest.
pub(super) type Mask = u64;

/// One bit for each place from 0 to 63: whether `members` says yes to it.
#[inline]
pub(super) fn mask(members: impl Fn(usize) -> bool) -> Mask {
    let mut flags = [0; 64];
    for (at, flag) in flags.iter_mut().enumerate() {
        *flag = u8::from(members(at));
    }
    let mut mask = 0;
    for (number, eight) in flags.as_chunks::<8>().0.iter().enumerate() {
        // The lowest bits of eight bytes that have no others.
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= bits << (8 * number);
    }
    mask
}

/// Finds runs in masks; a set bit is a byte that belongs to a run.
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
    pub(crate) fn block(&mut self, mask: Mask, base: usize, run: &mut impl FnMut(usize, usize)) {
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
    pub(crate) fn finish(self, length: usize, run: &mut impl FnMut(usize, usize)) {
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

/// Calls `run` with the bounds of each longest run of `members` in `text`, in order.
pub fn runs(members: impl Fn(u8) -> bool, text: &[u8], mut run: impl FnMut(usize, usize)) {
    let mut bounds = RunBounds::default();
    blocks(text, |bytes, base| bounds.block(mask(|at| members(bytes[at])), base, &mut run));
    bounds.finish(text.len(), &mut run);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_have_a_bit_for_each_member() {
        for (number, bits) in [(3, 0x9249_2492_4924_9249), (64, 1), (1, Mask::MAX)] {
            assert_eq!(mask(|at| at % number == 0), bits, "{number}");
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
                runs(|byte| byte == b'x', &text, |start, end| found.push((start, end)));
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
