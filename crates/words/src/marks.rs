// SPDX-License-Identifier: GPL-3.0-or-later
//! Finds words of the schemes with states (`cef`, `adp`, `cef2`) without examining single bytes.
//!
//! Most words of such a scheme are runs of bytes that its state machine would take one after the
//! other. Those are found in bit masks, 64 bytes at a time; where anything else may come up - a
//! letter thrice, a byte above 7F, an apostrophe between letters - the caller asks the machine.

use crate::machine::is_atom;
use crate::runs::{Mask, mask};
use crate::scheme::Scheme;

/// Blocks of 64 bytes that are marked at once.
const BLOCKS: usize = 16;

/// Zero bytes that must follow a text: a whole block, and what is looked at after its last byte.
pub const PADDING: usize = 64 + 2;

/// What comes next in a text, when the machine is in its start state and no word is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Only bytes that change nothing, up to the end.
    Nothing,
    /// Bytes that change nothing, then a word of the bytes in `start..end`.
    Word {
        /// Its first byte.
        start: usize,
        /// Behind its last byte.
        end: usize,
    },
    /// Bytes that change nothing, then a byte that the machine is to be asked about.
    Ask(usize),
}

/// Facts about 64 bytes, one mask each.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    /// In the start state the machine does not simply skip the byte.
    begins: Mask,
    /// It may begin a word whose end the masks can find.
    easy: Mask,
    /// If it begins a word, it is the whole word (`adp`).
    single: Mask,
    /// It is the last byte of such a word.
    ends: Mask,
    /// The masks cannot find the end of a word with this byte.
    hard: Mask,
}

/// Marks of a stretch of a text.
#[derive(Debug, Clone)]
pub struct Marks {
    scheme: Scheme,
    folds: bool,
    /// Whether the machine must be asked about newlines.
    breaks: bool,
    /// Position of the first byte of the stretch.
    base: usize,
    end: usize,
    blocks: [Block; BLOCKS],
}

impl Marks {
    /// Marks for `scheme`; nothing is marked yet. `folds` says that the machine folds case,
    /// `breaks` that it must be asked about newlines.
    pub fn new(scheme: Scheme, folds: bool, breaks: bool) -> Self {
        Self { scheme, folds, breaks, base: 0, end: 0, blocks: [Block::default(); BLOCKS] }
    }

    /// Forgets the text.
    pub fn forget(&mut self) {
        (self.base, self.end) = (0, 0);
    }

    /// What comes next from position `at` of the text in the first `length` bytes of `padded`,
    /// which has [`PADDING`] zero bytes after it. From call to call `at` must not fall.
    #[inline]
    pub fn find(&mut self, padded: &[u8], length: usize, at: usize) -> Found {
        if at < self.end
            && let Some(word) = self.find_in_block(at)
        {
            return word;
        }
        self.find_anywhere(padded, length, at)
    }

    /// A word that begins and ends in the block of position `at`, which is marked.
    #[inline]
    fn find_in_block(&self, at: usize) -> Option<Found> {
        let offset = at - self.base;
        let block = self.blocks.get(offset / 64)?;
        let begins = block.begins & (Mask::MAX << (offset % 64));
        let first = begins & begins.wrapping_neg();
        let from = first.wrapping_neg();
        let ends = block.ends & from;
        if first & block.easy & !block.single == 0 || ends == 0 {
            return None;
        }
        let start = self.base + offset / 64 * 64;
        let to = ends ^ (ends - 1);
        if block.hard & from & to != 0 {
            return None;
        }
        let (first, last) = (first.trailing_zeros() as usize, ends.trailing_zeros() as usize);
        Some(Found::Word { start: start + first, end: start + last + 1 })
    }

    fn find_anywhere(&mut self, padded: &[u8], length: usize, mut at: usize) -> Found {
        loop {
            if at >= self.end {
                if at >= length {
                    return Found::Nothing;
                }
                self.mark(padded, length, at);
            }
            let Some(start) = self.next(at, |block| block.begins) else {
                at = self.end;
                continue;
            };
            let block = &self.blocks[(start - self.base) / 64];
            let bit = 1 << ((start - self.base) % 64);
            if block.easy & bit == 0 {
                return Found::Ask(start);
            }
            if block.single & bit != 0 {
                return Found::Word { start, end: start + 1 };
            }
            let Some(last) = self.next(start, |block| block.ends) else {
                if start == self.base {
                    return Found::Ask(start);
                }
                self.mark(padded, length, start);
                at = start;
                continue;
            };
            if self.is_hard(start, last) {
                return Found::Ask(start);
            }
            return Found::Word { start, end: last + 1 };
        }
    }

