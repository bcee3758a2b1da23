// SPDX-License-Identifier: GPL-3.0-or-later
//! UTF-16, as spreadsheets write it, read as UTF-8.

use std::io::{self, Read};

/// Whether an input that begins so is UTF-16 with the low byte first, or with the high byte first:
/// by its mark, or because nearly every other byte of its beginning is zero.
pub(crate) fn is_little(beginning: &[u8]) -> Option<bool> {
    match beginning {
        [0xff, 0xfe, ..] => return Some(true),
        [0xfe, 0xff, ..] => return Some(false),
        _ => {}
    }
    let pairs = beginning.as_chunks::<2>().0;
    let pairs = &pairs[..pairs.len().min(32)];
    let are_zero = |place: usize| {
        let zeros = |place: usize| pairs.iter().filter(|pair| pair[place] == 0).count();
        pairs.len() > 3 && zeros(1 - place) == 0 && 4 * zeros(place) >= 3 * pairs.len()
    };
    [(1, true), (0, false)].into_iter().find(|&(place, _)| are_zero(place)).map(|(_, is)| is)
}

/// An input in UTF-16, as UTF-8. Halves of pairs, and a last single byte, are U+FFFD.
pub(crate) struct Utf16<R> {
    pub input: R,
    pub is_little: bool,
    /// The first half of a pair whose second half was not read yet.
    pub half: Option<u16>,
    /// UTF-8 that was not handed out yet.
    pub ready: Vec<u8>,
}

impl<R: Read> Utf16<R> {
    /// Reads some more; returns whether there was anything.
    fn fill(&mut self) -> io::Result<bool> {
        let mut bytes = [0; 4096];
        let mut length = self.input.read(&mut bytes)?;
        // A unit is never cut in two.
        while length % 2 == 1 {
            match self.input.read(&mut bytes[length..=length])? {
                0 => {
                    bytes[length] = if self.is_little { 0xd8 } else { 0 };
                    bytes[length - 1] = if self.is_little { 0 } else { 0xd8 };
                    length += 1;
                }
                more => length += more,
            }
        }
        let unit = |pair: &[u8; 2]| {
            if self.is_little { u16::from_le_bytes(*pair) } else { u16::from_be_bytes(*pair) }
        };
        let mut units: Vec<u16> = self
            .half
            .take()
            .into_iter()
            .chain(bytes[..length].as_chunks().0.iter().map(unit))
            .collect();
        if length > 0 && units.last().is_some_and(|last| (0xd800..0xdc00).contains(last)) {
            self.half = units.pop();
        }
        let text =
            char::decode_utf16(units).map(|found| found.unwrap_or(char::REPLACEMENT_CHARACTER));
        self.ready.extend_from_slice(text.collect::<String>().as_bytes());
        Ok(length > 0 || !self.ready.is_empty())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() && self.fill()? {}
        let length = self.ready.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.ready[..length]);
        self.ready.drain(..length);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use crate::corpus::document::Reading;
    use crate::corpus::tests::documents;

    #[test]
    fn utf16_is_read_with_and_without_its_mark() {
        let table = "label,text\na,\u{e4}\u{1f389}\n";
        let bytes = |mark: &str, of: fn(u16) -> [u8; 2]| -> Vec<u8> {
            mark.encode_utf16().chain(table.encode_utf16()).flat_map(of).collect()
        };
        for mark in ["\u{feff}", ""] {
            for of in [u16::to_le_bytes, u16::to_be_bytes] {
                let found = documents(&bytes(mark, of), "x.csv", &Reading::default());
                assert_eq!(found.as_deref(), Ok("a=\u{e4}\u{1f389}@2"));
            }
        }
        // Half a character, and half of a pair.
        let mut torn = bytes("\u{feff}", u16::to_le_bytes);
        torn.truncate(torn.len() - 3);
        let found = documents(&torn, "x.csv", &Reading::default());
        assert_eq!(found.as_deref(), Ok("a=\u{e4}\u{fffd}\u{fffd}@2"));
        let long = format!("\u{feff}{}", "a\t\u{1f389}\n".repeat(3000));
        let long: Vec<u8> = long.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let found = documents(&long, "x.tsv", &Reading::default()).unwrap();
        assert_eq!(found.matches("=\u{1f389}@").count(), 3000);
    }
}