    /// The first position from `at` on, within the stretch, with a bit in the mask.
    #[inline]
    fn next(&self, at: usize, mask: impl Fn(&Block) -> Mask) -> Option<usize> {
        let offset = at - self.base;
        let used = (self.end - self.base).div_ceil(64);
        let mut number = offset / 64;
        let mut bits = mask(self.blocks.get(number)?) & (Mask::MAX << (offset % 64));
        while bits == 0 {
            number += 1;
            if number >= used {
                return None;
            }
            bits = mask(&self.blocks[number]);
        }
        let found = self.base + number * 64 + bits.trailing_zeros() as usize;
        (found < self.end).then_some(found)
    }

    /// Whether a byte from position `first` to `last` is hard.
    #[inline]
    fn is_hard(&self, first: usize, last: usize) -> bool {
        let (first, last) = (first - self.base, last - self.base);
        let (from, to) = (Mask::MAX << (first % 64), Mask::MAX >> (63 - last % 64));
        let blocks = &self.blocks[first / 64..=last / 64];
        match blocks {
            [block] => block.hard & from & to != 0,
            [head, inner @ .., tail] => {
                let inner = inner.iter().fold(0, |hard, block| hard | block.hard);
                head.hard & from | inner | tail.hard & to != 0
            }
            [] => false,
        }
    }

    /// Marks a stretch from `base` on.
    fn mark(&mut self, padded: &[u8], length: usize, base: usize) {
        let end = length.min(base + BLOCKS * 64);
        (self.base, self.end) = (base, end);
        let used = (end - base).div_ceil(64);
        // From behind, because a byte's marks depend on what follows.
        let mut next = Next::default();
        for number in (0..used).rev() {
            let at = base + number * 64;
            self.blocks[number] = match self.scheme {
                Scheme::Adp => adp(padded, at, self.folds, &mut next),
                Scheme::Cef => cef(padded, at, &mut next),
                _ => cef2(padded, at, &mut next),
            };
            if self.breaks {
                let bytes = block_at(padded, at, 0);
                self.blocks[number].begins |= mask(|place| bytes[place] == b'\n');
            }
        }
        let last = &mut self.blocks[used - 1];
        if end < length {
            // The marks of the last two bytes depend on bytes after the stretch, which are not
            // known here, so the slow machine decides about these two.
            let unsure = 0b11 << 62;
            last.begins |= unsure;
            last.easy &= !unsure;
            last.hard |= unsure;
        } else {
            // At the end of a text the machine would wait for the rest of such a character.
            let byte = padded[length - 1];
            let stays = if self.scheme == Scheme::Cef2 {
                is_atom(byte)
            } else {
                byte.is_ascii_punctuation()
            };
            last.hard |= u64::from(stays) << ((length - 1 - base) % 64);
        }
    }
}

/// A word goes on over letters, digits and, but for its second byte, high bytes; then over signs.
fn adp(padded: &[u8], at: usize, folds: bool, next: &mut Next) -> Block {
    let bytes = block_at(padded, at, 0);
    let [alpha, digit, punct, high] = classes(bytes);
    // Within a letter of two bytes the second one is A1 to FE.
    let joins = if high == 0 { 0 } else { mask(|place| matches!(bytes[place], 0xa1..=0xfe)) };
    let word = alpha | digit | joins;
    let (word_next, punct_next) = (next.first(0, word), next.first(1, punct));
    let (alpha_next, joins_next) = (next.first(2, alpha), next.first(3, joins));
    // Visible bytes that are followed by two equal ones. The byte itself is compared in its folded
    // case, the next two without folding.
    let (second, third) = (block_at(padded, at, 1), block_at(padded, at, 2));
    #[allow(clippy::needless_bitwise_bool)] // without branches all places are compared at once
    let thrice = mask(|place| {
        let folded = if folds { bytes[place].to_ascii_lowercase() } else { bytes[place] };
        let (second, third) = (second[place], third[place]);
        (folded == second) & (second == third) & (second > b' ')
    });
    Block {
        begins: alpha | digit | punct | high,
        easy: alpha | digit | punct,
        single: digit & (alpha_next | joins_next) | alpha & joins_next,
        ends: punct & !punct_next | word & !word_next & !punct_next,
        hard: thrice & !digit,
    }
}

/// A word is a run of letters, if nothing after it joins it with more.
fn cef(padded: &[u8], at: usize, next: &mut Next) -> Block {
    let bytes = block_at(padded, at, 0);
    let [alpha, digit, punct, high] = classes(bytes);
    let second = block_at(padded, at, 1);
    let twice = mask(|place| bytes[place] == second[place]);
    let opens = mask(|place| matches!(bytes[place], b'$' | b'<'));
    let links = mask(|place| matches!(bytes[place], b'\'' | b'-' | b'.'));
    let alpha_next = next.first(0, alpha);
    let begins = alpha | high | digit & alpha_next | punct & (twice | opens);
    let joined = digit | links & alpha_next | begins & !alpha;
    let ends = alpha & !alpha_next;
    Block { begins, easy: alpha, single: 0, ends, hard: ends & next.first(1, joined) }
}

/// A word is a run of the bytes of an atom, if no dot or colon joins it with more.
fn cef2(padded: &[u8], at: usize, next: &mut Next) -> Block {
    let bytes = block_at(padded, at, 0);
    let atoms = mask(|place| is_atom(bytes[place]));
    let high = mask(|place| bytes[place] >= 0x80);
    let links = mask(|place| matches!(bytes[place], b'.' | b':'));
    let atoms_next = next.first(0, atoms);
    let ends = atoms & !atoms_next;
    let hard = ends & next.first(1, links & atoms_next);
    Block { begins: atoms | high, easy: atoms, single: 0, ends, hard }
}

/// The first bits of several masks of the block that follows.
#[derive(Default)]
struct Next([Mask; 4]);

impl Next {
    /// The mask with each byte's bit taken from the byte that follows; `number` distinguishes
    /// masks.
    #[inline]
    fn first(&mut self, number: usize, mask: Mask) -> Mask {
        let shifted = mask >> 1 | self.0[number] << 63;
        self.0[number] = mask & 1;
        shifted
    }
}

/// The 64 bytes that begin `ahead` bytes after position `at`.
#[inline]
fn block_at(padded: &[u8], at: usize, ahead: usize) -> &[u8; 64] {
    let block = &padded[at + ahead..at + ahead + 64];
    block.try_into().expect("the text is padded")
}

/// Letters, digits, other visible bytes, and bytes from 80 up.
#[inline]
fn classes(bytes: &[u8; 64]) -> [Mask; 4] {
    let (alpha, digit) = (
        mask(|place| bytes[place].is_ascii_alphabetic()),
        mask(|place| bytes[place].is_ascii_digit()),
    );
    let punct = mask(|place| bytes[place].is_ascii_graphic()) & !(alpha | digit);
    [alpha, digit, punct, mask(|place| bytes[place] >= 0x80)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words that are found, and the bytes the machine would be asked about, in brackets.
    fn found(scheme: Scheme, text: &str) -> String {
        let mut padded = text.as_bytes().to_vec();
        let length = padded.len();
        padded.resize(length + PADDING, 0);
        let mut marks = Marks::new(scheme, true, false);
        let mut found = Vec::new();
        let mut at = 0;
        loop {
            match marks.find(&padded, length, at) {
                Found::Nothing => return found.join(" "),
                Found::Word { start, end } => {
                    found.push(String::from_utf8_lossy(&padded[start..end]).into_owned());
                    at = end;
                }
                Found::Ask(start) => {
                    found.push(format!("[{}]", padded[start..=start].escape_ascii()));
                    at = start + 1;
                }
            }
        }
    }

    #[test]
    fn words_are_found_and_hard_bytes_are_asked_about() {
        for (scheme, text, expected) in [
            (Scheme::Adp, "", ""),
            (Scheme::Adp, "a bc, d!? 12:30 7up x9y", "a bc, d!? 12: 30 7 up x9y"),
            (Scheme::Adp, "yesss nooo!\n", "[y] [e] [s] ss [n] [o] oo!"),
            (Scheme::Adp, "ABBB Bbb\n", "ABBB [B] bb"),
            (Scheme::Adp, "111 end.", "111 [e] [n] [d] [.]"),
            (Scheme::Adp, "gr\u{fc}n \u{fc}b", r"grün [\xc3] [\xbc] b"),
            (Scheme::Cef, "the cat, 5 mice; a-b\n", "the cat mice [a] b"),
            (Scheme::Cef, "x9 9x wow!! <a> $5", "[x] [9] x [w] [o] [w] [!] [<] a [$]"),
            (Scheme::Cef2, "it's a.b c: d", "it s [a] b c [d]"),
        ] {
            assert_eq!(found(scheme, text), expected, "{scheme:?} {text}");
        }
    }

    #[test]
    fn words_are_found_over_the_ends_of_blocks_and_stretches() {
        for gap in [0, 1, 62, 63, 64, 65, 1021, 1022, 1023, 1024, 1025] {
            let text = format!("{}some words, and more\n", " ".repeat(gap));
            for (scheme, expected) in [
                (Scheme::Adp, "some words, and more"),
                (Scheme::Cef, "some words and more"),
                (Scheme::Cef2, "some words and more"),
            ] {
                // A word at the end of a stretch may be asked about, byte by byte.
                let found = found(scheme, &text).replace(['[', ']'], "");
                let letters = |text: &str| text.replace(' ', "");
                assert_eq!(letters(&found), letters(expected), "{scheme:?} behind {gap} blanks");
            }
        }
    }
}
